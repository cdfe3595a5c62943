/*
 * Reviews of access, of rules, of tokens, and of oneself.
 *
 * Follows k8s.io/kubernetes pkg/registry/authorization/subjectaccessreview, func (*REST) Create.
 * Follows k8s.io/kubernetes pkg/registry/authorization/util, func ResourceAttributesFrom,
 * func BuildEvaluationError.
 * Follows k8s.io/kubernetes pkg/registry/authorization/selfsubjectrulesreview,
 * func (*REST) Create.
 * Follows k8s.io/kubernetes pkg/registry/authentication/tokenreview, func (*REST) Create.
 * Follows k8s.io/kubernetes pkg/registry/authentication/selfsubjectreview, func (*REST) Create.
 */
#include "auth/review.h"

#include "api/selector.h"

static const struct registry_failure none = {.code = ERR_NONE};

/* ---- selectors, which are read and do not matter to RBAC ---- */

/* What became of the selectors of a question: some requirements cannot be read, and whether others
 * can. */
struct reading {
    bool has_fault, has_good;
};

static struct reading read_label_selector(struct arena *a,
                                          const struct api_label_selector_attributes *s) {
    struct reading r = {0};
    struct selector *sel;
    if (s->raw_selector.n)
        r.has_fault = selector_parse(a, s->raw_selector, &sel, NULL) < 0;
    for (size_t i = 0; i < s->requirements.n; i++) {
        const struct api_label_selector one = {
            .match_expressions = {.v = &s->requirements.v[i], .n = 1}};
        if (selector_compile(a, &one, &sel, NULL) < 0)
            r.has_fault = true;
        else
            r.has_good = true;
    }
    return r;
}

/* Is it terms with = or != between commas? A backslash stands before one of these, a comma or
 * another backslash in a value. */
static bool is_field_selector(struct str text) {
    bool has_operator = false, is_empty = true;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ',') {
            if (!is_empty && !has_operator)
                return false;
            has_operator = false;
            is_empty = true;
            continue;
        }
        is_empty = false;
        if (c == '\\') {
            char next = i + 1 < text.n ? text.p[++i] : '\0';
            if (has_operator && next != '\\' && next != ',' && next != '=')
                return false;
        } else if (c == '=') {
            has_operator = true;
        }
    }
    return is_empty || has_operator;
}

static struct reading read_field_selector(const struct api_field_selector_attributes *s) {
    struct reading r = {.has_fault = !is_field_selector(s->raw_selector)};
    for (size_t i = 0; i < s->requirements.n; i++) {
        const struct api_field_selector_requirement *one = &s->requirements.v[i];
        if ((str_is(one->operator, "In") || str_is(one->operator, "NotIn")) && one->values.n == 1)
            r.has_good = true;
        else
            r.has_fault = true;
    }
    return r;
}

static void write_reading(struct buf *b, const char *what, struct reading r) {
    if (!r.has_fault)
        return;
    buf_addf(b, "%sspec.resourceAttributes.%s %signored due to parse error", b->n ? "; " : "", what,
             r.has_good ? "partially " : "");
}

/* What could not be evaluated; in the object's arena. */
static struct str evaluation_error(struct arena *a, const struct api_resource_attributes *r) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (r && r->field_selector)
        write_reading(&text, "fieldSelector", read_field_selector(r->field_selector));
    if (r && r->label_selector)
        write_reading(&text, "labelSelector", read_label_selector(a, r->label_selector));
    return text.n ? arena_str(a, buf_view(&text)) : STR("");
}

/* ---- access ---- */

static struct auth_attributes question_of(const struct auth_user *user,
                                          const struct api_resource_attributes *r,
                                          const struct api_non_resource_attributes *path) {
    if (!r)
        return (struct auth_attributes){.user = user, .verb = path->verb, .path = path->path};
    return (struct auth_attributes){.user = user,
                                    .verb = r->verb,
                                    .is_resource = true,
                                    .namespace = r->namespace,
                                    .group = r->group,
                                    .version = r->version.n ? r->version : STR("*"),
                                    .resource = r->resource,
                                    .subresource = r->subresource,
                                    .name = r->name};
}

