/* Between the walk of defaulting and its rules. */
#ifndef API_DEFAULT_INT_H
#define API_DEFAULT_INT_H

#include "api/object.h"

struct feature_set;

struct defaulter {
    struct arena *a; /* the object's */
    const struct feature_set *gates;
    struct str version; /* of the object, without the group */
};

/* Sets the defaults of one struct that depend on its other fields; body is a struct of the type. */
typedef void default_fn(struct defaulter *d, void *body);

/* Those of default_groups.c. */
default_fn api__default_service_port, api__default_service_spec, api__default_service,
    api__default_replication_controller, api__default_config_map, api__default_limit_range_item,
    api__default_validating_webhook, api__default_mutating_webhook, api__default_match_resources,
    api__default_mutating_policy_binding, api__default_crd, api__default_hpa,
    api__default_network_policy, api__default_role_binding, api__default_cluster_role_binding,
    api__default_exact_device_request, api__default_device_sub_request,
    api__default_device_sub_request_v1beta1, api__default_device_request_v1beta1,
    api__default_pod_group, api__default_composite_pod_group;

/* By type id; NULL where constants are all there is. The walk visits only types that have,
 * somewhere inside, a default or amounts (`defaulted` of the type), and the object as a whole:
 * those with a rule are among them. */
extern default_fn *const api__default_rules[API_TYPES];

#endif
