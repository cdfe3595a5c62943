/*
 * The pod garbage collector: removes pods that nobody else would remove. It looks at all of them
 * every 20 s, as upstream does; what it finds are keys of a work queue, which ends them by force.
 *
 * Follows k8s.io/kubernetes pkg/controller/podgc, func (*PodGCController) gc.
 */
#include "manager/pod_gc_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "manager/controller_int.h"
#include "manager/pod_mark_int.h"
#include "net/loop.h"

#define SWEEP_EVERY (20 * CLOCK_SECOND)
#define QUARANTINE  (40 * CLOCK_SECOND)
enum { MOST_ENDED = 12500 }; /* --terminated-pod-gc-threshold */

/* A node that pods are bound to, and that is not there. */
struct missing {
    int64_t since;  /* monotonic time */
    uint64_t sweep; /* the last one that found it missing */
    char name[];
};

struct pod_gc {
    struct manager__base base; /* keys: pods */
    struct informer *nodes;
    struct map missing; /* by name: struct missing */
    uint64_t sweep;
    struct net_timer timer;
};

static int64_t now_of(const struct pod_gc *g) {
    return manager__mono(g->base.manager);
}

/* ---- nodes that are gone ---- */

static bool is_gone(const struct pod_gc *g, struct str node) {
    const struct missing *missing = map_get(&g->missing, node);
    return missing && now_of(g) - missing->since >= QUARANTINE;
}

static void miss(struct pod_gc *g, struct str node) {
    struct missing *missing = map_get(&g->missing, node);
    if (!missing) {
        missing = xcalloc(1, sizeof *missing + node.n);
        memcpy(missing->name, node.p, node.n);
        missing->since = now_of(g);
        map_put(&g->missing, (struct str){missing->name, node.n}, missing);
    }
    missing->sweep = g->sweep;
}

/* Forgets nodes that are there again, or have no pods left. */
static void forget_found(struct pod_gc *g) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&g->missing, &at));) {
        struct missing *missing = e->value;
        if (missing->sweep == g->sweep)
            continue;
        map_del(&g->missing, e->key);
        free(missing);
    }
}

/* ---- ending pods ---- */

static void delete_pod(struct work *w, const struct api_object *pod) {
    struct client_deletion how = work_deletion_by_force(pod);
    work_delete(w, pod, &how, NULL, NULL);
}

static const struct api_object *pod_of(const struct pod_gc *g, const struct work *w) {
    return informer_get(g->base.informer, work_namespace(w), work_name(w));
}

static void marked(void *arg, struct work *w, const struct client_answer *answer) {
    const struct api_object *pod = pod_of(arg, w);
    if (answer->code == ERR_NONE && pod)
        delete_pod(w, pod);
    else if (answer->code != ERR_NONE && answer->code != ERR_NOT_FOUND)
        work_fail(w, "mark pod: %.*s", STR_ARG(answer->message));
}

/* A pod that has not ended has failed. */
static void end_pod(struct pod_gc *g, struct work *w, const struct api_object *pod,
                    const struct manager__pod_mark *mark) {
    struct str patch = {0};
    if (!api_pod_has_ended(pod->body))
        patch = manager__pod_mark_patch(work_arena(w), pod, mark, manager__now(g->base.manager));
    if (patch.n)
        manager__pod_mark_send(w, pod, patch, marked, g);
    else
        delete_pod(w, pod);
}

/* The informer may be late: the server has the last word on whether the node is gone. */
static void node_answered(void *arg, struct work *w, const struct client_answer *answer) {
    static const struct manager__pod_mark orphan = {
        .type = "DisruptionTarget",
        .status = "True",
        .reason = "DeletionByPodGC",
        .message = "PodGC: node no longer exists",
        .phase = "Failed",
    };
    struct pod_gc *g = arg;
    const struct api_object *pod = pod_of(g, w);
    if (answer->code == ERR_NOT_FOUND && pod)
        end_pod(g, w, pod, &orphan);
}

static void ask_for_node(struct pod_gc *g, struct work *w, struct str name) {
    work_get(w, client_kind(API_T_node), STR(""), name, node_answered, g);
}

static enum manager__gc_reason judge(const struct pod_gc *g, const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    struct str name = body->spec.node_name;
    const struct api_object *node = name.n ? informer_get(g->nodes, STR(""), name) : NULL;
    return manager__gc_judge(pod, node ? node->body : NULL, is_gone(g, name));
}

static void sync(void *self, struct work *w, const struct api_object *pod) {
    static const struct manager__pod_mark failed = {.phase = "Failed"};
    struct pod_gc *g = self;
    enum manager__gc_reason reason = judge(g, pod);
    if (reason == MANAGER__GC_ORPHANED)
        ask_for_node(g, w, ((const struct api_pod *)pod->body)->spec.node_name);
    else if (reason != MANAGER__GC_NONE)
        end_pod(g, w, pod, &failed);
}

/* ---- sweeps ---- */

static void ignore(void *arg, const struct client_answer *answer) {
    (void)arg;
    (void)answer;
}

/* One that could not be removed is found again by the next sweep. */
static void remove_ended(struct pod_gc *g, const struct api_object *pod) {
    struct client_request request = {
        .verb = REGISTRY_VERB_DELETE,
        .kind = pod->kind,
        .namespace = pod->meta->namespace,
        .name = pod->meta->name,
        .deletion = work_deletion_by_force(pod),
    };
    client_send(g->base.manager->client, &request, ignore, NULL);
}

static void look_at(struct pod_gc *g, const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    struct str node = body->spec.node_name;
    if (node.n && !informer_get(g->nodes, STR(""), node))
        miss(g, node);
    if (judge(g, pod) != MANAGER__GC_NONE)
        manager__add_deleted(g, pod);
}

static void look_at_all(struct pod_gc *g) {
    VEC(const struct api_object *) ended = {0};
    size_t n;
    const struct api_object *const *pods =
        informer_find(g->base.informer, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n; i++) {
        look_at(g, pods[i]);
        if (api_pod_has_ended(pods[i]->body))
            vec_push(&ended, pods[i]);
    }
    size_t surplus = manager__gc_surplus(ended.v, ended.n, MOST_ENDED);
    for (size_t i = 0; i < ended.n && i < surplus; i++)
        remove_ended(g, ended.v[i]);
    vec_release(&ended);
}

static void sweep(void *arg) {
    struct pod_gc *g = arg;
    net_timer_start(client_loop(g->base.manager->client), &g->timer, now_of(g) + SWEEP_EVERY);
    if (!informers_have_synced(g->base.manager->informers))
        return;
    g->sweep++;
    look_at_all(g);
    forget_found(g);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct pod_gc *g = self;
    g->missing = MAP_INIT(g->base.manager->seed);
    g->timer = (struct net_timer){.fn = sweep, .arg = g};
    net_timer_start(client_loop(g->base.manager->client), &g->timer, now_of(g) + SWEEP_EVERY);
}

static void end(void *self) {
    struct pod_gc *g = self;
    net_timer_stop(client_loop(g->base.manager->client), &g->timer);
    g->sweep++;
    forget_found(g);
    map_release(&g->missing);
}

const struct manager__controller manager__pod_gc = {
    .size = sizeof(struct pod_gc),
    .queues = {{"pod_gc", sync, .names = API_T_pod, .workers = 8}},
    .kinds = {{API_T_node, .at = offsetof(struct pod_gc, nodes)}},
    .begin = begin,
    .end = end,
};