static struct api_subject_access_review_status
answer_question(const struct auth_rules *rules, struct arena *a, const struct auth_user *user,
                const struct api_resource_attributes *r,
                const struct api_non_resource_attributes *path) {
    struct auth_attributes q = question_of(user, r, path);
    struct auth_verdict verdict = auth_check(rules, &q);
    AUTO(buf_release) struct buf reason = BUF_INIT(SIZE_MAX);
    auth_reason_write(&reason, rules, &q, &verdict);
    return (struct api_subject_access_review_status){
        .allowed = verdict.allowed,
        .reason = reason.n ? arena_str(a, buf_view(&reason)) : STR(""),
        .evaluation_error = evaluation_error(a, r),
    };
}

static struct api_subject_access_review_status
answer_spec(const struct auth_rules *rules, struct arena *a,
            const struct api_subject_access_review_spec *spec) {
    const struct auth_user user = {
        .name = spec->user, .uid = spec->uid, .groups = spec->groups, .extra = spec->extra_};
    return answer_question(rules, a, &user, spec->resource_attributes,
                           spec->non_resource_attributes);
}

/* Upstream's failures of reviews have neither a name nor a kind. */
static struct registry_failure check_access_review(struct arena *a, const struct api_object *o) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    valid_access_review(o, errs);
    if (!errs->n)
        return none;
    const struct api_object_meta meta = {0};
    const struct api_type_meta names = {.api_version = o->names->api_version};
    struct api_object shown = *o;
    shown.meta = &meta;
    shown.names = &names;
    return registry_invalid(a, &shown, errs);
}

static struct registry_failure review_subject(const struct auth_reviewer *r, struct arena *a,
                                              struct api_object *o) {
    struct registry_failure f = check_access_review(a, o);
    if (f.code)
        return f;
    struct api_subject_access_review *review = api_own_body(o);
    review->status = answer_spec(r->rules, &o->arena, &review->spec);
    return none;
}

static struct registry_failure review_local(const struct auth_reviewer *r, struct arena *a,
                                            struct api_object *o) {
    struct registry_failure f = check_access_review(a, o);
    if (f.code)
        return f;
    if (!r->namespace.n)
        return registry_bad_request(STR("namespace is required on this type: "));
    if (!str_eq(r->namespace, o->meta->namespace))
        return registry_bad_request(
            arena_printf(a, "spec.resourceAttributes.namespace must match namespace: %.*s",
                         STR_ARG(r->namespace)));
    struct api_local_subject_access_review *review = api_own_body(o);
    review->status = answer_spec(r->rules, &o->arena, &review->spec);
    return none;
}

static struct registry_failure review_self_access(const struct auth_reviewer *r, struct arena *a,
                                                  struct api_object *o) {
    struct registry_failure f = check_access_review(a, o);
    if (f.code)
        return f;
    struct api_self_subject_access_review *review = api_own_body(o);
    review->status = answer_question(r->rules, &o->arena, r->user, review->spec.resource_attributes,
                                     review->spec.non_resource_attributes);
    return none;
}

/* ---- rules ---- */

static struct api_strs copy_strs(struct arena *a, const struct api_strs *list) {
    struct api_strs copy = {.v = arena_array(a, struct str, list->n), .n = list->n};
    for (size_t i = 0; i < list->n; i++)
        copy.v[i] = arena_str(a, list->v[i]);
    return copy;
}

