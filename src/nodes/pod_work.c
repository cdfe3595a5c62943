/*
 * Pods on simulated nodes: admitted or rejected, led through their lives, and deleted at the end.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) HandlePodAdditions.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "intern/intern.h"
#include "kubelet/kubelet.h"
#include "match/match.h"
#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"
#include "nodes/pod_sources_int.h"

/* ---- which pods a node has ---- */

void nodes__free_pod(struct nodes *n, struct nodes__pod *pod) {
    struct nodes__node *node = pod->node;
    nodes__await(n, pod, &(struct nodes__sources){0}, false);
    node->pods.v[pod->place] = node->pods.v[--node->pods.n];
    node->pods.v[pod->place]->place = pod->place;
    map_del(&n->pods, pod->object->meta->uid);
    api_object_unref(pod->object);
    free(pod);
}

void nodes__drop_pod(struct nodes *n, const struct api_object *object) {
    struct nodes__pod *pod = map_get(&n->pods, object->meta->uid);
    if (pod)
        nodes__free_pod(n, pod);
}

/* The least number that no other pod of the node has; 0 when all are taken. A pod that runs since
 * before this process has its number though it was not looked at yet. */
static uint32_t free_number(struct nodes *n, const struct nodes__node *node) {
    bool taken[NODES__NUMBERS] = {0};
    size_t count;
    const struct api_object *const *bound =
        informer_find(n->pod_informer, INFORMER_BY_NODE, node->name, &count);
    for (size_t i = 0; i < count; i++) {
        const struct api_pod *body = bound[i]->body;
        if (!api_pod_has_ended(body))
            taken[nodes__number_of(&node->range, body->status.pod_ip)] = true;
    }
    for (size_t i = 0; i < node->pods.n; i++)
        taken[node->pods.v[i]->number] = true;
    for (uint32_t number = 2; number <= node->range.most; number++)
        if (!taken[number])
            return number;
    return 0;
}

static struct nodes__pod *add_pod(struct nodes *n, struct nodes__node *node,
                                  const struct api_object *object) {
    const struct api_pod *body = object->body;
    struct nodes__pod *pod = xcalloc(1, sizeof *pod);
    pod->node = node;
    pod->object = api_object_ref(object);
    if (body->status.pod_ip.n)
        pod->number = nodes__number_of(&node->range, body->status.pod_ip);
    else if (!body->spec.host_network)
        pod->number = free_number(n, node);
    pod->place = node->pods.n;
    vec_push(&node->pods, pod);
    map_put(&n->pods, pod->object->meta->uid, pod);
    return pod;
}

/* The key of the map is in the object: it moves to the new one. */
static void renew_pod(struct nodes *n, struct nodes__pod *pod, const struct api_object *object) {
    if (pod->object == object)
        return;
    nodes__tell_annotations(n, pod->object, object);
    map_del(&n->pods, pod->object->meta->uid);
    api_object_unref(pod->object);
    pod->object = api_object_ref(object);
    map_put(&n->pods, object->meta->uid, pod);
}

/* ---- admission ---- */

static void count_rejection(struct nodes *n, struct str reason) {
    struct nodes__count *c = map_get(&n->rejections, reason);
    if (!c) {
        c = xcalloc(1, sizeof *c + reason.n);
        memcpy(c->reason, reason.p, reason.n);
        map_put(&n->rejections, (struct str){c->reason, reason.n}, c);
    }
    c->n++;
}

static void sweep(struct nodes *n) {
    if (!match_wants_sweep(n->match))
        return;
    match_sweep(n->match);
    intern_sweep(n->atoms);
}

/* The node as its kubelet knows it: what a kubelet says of itself it need not be told. A pod may be
 * seen here before the write that made its node fit for it. */
