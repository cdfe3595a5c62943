/*
 * What is stored, held against what every cluster has; and roles that are made of others.
 *
 * Follows k8s.io/component-helpers auth/rbac/reconciliation, func computeReconciledRole,
 * func computeReconciledRoleBinding.
 * Follows k8s.io/kubernetes pkg/controller/clusterroleaggregation,
 * func (*ClusterRoleAggregationController) syncClusterRole.
 */
#include "api/selector.h"
#include "auth/bootstrap.h"
#include "auth/rbac_int.h"
#include "base/vec.h"

#define AUTO_UPDATE "rbac.authorization.kubernetes.io/autoupdate"

/* ---- metadata ---- */

static bool is_protected(const struct api_object *stored) {
    const struct label *l = labels_find(&stored->meta->annotations, STR(AUTO_UPDATE));
    return l && str_is(l->value, "false");
}

/* Adds what is missing; true if anything was. */
static bool add_labels(struct arena *a, struct labels *to, const struct labels *expected) {
    bool changed = false;
    for (size_t i = 0; i < expected->n; i++)
        if (!labels_find(to, expected->v[i].key)) {
            labels_put(a, to,
                       (struct label){arena_str(a, expected->v[i].key),
                                      arena_str(a, expected->v[i].value)});
            changed = true;
        }
    return changed;
}

static bool add_metadata(struct api_object *o, const struct api_object *expected) {
    struct api_object_meta *m = api_own_meta(o);
    bool changed = add_labels(&o->arena, &m->annotations, &expected->meta->annotations);
    return add_labels(&o->arena, &m->labels, &expected->meta->labels) || changed;
}

/* ---- rules ---- */

static void append_rule(struct arena *a, struct api_policy_rule_list *list,
                        const struct api_policy_rule *rule) {
    struct api_policy_rule *v = arena_array(a, struct api_policy_rule, list->n + 1);
    if (list->n)
        memcpy(v, list->v, list->n * sizeof *v);
    api_struct_copy(a, &api_types[API_T_policy_rule], rule, &v[list->n]);
    *list = (struct api_policy_rule_list){.v = v, .n = list->n + 1};
}

static bool add_rules(struct api_object *o, struct api_policy_rule_list *rules,
                      const struct api_policy_rule_list *expected) {
    AUTO(arena_release) struct arena a = {0};
    struct auth__rules_list missing = {0};
    const struct api_policy_rule **held = arena_array(&a, const struct api_policy_rule *, rules->n);
    for (size_t i = 0; i < rules->n; i++)
        held[i] = &rules->v[i];
    auth__rules_missing(&a, held, rules->n, expected, &missing);
    for (size_t i = 0; i < missing.n; i++)
        append_rule(&o->arena, rules, &missing.v[i]);
    bool changed = missing.n > 0;
    vec_release(&missing);
    return changed;
}

static bool has_selector(const struct api_aggregation_rule *rule,
                         const struct api_label_selector *s) {
    for (size_t i = 0; rule && i < rule->cluster_role_selectors.n; i++) {
        const struct api_label_selector *one = &rule->cluster_role_selectors.v[i];
        if (labels_equal(&one->match_labels, &s->match_labels) && !one->match_expressions.n)
            return true;
    }
    return false;
}

/* The selectors of the table have labels alone. */
static bool add_selectors(struct api_object *o, const struct api_aggregation_rule *expected) {
    struct api_cluster_role *role = api_own_body(o);
    bool changed = !expected && role->aggregation_rule;
    if (!expected)
        role->aggregation_rule = NULL;
    for (size_t i = 0; expected && i < expected->cluster_role_selectors.n; i++) {
        const struct api_label_selector *s = &expected->cluster_role_selectors.v[i];
        if (has_selector(role->aggregation_rule, s))
            continue;
        struct api_aggregation_rule *rule = arena_new(&o->arena, struct api_aggregation_rule);
        const struct api_label_selector_list *old =
            role->aggregation_rule ? &role->aggregation_rule->cluster_role_selectors : NULL;
        size_t n = old ? old->n : 0;
        rule->cluster_role_selectors.n = n + 1;
        rule->cluster_role_selectors.v = arena_array(&o->arena, struct api_label_selector, n + 1);
        if (n)
            memcpy(rule->cluster_role_selectors.v, old->v, n * sizeof *old->v);
        api_struct_copy(&o->arena, &api_types[API_T_label_selector], s,
                        &rule->cluster_role_selectors.v[n]);
        role->aggregation_rule = rule;
        changed = true;
    }
    return changed;
}

static bool add_to_role(struct api_object *o, const struct api_object *expected) {
    if (api_object_is(o, API_T_role)) {
        struct api_role *role = api_own_body(o);
        return add_rules(o, &role->rules, &((const struct api_role *)expected->body)->rules);
    }
    struct api_cluster_role *role = api_own_body(o);
    const struct api_cluster_role *wanted = expected->body;
    bool changed = add_rules(o, &role->rules, &wanted->rules);
    return add_selectors(o, wanted->aggregation_rule) || changed;
}

/* ---- subjects ---- */

static bool is_same_subject(const struct api_subject *a, const struct api_subject *b) {
    return str_eq(a->kind, b->kind) && str_eq(a->api_group, b->api_group) &&
           str_eq(a->name, b->name) && str_eq(a->namespace, b->namespace);
}

