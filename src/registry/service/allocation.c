/*
 * A service on its way: what belongs together is brought together, and it gets the addresses and
 * ports that it does not have.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service/storage, func (*REST) beginCreate,
 * func (*REST) beginUpdate, func normalizeClusterIPs, func patchAllocatedValues,
 * func (*REST) defaultOnReadService, func (*Allocators) allocClusterIPs,
 * func (*Allocators) updateClusterIPs.
 */
#include <string.h>

#include <stdarg.h>

#include "base/map.h"
#include "registry/service/service_int.h"

typedef const struct api_service_spec spec;

void registry__allocation_fail(struct allocation *x, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    struct registry_cause *cause = arena_new(x->a, struct registry_cause);
    cause->message = arena_vprintf(x->a, fmt, args);
    va_end(args);
    x->failure = (struct registry_failure){
        .code = ERR_INTERNAL,
        .message = arena_printf(x->a, "Internal error occurred: %.*s", STR_ARG(cause->message)),
        .further = cause,
        .further_count = 1,
        .has_details = true};
}

/* ---- addresses ---- */

static struct api_strs one_of(struct arena *a, struct str text) {
    struct str *one = arena_array(a, struct str, 1);
    *one = text;
    return (struct api_strs){one, 1};
}

/* The list of addresses follows the single one, if it is left out. */
static void normalize(struct arena *a, struct api_service_spec *s, spec *old) {
    if (!old) {
        if (s->cluster_ip.n && !s->cluster_ips.n)
            s->cluster_ips = one_of(a, s->cluster_ip);
        return;
    }
    if (old->cluster_ips.n && !s->cluster_ips.n && str_eq(old->cluster_ip, s->cluster_ip))
        s->cluster_ips = old->cluster_ips;
    if (str_eq(old->cluster_ip, s->cluster_ip) ||
        !registry__same_strs(&old->cluster_ips, &s->cluster_ips))
        return;
    s->cluster_ips =
        old->cluster_ip.n && !s->cluster_ip.n ? (struct api_strs){0} : one_of(a, s->cluster_ip);
}

static void refuse_addresses(struct allocation *x, struct str why) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < x->s->cluster_ips.n; i++)
        json_append(x->a, &list, json_of_str(x->s->cluster_ips.v[i]));
    valid_refuse(x->errs, STR("spec.clusterIPs"), &list, why);
}

/* Upstream makes an IPAddress for the service before it looks at the service's own name, which is
 * then refused as that of a parent; empty: it would not be.
 *
 * Follows k8s.io/kubernetes pkg/apis/networking/validation, func validateIPAddressParentReference.
 */
static struct str parent_fault(const struct allocation *x, struct str address) {
    struct str name = x->o->meta->name, why = STR("");
    if (!name.n)
        why = STR("Required value");
    else if (memchr(name.p, '/', name.n))
        why = arena_printf(x->a, "Invalid value: \"%.*s\": may not contain '/'", STR_ARG(name));
    else if (memchr(name.p, '%', name.n))
        why = arena_printf(x->a, "Invalid value: \"%.*s\": may not contain '%%'", STR_ARG(name));
    else if (str_is(name, ".") || str_is(name, ".."))
        why = arena_printf(x->a, "Invalid value: \"%.*s\": may not be '%.*s'", STR_ARG(name),
                           STR_ARG(name));
    if (!why.n || x->is_dry_run)
        return STR("");
    return arena_printf(
        x->a, "IPAddress.networking.k8s.io \"%.*s\" is invalid: spec.parentRef.name: %.*s",
        STR_ARG(address), STR_ARG(why));
}

static void allocate_next(struct allocation *x, struct str *address, struct str family) {
    struct str next =
        registry__next_address(x->registry->ranges, &x->o->arena, family, x->is_dry_run);
    struct str fault = next.n ? parent_fault(x, next) : STR("");
    if (!next.n)
        registry__allocation_fail(
            x, "failed to allocate a serviceIP for Service \"%.*s\": range is full",
            STR_ARG(x->o->meta->name));
    if (fault.n)
        refuse_addresses(x, arena_printf(x->a, "failed to allocate IP: %.*s", STR_ARG(fault)));
    *address = next;
}

/* Gives the service its address of the family at this place. */
static void allocate_at(struct allocation *x, struct str *address, struct str family) {
    if (!address->n) {
        allocate_next(x, address, family);
        return;
    }
    struct str fault =
        registry__address_fault(x->registry->ranges, x->a, x->o, *address, x->is_dry_run);
    if (!fault.n)
        fault = parent_fault(x, *address);
    if (fault.n)
        refuse_addresses(x, arena_printf(x->a, "failed to allocate IP %.*s: %.*s",
                                         STR_ARG(*address), STR_ARG(fault)));
}

/* Makes room for an address of each family. */
static void widen(struct allocation *x) {
    struct api_strs *ips = &x->s->cluster_ips;
    size_t n = x->s->ip_families.n;
    struct str *grown = arena_array(&x->o->arena, struct str, n > ips->n ? n : ips->n);
    for (size_t i = 0; i < ips->n; i++)
        grown[i] = ips->v[i];
    for (size_t i = ips->n; i < n; i++)
        grown[i] = STR("");
    *ips = (struct api_strs){grown, n > ips->n ? n : ips->n};
}

