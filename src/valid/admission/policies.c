/*
 * Policies of admission. Their expressions in CEL see the results of others, their variables, if
 * these stand before them.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func ValidateValidatingAdmissionPolicy, func ValidateMutatingAdmissionPolicy.
 */
#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/jsonpath.h"
#include "valid/admission/webhook_int.h"
#include "valid/kinds_int.h"

enum { MOST_ANNOTATIONS = 20, MOST_VALUE_BYTES = 5 * 1024 };

static void check_joined(struct valid *v, const struct path *p, struct str value,
                         const struct names_errs *errs, const char *intro) {
    if (!errs->n)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    names_errs_join(&text, errs, STR(","));
    valid__invalid(v, p, VALUE_Q(value), "%s%.*s", intro, STR_ARG(buf_view(&text)));
}

/* ---- parameters ---- */

static void check_version(struct valid *v, const struct path *p, struct str text) {
    struct str group = STR(""), version = text, rest;
    if (str_cut(text, '/', &group, &rest))
        version = rest;
    else
        group = STR("");
    if (str_find_char(version, '/') != STR_NONE) {
        valid__invalid(v, p, VALUE_Q(text), "unexpected GroupVersion string: %.*s", STR_ARG(text));
        return;
    }
    struct names_errs groups = names_check_dns1123_subdomain(group),
                      versions = names_check_dns1035_label(version);
    if (group.n)
        check_joined(v, p, group, &groups, "");
    if (!version.n)
        valid__invalid(v, p, VALUE_Q(text), "version must be specified");
    else
        check_joined(v, p, version, &versions, "");
}

static void check_param_kind(struct valid *v, const struct path *p,
                             const struct api_param_kind *k) {
    if (!k)
        return;
    struct names_errs errs = names_check_dns1035_label(valid__lower(v->errs->a, k->kind));
    if (!k->api_version.n)
        valid__required(v, AT(p, "apiVersion"), NO_DETAIL);
    else
        check_version(v, AT(p, "apiVersion"), k->api_version);
    if (!k->kind.n)
        valid__required(v, AT(p, "kind"), NO_DETAIL);
    else
        check_joined(v, AT(p, "kind"), k->kind, &errs,
                     "may have mixed case, but should otherwise match: ");
}

/* ---- what both kinds of policies have ---- */

/* What the rules of one policy share. */
struct policy {
    struct valid *v;
    bool has_params;
    void *variables; /* see struct valid_cel; NULL: none */
    struct stored_expressions stored;
};

static void open_policy(struct policy *p, struct valid *v, const struct api_param_kind *params,
                        bool has_variables) {
    p->v = v;
    p->has_params = params;
    p->variables = v->cel && has_variables ? v->cel->variables_new(v->cel->ctx) : NULL;
    valid__stored_init(&p->stored);
}

static void close_policy(struct policy *p) {
    if (p->v->cel)
        p->v->cel->variables_free(p->v->cel->ctx, p->variables);
    valid__stored_release(&p->stored);
}

/* An expression of the policy, which may be compiled and shown without the space around it. */
struct policy_expression {
    enum valid_cel_place place;
    struct str written, compiled, shown;
    struct str name; /* of a variable */
};

/* Upstream asks for some of them among those that stand elsewhere. */
static enum valid_cel_place stored_at(enum valid_cel_place place) {
    return place == VALID_CEL_VARIABLE     ? VALID_CEL_VALIDATION
           : place == VALID_CEL_JSON_PATCH ? VALID_CEL_APPLY_CONFIGURATION
                                           : place;
}

static void check_expression(const struct policy *policy, const struct path *p,
                             const struct policy_expression *e) {
    struct valid_cel_ask ask = {
        .place = e->place,
        .expression = e->compiled,
        .is_stored = seen_get(&policy->stored.of[stored_at(e->place)], e->written),
        .has_params = policy->has_params,
        .variables = policy->variables,
        .name = e->name,
    };
    valid__expression(policy->v, p, e->shown, &ask);
}

/* One that is compiled as it was written. */
static void check_written(const struct policy *policy, const struct path *p,
                          enum valid_cel_place place, struct str written) {
    check_expression(policy, p, &(struct policy_expression){place, written, written, written, {0}});
}

static bool is_identifier(struct str name) {
    static const char *const reserved[] = {
        "true",      "false",  "null",     "in",   "as",     "break", "const", "continue",
        "else",      "for",    "function", "if",   "import", "let",   "loop",  "package",
        "namespace", "return", "var",      "void", "while",  NULL};
    bool good = name.n && !ascii_is_digit(name.p[0]);
    for (size_t i = 0; good && i < name.n; i++)
        good = ascii_is_alnum(name.p[i]) || name.p[i] == '_';
    return good && !valid__one_of(name, reserved);
}

