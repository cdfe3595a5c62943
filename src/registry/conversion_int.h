/* Between the table of conversions and those that are files of their own. */
#ifndef REGISTRY_CONVERSION_INT_H
#define REGISTRY_CONVERSION_INT_H

#include "registry/registry.h"

/* Makes of the tree of an object, which is changed, that of another version, less its apiVersion.
 */
typedef void registry__conversion(struct arena *a, struct json *tree);

/* autoscaling/v1 and v2. */
registry__conversion registry__scaler_to_v1, registry__scaler_to_v2;

/* An object with the members of another, or none if that is NULL or no object: one that may grow.
 */
struct json registry__own(struct arena *a, const struct json *object);

/* Puts a value under the key, in place of one that is there. The object is one that may grow. */
void registry__put(struct arena *a, struct json *object, struct str key, struct json value);

/* The object without a member. */
void registry__drop(struct json *object, struct str key);

#endif
