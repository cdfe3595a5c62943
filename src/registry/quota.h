/*
 * What the objects of a namespace use of what a ResourceQuota limits, counted anew, as the quota's
 * controller does; admission counts only what a request changes.
 */
#ifndef REGISTRY_QUOTA_H
#define REGISTRY_QUOTA_H

#include "api/object.h"

struct feature_set;

/* How it is counted. */
struct registry_meter {
    struct arena *arena;             /* of what is counted */
    const struct feature_set *gates; /* of the server */
    struct api_time now;
};

/* Those of the names in `hard` that objects of the kind use, each with nothing used. */
struct api_quantities registry_quota_names(const struct registry_meter *meter,
                                           const struct api_kind *kind,
                                           const struct api_quantities *hard);

/* Adds what the object uses to `used`, if it is in the scopes of the quota; names that `used` has
 * not are not counted. */
void registry_quota_add(const struct registry_meter *meter,
                        const struct api_resource_quota_spec *quota, const struct api_object *o,
                        struct api_quantities *used);

/* Are both lists of the same names with the same amounts? */
bool registry_amounts_equal(const struct api_quantities *a, const struct api_quantities *b);

#endif
