/*
 * What is special to services, slices of endpoints and ranges of addresses.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service, func dropTypeDependentFields.
 * Follows k8s.io/kubernetes pkg/registry/discovery/endpointslice, func dropTopologyOnV1.
 * Follows k8s.io/kubernetes pkg/registry/networking/servicecidr, func (serviceCIDRStrategy)
 * PrepareForCreate, func (serviceCIDRStrategy) PrepareForUpdate.
 */
#include "valid/network/network_int.h"
#include "valid/prepare/prepare_int.h"

/* ---- services: what goes with the old type goes, unless the update says otherwise ---- */

typedef const struct api_service_spec spec;

static bool same_strs(const struct api_strs *a, const struct api_strs *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return a->n == b->n;
}

/* A list that is there and empty is another than none. */
static bool same_optional_strs(const struct api_strs *a, const struct api_strs *b) {
    return a->v && b->v ? same_strs(a, b) : !a->v && !b->v;
}

static bool same_optional(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

static void drop_addresses(struct api_service_spec *s, spec *old) {
    if (str_eq(old->cluster_ip, s->cluster_ip) && same_strs(&old->cluster_ips, &s->cluster_ips)) {
        s->cluster_ip = STR("");
        s->cluster_ips = (struct api_strs){0};
    }
    if (same_optional_strs(&old->ip_families, &s->ip_families))
        s->ip_families = (struct api_strs){0};
    if (str_eq(old->ip_family_policy, s->ip_family_policy))
        s->ip_family_policy = (struct str){0};
}

/* A number as a name that can be looked up. */
static struct str bytes_of(const int32_t *port) {
    return (struct str){(const char *)port, sizeof *port};
}

/* Are all node ports of the service old ones? */
static bool has_only_old_ports(spec *s, spec *old) {
    struct seen ports;
    bool only_old = true;
    seen_init(&ports);
    for (size_t i = 0; i < old->ports.n; i++)
        seen_add(&ports, bytes_of(&old->ports.v[i].node_port));
    for (size_t i = 0; only_old && i < s->ports.n; i++)
        only_old = !s->ports.v[i].node_port || seen_get(&ports, bytes_of(&s->ports.v[i].node_port));
    seen_release(&ports);
    return only_old;
}

static void drop_ports(struct api_service_spec *s, spec *old) {
    if (service_is_on_nodes(old) && !service_is_on_nodes(s) && has_only_old_ports(s, old))
        for (size_t i = 0; i < s->ports.n; i++)
            s->ports.v[i].node_port = 0;
    if (service_is_health_checked(old) && !service_is_health_checked(s) &&
        old->health_check_node_port == s->health_check_node_port)
        s->health_check_node_port = 0;
}

static void drop_balancer(struct api_service_spec *s, spec *old) {
    struct api_opt_bool *now = &s->allocate_load_balancer_node_ports;
    struct api_opt_bool was = old->allocate_load_balancer_node_ports;
    if (now->set && was.set && now->v == was.v)
        *now = (struct api_opt_bool){0};
    if (same_optional(old->load_balancer_class, s->load_balancer_class))
        s->load_balancer_class = (struct str){0};
}

void valid__update_service(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    (void)opts;
    struct api_service *service = api_own_body(o);
    struct api_service_spec *s = &service->spec;
    spec *was = &((const struct api_service *)old->body)->spec;
    if (!service_is_external(was) && service_is_external(s))
        drop_addresses(s, was);
    drop_ports(s, was);
    if (service_is_balanced(was) && !service_is_balanced(s))
        drop_balancer(s, was);
    if (service_is_reachable(was) && !service_is_reachable(s) &&
        str_eq(was->external_traffic_policy, s->external_traffic_policy))
        s->external_traffic_policy = STR("");
    if (!service_is_balanced(s))
        service->status.load_balancer = (struct api_load_balancer_status){0};
}

/* ---- slices of endpoints ---- */

#define HOSTNAME STR("kubernetes.io/hostname")

void valid__create_endpoint_slice(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_endpoint_slice *slice = api_own_body(o);
    for (size_t i = 0; i < slice->endpoints.n; i++)
        slice->endpoints.v[i].deprecated_topology = (struct labels){0};
}

/* The nodes that old endpoints tell in the old way. */
static void find_nodes(struct seen *nodes, const struct api_endpoint_slice *old) {
    for (size_t i = 0; i < old->endpoints.n; i++) {
        const struct label *l = labels_find(&old->endpoints.v[i].deprecated_topology, HOSTNAME);
        if (l && l->value.n)
            seen_add(nodes, l->value);
    }
}

/* A topology is taken out of what comes in; a node that stood there already is told as one. */
static void replace_topology(struct api_endpoint *e, const struct seen *nodes) {
    const struct label *l = labels_find(&e->deprecated_topology, HOSTNAME);
    if (!e->node_name.p && l && seen_get(nodes, l->value) &&
        !names_check_dns1123_subdomain(l->value).n)
        e->node_name = l->value;
    e->deprecated_topology = (struct labels){0};
}

static void replace_topologies(struct api_endpoint_slice *slice,
                               const struct api_endpoint_slice *old) {
    struct seen nodes;
    seen_init(&nodes);
    find_nodes(&nodes, old);
    for (size_t i = 0; i < slice->endpoints.n; i++)
        replace_topology(&slice->endpoints.v[i], &nodes);
    seen_release(&nodes);
}

void valid__update_endpoint_slice(struct api_object *o, const struct api_object *old,
                                  const struct valid_opts *opts) {
    (void)opts;
    struct api_endpoint_slice *slice = api_own_body(o);
    const struct api_endpoint_slice *was = old->body;
    bool other_endpoints = valid__member_changed(o, old, "endpoints", false);
    if (other_endpoints || valid__member_changed(o, old, "ports", false) ||
        !str_eq(slice->address_type, was->address_type) ||
        !labels_equal(&slice->metadata.labels, &was->metadata.labels))
        slice->metadata.generation++;
    if (other_endpoints)
        replace_topologies(slice, was);
}

/* ---- ranges of addresses ---- */

static bool wipes_status(const struct valid_opts *opts) {
    return feature_enabled(opts->gates, FEATURE_ServiceCIDRStatusFieldWiping);
}

void valid__create_service_cidr(struct api_object *o, const struct valid_opts *opts) {
    struct api_service_cidr *cidr = api_own_body(o);
    if (wipes_status(opts))
        cidr->status = (struct api_service_cidr_status){0};
}

void valid__update_service_cidr(struct api_object *o, const struct api_object *old,
                                const struct valid_opts *opts) {
    struct api_service_cidr *cidr = api_own_body(o);
    if (wipes_status(opts))
        valid__keep_part(o, old->body, &cidr->status, API_T_service_cidr_status);
}
