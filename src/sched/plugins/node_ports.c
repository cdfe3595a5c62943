/*
 * NodePorts: a host port is taken once per address and protocol.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeports, func (*NodePorts) PreFilter,
 * func (*NodePorts) Filter.
 */
#include "sched/explain/explain_int.h"

#include <assert.h>
#include <stdlib.h>

/* The pod's ports, sorted so that those in the way of another are found without a look at all. */
struct wanted {
    struct sched__port *v;
    size_t n;
};

static int compare_pointers(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* By number, protocol and address; the address that stands for all comes first. Which of two atoms
 * is the smaller one matters to nobody. */
static int compare_ports(const void *a, const void *b) {
    const struct sched__port *x = a, *y = b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    if (x->protocol != y->protocol)
        return compare_pointers(x->protocol, y->protocol);
    if (x->ip == y->ip)
        return 0;
    if (sched__ip_is_any(x->ip) || sched__ip_is_any(y->ip))
        return sched__ip_is_any(x->ip) ? -1 : 1;
    return compare_pointers(x->ip, y->ip);
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    if (!c->port_count)
        return NULL;
    struct wanted *w = arena_new(&c->arena, struct wanted);
    w->n = c->port_count;
    w->v = arena_copy(&c->arena, c->ports, c->port_count * sizeof *w->v);
    qsort(w->v, w->n, sizeof *w->v, compare_ports);
    return w;
}

/* The place of the first port of this number and protocol. */
static size_t find_first(const struct wanted *w, const struct sched__port *port) {
    size_t low = 0, high = w->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct sched__port *p = &w->v[mid];
        if (p->port < port->port ||
            (p->port == port->port && compare_pointers(p->protocol, port->protocol) < 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool conflicts(const struct wanted *w, const struct sched__port *port) {
    size_t i = find_first(w, port);
    if (i == w->n || w->v[i].port != port->port || w->v[i].protocol != port->protocol)
        return false;
    return sched__ip_is_any(w->v[i].ip) || sched__ip_is_any(port->ip) ||
           bsearch(port, w->v + i, w->n - i, sizeof *w->v, compare_ports);
}

/* The first port of another pod that is in the way of one of this pod's; NULL: none. */
static const struct sched__port *find_conflict(const struct wanted *w, const struct sched_pod *p) {
    for (size_t i = 0; i < p->cls->port_count; i++)
        if (conflicts(w, &p->cls->ports[i]))
            return &p->cls->ports[i];
    return NULL;
}

/* The first pod by name on the node that has a port in the way. */
const struct sched_pod *sched__ports_rival(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    const struct sched_pod *first = NULL;
    for (size_t i = 0; i < node->port_pods.n; i++)
        if (find_conflict(cy->cls->data[SCHED_NODE_PORTS], node->port_pods.v[i]))
            first = sched__pod_first(first, node->port_pods.v[i]);
    return first;
}

static bool are_taken(const struct sched *s, const struct wanted *w, uint32_t slot) {
    if (!s->nodes.v[slot].port_pods.n)
        return false;
    for (size_t i = 0; i < w->n; i++)
        if (sched__port_is_taken(s, &w->v[i], slot))
            return true;
    return false;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct wanted *w = cy->cls->data[SCHED_NODE_PORTS];
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && are_taken(cy->s, w, i))
            cy->verdict[i] = SCHED__REASON_PORTS;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct sched_pod *rival = sched__ports_rival(cy, slot);
    const struct sched__port *port = find_conflict(cy->cls->data[SCHED_NODE_PORTS], rival);
    assert(port); /* explained is what was rejected */
    sched__finding_start(out, SCHED_FINDING_PORT, sched__field(SCHED_FIELD_PORTS));
    sched__finding_add_of_node(out, SCHED_OPERAND_IP, sched__text(intern_text(port->ip)));
    sched__finding_add_of_node(out, SCHED_OPERAND_PORT, sched__number(port->port));
    sched__finding_add_of_node(out, SCHED_OPERAND_PROTOCOL,
                               sched__text(intern_text(port->protocol)));
    sched__finding_add_of_node(out, SCHED_OPERAND_POD, sched__text(rival->key));
}

static bool has_number(const struct wanted *w, int32_t number) {
    size_t i = find_first(w, &(struct sched__port){.port = number});
    return i < w->n && w->v[i].port == number;
}

/* A pod with one of the ports left, or a node came. */
static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    if (!(event->bits & SCHED__ASSIGNED_POD_DELETE))
        return true;
    const struct api_pod *gone = event->before->body;
    for (size_t i = 0; i < gone->spec.containers.n; i++)
        for (size_t j = 0; j < gone->spec.containers.v[i].ports.n; j++)
            if (has_number(pod->cls->data[SCHED_NODE_PORTS],
                           gone->spec.containers.v[i].ports.v[j].host_port))
                return true;
    return false;
}

const struct sched__plugin sched__node_ports = {
    .compile = compile,
    .filter = filter,
    .explain = explain,
    .events = SCHED__NODE_ADD | SCHED__ASSIGNED_POD_DELETE,
    .hint = hint,
};
