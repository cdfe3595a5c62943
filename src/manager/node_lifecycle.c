/*
 * The node-lifecycle controller: a node whose Lease and status are not renewed is unreachable, and
 * conditions of nodes are taints.
 *
 * Every node is a key. It is looked at when its object changes, and when its time to be heard of
 * would be over; a renewal of its Lease only moves that time. NoExecute taints are handed out one
 * after the other in each zone, slower or not at all when much of the zone is in trouble, and none
 * when nothing is left: then it is rather the controller that cannot reach anybody.
 *
 * Follows k8s.io/kubernetes pkg/controller/nodelifecycle, func (*Controller) monitorNodeHealth.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "feature/feature.h"
#include "manager/controller_int.h"
#include "manager/node_taints_int.h"
#include "manager/pod_mark_int.h"
#include "manager/pods_int.h"
#include "net/loop.h"

/* --node-monitor-grace-period and --node-startup-grace-period. */
#define GRACE         (50 * CLOCK_SECOND)
#define STARTUP_GRACE (60 * CLOCK_SECOND)

/* --node-monitor-period: what could not be decided is looked at again after this. */
#define MONITOR_PERIOD (5 * CLOCK_SECOND)

static const struct str lease_namespace = STR_INIT("kube-node-lease");

struct zone {
    size_t ready, not_ready;
    enum manager__zone_state state;
    int64_t next_at; /* monotonic time at which the next node may be given a NoExecute taint */
    struct known_node *nodes;
    size_t name_size;
    char name[];
};

/* What is remembered of a node. */
struct known_node {
    struct zone *zone;               /* in which it is counted; NULL: it is not */
    struct known_node *next, **link; /* in the zone */
    bool is_ready;                   /* as it is counted */
    bool is_judged;                  /* it was looked at before */
    bool fell_silent;                /* it was ready before that was found; not told yet */
    bool owes_marks;                 /* its pods are to be marked as not ready */
    bool has_turn;                   /* it may be given a NoExecute taint */
    int64_t seen;                    /* monotonic time at which it was last heard of */
    struct api_time heartbeat;       /* of Ready, as it was then */
    size_t name_size;
    char name[];
};

struct lifecycle {
    struct manager__base base; /* keys: nodes */
    struct informer *pods, *leases;
    struct map known;        /* by name: struct known_node */
    struct map zones;        /* by name: struct zone; those that have nodes */
    size_t ready, not_ready; /* nodes of all zones */
    bool is_lost;            /* all zones are in full disruption */
    struct arena scratch;
};

static int64_t now_of(const struct lifecycle *l) {
    return manager__mono(l->base.manager);
}

/* ---- zones ---- */

static struct zone *zone_of(struct lifecycle *l, const struct api_object *node) {
    struct str name = manager__zone_of(&l->scratch, &node->meta->labels);
    struct zone *zone = map_get(&l->zones, name);
    if (!zone) {
        zone = xcalloc(1, sizeof *zone + name.n);
        memcpy(zone->name, name.p, name.n);
        zone->name_size = name.n;
        map_put(&l->zones, (struct str){zone->name, name.n}, zone);
    }
    arena_reset(&l->scratch);
    return zone;
}

static void wake(struct lifecycle *l, const struct known_node *k) {
    workqueue_add(l->base.queue, STR(""), (struct str){k->name, k->name_size});
}

/* How long after one node of the zone the next one comes; INT64_MAX: none does. */
static int64_t pause_of(const struct zone *zone, bool is_lost) {
    return is_lost ? INT64_MAX : manager__zone_pause(zone->state, zone->ready + zone->not_ready);
}

/* Who waits for a turn when the pause changes waits for the whole of the new one.
 *
 * Follows k8s.io/kubernetes pkg/controller/nodelifecycle/scheduler,
 * func (*RateLimitedTimedQueue) SwapLimiter. */
static void swap_pause(const struct lifecycle *l, struct zone *zone, int64_t before,
                       int64_t pause) {
    int64_t now = now_of(l);
    bool waits = before == INT64_MAX || now < zone->next_at;
    if (waits && pause != before && pause != INT64_MAX &&
        informers_have_synced(l->base.manager->informers))
        zone->next_at = now + pause;
}