static void check_variables(const struct policy *policy, const struct path *p,
                            const struct api_variable_list *list) {
    struct valid *v = policy->v;
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        if (valid__is_blank(list->v[i].name))
            valid__required(v, AT(at, "name"), "name is not specified");
        else if (!is_identifier(list->v[i].name))
            valid__invalid(v, AT(at, "name"), VALUE_Q(list->v[i].name),
                           "must be a valid CEL identifier");
        struct str text = list->v[i].expression;
        struct policy_expression e = {VALID_CEL_VARIABLE, text, text, text, list->v[i].name};
        if (valid__is_blank(text))
            valid__required(v, AT(at, "expression"), "expression is not specified");
        else
            check_expression(policy, AT(at, "expression"), &e);
    }
}

/* The failure policy, the parameters, and the requests. */
struct policy_head {
    struct str failure_policy;
    const struct api_param_kind *param_kind;
    const struct api_match_resources *constraints;
};

static void check_head(struct valid *v, const struct path *p, const struct policy_head *h) {
    const struct path *constraints = AT(p, "matchConstraints");
    if (!h->failure_policy.p)
        valid__required(v, AT(p, "failurePolicy"), NO_DETAIL);
    valid__optional_choice(v, AT(p, "failurePolicy"), h->failure_policy, valid__failure_policies);
    check_param_kind(v, AT(p, "paramKind"), h->param_kind);
    if (!h->constraints) {
        valid__required(v, constraints, NO_DETAIL);
        return;
    }
    valid__match_resources(v, constraints, h->constraints);
    if (!h->constraints->resource_rules.n)
        valid__required(v, AT(constraints, "resourceRules"), NO_DETAIL);
}

static bool is_same(enum api_type_id type, const void *a, const void *b) {
    return a && b ? valid__equal(type, a, b) : a == b;
}

/* ---- validating policies ---- */

static bool has_line_break(struct str s) {
    return str_find_char(s, '\n') != STR_NONE || str_find_char(s, '\r') != STR_NONE;
}

static void check_validation(const struct policy *policy, const struct path *p,
                             const struct api_validation *a) {
    struct valid *v = policy->v;
    static const char *const reasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge", NULL};
    static const char non_empty[] = "must be non-empty if specified";
    if (valid__is_blank(a->expression))
        valid__required(v, AT(p, "expression"), "expression is not specified");
    else
        check_written(policy, AT(p, "expression"), VALID_CEL_VALIDATION, a->expression);
    if (a->message_expression.n && valid__is_blank(a->message_expression))
        valid__invalid(v, AT(p, "messageExpression"), VALUE_Q(a->message_expression), non_empty);
    else if (a->message_expression.n)
        check_written(policy, AT(p, "messageExpression"), VALID_CEL_MESSAGE, a->message_expression);
    if (a->message.n && valid__is_blank(a->message))
        valid__invalid(v, AT(p, "message"), VALUE_Q(a->message), non_empty);
    else if (has_line_break(utf8_trim_space(a->message)))
        valid__invalid(v, AT(p, "message"), VALUE_Q(a->message), "must not contain line breaks");
    valid__optional_choice(v, AT(p, "reason"), a->reason, reasons);
}

static void check_annotation(const struct policy *policy, const struct path *p,
                             const struct api_audit_annotation *a, struct str name) {
    struct valid *v = policy->v;
    struct str value = utf8_trim_space(a->value_expression);
    struct policy_expression e = {
        VALID_CEL_AUDIT_ANNOTATION, a->value_expression, value, a->value_expression, {0}};
    if (name.n)
        valid__label_key(v, AT(p, "key"),
                         arena_printf(v->errs->a, "%.*s/%.*s", STR_ARG(name), STR_ARG(a->key)));
    else
        valid__invalid(v, AT(p, "key"), VALUE_Q(a->key), "requires metadata.name be non-empty");
    if (!value.n)
        valid__required(v, AT(p, "valueExpression"), "valueExpression is not specified");
    else if (value.n > MOST_VALUE_BYTES)
        valid__required(v, AT(p, "valueExpression"), "must not exceed %d bytes in length",
                        MOST_VALUE_BYTES);
    else
        check_expression(policy, AT(p, "valueExpression"), &e);
}

static void check_annotations(const struct policy *policy, const struct path *p,
                              const struct api_audit_annotation_list *list, struct str name) {
    struct valid *v = policy->v;
    struct seen keys;
    seen_init(&keys);
    if (list->n > MOST_ANNOTATIONS)
        valid__invalid(v, p, valid__list_value(v->errs->a, API_T_audit_annotation, list),
                       "must not have more than %d auditAnnotations", MOST_ANNOTATIONS);
    for (size_t i = 0; i < list->n; i++) {
        check_annotation(policy, AT_INDEX(p, i), &list->v[i], name);
        if (!seen_add(&keys, list->v[i].key))
            valid__duplicate(v, AT(AT_INDEX(p, i), "key"), VALUE_Q(list->v[i].key), NO_DETAIL);
    }
    seen_release(&keys);
}

