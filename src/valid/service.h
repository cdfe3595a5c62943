/* Services: what kind of one it is, and whether its addresses are good. */
#ifndef VALID_SERVICE_H
#define VALID_SERVICE_H

#include "valid/valid.h"

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

/* Everything that is wrong with the addresses of a service and their families, appended to *out:
 * for who gives it some; old is NULL on create. */
void valid_service_addresses(const struct api_service_spec *s, const struct api_service_spec *old,
                             const struct feature_set *gates, struct valid_errs *out);

#endif