/* A zone without nodes is forgotten. Nodes of others do not care for its state. */
static void judge_zone(struct lifecycle *l, struct zone *zone) {
    enum manager__zone_state state = manager__zone_state(zone->ready, zone->not_ready);
    if (!zone->nodes) {
        map_del(&l->zones, (struct str){zone->name, zone->name_size});
        free(zone);
        return;
    }
    int64_t before = pause_of(zone, l->is_lost);
    bool changes = state != zone->state;
    zone->state = state;
    swap_pause(l, zone, before, pause_of(zone, l->is_lost));
    for (const struct known_node *k = zone->nodes; changes && k; k = k->next)
        wake(l, k);
}

/* When the controller comes back, all nodes have their whole time again. */
static void judge_all(struct lifecycle *l) {
    size_t at = 0;
    bool is_lost = !l->ready && l->not_ready;
    if (is_lost == l->is_lost)
        return;
    for (struct map_entry *e; (e = map_next(&l->zones, &at));)
        swap_pause(l, e->value, pause_of(e->value, l->is_lost), pause_of(e->value, is_lost));
    l->is_lost = is_lost;
    at = 0;
    for (struct map_entry *e; (e = map_next(&l->known, &at));) {
        struct known_node *k = e->value;
        if (!is_lost)
            k->seen = now_of(l);
        wake(l, k);
    }
}

static void tally(struct lifecycle *l, const struct known_node *k, int by) {
    *(k->is_ready ? &k->zone->ready : &k->zone->not_ready) += (size_t)by;
    *(k->is_ready ? &l->ready : &l->not_ready) += (size_t)by;
}

static void count_off(struct lifecycle *l, struct known_node *k) {
    if (!k->zone)
        return;
    tally(l, k, -1);
    *k->link = k->next;
    if (k->next)
        k->next->link = k->link;
    k->zone = NULL;
}

static void count_in(struct lifecycle *l, struct known_node *k, struct zone *zone, bool is_ready) {
    k->zone = zone;
    k->is_ready = is_ready;
    if (!zone)
        return;
    tally(l, k, 1);
    k->next = zone->nodes;
    k->link = &zone->nodes;
    if (k->next)
        k->next->link = &k->next;
    zone->nodes = k;
}

static void count(struct lifecycle *l, struct known_node *k, const struct api_object *node) {
    const struct label *excluded =
        labels_find(&node->meta->labels, STR("node.kubernetes.io/exclude-disruption"));
    struct zone *zone = excluded ? NULL : zone_of(l, node), *before = k->zone;
    bool is_ready = manager__readiness_of(node->body) == MANAGER__READY;
    if (zone == before && is_ready == k->is_ready)
        return;
    count_off(l, k);
    count_in(l, k, zone, is_ready);
    if (before && before != zone)
        judge_zone(l, before);
    if (zone)
        judge_zone(l, zone);
    judge_all(l);
}

/* ---- what is sent ---- */

static void say(struct lifecycle *l, const struct api_object *node, const char *reason,
                const char *did, const char *where) {
    struct str name = node->meta->name;
    events_say(l->base.events, node, EVENTS_NORMAL, reason,
               "Node %.*s event: %s Node %.*s %s Controller", STR_ARG(name), did, STR_ARG(name),
               where);
}

/* What was refused is owed again. */
static void marked(void *arg, struct work *w, const struct client_answer *answer) {
    struct lifecycle *l = arg;
    struct known_node *k = map_get(&l->known, work_name(w));
    if (!answer->code)
        events_say(l->base.events, answer->object, EVENTS_WARNING, "NodeNotReady",
                   "Node is not ready");
    if (!answer->code || answer->code == ERR_NOT_FOUND)
        return;
    if (k)
        k->owes_marks = true;
    work_fail_by(w, answer);
}

static void mark_pod(struct lifecycle *l, struct work *w, const struct api_object *pod) {
    static const struct manager__pod_mark mark = {.type = "Ready", .status = "False"};
    const struct api_pod_condition *ready = manager__pod_condition(pod, "Ready");
    if (!ready || str_is(ready->status, "False"))
        return;
    struct str patch =
        manager__pod_mark_patch(work_arena(w), pod, &mark, manager__now(l->base.manager));
    manager__pod_mark_send(w, pod, patch, marked, l);
}

static void mark_pods(struct lifecycle *l, struct work *w, struct known_node *k,
                      const struct api_object *node) {
    size_t n;
    const struct api_object *const *pods =
        informer_find(l->pods, INFORMER_BY_NODE, node->meta->name, &n);
    k->owes_marks = false;
    for (size_t i = 0; i < n; i++)
        mark_pod(l, w, pods[i]);
}