static void store_validating(struct stored_expressions *stored,
                             const struct api_validating_admission_policy_spec *s) {
    valid__store_conditions(stored, &s->match_conditions);
    for (size_t i = 0; i < s->validations.n; i++) {
        seen_add(&stored->of[VALID_CEL_VALIDATION], s->validations.v[i].expression);
        seen_add(&stored->of[VALID_CEL_MESSAGE], s->validations.v[i].message_expression);
    }
    for (size_t i = 0; i < s->audit_annotations.n; i++)
        seen_add(&stored->of[VALID_CEL_AUDIT_ANNOTATION],
                 s->audit_annotations.v[i].value_expression);
}

static void check_validations(const struct policy *policy, const struct path *p,
                              const struct api_validating_admission_policy *o) {
    static const char some[] = "validations or auditAnnotations must contain at least one item";
    const struct api_validating_admission_policy_spec *s = &o->spec;
    if (!s->validations.n && !s->audit_annotations.n) {
        valid__required(policy->v, AT(p, "validations"), some);
        valid__required(policy->v, AT(p, "auditAnnotations"), some);
    }
    for (size_t i = 0; i < s->validations.n; i++)
        check_validation(policy, AT_INDEX(AT(p, "validations"), i), &s->validations.v[i]);
    check_annotations(policy, AT(p, "auditAnnotations"), &s->audit_annotations, o->metadata.name);
}

static void check_validating(struct valid *v, const struct api_object *o,
                             const struct api_object *before) {
    const struct path *p = AT(NULL, "spec");
    const struct api_validating_admission_policy *now = o->body,
                                                 *old = before ? before->body : NULL;
    const struct api_validating_admission_policy_spec *s = &now->spec;
    struct policy_head head = {s->failure_policy, s->param_kind, s->match_constraints};
    struct policy policy;
    bool are_conditions_kept = old &&
                               is_same(API_T_param_kind, s->param_kind, old->spec.param_kind) &&
                               valid__equal_lists(API_T_match_condition, &s->match_conditions,
                                                  &old->spec.match_conditions);
    open_policy(&policy, v, s->param_kind, s->variables.n);
    if (old)
        store_validating(&policy.stored, &old->spec);
    check_head(v, p, &head);
    if (!are_conditions_kept)
        valid__match_conditions(v, AT(p, "matchConditions"), &s->match_conditions,
                                policy.has_params, &policy.stored);
    check_variables(&policy, AT(p, "variables"), &s->variables);
    check_validations(&policy, p, now);
    close_policy(&policy);
}

static void create_validating(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_validating(v, o, NULL);
    valid__static_suffix(v, o);
}

static void update_validating(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_validating(v, o, old);
}

/* The way to a field, in JSONPath. */
static void check_field_ref(struct valid *v, const struct path *p, struct str ref) {
    struct jsonpath *parsed;
    struct err err = {0};
    if (!ref.n)
        valid__required(v, p, NO_DETAIL);
    else if (jsonpath_parse(v->errs->a, arena_printf(v->errs->a, "{%.*s}", STR_ARG(ref)), &parsed,
                            &err) < 0)
        valid__invalid(v, p, VALUE_Q(ref), "invalid JSONPath: %s", err.msg);
}

static void status_validating(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_validating_admission_policy_status *s =
        &((const struct api_validating_admission_policy *)o->body)->status;
    const struct path *p = AT(NULL, "status");
    const struct path *warnings = AT(AT(p, "typeChecking"), "expressionWarnings");
    (void)old;
    for (size_t i = 0; s->type_checking && i < s->type_checking->expression_warnings.n; i++) {
        const struct api_expression_warning *w = &s->type_checking->expression_warnings.v[i];
        if (!w->warning.n)
            valid__required(v, AT(AT_INDEX(warnings, i), "warning"), NO_DETAIL);
        check_field_ref(v, AT(AT_INDEX(warnings, i), "fieldRef"), utf8_trim_space(w->field_ref));
    }
    valid__conditions(v, AT(p, "conditions"), &s->conditions);
}

/* ---- mutating policies ---- */

/* Shown as it is compiled: without the space around it. */
static void check_patch(const struct policy *policy, const struct path *p,
                        enum valid_cel_place place, struct str written) {
    struct str text = utf8_trim_space(written);
    if (text.n)
        check_expression(policy, AT(p, "expression"),
                         &(struct policy_expression){place, written, text, text, {0}});
    else
        valid__required(policy->v, AT(p, "expression"), NO_DETAIL);
}

