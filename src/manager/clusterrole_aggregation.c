/*
 * ClusterRoles that are made of others: their rules are those of all roles that they select.
 *
 * Follows k8s.io/kubernetes pkg/controller/clusterroleaggregation,
 * func (*ClusterRoleAggregationController) syncClusterRole.
 */
#include <stdlib.h>

#include "api/selector.h"
#include "base/map.h"
#include "base/vec.h"
#include "manager/controller_int.h"
#include "manager/members_int.h"

struct aggregation {
    struct manager__base base; /* keys: roles */
    struct informer *roles;
};

/* Rules as texts, each once. */
struct rule_list {
    struct arena *arena;
    struct map roles; /* whose rules are there, by name */
    struct map known;
    VEC(struct str) v;
};

static const struct api_cluster_role *body_of(const struct api_object *o) {
    return o->body;
}

static struct str text_of(struct arena *a, const struct api_policy_rule *rule) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json tree = api_struct_encode(a, &api_types[API_T_policy_rule], rule);
    json_write(&text, &tree, NULL);
    return arena_str(a, buf_view(&text));
}

static void add_rules(struct rule_list *list, const struct api_cluster_role *role) {
    for (size_t i = 0; i < role->rules.n; i++) {
        struct str text = text_of(list->arena, &role->rules.v[i]);
        if (map_put_const(&list->known, text, role))
            continue;
        vec_push(&list->v, text);
    }
}

static int by_name(const void *x, const void *y) {
    const struct api_object *a = *(const struct api_object *const *)x,
                            *b = *(const struct api_object *const *)y;
    return str_cmp(a->meta->name, b->meta->name);
}

/* The rules of the roles that a selector selects, in the order of their names. */
static int select_rules(const struct aggregation *c, struct rule_list *list,
                        const struct api_object *o, const struct api_label_selector *spec) {
    AUTO(arena_release) struct arena scratch = {0};
    struct selector *selector;
    size_t found = 0;
    if (selector_compile(&scratch, spec, &selector, NULL) < 0)
        return -1;
    struct manager__objects roles = members__find(
        manager__members(c->base.manager, c->roles, false), &scratch, STR(""), selector);
    for (size_t i = 0; i < roles.n; i++)
        if (roles.v[i] != o && !map_get_const(&list->roles, roles.v[i]->meta->name))
            roles.v[found++] = roles.v[i];
    if (found)
        qsort(roles.v, found, sizeof *roles.v, by_name);
    for (size_t i = 0; i < found; i++) {
        map_put_const(&list->roles, roles.v[i]->meta->name, roles.v[i]);
        add_rules(list, roles.v[i]->body);
    }
    return 0;
}

static bool are_equal(struct arena *a, const struct rule_list *list,
                      const struct api_policy_rule_list *rules) {
    if (list->v.n != rules->n)
        return false;
    for (size_t i = 0; i < rules->n; i++)
        if (!str_eq(list->v.v[i], text_of(a, &rules->v[i])))
            return false;
    return true;
}

static void apply(struct work *w, const struct rule_list *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const struct api_kind *kind = client_kind(API_T_cluster_role);
    buf_addf(&text, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%.*s\"}",
             kind->api_version, kind->kind, STR_ARG(work_name(w)));
    for (size_t i = 0; i < list->v.n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : ",\"rules\":[", STR_ARG(list->v.v[i]));
    buf_addf(&text, "%s}", list->v.n ? "]" : "");
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                       .kind = kind,
                                       .name = work_name(w),
                                       .patch_type = CLIENT_APPLY,
                                       .patch = arena_str(work_arena(w), buf_view(&text)),
                                       .field_manager = STR("clusterrole-aggregation-controller"),
                                       .force = true},
              NULL, NULL);
}

static void sync(void *self, struct work *w, const struct api_object *o) {
    struct aggregation *c = self;
    const struct api_aggregation_rule *rule = body_of(o)->aggregation_rule;
    struct rule_list list = {.arena = work_arena(w),
                             .roles = MAP_INIT(c->base.manager->seed),
                             .known = MAP_INIT(c->base.manager->seed)};
    bool is_good = rule;
    for (size_t i = 0; is_good && i < rule->cluster_role_selectors.n; i++)
        is_good = select_rules(c, &list, o, &rule->cluster_role_selectors.v[i]) == 0;
    if (is_good && !are_equal(list.arena, &list, &body_of(o)->rules))
        apply(w, &list);
    map_release(&list.roles);
    map_release(&list.known);
    vec_release(&list.v);
}

/* Any role may be part of any other. */
static void enqueue(void *self) {
    struct aggregation *c = self;
    size_t n;
    const struct api_object *const *all = informer_find(c->roles, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n; i++)
        if (body_of(all[i])->aggregation_rule)
            workqueue_add_object(c->base.queue, all[i]);
}

/* Those that are there at first are looked at together. */
static void role_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct aggregation *c = self;
    (void)old;
    (void)o;
    if (informer_has_synced(c->roles))
        enqueue(c);
}

static void role_deleted(void *self, const struct api_object *last) {
    (void)last;
    enqueue(self);
}

const struct manager__controller manager__clusterrole_aggregation = {
    .size = sizeof(struct aggregation),
    .queues = {{"ClusterRoleAggregator", sync, .names = API_T_cluster_role}},
    .kinds = {{API_T_cluster_role, .at = offsetof(struct aggregation, roles), .set = role_set,
               .deleted = role_deleted, .synced = enqueue}},
};