static void send_unknown(struct lifecycle *l, struct work *w, struct known_node *k,
                         const struct api_object *node) {
    struct api_node_status status;
    if (!manager__mark_unknown(work_arena(w), node, manager__now(l->base.manager), &status))
        return;
    k->fell_silent = manager__readiness_of(node->body) == MANAGER__READY;
    struct api_object *draft = api_object_derive(node);
    struct api_node *body = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_node_status], &status, &body->status);
    work_update(w, draft, "status", NULL, NULL);
}

/* ---- taints ---- */

/* Is it the node's turn in its zone? If not, it comes back when it may be. */
static bool has_turn(struct lifecycle *l, struct work *w, struct known_node *k) {
    struct zone *zone = k->zone;
    int64_t now = now_of(l);
    if (k->has_turn || !zone)
        return true;
    int64_t pause = manager__zone_pause(zone->state, zone->ready + zone->not_ready);
    if (pause == INT64_MAX)
        return false;
    if (now < zone->next_at) {
        work_again_after(w, zone->next_at - now);
        return false;
    }
    zone->next_at = now + pause;
    k->has_turn = true;
    return true;
}

static enum manager__execute wanted_execute(struct lifecycle *l, struct work *w,
                                            struct known_node *k, const struct api_node *node) {
    enum manager__readiness readiness = manager__readiness_of(node);
    if (readiness == MANAGER__NEVER_SAID)
        return MANAGER__AS_IT_IS;
    if (readiness == MANAGER__READY || l->is_lost) {
        k->has_turn = false;
        return MANAGER__EXECUTE_NONE;
    }
    bool has_one = manager__has_execute(node, MANAGER__EXECUTE_NOT_READY) ||
                   manager__has_execute(node, MANAGER__EXECUTE_UNREACHABLE);
    if (!has_one && !has_turn(l, w, k))
        return MANAGER__AS_IT_IS;
    return readiness == MANAGER__NOT_READY ? MANAGER__EXECUTE_NOT_READY
                                           : MANAGER__EXECUTE_UNREACHABLE;
}

static void send_taints(struct lifecycle *l, struct work *w, struct known_node *k,
                        const struct api_object *node) {
    struct arena *a = work_arena(w);
    const struct api_node *body = node->body;
    struct api_taint_list taints;
    struct labels labels = node->meta->labels;
    enum manager__execute execute = wanted_execute(l, w, k, body);
    bool changes = manager__wanted_taints(a, body, execute, manager__now(l->base.manager), &taints);
    changes |= manager__wanted_labels(a, &labels);
    if (!changes)
        return;
    struct api_object *draft = api_object_derive(node);
    struct api_node *own = api_own_body(draft);
    own->metadata.labels = labels;
    own->spec.taints = taints;
    /* What was made in the arena of the work is to live as long as the object. */
    struct api_object *whole = api_object_copy(draft);
    api_object_free(draft);
    work_update(w, whole, NULL, NULL, NULL);
}

/* ---- silence ---- */

/* For how long the node may be silent from now on. */
static int64_t patience(const struct lifecycle *l, const struct known_node *k,
                        const struct api_object *node) {
    bool was_heard_of = manager__readiness_of(node->body) != MANAGER__NEVER_SAID;
    return k->seen + (was_heard_of ? GRACE : STARTUP_GRACE) - now_of(l);
}

/* Has the informer seen the Lease as the server has it? */
static bool is_lease_seen(const struct lifecycle *l, const struct api_object *lease) {
    const struct api_object *seen = informer_get(l->leases, lease_namespace, lease->meta->name);
    return seen && str_eq(seen->meta->resource_version, lease->meta->resource_version);
}

/* Nothing is decided by Leases that are older than the server's. */
static void lease_answered(void *arg, struct work *w, const struct client_answer *answer) {
    struct lifecycle *l = arg;
    const struct api_object *node = informer_get(l->base.informer, STR(""), work_name(w));
    struct known_node *k = map_get(&l->known, work_name(w));
    bool is_known = answer->code ? answer->code == ERR_NOT_FOUND : is_lease_seen(l, answer->object);
    if (!is_known)
        work_again_after(w, MONITOR_PERIOD);
    else if (node && k && patience(l, k, node) <= 0)
        send_unknown(l, w, k, node);
}

/* The node is marked as unreachable, unless it says so already; false: it does. */
static bool end_patience(struct lifecycle *l, struct work *w, struct known_node *k,
                         const struct api_object *node) {
    struct api_node_status status;
    if (!manager__mark_unknown(work_arena(w), node, 0, &status))
        return false;
    if (feature_enabled(l->base.manager->gates, FEATURE_NodeControllerLeaseCircuitBreaker))
        work_get(w, client_kind(API_T_lease), lease_namespace, work_name(w), lease_answered, l);
    else
        send_unknown(l, w, k, node);
    return true;
}