static void check_json_patch(const struct policy *policy, const struct path *p,
                             const struct api_mutation *m) {
    if (m->json_patch)
        check_patch(policy, AT(p, "jsonPatch"), VALID_CEL_JSON_PATCH, m->json_patch->expression);
    else
        valid__required(policy->v, AT(p, "jsonPatch"),
                        "must be specified when patchType is JSONPatch");
    if (m->apply_configuration)
        valid__invalid(policy->v, AT(p, "applyConfiguration"), VALUE_Q(STR("{applyConfiguration}")),
                       "must not be specified when patchType is JSONPatch");
}

static void check_apply(const struct policy *policy, const struct path *p,
                        const struct api_mutation *m) {
    if (m->apply_configuration)
        check_patch(policy, AT(p, "applyConfiguration"), VALID_CEL_APPLY_CONFIGURATION,
                    m->apply_configuration->expression);
    else
        valid__required(policy->v, AT(p, "applyConfiguration"),
                        "must be specified when patchType is ApplyConfiguration");
    if (m->json_patch)
        valid__invalid(policy->v, AT(p, "jsonPatch"), VALUE_Q(STR("{jsonPatch}")),
                       "must not be specified when patchType is ApplyConfiguration");
}

static void check_mutation(const struct policy *policy, const struct path *p,
                           const struct api_mutation *m) {
    static const char *const types[] = {"ApplyConfiguration", "JSONPatch", NULL};
    if (str_is(m->patch_type, "JSONPatch"))
        check_json_patch(policy, p, m);
    else if (str_is(m->patch_type, "ApplyConfiguration"))
        check_apply(policy, p, m);
    else
        valid__choice(policy->v, AT(p, "patchType"), m->patch_type, types);
}

static void store_mutating(struct stored_expressions *stored,
                           const struct api_mutating_admission_policy_spec *s) {
    valid__store_conditions(stored, &s->match_conditions);
    for (size_t i = 0; i < s->mutations.n; i++)
        if (s->mutations.v[i].apply_configuration)
            seen_add(&stored->of[VALID_CEL_APPLY_CONFIGURATION],
                     s->mutations.v[i].apply_configuration->expression);
}

static void check_mutations(const struct policy *policy, const struct path *p,
                            const struct api_mutating_admission_policy_spec *s) {
    if (!s->mutations.n)
        valid__required(policy->v, AT(p, "mutations"), "mutations must contain at least one item");
    for (size_t i = 0; i < s->mutations.n; i++)
        check_mutation(policy, AT_INDEX(AT(p, "mutations"), i), &s->mutations.v[i]);
    valid__choice(policy->v, AT(p, "reinvocationPolicy"), s->reinvocation_policy,
                  valid__reinvocation_policies);
}

static void check_mutating(struct valid *v, const struct api_object *o,
                           const struct api_object *before) {
    const struct path *p = AT(NULL, "spec");
    const struct api_mutating_admission_policy *now = o->body, *old = before ? before->body : NULL;
    const struct api_mutating_admission_policy_spec *s = &now->spec;
    struct policy_head head = {s->failure_policy, s->param_kind, s->match_constraints};
    struct policy policy;
    bool are_conditions_kept = old &&
                               is_same(API_T_param_kind, s->param_kind, old->spec.param_kind) &&
                               valid__equal_lists(API_T_match_condition, &s->match_conditions,
                                                  &old->spec.match_conditions);
    open_policy(&policy, v, s->param_kind, true);
    if (old)
        store_mutating(&policy.stored, &old->spec);
    check_head(v, p, &head);
    if (s->match_constraints)
        valid__mutating_operations(v, AT(AT(p, "matchConstraints"), "resourceRules"),
                                   &s->match_constraints->resource_rules);
    if (!are_conditions_kept)
        valid__match_conditions(v, AT(p, "matchConditions"), &s->match_conditions,
                                policy.has_params, &policy.stored);
    check_variables(&policy, AT(p, "variables"), &s->variables);
    check_mutations(&policy, p, s);
    close_policy(&policy);
}

static void create_mutating(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_mutating(v, o, NULL);
    valid__static_suffix(v, o);
}

static void update_mutating(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_mutating(v, o, old);
}

const struct valid_kind valid__validating_admission_policy = {.type =
                                                                  API_T_validating_admission_policy,
                                                              .create = create_validating,
                                                              .update = update_validating,
                                                              .status = status_validating};
const struct valid_kind valid__mutating_admission_policy = {
    .type = API_T_mutating_admission_policy, .create = create_mutating, .update = update_mutating};
