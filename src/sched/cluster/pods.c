/*
 * Pods on nodes: what placing one and taking it away does to the columns.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework, func (*NodeInfo) AddPodInfo,
 * func (*NodeInfo) RemovePod, func (*NodeInfo) update.
 */
#include "base/wrap.h"
#include "sched/sched_int.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/attached_int.h"
#include "sched/volumes/volumes_int.h"

/* Upstream's sums wrap around. */
static void add(int64_t *sum, int64_t amount) {
    *sum = wrap_add_i64(*sum, amount);
}

static void add_requests(struct sched *s, const struct sched__pod_class *c, uint32_t slot,
                         int sign) {
    for (size_t i = 0; i < c->requests.n; i++)
        sched__resource_use(s, c->requests.v[i].resource, slot,
                            wrap_mul_i64(sign, c->requests.v[i].amount));
    add(&s->nodes.nonzero_cpu[slot], wrap_mul_i64(sign, c->nonzero_cpu));
    add(&s->nodes.nonzero_memory[slot], wrap_mul_i64(sign, c->nonzero_memory));
    s->nodes.pods[slot] += sign;
}

static void take_ports(struct sched *s, struct sched_pod *p, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    if (!p->cls->port_count)
        return;
    p->port_place = (uint32_t)node->port_pods.n;
    vec_push(&node->port_pods, p);
    sched__ports_count(s, p->cls, slot, 1);
}

static void free_ports(struct sched *s, const struct sched_pod *p, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    if (!p->cls->port_count)
        return;
    node->port_pods.v[p->port_place] = node->port_pods.v[--node->port_pods.n];
    node->port_pods.v[p->port_place]->port_place = p->port_place;
    vec_shrink(&node->port_pods);
    sched__ports_count(s, p->cls, slot, -1);
}

/* Looked for when somebody asks: several pods may go, and come back, before that. */
int32_t sched__node_lowest_priority(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; node->lowest_left && i < node->pods.n; i++)
        if (node->pods.v[i]->priority < lowest)
            lowest = node->pods.v[i]->priority;
    if (node->lowest_left)
        s->nodes.lowest_priority[slot] = lowest;
    node->lowest_left = false;
    return s->nodes.lowest_priority[slot];
}

void sched__pod_place(struct sched *s, struct sched_pod *p, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    p->node = slot;
    p->place = (uint32_t)node->pods.n;
    vec_push(&node->pods, p);
    add_requests(s, p->cls, slot, 1);
    take_ports(s, p, slot);
    if (p->priority < s->nodes.lowest_priority[slot])
        s->nodes.lowest_priority[slot] = p->priority;
    sched__count_pod(s, p, slot, 1);
    sched__volumes_pod(s, p, slot, 1);
    sched__node_touch(s, slot);
}

void sched__pod_unplace(struct sched *s, struct sched_pod *p) {
    uint32_t slot = p->node;
    struct sched__node *node = &s->nodes.v[slot];
    node->pods.v[p->place] = node->pods.v[--node->pods.n];
    node->pods.v[p->place]->place = p->place;
    vec_shrink(&node->pods);
    p->node = SCHED__NONE;
    add_requests(s, p->cls, slot, -1);
    free_ports(s, p, slot);
    if (p->priority == s->nodes.lowest_priority[slot])
        node->lowest_left = true;
    sched__count_pod(s, p, slot, -1);
    sched__volumes_pod(s, p, slot, -1);
    sched__node_touch(s, slot);
}

struct sched__seat sched__pod_take_off(struct sched *s, struct sched_pod *p) {
    struct sched__seat seat = {.slot = p->node,
                               .place = p->place,
                               .port_place = p->port_place,
                               .neighbour = p->resident_prev};
    sched__pod_unplace(s, p);
    return seat;
}

/* Who took a place when the pod went is now the last again. */
static void swap_with_last(struct sched_pod **pods, size_t n, size_t place) {
    struct sched_pod *last = pods[n - 1];
    pods[n - 1] = pods[place];
    pods[place] = last;
}

void sched__pod_put_back(struct sched *s, struct sched_pod *p, const struct sched__seat *seat) {
    struct sched__node *node = &s->nodes.v[seat->slot];
    sched__pod_place(s, p, seat->slot);
    swap_with_last(node->pods.v, node->pods.n, seat->place);
    node->pods.v[node->pods.n - 1]->place = (uint32_t)node->pods.n - 1;
    p->place = seat->place;
    if (p->cls->port_count) {
        swap_with_last(node->port_pods.v, node->port_pods.n, seat->port_place);
        node->port_pods.v[node->port_pods.n - 1]->port_place = (uint32_t)node->port_pods.n - 1;
        p->port_place = seat->port_place;
    }
    sched__attached_reorder(s, seat->slot);
    sched__count_seat(p, seat->neighbour);
}
