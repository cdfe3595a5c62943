/* Names and amounts of resources, for rules that have to do with some. */
#ifndef VALID_RESOURCE_INT_H
#define VALID_RESOURCE_INT_H

#include "valid/valid_int.h"

/* Names of resources: huge pages of a size; in Kubernetes' own namespace, that is without a prefix
 * or with kubernetes.io/ in it. */
bool valid__is_huge_page(struct str name);
bool valid__is_native_resource(struct str name);

/* The amount of a resource: not negative, and a whole number unless it is cpu, memory or such. */
void valid__resource_amount(struct valid *v, const struct path *p,
                            const struct api_quantity *amount);
/* The name of a resource as such; false when something is wrong with it. And one of a container. */
bool valid__resource_name(struct valid *v, const struct path *p, struct str name);
void valid__container_resource_name(struct valid *v, const struct path *p, struct str name);
/* Only what is native and no huge page may be promised to more than one. */
bool valid__may_overcommit(struct str name);
/* Not of Kubernetes itself: example.com/gpu. */
bool valid__is_extended_resource(struct str name);
/* A quantity in an error text. */
struct str valid__quantity_text(struct arena *a, const struct quantity *q);

#endif
