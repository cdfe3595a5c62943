/*
 * Leases: a node whose Lease is renewed is alive. Renewals of many nodes are spread over the time
 * between two of them.
 *
 * Follows k8s.io/component-helpers apimachinery/lease, func (*controller) sync.
 */
#include "base/clock.h"
#include "nodes/kubelets_int.h"

/* Leases that such a process has made say so: another one may go on with them. */
static const struct label mark = {STR_INIT("berth.dev/simulated"), STR_INIT("true")};

static int64_t micros_of(struct api_time t) {
    return t.set ? t.sec * 1000000 + t.nsec / 1000 : 0;
}

/* ---- who renews ---- */

static bool is_marked(const struct api_object *lease) {
    const struct label *l = labels_find(&lease->meta->annotations, mark.key);
    return l && str_eq(l->value, mark.value);
}

/* Others have as long to renew it as the Lease says. */
static void leave_to_others(struct nodes *n, struct nodes__node *node) {
    node->others_until = net_loop_now(n->loop) + NODES__LEASE_SECONDS * CLOCK_SECOND;
    nodes__set_keeper(n, node, NODES__OTHERS);
    workqueue_add_after(n->leases, STR(""), node->name, NODES__LEASE_SECONDS * CLOCK_SECOND);
}

void nodes__lease_set(void *arg, const struct api_object *old, const struct api_object *object) {
    struct nodes *n = arg;
    const struct api_lease *lease = object->body, *before = old ? old->body : NULL;
    if (!str_eq(object->meta->namespace, NODES__LEASE_NAMESPACE))
        return;
    struct nodes__node *node = map_get(&n->nodes, object->meta->name);
    int64_t renewed = micros_of(lease->spec.renew_time);
    if (!node || node->keeper == NODES__UNDECIDED || renewed == node->renewed ||
        (before && renewed == micros_of(before->spec.renew_time)))
        return;
    leave_to_others(n, node);
}

/* A Lease that was renewed lately by somebody who left no mark is theirs. */
static enum nodes__keeper judge(const struct nodes *n, const struct nodes__node *node,
                                const struct api_object *object) {
    if (node->keeper == NODES__OTHERS)
        return net_loop_now(n->loop) < node->others_until ? NODES__OTHERS : NODES__OURS;
    if (node->keeper == NODES__OURS || !object || is_marked(object))
        return NODES__OURS;
    const struct api_lease *lease = object->body;
    int64_t age = nodes__wall(n) / 1000 - micros_of(lease->spec.renew_time);
    return age < NODES__LEASE_SECONDS * INT64_C(1000000) ? NODES__OTHERS : NODES__OURS;
}

/* ---- renewing ---- */

static void set_renewal(struct nodes *n, struct nodes__node *node, struct api_lease_spec *spec) {
    spec->renew_time = nodes__micro_time(nodes__wall(n));
    node->renewed = micros_of(spec->renew_time);
}

static struct api_object *new_lease(struct nodes *n, struct nodes__node *node,
                                    const struct api_object *owner) {
    struct api_object *o = api_object_new(client_kind(API_T_lease));
    struct api_lease *lease = api_own_body(o);
    struct api_object_meta *meta = api_own_meta(o);
    struct arena *a = &o->arena;
    meta->name = arena_str(a, node->name);
    meta->namespace = NODES__LEASE_NAMESPACE;
    labels_put(a, &meta->annotations, mark);
    meta->owner_references.v = arena_array(a, struct api_owner_reference, 1);
    meta->owner_references.n = 1;
    meta->owner_references.v[0] = (struct api_owner_reference){
        .api_version = STR("v1"),
        .kind = STR("Node"),
        .name = meta->name,
        .uid = arena_str(a, owner->meta->uid),
    };
    lease->spec.holder_identity = meta->name;
    lease->spec.lease_duration_seconds = (struct api_opt_i32){true, NODES__LEASE_SECONDS};
    set_renewal(n, node, &lease->spec);
    return o;
}

int64_t nodes__phase(const struct nodes__node *node, int64_t period) {
    uint64_t part = (uint64_t)node->index * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    return (int64_t)(part * (uint64_t)period >> 24) + 1;
}

int64_t nodes__until(const struct nodes *n, int64_t delay) {
    int64_t now = net_loop_now(n->loop);
    int64_t at = (now + delay) / NODES__SLOT * NODES__SLOT;
    return at > now ? at - now : NODES__SLOT;
}

static int64_t next_renewal(const struct nodes *n, struct nodes__node *node) {
    bool is_first = !node->has_phase;
    node->has_phase = true;
    return nodes__until(n, is_first ? nodes__phase(node, NODES__RENEW_EVERY) : NODES__RENEW_EVERY);
}

static void send_renewal(struct nodes *n, struct nodes__node *node, struct work *w,
                         const struct api_object *lease, const struct api_object *owner) {
    struct client_request request = {
        .verb = lease ? REGISTRY_VERB_UPDATE : REGISTRY_VERB_CREATE,
        .kind = client_kind(API_T_lease),
        .namespace = NODES__LEASE_NAMESPACE,
        .name = node->name,
    };
    if (lease) {
        request.object = api_object_derive(lease);
        struct api_lease *body = api_own_body(request.object);
        if (!is_marked(lease))
            labels_put(&request.object->arena, &body->metadata.annotations, mark);
        body->spec.holder_identity = arena_str(&request.object->arena, node->name);
        set_renewal(n, node, &body->spec);
    } else
        request.object = new_lease(n, node, owner);
    n->renewals++;
    work_send(w, &request, NULL, NULL);
    work_again_after(w, next_renewal(n, node));
}

void nodes__renew(void *arg, struct work *w) {
    struct nodes *n = arg;
    struct nodes__node *node = map_get(&n->nodes, work_name(w));
    const struct api_object *owner = informer_get(n->node_informer, STR(""), work_name(w));
    if (!node || !owner || nodes__is_away(node))
        return;
    const struct api_object *lease =
        informer_get(n->lease_informer, NODES__LEASE_NAMESPACE, node->name);
    enum nodes__keeper keeper = judge(n, node, lease);
    if (keeper == NODES__OURS) {
        send_renewal(n, node, w, lease, owner);
        nodes__set_keeper(n, node, NODES__OURS);
    } else if (node->keeper == NODES__UNDECIDED)
        leave_to_others(n, node);
}
