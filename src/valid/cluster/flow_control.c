/*
 * Which requests belong together, and how many of them a server works on at a time.
 *
 * Follows k8s.io/kubernetes pkg/apis/flowcontrol/validation, func ValidateFlowSchema,
 * func ValidatePriorityLevelConfiguration.
 * Follows k8s.io/apiserver pkg/util/shufflesharding, func RequiredEntropyBits.
 */
#include <math.h>

#include "valid/declared_int.h"
#include "valid/kinds_int.h"

enum { MOST_PRECEDENCE = 10000, MOST_QUEUES = 10000000, MOST_HASH_BITS = 60 };

#define PRESERVE_ZERO "flowcontrol.k8s.io/preserve-zero-concurrency-shares"

static bool has_star(const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i], "*"))
            return true;
    return false;
}

/* Nothing stands beside a star. */
static void check_star(struct valid *v, const struct path *p, const struct api_strs *list,
                       const char *what) {
    if (list->n > 1 && has_star(list))
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "if '*' is present, must not specify other %s", what);
}

/* ---- subjects ---- */

static void check_account(struct valid *v, const struct path *p,
                          const struct api_service_account_subject *s) {
    if (!s) {
        valid__required(v, p, "serviceAccount is required when subject kind is 'ServiceAccount'");
        return;
    }
    if (!s->name.n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
    else if (!str_is(s->name, "*"))
        valid__dns_subdomain(v, AT(p, "name"), s->name);
    if (s->namespace.n)
        valid__dns_label(v, AT(p, "namespace"), s->namespace);
    else
        valid__required(v, AT(p, "namespace"), "must specify namespace for service account");
}

/* A user or a group: name is NULL when there is none. */
static void check_named(struct valid *v, const struct path *p, const struct str *name,
                        const char *required) {
    if (!name)
        valid__required(v, p, "%s", required);
    else if (!name->n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
}

static void check_subject(struct valid *v, const struct path *p,
                          const struct api_flowcontrol_subject *s) {
    static const char *const kinds[] = {"Group", "ServiceAccount", "User", NULL};
    bool is_account = str_is(s->kind, "ServiceAccount"), is_user = str_is(s->kind, "User"),
         is_group = str_is(s->kind, "Group");
    if (!is_account && !is_user && !is_group) {
        valid__not_supported(v, AT(p, "kind"), VALUE_NAMED(s->kind), kinds);
        return;
    }
    if (is_account)
        check_account(v, AT(p, "serviceAccount"), s->service_account);
    else if (is_user)
        check_named(v, AT(p, "user"), s->user ? &s->user->name : NULL,
                    "user is required when subject kind is 'User'");
    else
        check_named(v, AT(p, "group"), s->group ? &s->group->name : NULL,
                    "group is required when subject kind is 'Group'");
    if (!is_account && s->service_account)
        valid__forbidden(v, AT(p, "serviceAccount"),
                         "serviceAccount is forbidden when subject kind is not 'ServiceAccount'");
    if (!is_user && s->user)
        valid__forbidden(v, AT(p, "user"), "user is forbidden when subject kind is not 'User'");
    if (!is_group && s->group)
        valid__forbidden(v, AT(p, "group"), "group is forbidden when subject kind is not 'Group'");
}

/* ---- rules ---- */

static void check_verbs(struct valid *v, const struct path *p, const struct api_strs *verbs) {
    static const char *const known[] = {"create", "delete", "deletecollection", "get",   "list",
                                        "patch",  "proxy",  "update",           "watch", NULL};
    if (!verbs->n)
        valid__required(v, p, "verbs must contain at least one value");
    check_star(v, p, verbs, "verbs");
    if (has_star(verbs))
        return;
    for (size_t i = 0; i < verbs->n; i++)
        if (!valid__one_of(verbs->v[i], known)) {
            valid__not_supported(v, p, valid__strs_value(v->errs->a, verbs), known);
            return;
        }
}

/* What is wrong with a path of a URL; NULL: nothing. */
static const char *url_fault(struct str path) {
    size_t stars = 0;
    if (!path.n)
        return "must not be empty";
    if (str_is(path, "/"))
        return NULL;
    if (path.p[0] != '/')
        return "must start with slash";
    if (str_find_char(path, ' ') != STR_NONE)
        return "must not contain white-space";
    if (str_find(path, STR("//")) != STR_NONE)
        return "must not contain double slash";
    for (size_t i = 0; i < path.n; i++)
        stars += path.p[i] == '*';
    if (stars > 1 || (stars == 1 && !str_ends(path, STR("/*"))))
        return "wildcard can only do suffix matching";
    return NULL;
}

static void check_urls(struct valid *v, const struct path *p, const struct api_strs *urls) {
    if (!urls->n)
        valid__required(v, p, "nonResourceURLs must contain at least one value");
    check_star(v, p, urls, "non-resource URLs");
    if (has_star(urls))
        return;
    for (size_t i = 0; i < urls->n; i++) {
        const char *fault = url_fault(urls->v[i]);
        if (fault)
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(urls->v[i]), "%s", fault);
    }
}

static void check_namespaces(struct valid *v, const struct path *p,
                             const struct api_resource_policy_rule *r) {
    if (!r->namespaces.n && !r->cluster_scope)
        valid__required(v, p,
                        "resource rules that are not cluster scoped must supply at least one "
                        "namespace");
    check_star(v, p, &r->namespaces, "namespaces");
    if (has_star(&r->namespaces))
        return;
    for (size_t i = 0; i < r->namespaces.n; i++) {
        struct names_errs errs = names_check_dns1123_label(r->namespaces.v[i]);
        for (size_t k = 0; k < errs.n; k++)
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(r->namespaces.v[i]),
                           "each member of this list must be '*' or a DNS-1123 label; %.*s",
                           STR_ARG(errs.v[k]));
    }
}

