/* Between the walk of defaulting and its rules. */
#ifndef API_DEFAULT_INT_H
#define API_DEFAULT_INT_H

#include "api/object.h"

struct feature_set;

struct defaulter {
    struct arena *a; /* the object's */
    const struct feature_set *gates;
};

/* Sets the defaults of one struct that depend on its other fields; body is a struct of the type. */
typedef void default_fn(struct defaulter *d, void *body);

/* By type id; NULL where constants are all there is. The walk visits only types that have,
 * somewhere inside, a default or amounts (`defaulted` of the type): those with a rule are among
 * them. */
extern default_fn *const api__default_rules[API_TYPES];

#endif
