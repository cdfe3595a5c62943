/* Pods on nodes: what placing one and taking it away does to the columns. */
#include "sched/cluster/count_int.h"
#include "sched/sched_int.h"
#include "sched/volumes/volumes_int.h"

static void add_requests(struct sched *s, const struct sched__class *c, uint32_t slot, int sign) {
    for (size_t i = 0; i < c->request_count; i++)
        s->nodes.resources.v[c->requests[i].resource].used[slot] += sign * c->requests[i].amount;
    s->nodes.nonzero_cpu[slot] += sign * c->nonzero_cpu;
    s->nodes.nonzero_memory[slot] += sign * c->nonzero_memory;
    s->nodes.pods[slot] += sign;
}

static bool same_port(const struct sched__port *a, const struct sched__port *b) {
    return a->port == b->port && a->protocol == b->protocol && a->ip == b->ip;
}

/* The atoms are held by the classes of the pods. */
static void remove_port(struct sched__node *node, const struct sched__port *port) {
    for (size_t i = 0; i < node->ports.n; i++)
        if (same_port(&node->ports.v[i], port)) {
            node->ports.v[i] = node->ports.v[--node->ports.n];
            return;
        }
}

static int32_t lowest_priority(const struct sched__node *node) {
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; i < node->pods.n; i++)
        if (node->pods.v[i]->priority < lowest)
            lowest = node->pods.v[i]->priority;
    return lowest;
}

void sched__pod_place(struct sched *s, struct sched_pod *p, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    p->node = slot;
    p->place = (uint32_t)node->pods.n;
    vec_push(&node->pods, p);
    add_requests(s, p->cls, slot, 1);
    for (size_t i = 0; i < p->cls->port_count; i++)
        vec_push(&node->ports, p->cls->ports[i]);
    if (p->priority < s->nodes.lowest_priority[slot])
        s->nodes.lowest_priority[slot] = p->priority;
    sched__count_pod(s, p, slot, 1);
    sched__volumes_pod(s, p, 1);
    sched__node_touch(s, slot);
}

void sched__pod_unplace(struct sched *s, struct sched_pod *p) {
    uint32_t slot = p->node;
    struct sched__node *node = &s->nodes.v[slot];
    node->pods.v[p->place] = node->pods.v[--node->pods.n];
    node->pods.v[p->place]->place = p->place;
    p->node = SCHED__NONE;
    add_requests(s, p->cls, slot, -1);
    for (size_t i = 0; i < p->cls->port_count; i++)
        remove_port(node, &p->cls->ports[i]);
    if (p->priority == s->nodes.lowest_priority[slot])
        s->nodes.lowest_priority[slot] = lowest_priority(node);
    sched__count_pod(s, p, slot, -1);
    sched__volumes_pod(s, p, -1);
    sched__node_touch(s, slot);
}