static void check_resource_rule(struct valid *v, const struct path *p,
                                const struct api_resource_policy_rule *r) {
    check_verbs(v, AT(p, "verbs"), &r->verbs);
    if (!r->api_groups.n)
        valid__required(v, AT(p, "apiGroups"), "resource rules must supply at least one api group");
    check_star(v, AT(p, "apiGroups"), &r->api_groups, "api groups");
    if (!r->resources.n)
        valid__required(v, AT(p, "resources"), "resource rules must supply at least one resource");
    check_star(v, AT(p, "resources"), &r->resources, "resources");
    check_namespaces(v, AT(p, "namespaces"), r);
}

static void check_rule(struct valid *v, const struct path *p,
                       const struct api_policy_rules_with_subjects *r) {
    if (!r->subjects.n)
        valid__required(v, AT(p, "subjects"), "subjects must contain at least one value");
    for (size_t i = 0; i < r->subjects.n; i++)
        check_subject(v, AT_INDEX(AT(p, "subjects"), i), &r->subjects.v[i]);
    if (!r->resource_rules.n && !r->non_resource_rules.n)
        valid__required(v, p,
                        "at least one of resourceRules and nonResourceRules has to be non-empty");
    for (size_t i = 0; i < r->resource_rules.n; i++)
        check_resource_rule(v, AT_INDEX(AT(p, "resourceRules"), i), &r->resource_rules.v[i]);
    for (size_t i = 0; i < r->non_resource_rules.n; i++) {
        const struct path *at = AT_INDEX(AT(p, "nonResourceRules"), i);
        check_verbs(v, AT(at, "verbs"), &r->non_resource_rules.v[i].verbs);
        check_urls(v, AT(at, "nonResourceURLs"), &r->non_resource_rules.v[i].non_resource_urls);
    }
}

/* ---- flow schemas ---- */

static void check_precedence(struct valid *v, const struct path *p, int32_t n, struct str name) {
    if (n <= 0)
        valid__invalid(v, p, VALUE_I64(n), "must be a positive value");
    if (n > MOST_PRECEDENCE)
        valid__invalid(v, p, VALUE_I64(n), "must not be greater than %d", MOST_PRECEDENCE);
    if (n == 1 && !str_is(name, "exempt"))
        valid__invalid(v, p, VALUE_I64(n),
                       "only the schema named 'exempt' may have matchingPrecedence 1");
}

static void check_schema_spec(struct valid *v, const struct path *p,
                              const struct api_flow_schema_spec *s, struct str name) {
    static const char *const methods[] = {"ByNamespace", "ByUser", NULL};
    const struct path *level = AT(AT(p, "priorityLevelConfiguration"), "name");
    check_precedence(v, AT(p, "matchingPrecedence"), s->matching_precedence, name);
    if (s->distinguisher_method && !valid__one_of(s->distinguisher_method->type, methods))
        valid__not_supported(v, AT(AT(p, "distinguisherMethod"), "type"),
                             valid__struct_value(v->errs->a, API_T_flow_distinguisher_method,
                                                 s->distinguisher_method),
                             methods);
    if (s->priority_level_configuration.name.n)
        valid__dns_subdomain(v, level, s->priority_level_configuration.name);
    else
        valid__required(v, level, "must reference a priority level");
    for (size_t i = 0; i < s->rules.n; i++)
        check_rule(v, AT_INDEX(AT(p, "rules"), i), &s->rules.v[i]);
}

