/*
 * The taint-eviction controller: deletes pods that do not tolerate the NoExecute taints of their
 * node, or do not tolerate them any longer.
 *
 * A pod is judged when it or the taints of its node change. One that is tolerated for a time has a
 * timer, which runs from the first such judgement on, whatever changes later, until nothing asks
 * for it any more. Pods whose time has come are keys of a work queue: they are marked as disrupted
 * and deleted.
 *
 * Follows k8s.io/kubernetes pkg/controller/tainteviction, func (*Controller) processPodOnNode.
 */
#include "manager/taint_eviction_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/metric.h"
#include "intern/intern.h"
#include "manager/controller_int.h"
#include "manager/pod_mark_int.h"
#include "match/match.h"
#include "net/loop.h"

static const struct histogram_row delay = {
    .name = "taint_eviction_controller_pod_deletion_duration_seconds",
    .level = "ALPHA",
    .help = "How long after their time pods were deleted.",
    .bounds = {0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240},
};

struct taint_eviction {
    struct manager__base base; /* keys: pods whose time has come */
    struct informer *pods, *nodes;
    struct map evictions; /* from "namespace/name" to struct eviction */
    struct buf key;
    struct histogram delays; /* of deletions */
};

/* A pod that will be deleted. */
struct eviction {
    struct taint_eviction *controller;
    struct str key, namespace, name, uid; /* behind the struct */
    int64_t at;                           /* when it is due, in the loop's monotonic time */
    struct net_timer timer;
    bool is_due;  /* its time has come: the work queue has it */
    bool is_said; /* the event is out */
};

/* ---- the decision ---- */

static struct manager__eviction_verdict judge(struct taint_eviction *t, const struct api_pod *pod,
                                              const struct api_node *node) {
    struct match *match = t->base.manager->match;
    struct manager__eviction_verdict verdict = manager__judge_eviction(
        match, &pod->spec.tolerations, &node->spec.taints, manager__mono(t->base.manager));
    if (match_wants_sweep(match)) {
        match_sweep(match);
        intern_sweep(t->base.manager->atoms);
    }
    return verdict;
}

/* ---- evictions ---- */