static const struct api_node *own_node(struct nodes *n, const struct nodes__node *node,
                                       struct arena *a) {
    struct nodes__facts facts = nodes__facts_of(n, node);
    struct api_node *own = arena_new(a, struct api_node);
    *own = *(const struct api_node *)informer_get(n->node_informer, STR(""), node->name)->body;
    nodes__complete_labels(a, node->name, &own->metadata.labels);
    nodes__complete_status(a, &facts, &own->status);
    return own;
}

/* May the pod run, beside those that were admitted before? */
static struct kubelet_verdict judge(struct nodes *n, const struct nodes__node *node,
                                    const struct api_object *object, struct arena *a) {
    const struct api_pod **pods = arena_array(a, const struct api_pod *, node->pods.n + 1);
    size_t others = 0;
    for (size_t i = 0; i < node->pods.n; i++)
        if (!str_eq(node->pods.v[i]->object->meta->uid, object->meta->uid))
            pods[others++] = node->pods.v[i]->object->body;
    struct kubelet_ctx ctx = {.match = n->match, .gates = n->opts.gates, .arena = a};
    struct kubelet_state state = {
        .node = own_node(n, node, a),
        .pods = pods,
        .pod_count = others,
    };
    struct kubelet_verdict verdict = {0};
    kubelet_admit(&ctx, &state, object->body, &verdict);
    sweep(n);
    return verdict;
}

/* ---- writes ---- */

static void send_status(struct work *w, const struct api_object *pod,
                        const struct api_pod_status *status) {
    struct api_object *draft = api_object_derive(pod);
    struct api_pod *body = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_pod_status], status, &body->status);
    work_update(w, draft, "status", NULL, NULL);
}

static void send_deletion(struct work *w, const struct api_object *pod) {
    struct client_deletion how = work_deletion_by_force(pod);
    work_delete(w, pod, &how, NULL, NULL);
}

static void reject(struct nodes *n, struct work *w, const struct api_object *pod,
                   const struct kubelet_failure *why) {
    AUTO(buf_release) struct buf reason = BUF_INIT(LIMIT_OBJECT_BYTES);
    AUTO(buf_release) struct buf message = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct api_pod_status status;
    kubelet_failure_write_reason(&reason, why);
    kubelet_failure_write_message(&message, why);
    count_rejection(n, buf_view(&reason));
    events_say(n->events, pod, EVENTS_WARNING, arena_str(work_arena(w), buf_view(&reason)).p,
               "%.*s", STR_ARG(buf_view(&message)));
    nodes__reject_status(work_arena(w), pod, buf_view(&reason), buf_view(&message), nodes__wall(n),
                         &status);
    send_status(w, pod, &status);
}

/* ---- work ---- */

/* A node may have been somebody else's, with another address. */
static struct str host_ip_of(const struct nodes *n, const struct nodes__node *node,
                             struct arena *a) {
    const struct api_node *body = informer_get(n->node_informer, STR(""), node->name)->body;
    for (size_t i = 0; i < body->status.addresses.n; i++)
        if (str_is(body->status.addresses.v[i].type, "InternalIP"))
            return body->status.addresses.v[i].address;
    return nodes__node_address(a, node->index);
}

static struct nodes__pod_facts facts_of(const struct nodes *n, const struct nodes__pod *pod,
                                        struct arena *a) {
    const struct nodes__node *node = pod->node;
    struct nodes__pod_facts facts = {
        .now = nodes__wall(n),
        .start_delay = n->opts.start_delay,
        .stop_delay = n->opts.stop_delay,
        .host_ip = host_ip_of(n, node, a),
        .booted = node->booted,
        .away_until = node->away_until,
        .stop_seen = pod->stop_seen,
    };
    if (pod->number)
        facts.pod_ip = nodes__pod_address(a, &node->range, pod->number);
    return facts;
}

/* Why a pod that runs cannot get the resources that it asks for by now; empty: it can. It is asked
 * all that a new pod is, labels and taints too.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/allocation, func (*manager) handlePodResourcesResize. */