static void allocate_from(struct allocation *x, size_t first) {
    struct api_service_spec *s = x->s;
    widen(x);
    for (size_t i = first; i < s->ip_families.n && !allocation_failed(x); i++)
        allocate_at(x, &s->cluster_ips.v[i], s->ip_families.v[i]);
    if (first == 0 && s->cluster_ips.n)
        s->cluster_ip = s->cluster_ips.v[0];
}

static bool is_headless(spec *s) {
    return s->cluster_ips.n && str_is(s->cluster_ips.v[0], "None");
}

void registry__allocate_addresses(struct allocation *x) {
    spec *old = x->old;
    if (!x->registry->ranges || service_is_external(x->s) || registry__keeps_families(x))
        return;
    if (!old || service_is_external(old)) {
        if (!is_headless(x->s))
            allocate_from(x, 0);
    } else if (!is_headless(old) && old->ip_families.n == 1 && x->s->ip_families.n == 2)
        allocate_from(x, 1);
}

/* ---- what an update leaves out ---- */

static bool wants_ports(spec *s) {
    struct api_opt_bool allocate = s->allocate_load_balancer_node_ports;
    return str_is(s->type, "NodePort") || (service_is_balanced(s) && (!allocate.set || allocate.v));
}

static void patch_ports(struct api_service_spec *s, spec *old) {
    struct port_set now = {{0}}, used = {{0}};
    struct map names = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < s->ports.n; i++)
        registry__ports_put(&now, s->ports.v[i].node_port);
    for (size_t i = 0; i < old->ports.n; i++) {
        int32_t port = old->ports.v[i].node_port;
        if (port && registry__ports_have(&now, port))
            registry__ports_put(&used, port);
        map_put_const(&names, old->ports.v[i].name, &old->ports.v[i]);
    }
    for (size_t i = 0; i < s->ports.n; i++) {
        const struct api_service_port *was = map_get_const(&names, s->ports.v[i].name);
        if (!s->ports.v[i].node_port && was && !registry__ports_have(&used, was->node_port))
            s->ports.v[i].node_port = was->node_port;
    }
    map_release(&names);
}

static void patch(struct api_service_spec *s, spec *old) {
    if (!service_is_external(old) && !service_is_external(s)) {
        if (!s->cluster_ip.n)
            s->cluster_ip = old->cluster_ip;
        if (!s->cluster_ips.n)
            s->cluster_ips = old->cluster_ips;
    }
    if (wants_ports(old) && wants_ports(s))
        patch_ports(s, old);
    if (service_is_health_checked(old) && service_is_health_checked(s) &&
        !s->health_check_node_port)
        s->health_check_node_port = old->health_check_node_port;
}

/* ---- services ---- */

/* A service that was stored when less was known of it, as it would be stored now. */
static void complete(const struct registry *r, struct api_object *old) {
    struct api_service_spec *s = &((struct api_service *)api_own_body(old))->spec;
    struct valid_errs errs = VALID_ERRS_INIT(&old->arena);
    struct allocation x = {.registry = r, .a = &old->arena, .o = old, .s = s, .errs = &errs};
    normalize(&old->arena, s, NULL);
    if (!s->ip_families.n)
        registry__init_families(&x);
}

static struct registry_failure allocate(struct allocation *x) {
    normalize(&x->o->arena, x->s, x->old);
    registry__init_families(x);
    if (!allocation_failed(x))
        registry__allocate_addresses(x);
    if (!allocation_failed(x))
        registry__allocate_ports(x);
    return x->errs->n ? registry_invalid(x->a, x->o, x->errs) : x->failure;
}

struct registry_failure registry__begin_service(const struct registry *r,
                                                const struct registry_request *request,
                                                struct arena *a, struct api_object *o,
                                                const struct api_object *old) {
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    struct allocation *x = arena_new(a, struct allocation);
    struct api_object *was = old ? api_object_copy(old) : NULL;
    *errs = VALID_ERRS_INIT(a);
    *x = (struct allocation){.registry = r,
                             .a = a,
                             .o = o,
                             .s = &((struct api_service *)api_own_body(o))->spec,
                             .is_dry_run = request->is_dry_run,
                             .errs = errs};
    if (was) {
        complete(r, was);
        struct api_service_spec *kept = arena_new(&o->arena, struct api_service_spec);
        api_struct_copy(&o->arena, &api_types[API_T_service_spec],
                        &((const struct api_service *)was->body)->spec, kept);
        x->old = kept;
        patch(x->s, kept);
    }
    api_object_free(was);
    return allocate(x);
}

void registry__finish_service(struct api_object *o) {
    struct api_service_spec *s = &((struct api_service *)api_own_body(o))->spec;
    if (service_is_external(s))
        s->internal_traffic_policy = (struct str){0};
}
