/* What the rules of services, their endpoints and the ways to them share. */
#ifndef VALID_NETWORK_NETWORK_INT_H
#define VALID_NETWORK_NETWORK_INT_H

#include "valid/ip_int.h"
#include "valid/metadata_int.h"

/* ---- addresses ---- */

/* Remembers texts that an old object has, which may stay as they are. They are borrowed; the caller
 * releases the set. */
void valid__remember(struct seen *old, const struct api_strs *texts);

/* Like valid__ip and valid__cidr, but for texts that the old object has; old may be NULL. */
void valid__ip_but_old(struct valid *v, const struct path *p, struct str text,
                       const struct seen *old);
void valid__cidr_but_old(struct valid *v, const struct path *p, struct str text,
                         const struct seen *old);

/* An address that something may be reached at: no loopback, and so on. */
void valid__endpoint_ip(struct valid *v, const struct path *p, struct str text);

/* The name of a load balancer, which is no address. */
void valid__host_name(struct valid *v, const struct path *p, struct str name);

/* One of SCTP, TCP and UDP. */
void valid__protocol(struct valid *v, const struct path *p, struct str protocol);

/* A name that can stand in a URL. */
void valid__segment(struct valid *v, const struct path *p, struct str name);

/* ---- services ---- */

static inline bool service_is_external(const struct api_service_spec *s) {
    return str_is(s->type, "ExternalName");
}

static inline bool service_is_balanced(const struct api_service_spec *s) {
    return str_is(s->type, "LoadBalancer");
}

/* Is it reached at a port of every node? */
static inline bool service_is_on_nodes(const struct api_service_spec *s) {
    return str_is(s->type, "NodePort") || service_is_balanced(s);
}

/* Does a load balancer ask nodes whether they have endpoints? */
static inline bool service_is_health_checked(const struct api_service_spec *s) {
    return service_is_balanced(s) && str_is(s->external_traffic_policy, "Local");
}

/* Can it be reached from outside the cluster? */
static inline bool service_is_reachable(const struct api_service_spec *s) {
    return service_is_on_nodes(s) || (str_is(s->type, "ClusterIP") && s->external_ips.n);
}

/* Has it no address of its own? */
static inline bool service_is_headless(const struct api_service_spec *s) {
    return s->cluster_ips.n == 1 && str_is(s->cluster_ips.v[0], "None");
}

/* The addresses of a service and their families, together; old is NULL on create. */
void valid__service_addresses(struct valid *v, const struct api_service_spec *s,
                              const struct api_service_spec *old);
/* Which of them an update may change. */
void valid__service_addresses_update(struct valid *v, const struct api_service_spec *s,
                                     const struct api_service_spec *old);

/* ---- warnings ---- */

valid_warn_fn valid__warn_service, valid__warn_service_status, valid__warn_endpoints,
    valid__warn_endpoint_slice, valid__warn_ingress, valid__warn_ingress_status,
    valid__warn_network_policy;

#endif