static struct str why_deferred(struct nodes *n, struct work *w, const struct nodes__pod *pod) {
    AUTO(buf_release) struct buf message = BUF_INIT(LIMIT_OBJECT_BYTES);
    if (!nodes__wants_resize(pod->object->body))
        return STR("");
    struct kubelet_verdict verdict = judge(n, pod->node, pod->object, work_arena(w));
    if (!verdict.n)
        return STR("");
    kubelet_failure_write_message(&message, &verdict.v[0]);
    return arena_str(work_arena(w), buf_view(&message));
}

/* A pod whose ConfigMaps and Secrets nobody has told of for so long has something wrong with it. */
#define PATIENCE (10 * CLOCK_SECOND)

static struct nodes__sources sources_of(struct nodes *n, const struct nodes__pod *pod) {
    struct api_time begun = ((const struct api_pod *)pod->object->body)->status.start_time;
    return (struct nodes__sources){
        .find = nodes__find_source,
        .arg = n,
        .seed = n->opts.seed,
        .is_late = begun.set && nodes__wall(n) >= nodes__after(begun.sec, PATIENCE),
    };
}

/* What a pod waits for is said from time to time. */
static void tell_held(struct nodes *n, struct work *w, struct nodes__pod *pod,
                      const struct nodes__pod_next *next, const struct api_pod_status *status) {
    int64_t again = PATIENCE;
    if (!pod->held)
        return;
    if (next->lacks && nodes__is_time_to_tell(n, pod, next->lacks, &again))
        nodes__tell_held(n, work_arena(w), pod, next, status);
    work_again_after(w, again);
}

static void lead(struct nodes *n, struct work *w, struct nodes__pod *pod) {
    struct api_pod_status status;
    struct nodes__sources sources = sources_of(n, pod);
    if (!pod->stop_seen && pod->object->meta->deletion_timestamp.set)
        pod->stop_seen = nodes__wall(n);
    struct nodes__pod_facts facts = facts_of(n, pod, work_arena(w));
    facts.sources = &sources;
    facts.deferred = why_deferred(n, w, pod);
    struct nodes__pod_next next = nodes__next_of_pod(work_arena(w), pod->object, &facts, &status);
    nodes__await(n, pod, &sources, next.lacks);
    nodes__tell_stop(n, pod);
    if (next.step != NODES__POD_GOES)
        tell_held(n, w, pod, &next, &status);
    if (next.step == NODES__POD_WRITES) {
        nodes__tell_pod(n, work_arena(w), pod, &status);
        send_status(w, pod->object, &status);
    }
    if (next.step == NODES__POD_GOES)
        send_deletion(w, pod->object);
    if (next.at != INT64_MAX)
        work_again_after(w, next.at - facts.now);
}

/* A pod that has ended waits to be deleted. */
static void end_pod(struct work *w, const struct api_object *object) {
    if (object->meta->deletion_timestamp.set && object->meta->deletion_grace_period_seconds.v)
        send_deletion(w, object);
}

void nodes__sync_pod(void *arg, struct work *w) {
    struct nodes *n = arg;
    const struct api_object *object =
        informer_get(n->pod_informer, work_namespace(w), work_name(w));
    const struct api_pod *body = object ? object->body : NULL;
    struct nodes__node *node = body ? nodes__find_running(n, body->spec.node_name) : NULL;
    if (!node)
        return;
    struct nodes__pod *pod = map_get(&n->pods, object->meta->uid);
    if (api_pod_has_ended(body)) {
        end_pod(w, object);
        return;
    }
    if (!pod && !object->meta->deletion_timestamp.set) {
        struct kubelet_verdict verdict = judge(n, node, object, work_arena(w));
        if (verdict.n) {
            reject(n, w, object, &verdict.v[0]);
            return;
        }
    }
    if (!pod) {
        pod = add_pod(n, node, object);
        nodes__tell_annotations(n, NULL, object);
    }
    renew_pod(n, pod, object);
    lead(n, w, pod);
}