/* ---- work ---- */

/* Pods of a node that fell silent are not ready, nor are those of a node that is found like that.
 * When a kubelet says that its node is not ready, it says of its pods what it wants. */
static void follow_readiness(struct lifecycle *l, struct work *w, struct known_node *k,
                             const struct api_object *node) {
    bool is_ready = manager__readiness_of(node->body) == MANAGER__READY;
    if (!is_ready && k->fell_silent)
        events_say(l->base.events, node, EVENTS_NORMAL, "NodeNotReady",
                   "Node %.*s status is now: NodeNotReady", STR_ARG(node->meta->name));
    k->owes_marks = !is_ready && (k->owes_marks || k->fell_silent || !k->is_judged);
    k->fell_silent = false;
    if (k->owes_marks)
        mark_pods(l, w, k, node);
    if (!k->is_judged)
        say(l, node, "RegisteredNode", "Registered", "in");
    k->is_judged = true;
}

static void sync(void *self, struct work *w, const struct api_object *node) {
    struct lifecycle *l = self;
    struct known_node *k = map_get(&l->known, work_name(w));
    if (!k)
        return;
    int64_t left = patience(l, k, node);
    if (left > 0)
        work_again_after(w, left);
    else if (end_patience(l, w, k, node))
        return; /* what comes of it is decided when it is seen */
    follow_readiness(l, w, k, node);
    send_taints(l, w, k, node);
}

/* ---- what changes ---- */

static struct known_node *know(struct lifecycle *l, const struct api_object *node) {
    struct str name = node->meta->name;
    struct known_node *k = xcalloc(1, sizeof *k + name.n);
    memcpy(k->name, name.p, name.n);
    k->name_size = name.n;
    k->seen = now_of(l);
    map_put(&l->known, (struct str){k->name, name.n}, k);
    return k;
}

static struct api_time heartbeat_of(const struct api_node *node) {
    for (size_t i = 0; i < node->status.conditions.n; i++)
        if (str_is(node->status.conditions.v[i].type, "Ready"))
            return node->status.conditions.v[i].last_heartbeat_time;
    return (struct api_time){0};
}

static void node_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct lifecycle *l = arg;
    struct known_node *k = map_get(&l->known, object->meta->name);
    struct api_time heartbeat = heartbeat_of(object->body);
    (void)old;
    if (!k)
        k = know(l, object);
    if (heartbeat.sec != k->heartbeat.sec)
        k->seen = now_of(l);
    k->heartbeat = heartbeat;
    count(l, k, object);
    workqueue_add(l->base.queue, STR(""), object->meta->name);
}

static void node_deleted(void *arg, const struct api_object *last) {
    struct lifecycle *l = arg;
    struct known_node *k = map_del(&l->known, last->meta->name);
    if (!k)
        return;
    say(l, last, "RemovingNode", "Removing", "from");
    struct zone *zone = k->zone;
    count_off(l, k);
    free(k);
    if (zone)
        judge_zone(l, zone);
    judge_all(l);
}

static bool is_before(struct api_time a, struct api_time b) {
    return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

static void lease_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct lifecycle *l = arg;
    const struct api_lease *lease = object->body, *before = old ? old->body : NULL;
    if (!str_eq(object->meta->namespace, lease_namespace))
        return;
    struct known_node *k = map_get(&l->known, object->meta->name);
    if (k && (!before || is_before(before->spec.renew_time, lease->spec.renew_time)))
        k->seen = now_of(l);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct lifecycle *l = self;
    l->known = l->zones = MAP_INIT(l->base.manager->seed);
}

static void free_values(struct map *map) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(map, &at));)
        free(e->value);
    map_release(map);
}

static void end(void *self) {
    struct lifecycle *l = self;
    free_values(&l->known);
    free_values(&l->zones);
    arena_release(&l->scratch);
}

const struct manager__controller manager__node_lifecycle = {
    .size = sizeof(struct lifecycle),
    .component = "node-controller",
    .queues = {{"node_lifecycle_controller", sync, .names = API_T_node, .workers = 64}},
    .kinds = {{API_T_node, .set = node_set, .deleted = node_deleted},
              {API_T_pod, .at = offsetof(struct lifecycle, pods)},
              {API_T_lease, .at = offsetof(struct lifecycle, leases), .set = lease_set}},
    .begin = begin,
    .end = end,
};
