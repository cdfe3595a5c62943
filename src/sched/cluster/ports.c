/*
 * Host ports that are taken, by node. A port is looked up, however many pods of the node have some:
 * under its own address, under 0.0.0.0, and, for a port of 0.0.0.0, under any address.
 *
 * Follows k8s.io/kube-scheduler framework, func (HostPortInfo) CheckConflict.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/sched_int.h"

/* What is taken. Keys are compared as bytes. */
struct port_key {
    const struct atom *protocol, *ip; /* an ip of NULL: any of them */
    uint32_t slot;
    int32_t port;
};
_Static_assert(sizeof(struct port_key) == 2 * sizeof(void *) + 8, "no bytes between the members");

struct port_count {
    struct port_key key;
    size_t n; /* how many pods have it; one pod may count twice */
};

static struct str key_text(const struct port_key *key) {
    return (struct str){(const char *)key, sizeof *key};
}

static struct port_key key_of(const struct sched__port *port, const struct atom *ip,
                              uint32_t slot) {
    return (struct port_key){port->protocol, ip, slot, port->port};
}

static void count(struct map *ports, struct port_key key, int delta) {
    struct port_count *c = map_get(ports, key_text(&key));
    if (!c) {
        assert(delta > 0);
        c = xmalloc(sizeof *c);
        *c = (struct port_count){.key = key};
        map_put(ports, key_text(&c->key), c);
    }
    c->n += (size_t)delta;
    if (!c->n) {
        map_del(ports, key_text(&c->key));
        free(c);
    }
}

void sched__ports_count(struct sched *s, const struct sched__pod_class *c, uint32_t slot,
                        int delta) {
    for (size_t i = 0; i < c->port_count; i++) {
        count(&s->nodes.ports, key_of(&c->ports[i], c->ports[i].ip, slot), delta);
        count(&s->nodes.ports, key_of(&c->ports[i], NULL, slot), delta);
    }
}

static bool is_counted(const struct sched *s, struct port_key key) {
    return map_get(&s->nodes.ports, key_text(&key));
}

bool sched__ip_is_any(const struct atom *ip) {
    return str_is(intern_text(ip), "0.0.0.0");
}

bool sched__port_is_taken(const struct sched *s, const struct sched__port *port, uint32_t slot) {
    return is_counted(s, key_of(port, NULL, slot)) &&
           (sched__ip_is_any(port->ip) || is_counted(s, key_of(port, port->ip, slot)) ||
            is_counted(s, key_of(port, s->nodes.any_ip, slot)));
}

void sched__ports_init(struct sched *s) {
    s->nodes.ports = MAP_INIT(s->seed);
    s->nodes.any_ip = intern_ref(intern_get(s->atoms, STR("0.0.0.0")));
}

void sched__ports_release(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.ports, &at));)
        free(e->value);
    map_release(&s->nodes.ports);
    intern_unref(s->nodes.any_ip);
}