static bool has_subject(const struct api_subject_list *list, const struct api_subject *s) {
    for (size_t i = 0; i < list->n; i++)
        if (is_same_subject(&list->v[i], s))
            return true;
    return false;
}

static bool add_subjects(struct api_object *o, const struct api_object *expected) {
    struct api_subject_list *list =
        api_object_is(o, API_T_role_binding)
            ? &((struct api_role_binding *)api_own_body(o))->subjects
            : &((struct api_cluster_role_binding *)api_own_body(o))->subjects;
    const struct api_subject_list *wanted = auth__subjects(expected);
    bool changed = false;
    for (size_t i = 0; i < wanted->n; i++) {
        if (has_subject(list, &wanted->v[i]))
            continue;
        struct api_subject *v = arena_array(&o->arena, struct api_subject, list->n + 1);
        if (list->n)
            memcpy(v, list->v, list->n * sizeof *v);
        api_struct_copy(&o->arena, &api_types[API_T_subject], &wanted->v[i], &v[list->n]);
        *list = (struct api_subject_list){.v = v, .n = list->n + 1};
        changed = true;
    }
    return changed;
}

static bool binds_same_role(const struct api_object *a, const struct api_object *b) {
    const struct api_role_ref *x = auth__role_ref(a), *y = auth__role_ref(b);
    return str_eq(x->api_group, y->api_group) && str_eq(x->kind, y->kind) &&
           str_eq(x->name, y->name);
}

/* ---- reconciliation ---- */

static bool is_binding(const struct api_object *o) {
    return api_object_is(o, API_T_role_binding) || api_object_is(o, API_T_cluster_role_binding);
}

enum auth_reconciliation auth_reconcile(const struct api_object *expected,
                                        const struct api_object *stored, struct api_object **out) {
    *out = NULL;
    if (stored && is_protected(stored))
        return AUTH_RECONCILE_NONE;
    bool of_binding = is_binding(expected);
    if (!stored || (of_binding && !binds_same_role(expected, stored))) {
        *out = api_object_copy(expected);
        return stored ? AUTH_RECONCILE_RECREATE : AUTH_RECONCILE_CREATE;
    }
    struct api_object *o = api_object_copy(stored);
    bool changed = add_metadata(o, expected);
    if (of_binding ? add_subjects(o, expected) : add_to_role(o, expected))
        changed = true;
    if (!changed) {
        api_object_free(o);
        return AUTH_RECONCILE_NONE;
    }
    *out = o;
    return AUTH_RECONCILE_UPDATE;
}

/* ---- roles that are made of others ---- */

static bool is_same_rule(const struct api_policy_rule *x, const struct api_policy_rule *y) {
    AUTO(arena_release) struct arena a = {0};
    struct json p = api_struct_encode(&a, &api_types[API_T_policy_rule], x);
    struct json q = api_struct_encode(&a, &api_types[API_T_policy_rule], y);
    return json_equal(&p, &q);
}

struct rule_set {
    VEC(const struct api_policy_rule *) rules;
    struct map seen; /* rules as JSON */
    struct arena arena;
};

static void add_once(struct rule_set *set, const struct api_policy_rule *rule) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = api_struct_encode(&set->arena, &api_types[API_T_policy_rule], rule);
    json_write(&text, &tree, NULL);
    if (map_get(&set->seen, buf_view(&text)))
        return;
    map_put(&set->seen, arena_str(&set->arena, buf_view(&text)), set);
    vec_push(&set->rules, rule);
}

static void collect(struct rule_set *set, const struct api_object *role,
                    const struct api_label_selector *spec, const struct api_object *const *roles,
                    size_t count) {
    struct selector *selector;
    if (selector_compile(&set->arena, spec, &selector, NULL) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct api_cluster_role *other = roles[i]->body;
        if (str_eq(roles[i]->meta->name, role->meta->name) ||
            !selector_matches(selector, &roles[i]->meta->labels))
            continue;
        for (size_t k = 0; k < other->rules.n; k++)
            add_once(set, &other->rules.v[k]);
    }
}

static bool has_rules(const struct api_policy_rule_list *list, const struct rule_set *set) {
    bool same = list->n == set->rules.n;
    for (size_t i = 0; same && i < list->n; i++)
        same = is_same_rule(&list->v[i], set->rules.v[i]);
    return same;
}

struct api_object *auth_aggregate(const struct api_object *role,
                                  const struct api_object *const *roles, size_t count) {
    const struct api_cluster_role *body = role->body;
    const struct api_aggregation_rule *rule = body->aggregation_rule;
    struct rule_set set = {.seen = MAP_INIT(map_random_seed())};
    struct api_object *out = NULL;
    for (size_t i = 0; rule && i < rule->cluster_role_selectors.n; i++)
        collect(&set, role, &rule->cluster_role_selectors.v[i], roles, count);
    if (rule && !has_rules(&body->rules, &set)) {
        out = api_object_copy(role);
        struct api_policy_rule_list *list = &((struct api_cluster_role *)api_own_body(out))->rules;
        *list = (struct api_policy_rule_list){
            .v = arena_array(&out->arena, struct api_policy_rule, set.rules.n), .n = set.rules.n};
        for (size_t i = 0; i < set.rules.n; i++)
            api_struct_copy(&out->arena, &api_types[API_T_policy_rule], set.rules.v[i],
                            &list->v[i]);
    }
    vec_release(&set.rules);
    map_release(&set.seen);
    arena_release(&set.arena);
    return out;
}
