/*
 * Conditions of nodes as taints, and how fast zones may lose nodes.
 *
 * Follows k8s.io/kubernetes pkg/controller/nodelifecycle, func (*Controller)
 * doNoScheduleTaintingPass.
 */
#include "manager/node_taints_int.h"

#include "base/clock.h"
#include "manager/pods_int.h"

#define NOT_READY     "node.kubernetes.io/not-ready"
#define UNREACHABLE   "node.kubernetes.io/unreachable"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

/* Which status of which condition is which taint. */
static const struct {
    const char *type, *status, *key;
} rules[] = {
    {"Ready", "False", NOT_READY},
    {"Ready", "Unknown", UNREACHABLE},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static const char *const execute_keys[] = {
    [MANAGER__EXECUTE_NOT_READY] = NOT_READY,
    [MANAGER__EXECUTE_UNREACHABLE] = UNREACHABLE,
};

/* ---- conditions ---- */

static struct api_node_condition *find_condition(const struct api_node_condition_list *list,
                                                 const char *type) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

enum manager__readiness manager__readiness_of(const struct api_node *node) {
    const struct api_node_condition *c = find_condition(&node->status.conditions, "Ready");
    if (!c)
        return MANAGER__NEVER_SAID;
    if (str_is(c->status, "True"))
        return MANAGER__READY;
    return str_is(c->status, "False") ? MANAGER__NOT_READY : MANAGER__UNREACHABLE;
}

static void mark_condition(struct api_node_condition_list *list, const char *type,
                           struct api_time created, int64_t now) {
    struct api_node_condition *c = find_condition(list, type);
    if (!c) {
        c = &list->v[list->n++];
        *c = (struct api_node_condition){
            .type = str_of(type),
            .reason = STR("NodeStatusNeverUpdated"),
            .message = STR("Kubelet never posted node status."),
            .last_heartbeat_time = created,
        };
    } else if (str_is(c->status, "Unknown"))
        return;
    else {
        c->reason = STR("NodeStatusUnknown");
        c->message = STR("Kubelet stopped posting node status.");
    }
    c->status = STR("Unknown");
    c->last_transition_time = manager__time(now);
}

bool manager__mark_unknown(struct arena *a, const struct api_object *node, int64_t now,
                           struct api_node_status *status) {
    static const char *const types[] = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
    enum { TYPES = sizeof types / sizeof types[0] };
    *status = ((const struct api_node *)node->body)->status;
    const struct api_node_condition *ready = find_condition(&status->conditions, "Ready");
    if (ready && str_is(ready->status, "Unknown"))
        return false;
    struct api_node_condition_list *list = &status->conditions;
    struct api_node_condition *v = arena_array(a, struct api_node_condition, list->n + TYPES);
    if (list->n)
        memcpy(v, list->v, list->n * sizeof *v);
    list->v = v;
    for (size_t i = 0; i < TYPES; i++)
        mark_condition(list, types[i], node->meta->creation_timestamp, now);
    return true;
}

/* ---- taints ---- */

static bool is_taint(const struct api_taint *t, const char *key, const char *effect) {
    return str_is(t->key, key) && str_is(t->effect, effect);
}

static bool has_taint(const struct api_taint_list *list, const char *key, const char *effect) {
    for (size_t i = 0; i < list->n; i++)
        if (is_taint(&list->v[i], key, effect))
            return true;
    return false;
}

bool manager__has_execute(const struct api_node *node, enum manager__execute which) {
    return has_taint(&node->spec.taints, execute_keys[which], "NoExecute");
}

/* Is the NoSchedule taint of this key wanted, by a condition or by whoever closed the node? */
static bool is_wanted(const struct api_node *node, struct str key) {
    if (str_is(key, UNSCHEDULABLE))
        return node->spec.unschedulable;
    for (size_t i = 0; i < RULES; i++) {
        const struct api_node_condition *c =
            find_condition(&node->status.conditions, rules[i].type);
        if (c && str_is(key, rules[i].key) && str_is(c->status, rules[i].status))
            return true;
    }
    return false;
}

static bool is_own_key(struct str key) {
    for (size_t i = 0; i < RULES; i++)
        if (str_is(key, rules[i].key))
            return true;
    return str_is(key, UNSCHEDULABLE);
}

static bool stays(const struct api_node *node, const struct api_taint *t,
                  enum manager__execute execute) {
    if (str_is(t->effect, "NoSchedule") && is_own_key(t->key))
        return is_wanted(node, t->key);
    if (execute == MANAGER__AS_IT_IS || !str_is(t->effect, "NoExecute"))
        return true;
    if (!str_is(t->key, NOT_READY) && !str_is(t->key, UNREACHABLE))
        return true;
    return execute != MANAGER__EXECUTE_NONE && str_is(t->key, execute_keys[execute]);
}

static void add_taint(struct api_taint_list *list, const char *key, const char *effect,
                      int64_t now) {
    if (!has_taint(list, key, effect))
        list->v[list->n++] = (struct api_taint){
            .key = str_of(key), .effect = str_of(effect), .time_added = manager__time(now)};
}

bool manager__wanted_taints(struct arena *a, const struct api_node *node,
                            enum manager__execute execute, int64_t now,
                            struct api_taint_list *out) {
    const struct api_taint_list *old = &node->spec.taints;
    *out = (struct api_taint_list){arena_array(a, struct api_taint, old->n + RULES + 2), 0};
    for (size_t i = 0; i < old->n; i++)
        if (stays(node, &old->v[i], execute))
            out->v[out->n++] = old->v[i];
    size_t kept = out->n;
    for (size_t i = 0; i < RULES; i++)
        if (is_wanted(node, str_of(rules[i].key)))
            add_taint(out, rules[i].key, "NoSchedule", now);
    if (node->spec.unschedulable)
        add_taint(out, UNSCHEDULABLE, "NoSchedule", now);
    if (execute > MANAGER__EXECUTE_NONE)
        add_taint(out, execute_keys[execute], "NoExecute", now);
    return kept != old->n || out->n != kept;
}

bool manager__wanted_labels(struct arena *a, struct labels *labels) {
    static const struct {
        struct str from, to;
    } pairs[] = {
        {STR_INIT("kubernetes.io/os"), STR_INIT("beta.kubernetes.io/os")},
        {STR_INIT("kubernetes.io/arch"), STR_INIT("beta.kubernetes.io/arch")},
    };
    bool changes = false;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct label *from = labels_find(labels, pairs[i].from);
        const struct label *to = labels_find(labels, pairs[i].to);
        if (!from || (to && str_eq(from->value, to->value)))
            continue;
        labels_put(a, labels, (struct label){pairs[i].to, from->value});
        changes = true;
    }
    return changes;
}