/* A rule about all requests of some groups. */
static struct api_policy_rules_with_subjects
everything(struct api_flowcontrol_subject_list subjects, struct api_strs all,
           struct api_resource_policy_rule *resources, struct api_non_resource_policy_rule *urls) {
    *resources = (struct api_resource_policy_rule){.verbs = all,
                                                   .api_groups = all,
                                                   .resources = all,
                                                   .namespaces = all,
                                                   .cluster_scope = true};
    *urls = (struct api_non_resource_policy_rule){.verbs = all, .non_resource_urls = all};
    return (struct api_policy_rules_with_subjects){
        .subjects = subjects, .resource_rules = {resources, 1}, .non_resource_rules = {urls, 1}};
}

/* Two schemas are what they are. */
static bool is_as_fixed(const struct api_flow_schema_spec *s, bool is_exempt) {
    struct api_group_subject groups[] = {
        {.name = is_exempt ? STR("system:masters") : STR("system:unauthenticated")},
        {.name = STR("system:authenticated")}};
    struct api_flowcontrol_subject subjects[] = {{.kind = STR("Group"), .group = &groups[0]},
                                                 {.kind = STR("Group"), .group = &groups[1]}};
    struct str star[] = {STR("*")};
    struct api_resource_policy_rule resources;
    struct api_non_resource_policy_rule urls;
    struct api_policy_rules_with_subjects rule =
        everything((struct api_flowcontrol_subject_list){subjects, is_exempt ? 1 : 2},
                   (struct api_strs){star, 1}, &resources, &urls);
    struct api_flow_distinguisher_method by_user = {.type = STR("ByUser")};
    struct api_flow_schema_spec fixed = {.priority_level_configuration.name =
                                             is_exempt ? STR("exempt") : STR("catch-all"),
                                         .matching_precedence = is_exempt ? 1 : MOST_PRECEDENCE,
                                         .distinguisher_method = is_exempt ? NULL : &by_user,
                                         .rules = {&rule, 1}};
    return valid__equal(API_T_flow_schema_spec, s, &fixed);
}

static bool is_fixed(struct str name) {
    return str_is(name, "exempt") || str_is(name, "catch-all");
}

static void check_condition(struct valid *v, const struct path *p, struct str type,
                            struct seen *types) {
    if (!seen_add(types, type))
        valid__duplicate(v, p, VALUE_NAMED(type), NO_DETAIL);
    if (!type.n)
        valid__required(v, p, NO_DETAIL);
}

static void schema_status(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    const struct api_flow_schema_condition_list *list =
        &((const struct api_flow_schema *)o->body)->status.conditions;
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    struct seen types;
    (void)old;
    seen_init(&types);
    for (size_t i = 0; i < list->n; i++)
        check_condition(v, AT(AT_INDEX(p, i), "type"), list->v[i].type, &types);
    seen_release(&types);
}

static void check_schema(struct valid *v, const struct api_object *o) {
    const struct api_flow_schema *schema = o->body;
    const struct path *p = AT(NULL, "spec");
    struct str name = schema->metadata.name;
    check_schema_spec(v, p, &schema->spec, name);
    if (is_fixed(name) && !is_as_fixed(&schema->spec, str_is(name, "exempt")))
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_flow_schema_spec, &schema->spec),
                       "spec of '%.*s' must equal the fixed value", STR_ARG(name));
    schema_status(v, o, NULL);
}

static void create_schema(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_schema(v, o);
}

static void update_schema(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_schema(v, o);
}

/* ---- priority levels ---- */

static void check_hand(struct valid *v, const struct path *p,
                       const struct api_queuing_configuration *q) {
    if (q->hand_size <= 0)
        valid__invalid(v, p, VALUE_I64(q->hand_size), "must be positive");
    else if (q->hand_size > q->queues)
        valid__invalid(v, p, VALUE_I64(q->hand_size), "should not be greater than queues (%d)",
                       q->queues);
    else if (ceil(log2((double)q->queues) * (double)q->hand_size) > MOST_HASH_BITS)
        valid__invalid(v, p, VALUE_I64(q->hand_size),
                       "required entropy bits of deckSize %d and handSize %d should not be "
                       "greater than %d",
                       q->queues, q->hand_size, MOST_HASH_BITS);
}

