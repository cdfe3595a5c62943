/*
 * Endpoints: where the pods of a service are.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateEndpoints,
 * func validateEndpointSubsets, func validateEndpointAddress, func validateEndpointPort.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"
#include "valid/pod/container_int.h"

static void check_address(struct valid *v, const struct path *p,
                          const struct api_endpoint_address *a) {
    valid__ip(v, AT(p, "ip"), a->ip);
    if (a->hostname.n)
        valid__dns_label(v, AT(p, "hostname"), a->hostname);
    if (a->node_name.p)
        valid__dns_subdomain(v, AT(p, "nodeName"), a->node_name);
    valid__endpoint_ip(v, AT(p, "ip"), a->ip);
}

static void check_addresses(struct valid *v, const struct path *p,
                            const struct api_endpoint_address_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_address(v, AT_INDEX(p, i), &list->v[i]);
}

static void check_port(struct valid *v, const struct path *p, const struct api_endpoint_port *port,
                       bool needs_name) {
    if (port->name.n)
        valid__dns_label(v, AT(p, "name"), port->name);
    else if (needs_name)
        valid__required(v, AT(p, "name"), NO_DETAIL);
    valid__port_number(v, AT(p, "port"), port->port);
    valid__protocol(v, AT(p, "protocol"), port->protocol);
    if (port->app_protocol.p)
        valid__label_key(v, AT(p, "appProtocol"), port->app_protocol);
}

static void check_subset(struct valid *v, const struct path *p,
                         const struct api_endpoint_subset *s) {
    if (!s->addresses.n && !s->not_ready_addresses.n)
        valid__required(v, p, "must specify `addresses` or `notReadyAddresses`");
    check_addresses(v, AT(p, "addresses"), &s->addresses);
    check_addresses(v, AT(p, "notReadyAddresses"), &s->not_ready_addresses);
    for (size_t i = 0; i < s->ports.n; i++)
        check_port(v, AT_INDEX(AT(p, "ports"), i), &s->ports.v[i], s->ports.n > 1);
}

static void check_subsets(struct valid *v, const struct api_endpoints *e) {
    for (size_t i = 0; i < e->subsets.n; i++)
        check_subset(v, AT_INDEX(AT(NULL, "subsets"), i), &e->subsets.v[i]);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_subsets(v, o->body);
}

/* What is not changed was good once. */
static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_endpoints *now = o->body, *was = old->body;
    valid__metadata_update(v, o, old);
    if (!valid__equal_lists(API_T_endpoint_subset, &now->subsets, &was->subsets))
        check_subsets(v, now);
}

const struct valid_kind valid__endpoints = {
    .type = API_T_endpoints, .create = create, .update = update, .warn = valid__warn_endpoints};