static struct str key_of(struct taint_eviction *t, struct str namespace, struct str name) {
    buf_clear(&t->key);
    buf_addf(&t->key, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    return buf_view(&t->key);
}

static struct eviction *find_eviction(struct taint_eviction *t, struct str namespace,
                                      struct str name) {
    return map_get(&t->evictions, key_of(t, namespace, name));
}

static void forget(struct eviction *e) {
    net_timer_stop(client_loop(e->controller->base.manager->client), &e->timer);
    map_del(&e->controller->evictions, e->key);
    free(e);
}

static void say(struct eviction *e, const char *what) {
    struct events_subject subject = {
        .kind = client_kind(API_T_pod),
        .namespace = e->namespace,
        .name = e->name,
    };
    events_say_of(e->controller->base.events, &subject, EVENTS_NORMAL, "TaintManagerEviction",
                  "%s Pod %.*s", what, STR_ARG(e->key));
}

/* One that is due already is not called back, as upstream's workers are not. */
static void cancel(struct eviction *e) {
    if (!e || e->is_due)
        return;
    say(e, "Cancelling deletion of");
    forget(e);
}

static void come_due(void *arg) {
    struct eviction *e = arg;
    e->is_due = true;
    workqueue_add(e->controller->base.queue, e->namespace, e->name);
}

static struct str append(char **at, struct str s) {
    struct str copy = {*at, s.n};
    if (s.n)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

static struct eviction *add_eviction(struct taint_eviction *t, const struct api_object *pod) {
    struct str key = key_of(t, pod->meta->namespace, pod->meta->name);
    struct eviction *e = xcalloc(1, sizeof *e + key.n + pod->meta->uid.n);
    char *at = (char *)(e + 1);
    e->controller = t;
    e->key = append(&at, key);
    e->namespace = str_sub(e->key, 0, pod->meta->namespace.n);
    e->name = str_sub(e->key, pod->meta->namespace.n + 1, e->key.n);
    e->uid = append(&at, pod->meta->uid);
    e->timer = (struct net_timer){.fn = come_due, .arg = e};
    map_put(&t->evictions, e->key, e);
    return e;
}

/* A timer that runs is neither shortened nor made longer. */
static void apply(struct taint_eviction *t, const struct api_object *pod,
                  struct manager__eviction_verdict verdict) {
    struct net_loop *loop = client_loop(t->base.manager->client);
    struct eviction *e = find_eviction(t, pod->meta->namespace, pod->meta->name);
    if (e && (e->is_due || verdict.code == MANAGER__EVICTED_AT))
        return;
    cancel(e);
    if (verdict.code == MANAGER__STAYS)
        return;
    e = add_eviction(t, pod);
    e->at = verdict.code == MANAGER__EVICTED ? net_loop_now(loop) : verdict.at;
    if (e->at <= net_loop_now(loop))
        come_due(e);
    else
        net_timer_start(loop, &e->timer, e->at);
}

/* ---- deletions ---- */

/* What is known of a deletion when its answer comes: the pod may have been seen to go before. */
struct deletion {
    struct taint_eviction *controller;
    int64_t at; /* when it was due */
};

static struct eviction *eviction_of(struct taint_eviction *t, const struct work *w) {
    return find_eviction(t, work_namespace(w), work_name(w));
}

static void deleted(void *arg, struct work *w, const struct client_answer *answer) {
    const struct deletion *d = arg;
    struct eviction *e = eviction_of(d->controller, w);
    bool is_other = answer->code == ERR_NOT_FOUND || answer->code == ERR_CONFLICT;
    if (answer->code != ERR_NONE && !is_other) {
        work_fail(w, "delete pod: %.*s", STR_ARG(answer->message));
        return;
    }
    if (!is_other)
        histogram_observe_ns(&delay, &d->controller->delays,
                             manager__mono(d->controller->base.manager) - d->at);
    if (e)
        forget(e);
}

static void delete_pod(struct taint_eviction *t, struct work *w, const struct eviction *e) {
    struct deletion *d = arena_new(work_arena(w), struct deletion);
    *d = (struct deletion){t, e->at};
    struct client_request request = {
        .verb = REGISTRY_VERB_DELETE,
        .kind = client_kind(API_T_pod),
        .namespace = e->namespace,
        .name = e->name,
        .deletion = {.uid = e->uid},
    };
    work_send(w, &request, deleted, d);
}

static void marked(void *arg, struct work *w, const struct client_answer *answer) {
    struct eviction *e = eviction_of(arg, w);
    if (!e)
        return;
    if (answer->code == ERR_NONE)
        delete_pod(arg, w, e);
    else if (answer->code == ERR_NOT_FOUND || answer->code == ERR_CONFLICT)
        forget(e);
    else
        work_fail(w, "mark pod: %.*s", STR_ARG(answer->message));
}

static bool is_called_for(struct taint_eviction *t, const struct eviction *e,
                          const struct api_object *pod) {
    if (!pod || !str_eq(pod->meta->uid, e->uid))
        return false;
    const struct api_pod *body = pod->body;
    const struct api_object *node = informer_get(t->nodes, STR(""), body->spec.node_name);
    return !node || judge(t, body, node->body).code != MANAGER__STAYS;
}

static void sync(void *self, struct work *w, const struct api_object *none) {
    static const struct manager__pod_mark condition = {
        .type = "DisruptionTarget",
        .status = "True",
        .reason = "DeletionByTaintManager",
        .message = "Taint manager: deleting due to NoExecute taint",
    };
    struct taint_eviction *t = self;
    struct eviction *e = eviction_of(t, w);
    (void)none;
    if (!e || !e->is_due)
        return;
    const struct api_object *pod = informer_get(t->pods, e->namespace, e->name);
    if (!is_called_for(t, e, pod)) {
        forget(e);
        return;
    }
    if (!e->is_said)
        say(e, "Marking for deletion");
    e->is_said = true;
    struct str patch =
        manager__pod_mark_patch(work_arena(w), pod, &condition, manager__now(t->base.manager));
    if (patch.n)
        manager__pod_mark_send(w, pod, patch, marked, t);
    else
        delete_pod(t, w, e);
}

/* ---- what changes ---- */

static void pod_deleted(void *arg, const struct api_object *last) {
    struct eviction *e = find_eviction(arg, last->meta->namespace, last->meta->name);
    if (e && e->is_due)
        forget(e);
    else
        cancel(e);
}

/* A pod on a node that has no NoExecute taints is left alone: what it had to wait for was called
 * off when they went. */
static void pod_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct taint_eviction *t = arg;
    const struct api_pod *pod = object->body, *before = old ? old->body : NULL;
    if (old && !str_eq(old->meta->uid, object->meta->uid)) {
        pod_deleted(arg, old);
        before = NULL;
    }
    if (before && str_eq(before->spec.node_name, pod->spec.node_name) &&
        manager__same_tolerations(&before->spec.tolerations, &pod->spec.tolerations))
        return;
    if (!pod->spec.node_name.n)
        return;
    const struct api_object *node = informer_get(t->nodes, STR(""), pod->spec.node_name);
    const struct api_node *body = node ? node->body : NULL;
    if (body && manager__has_execute_taints(&body->spec.taints))
        apply(t, object, judge(t, pod, body));
}

/* That a node is gone changes nothing for its pods: others look after these. */
static void node_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct taint_eviction *t = arg;
    const struct api_node *node = object->body, *before = old ? old->body : NULL;
    if (before ? manager__same_execute_taints(&before->spec.taints, &node->spec.taints)
               : !manager__has_execute_taints(&node->spec.taints))
        return;
    size_t n;
    const struct api_object *const *pods =
        informer_find(t->pods, INFORMER_BY_NODE, object->meta->name, &n);
    for (size_t i = 0; i < n; i++)
        apply(t, pods[i], judge(t, pods[i]->body, node));
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct taint_eviction *t = self;
    t->evictions = MAP_INIT(t->base.manager->seed);
    t->key = BUF_INIT(LIMIT_OBJECT_BYTES);
}

static void end(void *self) {
    struct taint_eviction *t = self;
    size_t at = 0;
    for (struct map_entry *entry; (entry = map_next(&t->evictions, &at));)
        forget(entry->value);
    map_release(&t->evictions);
    buf_release(&t->key);
}

static void write_metrics(const void *self, struct buf *out) {
    const struct taint_eviction *t = self;
    static const char total[] = "taint_eviction_controller_pod_deletions_total";
    metric_head(out, total, "counter", "ALPHA", "Pods that were deleted because of a taint.");
    buf_addf(out, "%s %llu\n", total, (unsigned long long)histogram_count(&t->delays));
    histogram_head(out, &delay);
    histogram_write(out, &delay, STR(""), &t->delays);
}

const struct manager__controller manager__taint_eviction = {
    .size = sizeof(struct taint_eviction),
    .component = "taint-eviction-controller",
    .queues = {{"taint_eviction", sync, .workers = 64}},
    .kinds = {{API_T_node, .at = offsetof(struct taint_eviction, nodes), .set = node_set},
              {API_T_pod, .at = offsetof(struct taint_eviction, pods), .set = pod_set,
               .deleted = pod_deleted}},
    .begin = begin,
    .end = end,
    .write_metrics = write_metrics,
};