/* The rules of somebody, in the arena of the object that lists them. */
static struct api_subject_rules_review_status list_rules(struct arena *a,
                                                         const struct auth_granted *g) {
    struct api_subject_rules_review_status s = {
        .resource_rules.v = arena_array(a, struct api_resource_rule, g->n),
        .non_resource_rules.v = arena_array(a, struct api_non_resource_rule, g->n),
        .evaluation_error = arena_str(a, g->missing),
    };
    for (size_t i = 0; i < g->n; i++) {
        const struct api_policy_rule *rule = g->v[i];
        if (rule->resources.n)
            s.resource_rules.v[s.resource_rules.n++] =
                (struct api_resource_rule){.verbs = copy_strs(a, &rule->verbs),
                                           .api_groups = copy_strs(a, &rule->api_groups),
                                           .resources = copy_strs(a, &rule->resources),
                                           .resource_names = copy_strs(a, &rule->resource_names)};
        if (rule->non_resource_urls.n)
            s.non_resource_rules.v[s.non_resource_rules.n++] = (struct api_non_resource_rule){
                .verbs = copy_strs(a, &rule->verbs),
                .non_resource_urls = copy_strs(a, &rule->non_resource_urls)};
    }
    return s;
}

/* Upstream's answer forgets the question. */
static struct registry_failure review_rules(const struct auth_reviewer *r, struct arena *a,
                                            struct api_object *o) {
    struct api_self_subject_rules_review *review = api_own_body(o);
    struct str namespace = review->spec.namespace;
    if (!namespace.n)
        return registry_bad_request(STR("no namespace on request"));
    struct auth_granted granted = auth_rules_for(r->rules, a, r->user, namespace);
    *review = (struct api_self_subject_rules_review){.type_meta = review->type_meta,
                                                     .status = list_rules(&o->arena, &granted)};
    return none;
}

/* ---- oneself, and tokens ---- */

static struct registry_failure review_self(const struct auth_reviewer *r, struct arena *a,
                                           struct api_object *o) {
    (void)a;
    struct api_self_subject_review *review = api_own_body(o);
    *review = (struct api_self_subject_review){
        .type_meta = review->type_meta,
        .metadata.creation_timestamp = {.sec = r->now, .set = true},
        .status.user_info = auth_user_info(&o->arena, r->user),
    };
    return none;
}

static struct registry_failure review_token(const struct auth_reviewer *r, struct arena *a,
                                            struct api_object *o) {
    struct api_token_review *review = api_own_body(o);
    if (r->namespace.n)
        return registry_bad_request(
            arena_printf(a, "namespace is not allowed on this type: %.*s", STR_ARG(r->namespace)));
    if (!review->spec.token.n)
        return registry_bad_request(STR("token is required for TokenReview in authentication"));
    if (!r->who)
        return none;
    struct auth_answer answer =
        auth_authenticate_token(r->who, a, review->spec.token, &review->spec.audiences, r->now);
    review->status = (struct api_token_review_status){0};
    if (answer.outcome != AUTH_KNOWN) {
        review->status.error = arena_str(&o->arena, answer.why);
        return none;
    }
    auth_user_mark_authenticated(a, &answer.user);
    review->status.authenticated = true;
    review->status.user = auth_user_info(&o->arena, &answer.user);
    review->status.audiences = copy_strs(&o->arena, &answer.audiences);
    return none;
}

/* ---- the door ---- */

static const struct {
    enum api_type_id type;
    struct registry_failure (*answer)(const struct auth_reviewer *r, struct arena *a,
                                      struct api_object *o);
} reviews[] = {
    {API_T_subject_access_review, review_subject},
    {API_T_local_subject_access_review, review_local},
    {API_T_self_subject_access_review, review_self_access},
    {API_T_self_subject_rules_review, review_rules},
    {API_T_self_subject_review, review_self},
    {API_T_token_review, review_token},
};
enum { REVIEWS = sizeof reviews / sizeof *reviews };

bool auth_is_review(const struct api_object *o) {
    for (size_t i = 0; i < REVIEWS; i++)
        if (api_object_is(o, reviews[i].type))
            return true;
    return false;
}

struct registry_failure auth_review(const struct auth_reviewer *r, struct arena *a,
                                    struct api_object *o) {
    for (size_t i = 0; i < REVIEWS; i++)
        if (api_object_is(o, reviews[i].type))
            return reviews[i].answer(r, a, o);
    return registry_bad_request(STR("not a review"));
}