static void check_queuing(struct valid *v, const struct path *p,
                          const struct api_queuing_configuration *q) {
    if (q->queue_length_limit <= 0)
        valid__invalid(v, AT(p, "queueLengthLimit"), VALUE_I64(q->queue_length_limit),
                       "must be positive");
    if (q->queues <= 0)
        valid__invalid(v, AT(p, "queues"), VALUE_I64(q->queues), "must be positive");
    else if (q->queues > MOST_QUEUES)
        valid__invalid(v, AT(p, "queues"), VALUE_I64(q->queues), "must not be greater than %d",
                       MOST_QUEUES);
    check_hand(v, AT(p, "handSize"), q);
}

static void check_response(struct valid *v, const struct path *p,
                           const struct api_limit_response *r) {
    static const char *const types[] = {"Queue", "Reject", NULL};
    valid__cover(v, "");
    if (str_is(r->type, "Reject") && r->queuing)
        valid__forbidden(v, AT(p, "queuing"),
                         "must be nil if limited.limitResponse.type is not Limited");
    if (str_is(r->type, "Queue") && !r->queuing)
        valid__required(v, AT(p, "queuing"),
                        "must not be empty if limited.limitResponse.type is Limited");
    if (!r->type.n)
        valid__required(v, AT(p, "type"), NO_DETAIL);
    valid__uncover(v);
    if (str_is(r->type, "Queue") && r->queuing)
        check_queuing(v, AT(p, "queuing"), r->queuing);
    if (r->type.n && !valid__one_of(r->type, types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(r->type), types);
}

static void check_shares(struct valid *v, const struct path *p, struct api_opt_i32 shares,
                         struct api_opt_i32 lendable) {
    if (shares.set && shares.v < 0)
        valid__invalid(v, AT(p, "nominalConcurrencyShares"), VALUE_I64(shares.v),
                       "must be a non-negative integer");
    if (lendable.set && (lendable.v < 0 || lendable.v > 100))
        valid__invalid(v, AT(p, "lendablePercent"), VALUE_I64(lendable.v),
                       "must be between 0 and 100, inclusive");
}

static void check_limited(struct valid *v, const struct path *p,
                          const struct api_limited_priority_level_configuration *l) {
    check_shares(v, p, l->nominal_concurrency_shares, (struct api_opt_i32){0});
    check_response(v, AT(p, "limitResponse"), &l->limit_response);
    check_shares(v, p, (struct api_opt_i32){0}, l->lendable_percent);
    if (l->borrowing_limit_percent.set && l->borrowing_limit_percent.v < 0)
        valid__invalid(v, AT(p, "borrowingLimitPercent"), VALUE_I64(l->borrowing_limit_percent.v),
                       "if specified, must be a non-negative integer");
}

/* What must be there, and must not, by the type; that is declared as well. */
static void check_members(struct valid *v, const struct path *p,
                          const struct api_priority_level_configuration_spec *s) {
    valid__cover(v, "");
    if (str_is(s->type, "Exempt") && s->limited)
        valid__forbidden(v, AT(p, "limited"), "must be nil if the type is not Limited");
    if (str_is(s->type, "Limited") && s->exempt)
        valid__forbidden(v, AT(p, "exempt"), "must be nil if the type is Limited");
    if (str_is(s->type, "Limited") && !s->limited)
        valid__required(v, AT(p, "limited"), "must not be empty when type is Limited");
    if (!s->type.n)
        valid__required(v, AT(p, "type"), NO_DETAIL);
    valid__uncover(v);
}

static void check_level_spec(struct valid *v, const struct path *p,
                             const struct api_priority_level_configuration_spec *s,
                             struct str name) {
    static const char *const types[] = {"Exempt", "Limited", NULL};
    if (str_is(name, "exempt") != str_is(s->type, "Exempt"))
        valid__invalid(v, AT(p, "type"), VALUE_NAMED(s->type),
                       "must be 'Exempt' if and only if `name` is 'exempt'");
    check_members(v, p, s);
    if (str_is(s->type, "Exempt") && s->exempt)
        check_shares(v, AT(p, "exempt"), s->exempt->nominal_concurrency_shares,
                     s->exempt->lendable_percent);
    if (str_is(s->type, "Limited") && s->limited)
        check_limited(v, AT(p, "limited"), s->limited);
    if (s->type.n && !valid__one_of(s->type, types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(s->type), types);
}

static void check_fixed_level(struct valid *v, const struct path *p,
                              const struct api_priority_level_configuration_spec *s,
                              struct str name) {
    struct api_limited_priority_level_configuration limited = {
        .nominal_concurrency_shares = {true, 5},
        .lendable_percent = {true, 0},
        .limit_response.type = STR("Reject")};
    struct api_priority_level_configuration_spec catch_all = {.type = STR("Limited"),
                                                              .limited = &limited};
    struct value value =
        valid__struct_value(v->errs->a, API_T_priority_level_configuration_spec, s);
    if (str_is(name, "exempt") && (!str_is(s->type, "Exempt") || s->limited))
        valid__invalid(v, p, value,
                       "spec of 'exempt' except the 'spec.exempt' field must equal the fixed "
                       "value");
    if (str_is(name, "catch-all") &&
        !valid__equal(API_T_priority_level_configuration_spec, s, &catch_all))
        valid__invalid(v, p, value, "spec of 'catch-all' must equal the fixed value");
}

static void level_status(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    const struct api_priority_level_configuration_condition_list *list =
        &((const struct api_priority_level_configuration *)o->body)->status.conditions;
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    struct seen types;
    (void)old;
    seen_init(&types);
    for (size_t i = 0; i < list->n; i++)
        check_condition(v, AT(AT_INDEX(p, i), "type"), list->v[i].type, &types);
    seen_release(&types);
}

static void check_level(struct valid *v, const struct api_object *o) {
    const struct api_priority_level_configuration *level = o->body;
    const struct path *p = AT(NULL, "spec");
    if (labels_find(&level->metadata.annotations, STR(PRESERVE_ZERO)))
        valid__forbidden(v, AT(AT(NULL, "metadata"), "annotations"),
                         "annotation '" PRESERVE_ZERO "' is forbidden");
    check_level_spec(v, p, &level->spec, level->metadata.name);
    if (is_fixed(level->metadata.name))
        check_fixed_level(v, p, &level->spec, level->metadata.name);
    level_status(v, o, NULL);
}

static void create_level(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_level(v, o);
}

static void update_level(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_level(v, o);
}

/* ---- priority levels: declared ---- */

static bool is_same(enum api_type_id type, const void *a, const void *b) {
    return a && b ? valid__equal(type, a, b) : a == b;
}

static void declare_response(struct valid *v, const struct path *p,
                             const struct api_limit_response *r,
                             const struct api_limit_response *old) {
    bool same_type = old && str_eq(r->type, old->type);
    bool is_kept = same_type && is_same(API_T_queuing_configuration, r->queuing, old->queuing);
    bool is_queue = str_is(r->type, "Queue");
    if (!is_kept && is_queue && !r->queuing)
        valid__say_required(v, AT(p, "queuing"));
    if (!is_kept && !is_queue && r->queuing)
        valid__say_forbidden(v, AT(p, "queuing"));
    if (!same_type && !r->type.n)
        valid__say_required(v, AT(p, "type"));
}

static void declared_level(struct valid *v, const struct api_object *o,
                           const struct api_object *before) {
    const struct api_priority_level_configuration_spec *s =
        &((const struct api_priority_level_configuration *)o->body)->spec;
    const struct api_priority_level_configuration_spec *old =
        before ? &((const struct api_priority_level_configuration *)before->body)->spec : NULL;
    const struct path *p = AT(NULL, "spec");
    bool same_type = old && str_eq(s->type, old->type);
    bool same_exempt =
        same_type && is_same(API_T_exempt_priority_level_configuration, s->exempt, old->exempt);
    bool same_limited =
        old && is_same(API_T_limited_priority_level_configuration, s->limited, old->limited);
    bool is_limited = str_is(s->type, "Limited");
    if (!same_exempt && s->exempt && !str_is(s->type, "Exempt"))
        valid__say_forbidden(v, AT(p, "exempt"));
    if (!(same_type && same_limited) && is_limited && !s->limited)
        valid__say_required(v, AT(p, "limited"));
    if (!(same_type && same_limited) && !is_limited && s->limited)
        valid__say_forbidden(v, AT(p, "limited"));
    if (!same_type && !s->type.n)
        valid__say_required(v, AT(p, "type"));
    if (s->limited && !same_limited)
        declare_response(v, AT(AT(p, "limited"), "limitResponse"), &s->limited->limit_response,
                         old && old->limited ? &old->limited->limit_response : NULL);
}

const struct valid_kind valid__flow_schema = {.type = API_T_flow_schema,
                                              .create = create_schema,
                                              .update = update_schema,
                                              .status = schema_status};
const struct valid_kind valid__priority_level_configuration = {
    .type = API_T_priority_level_configuration,
    .create = create_level,
    .update = update_level,
    .status = level_status,
    .declared = declared_level};
