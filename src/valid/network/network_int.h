/* What the rules of services, their endpoints and the ways to them share. */
#ifndef VALID_NETWORK_NETWORK_INT_H
#define VALID_NETWORK_NETWORK_INT_H

#include "valid/ip.h"
#include "valid/metadata_int.h"
#include "valid/service.h"

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
