/*
 * Roles and bindings.
 *
 * Follows k8s.io/kubernetes pkg/apis/rbac/validation, func ValidateRole, func ValidateClusterRole,
 * func ValidatePolicyRule, func ValidateRoleBinding, func ValidateClusterRoleBinding,
 * func ValidateRoleBindingSubject.
 */
#include "api/selector.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- rules ---- */

/* That a rule has verbs is a declared rule: then it comes last, and what an update does not change
 * is no concern of it. */
static bool are_rules_declared(const struct valid *v, const struct api_policy_rule_list *rules,
                               const struct api_policy_rule_list *old) {
    return valid__has_declared(v) && !(old && valid__equal_lists(API_T_policy_rule, rules, old));
}

static void check_urls(struct valid *v, const struct path *p, const struct api_policy_rule *r,
                       bool namespaced) {
    struct value urls = valid__strs_value(v->errs->a, &r->non_resource_urls);
    if (namespaced)
        valid__invalid(v, AT(p, "nonResourceURLs"), urls,
                       "namespaced rules cannot apply to non-resource URLs");
    if (r->api_groups.n || r->resources.n || r->resource_names.n)
        valid__invalid(v, AT(p, "nonResourceURLs"), urls,
                       "rules cannot apply to both regular resources and non-resource URLs");
}

static void check_rule(struct valid *v, const struct path *p, const struct api_policy_rule *r,
                       bool namespaced, bool is_declared) {
    if (!r->verbs.n && !valid__covers(v, is_declared))
        valid__required(v, AT(p, "verbs"), "verbs must contain at least one value");
    if (r->non_resource_urls.n) {
        check_urls(v, p, r, namespaced);
        return;
    }
    if (!r->api_groups.n)
        valid__required(v, AT(p, "apiGroups"), "resource rules must supply at least one api group");
    if (!r->resources.n)
        valid__required(v, AT(p, "resources"), "resource rules must supply at least one resource");
}

static void check_rules(struct valid *v, const struct api_policy_rule_list *rules,
                        const struct api_policy_rule_list *old, bool namespaced) {
    bool is_declared = are_rules_declared(v, rules, old);
    for (size_t i = 0; i < rules->n; i++)
        check_rule(v, AT_INDEX(AT(NULL, "rules"), i), &rules->v[i], namespaced, is_declared);
}

static void declare_rules(struct valid *v, const struct api_policy_rule_list *rules,
                          const struct api_policy_rule_list *old) {
    if (!are_rules_declared(v, rules, old))
        return;
    for (size_t i = 0; i < rules->n; i++)
        if (!rules->v[i].verbs.n)
            valid__required(v, AT(AT_INDEX(AT(NULL, "rules"), i), "verbs"), NO_DETAIL);
}

/* ---- roles ---- */

static const struct api_policy_rule_list *rules_of(const struct api_object *o) {
    if (!o)
        return NULL;
    return api_object_is(o, API_T_role) ? &((const struct api_role *)o->body)->rules
                                        : &((const struct api_cluster_role *)o->body)->rules;
}

static void create_role(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_rules(v, rules_of(o), NULL, true);
}

static void update_role(struct valid *v, const struct api_object *o, const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_rules(v, rules_of(o), rules_of(old), true);
}

static void declared_role(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    declare_rules(v, rules_of(o), rules_of(old));
}

static const struct api_aggregation_rule *aggregation_of(const struct api_object *o) {
    return ((const struct api_cluster_role *)o->body)->aggregation_rule;
}

static void check_aggregation(struct valid *v, const struct api_aggregation_rule *r,
                              const struct selector_rules *selectors) {
    const struct path *p = AT(AT(NULL, "aggregationRule"), "clusterRoleSelectors");
    if (!r)
        return;
    if (!r->cluster_role_selectors.n)
        valid__required(v, p,
                        "at least one clusterRoleSelector required if aggregationRule is non-nil");
    for (size_t i = 0; i < r->cluster_role_selectors.n; i++) {
        const struct api_label_selector *s = &r->cluster_role_selectors.v[i];
        valid__label_selector(v, AT_INDEX(p, i), s, selectors);
        if (selector_compile(v->errs->a, s, &(struct selector *){NULL}, NULL) < 0)
            valid__invalid(v, AT_INDEX(p, i), VALUE_JSON((struct json){.kind = JSON_NULL}),
                           "invalid label selector.");
    }
}

/* Does one of the selectors break rules? Then others may do so, too. */
static bool has_bad_selector(const struct valid *v, const struct api_aggregation_rule *r) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    for (size_t i = 0; r && !errs.found && i < r->cluster_role_selectors.n; i++)
        valid__label_selector(&trial, NULL, &r->cluster_role_selectors.v[i],
                              &(struct selector_rules){0});
    return errs.found;
}

static void create_cluster_role(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_rules(v, rules_of(o), NULL, false);
    check_aggregation(v, aggregation_of(o), &(struct selector_rules){0});
}

static void update_cluster_role(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    struct selector_rules selectors = {has_bad_selector(v, aggregation_of(old))};
    valid__metadata_update(v, o, old);
    check_rules(v, rules_of(o), rules_of(old), false);
    check_aggregation(v, aggregation_of(o), &selectors);
}

