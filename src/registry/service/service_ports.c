/*
 * The ports of nodes at which a service is reached.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service/storage, func initNodePorts,
 * func (*Allocators) updateNodePorts, func (*Allocators) updateHealthCheckNodePort,
 * func (*Allocators) allocHealthCheckNodePort.
 * Follows k8s.io/kubernetes pkg/registry/core/service/portallocator,
 * func (*PortAllocationOperation) Allocate, func (*PortAllocationOperation) AllocateNext.
 */
#include "base/map.h"
#include "registry/service/service_int.h"

/* Takes a port that somebody asks for; what is in the way, or an empty text. A dry run does not
 * look at the range, and nobody does where it is not known. */
static struct str take(struct allocation *x, int32_t port) {
    const struct registry_ranges *ranges = x->registry->ranges;
    struct str fault =
        ranges && !x->is_dry_run ? registry__port_fault(ranges, x->a, port) : STR("");
    if (fault.n)
        return fault;
    if (registry__ports_have(&x->ports, port) || (ranges && registry__port_is_taken(ranges, port)))
        return STR("provided port is already allocated");
    registry__ports_put(&x->ports, port);
    x->last_port = port > x->last_port ? port : x->last_port;
    return STR("");
}

/* Takes any port; 0: there is none. In a dry run it is one for show. */
static int32_t take_any(struct allocation *x) {
    const struct registry_ranges *ranges = x->registry->ranges;
    enum { FIRST_SHOWN = 32769 };
    int32_t port = x->last_port ? x->last_port + 1 : FIRST_SHOWN;
    if (ranges && !x->is_dry_run)
        port = registry__next_port(ranges, &x->ports);
    registry__ports_put(&x->ports, port);
    x->last_port = port > x->last_port ? port : x->last_port;
    return port;
}

static void refuse(struct allocation *x, size_t i, int32_t port, struct str why) {
    struct json value = json_of_i64(port);
    valid_refuse(x->errs, arena_printf(x->a, "spec.ports[%zu].nodePort", i), &value, why);
}

static void take_asked(struct allocation *x, size_t i, int32_t port) {
    struct str fault = take(x, port);
    if (fault.n)
        refuse(x, i, port, fault);
}

static int32_t take_some(struct allocation *x) {
    int32_t port = take_any(x);
    if (!port)
        registry__allocation_fail(x, "failed to allocate a nodePort: range is full");
    return port;
}

static bool wants_ports(const struct api_service_spec *s) {
    struct api_opt_bool allocate = s->allocate_load_balancer_node_ports;
    return str_is(s->type, "NodePort") || (service_is_balanced(s) && allocate.set && allocate.v);
}

/* ---- new services ---- */

/* A number as a key of a map. */
static struct str bytes_of(const int32_t *number) {
    return (struct str){(const char *)number, sizeof *number};
}

/* Ports of a service by their number: the node port that is asked for, and the one that was given;
 * a number has the same one for all its protocols. */
struct port_maps {
    struct map asked, given;
};

static void find_asked(struct port_maps *m, const struct api_service_port_list *ports) {
    for (size_t i = 0; i < ports->n; i++)
        if (ports->v[i].node_port && !map_get_const(&m->asked, bytes_of(&ports->v[i].port)))
            map_put_const(&m->asked, bytes_of(&ports->v[i].port), &ports->v[i]);
}

static void give(struct allocation *x, struct port_maps *m, size_t i) {
    struct api_service_port *port = &x->s->ports.v[i];
    const struct api_service_port *given = map_get_const(&m->given, bytes_of(&port->port));
    const struct api_service_port *asked = map_get_const(&m->asked, bytes_of(&port->port));
    if (!port->node_port && !wants_ports(x->s))
        return;
    if (given && !port->node_port) {
        port->node_port = given->node_port;
    } else if (given) {
        if (port->node_port != given->node_port)
            take_asked(x, i, port->node_port);
    } else if (asked) {
        take_asked(x, i, asked->node_port);
        port->node_port = asked->node_port;
        map_put_const(&m->given, bytes_of(&port->port), port);
    } else {
        port->node_port = take_some(x);
        map_put_const(&m->given, bytes_of(&port->port), port);
    }
}

static void init_ports(struct allocation *x) {
    struct port_maps m = {MAP_INIT(map_random_seed()), MAP_INIT(map_random_seed())};
    find_asked(&m, &x->s->ports);
    for (size_t i = 0; i < x->s->ports.n && !allocation_failed(x); i++)
        give(x, &m, i);
    map_release(&m.asked);
    map_release(&m.given);
}

static void init_health_port(struct allocation *x) {
    int32_t *port = &x->s->health_check_node_port;
    struct str fault = *port ? take(x, *port) : STR("");
    if (fault.n)
        registry__allocation_fail(x, "failed to allocate requested HealthCheck NodePort %d: %.*s",
                                  (int)*port, STR_ARG(fault));
    if (*port)
        return;
    *port = take_any(x);
    if (!*port)
        registry__allocation_fail(x, "failed to allocate a HealthCheck NodePort 0: range is full");
}

/* ---- services that replace others ---- */

static void keep(struct allocation *x, size_t i, const struct port_set *old) {
    struct api_service_port *port = &x->s->ports.v[i];
    if (!port->node_port)
        port->node_port = take_some(x);
    else if (!registry__ports_have(old, port->node_port) &&
             !registry__ports_have(&x->ports, port->node_port))
        take_asked(x, i, port->node_port);
}

static void check_again(struct allocation *x, struct map *pairs, size_t i) {
    const struct api_service_port *port = &x->s->ports.v[i];
    struct str pair =
        arena_printf(x->a, "{%.*s %d}", STR_ARG(port->protocol), (int)port->node_port);
    if (allocation_failed(x))
        return;
    if (map_get_const(pairs, pair))
        x->failure = (struct registry_failure){
            .code = ERR_UNTOLD,
            .message = arena_printf(x->a, "duplicate nodePort: %.*s", STR_ARG(pair))};
    map_put_const(pairs, pair, port);
}

static void update_ports(struct allocation *x) {
    struct port_set old = {{0}};
    struct map pairs = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < x->old->ports.n; i++)
        if (x->old->ports.v[i].node_port)
            registry__ports_put(&old, x->old->ports.v[i].node_port);
    for (size_t i = 0; i < x->s->ports.n && !allocation_failed(x); i++) {
        if (!x->s->ports.v[i].node_port && !wants_ports(x->s))
            continue;
        keep(x, i, &old);
        check_again(x, &pairs, i);
    }
    map_release(&pairs);
}

void registry__allocate_ports(struct allocation *x) {
    bool is_on_nodes = service_is_on_nodes(x->s);
    bool had_health_port = x->old && service_is_health_checked(x->old);
    if (is_on_nodes && x->old)
        update_ports(x);
    else if (is_on_nodes)
        init_ports(x);
    if (!allocation_failed(x) && service_is_health_checked(x->s) && !had_health_port)
        init_health_port(x);
}