/* ---- zones ---- */

enum manager__zone_state manager__zone_state(size_t ready, size_t not_ready) {
    if (ready == 0 && not_ready > 0)
        return MANAGER__FULL_DISRUPTION;
    if (not_ready > 2 && (float)not_ready / (float)(not_ready + ready) >= 0.55f)
        return MANAGER__PARTIAL_DISRUPTION;
    return MANAGER__NORMAL;
}

int64_t manager__zone_pause(enum manager__zone_state state, size_t nodes) {
    enum { LARGE_CLUSTER = 50 };
    if (state != MANAGER__PARTIAL_DISRUPTION)
        return 10 * CLOCK_SECOND;
    return nodes > LARGE_CLUSTER ? 100 * CLOCK_SECOND : INT64_MAX;
}

static struct str value_of(const struct labels *labels, struct str key, struct str other) {
    const struct label *l = labels_find(labels, key);
    if (!l)
        l = labels_find(labels, other);
    return l ? l->value : STR("");
}

struct str manager__zone_of(struct arena *a, const struct labels *labels) {
    struct str zone = value_of(labels, STR("failure-domain.beta.kubernetes.io/zone"),
                               STR("topology.kubernetes.io/zone"));
    struct str region = value_of(labels, STR("failure-domain.beta.kubernetes.io/region"),
                                 STR("topology.kubernetes.io/region"));
    if (!zone.n && !region.n)
        return STR("");
    return arena_printf(a, "%.*s/%.*s", STR_ARG(region), STR_ARG(zone));
}