/* ---- bindings ---- */

struct binding {
    const struct api_role_ref *role;
    const struct api_subject_list *subjects;
};

static struct binding binding_of(const struct api_object *o) {
    if (api_object_is(o, API_T_role_binding)) {
        const struct api_role_binding *b = o->body;
        return (struct binding){&b->role_ref, &b->subjects};
    }
    const struct api_cluster_role_binding *b = o->body;
    return (struct binding){&b->role_ref, &b->subjects};
}

static void check_role_ref(struct valid *v, const struct api_role_ref *r, bool namespaced,
                           bool is_declared) {
    static const char *const groups[] = {GROUP, NULL};
    static const char *const kinds[] = {"Role", "ClusterRole", NULL};
    static const char *const cluster_kinds[] = {"ClusterRole", NULL};
    const char *const *may = namespaced ? kinds : cluster_kinds;
    const struct path *p = AT(NULL, "roleRef");
    if (!str_is(r->api_group, GROUP))
        valid__not_supported(v, AT(p, "apiGroup"), VALUE_Q(r->api_group), groups);
    if (!valid__one_of(r->kind, may))
        valid__not_supported(v, AT(p, "kind"), VALUE_Q(r->kind), may);
    if (!r->name.n && !valid__covers(v, is_declared))
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (!r->name.n)
        return;
    struct names_errs errs = valid__name_path_segment(r->name, false);
    valid__names(v, AT(p, "name"), r->name, &errs);
}

static void check_account(struct valid *v, const struct path *p, const struct api_subject *s,
                          bool namespaced) {
    static const char *const none[] = {"", NULL};
    if (s->name.n)
        valid__dns_subdomain(v, AT(p, "name"), s->name);
    if (s->api_group.n)
        valid__not_supported(v, AT(p, "apiGroup"), VALUE_Q(s->api_group), none);
    if (!namespaced && !s->namespace.n)
        valid__required(v, AT(p, "namespace"), NO_DETAIL);
}

static void check_subject(struct valid *v, const struct path *p, const struct api_subject *s,
                          bool namespaced, bool is_declared) {
    static const char *const groups[] = {GROUP, NULL};
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    if (!s->name.n && !valid__covers(v, is_declared))
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (str_is(s->kind, "ServiceAccount"))
        check_account(v, p, s, namespaced);
    else if (!valid__one_of(s->kind, kinds))
        valid__not_supported(v, AT(p, "kind"), VALUE_Q(s->kind), kinds);
    else if (!str_is(s->api_group, GROUP))
        valid__not_supported(v, AT(p, "apiGroup"), VALUE_Q(s->api_group), groups);
}

static bool are_subjects_declared(const struct valid *v, const struct binding *b,
                                  const struct binding *old) {
    return valid__has_declared(v) &&
           !(old && valid__equal_lists(API_T_subject, b->subjects, old->subjects));
}

static void check_binding(struct valid *v, const struct api_object *o, const struct binding *old) {
    struct binding b = binding_of(o);
    bool namespaced = o->kind->namespaced;
    bool is_declared = are_subjects_declared(v, &b, old);
    check_role_ref(v, b.role, namespaced, valid__has_declared(v) && !old);
    for (size_t i = 0; i < b.subjects->n; i++)
        check_subject(v, AT_INDEX(AT(NULL, "subjects"), i), &b.subjects->v[i], namespaced,
                      is_declared);
}

static void create_binding(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_binding(v, o, NULL);
}

static void update_binding(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    struct binding b = binding_of(o), was = binding_of(old);
    valid__metadata_update(v, o, old);
    check_binding(v, o, &was);
    if (!valid__equal(API_T_role_ref, b.role, was.role))
        valid__immutable(v, AT(NULL, "roleRef"),
                         valid__struct_value(v->errs->a, API_T_role_ref, b.role));
}

static void declared_binding(struct valid *v, const struct api_object *o,
                             const struct api_object *old) {
    struct binding b = binding_of(o), was = old ? binding_of(old) : (struct binding){0};
    bool is_declared = are_subjects_declared(v, &b, old ? &was : NULL);
    for (size_t i = 0; is_declared && i < b.subjects->n; i++)
        if (!b.subjects->v[i].name.n)
            valid__required(v, AT(AT_INDEX(AT(NULL, "subjects"), i), "name"), NO_DETAIL);
    if (valid__has_declared(v) && !old && !b.role->name.n)
        valid__required(v, AT(AT(NULL, "roleRef"), "name"), NO_DETAIL);
}

const struct valid_kind valid__role = {
    .type = API_T_role, .create = create_role, .update = update_role, .declared = declared_role};
const struct valid_kind valid__cluster_role = {.type = API_T_cluster_role,
                                               .create = create_cluster_role,
                                               .update = update_cluster_role,
                                               .declared = declared_role};
const struct valid_kind valid__role_binding = {.type = API_T_role_binding,
                                               .create = create_binding,
                                               .update = update_binding,
                                               .declared = declared_binding};
const struct valid_kind valid__cluster_role_binding = {.type = API_T_cluster_role_binding,
                                                       .create = create_binding,
                                                       .update = update_binding,
                                                       .declared = declared_binding};
