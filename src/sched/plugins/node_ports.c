/* NodePorts: a host port is taken once per address and protocol. */
#include "sched/explain/explain_int.h"

static void *compile(struct sched *s, struct sched__class *c) {
    (void)s;
    return c->port_count ? c->ports : NULL;
}

static bool is_any(const struct atom *ip) {
    return str_is(intern_text(ip), "0.0.0.0");
}

static bool conflicts(const struct sched__port *a, const struct sched__port *b) {
    return a->port == b->port && a->protocol == b->protocol &&
           (a->ip == b->ip || is_any(a->ip) || is_any(b->ip));
}

/* The port of the node that is in the way of one of the pod's, or NULL. */
static const struct sched__port *find_conflict(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    const struct sched__class *c = cy->cls;
    for (size_t i = 0; i < node->ports.n; i++)
        for (size_t j = 0; j < c->port_count; j++)
            if (conflicts(&node->ports.v[i], &c->ports[j]))
                return &node->ports.v[i];
    return NULL;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && find_conflict(cy, i))
            cy->verdict[i] = SCHED__REASON_PORTS;
}

static bool has_port(const struct sched__class *c, const struct sched__port *port) {
    for (size_t i = 0; i < c->port_count; i++)
        if (conflicts(&c->ports[i], port))
            return true;
    return false;
}

struct sched_pod *sched__ports_rival(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__port *port = find_conflict(cy, slot);
    const struct sched__node *node = &cy->s->nodes.v[slot];
    for (size_t i = 0; port && i < node->pods.n; i++)
        if (has_port(node->pods.v[i]->cls, port))
            return node->pods.v[i];
    return NULL;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *out) {
    const struct sched__port *port = find_conflict(cy, slot);
    struct str ip = intern_text(port->ip), protocol = intern_text(port->protocol);
    const struct sched_pod *rival = sched__ports_rival(cy, slot);
    buf_addf(out, "host port %.*s:%d/%.*s is taken", STR_ARG(ip), port->port, STR_ARG(protocol));
    if (rival)
        buf_addf(out, " by pod %.*s", STR_ARG(rival->key));
}

/* A pod with one of the ports left, or a node came. */
static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    if (!(event->bits & SCHED__ASSIGNED_POD_DELETE))
        return true;
    const struct api_pod *gone = event->before->body;
    for (size_t i = 0; i < gone->spec.containers.n; i++)
        for (size_t j = 0; j < gone->spec.containers.v[i].ports.n; j++)
            for (size_t k = 0; k < pod->cls->port_count; k++)
                if (gone->spec.containers.v[i].ports.v[j].host_port == pod->cls->ports[k].port)
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
