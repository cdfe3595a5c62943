/*
 * What the rules of devices share: of their classes, claims and slices. v1beta1 says some things in
 * other places; the rules see everything as v1 has it.
 */
#ifndef VALID_DEVICE_DEVICE_INT_H
#define VALID_DEVICE_DEVICE_INT_H

#include "valid/declared_int.h"

enum { MOST_DRIVER_BYTES = 63, MOST_DEVICE_ID_BYTES = 32 };

/* ---- objects of either version; in the arena when they had to be made ---- */

/* What a claim asks for: the spec of a ResourceClaim, or that inside a ResourceClaimTemplate. */
const struct api_device_claim *valid__asked_devices(struct arena *a, const struct api_object *o);
const struct api_resource_slice_spec *valid__slice_spec(struct arena *a,
                                                        const struct api_object *o);
const struct api_resource_claim_status *valid__claim_status(const struct api_object *o);

/* ---- names ---- */

/* Which of the errors about a driver's name may be found by declared rules as well. */
void valid__driver_name(struct valid *v, const struct path *p, struct str name, bool is_covered);
/* The name of a pool: DNS subdomains with slashes between them. */
void valid__pool_name(struct valid *v, const struct path *p, struct str name, bool is_covered);
/* A name of an attribute, with a domain before it or not; and one that must have it. */
void valid__qualified_name(struct valid *v, const struct path *p, struct str name);
void valid__fully_qualified_name(struct valid *v, const struct path *p, struct str name);
/* The latter as a question; v is left alone. */
bool valid__is_fully_qualified(struct valid *v, struct str name);
/* A value of a label. */
void valid__label_value(struct valid *v, const struct path *p, struct str value);
/* A key as paths show it, in the arena: the middle of a long one is left out. */
struct str valid__shown_key(struct arena *a, struct str key, size_t most);

/* ---- lists ---- */

/* Too many items? Then nothing else is said of them. */
bool valid__has_too_many(struct valid *v, const struct path *p, size_t n, size_t most);
/* One text for several, in the arena: a key of a set. */
struct str valid__join_keys(struct arena *a, const struct str *parts, size_t n);
/* Texts that are repeated, which declared rules tell of as well. */
void valid__repeated(struct valid *v, const struct path *p, const struct api_strs *list);

/* ---- parts ---- */

/* Expressions that select devices. is_stored: the old object has the same. */
void valid__device_selectors(struct valid *v, const struct path *p,
                             const struct api_device_selector_list *list, bool is_stored);
/* What a driver is told, which must say to which one. */
void valid__device_configuration(struct valid *v, const struct path *p,
                                 const struct api_device_configuration *c, bool is_stored);
/* JSON of a driver's own: an object of so many bytes at most. */
void valid__device_parameters(struct valid *v, const struct path *p, const struct json *raw,
                              bool is_stored);
/* A taint; old may be NULL. */
void valid__device_taint(struct valid *v, const struct path *p, const struct api_device_taint *t,
                         const struct api_device_taint *old);
/* All tolerations of a list. */
void valid__device_toleration(struct valid *v, const struct path *p,
                              const struct api_device_toleration_list *list);
/* What must have come true before a pod is bound, and what may not; members of what is at p. */
void valid__binding_conditions(struct valid *v, const struct path *p, const struct api_strs *wanted,
                               const struct api_strs *failing);
/* What nodes need not do for a device. */
void valid__skipped_operations(struct valid *v, const struct path *p, const struct api_strs *list);
/* The capacities of a device. */
void valid__device_capacity(struct valid *v, const struct path *p, const struct api_device *d);

/* ---- requests by their names ---- */

struct request_names {
    struct seen requests, subrequests; /* the latter as request/subrequest */
};
/* Collects the names of a claim's requests; texts are in the arena, or borrowed. */
void valid__request_names_init(struct request_names *names, struct arena *a,
                               const struct api_device_claim *claim);
/* Forgets them. */
void valid__request_names_release(struct request_names *names);
/* One of them, and a list of them, which has no name twice. */
void valid__request_reference(struct valid *v, const struct path *p, struct str name,
                              const struct request_names *names);
void valid__request_references(struct valid *v, const struct path *p, const struct api_strs *list,
                               const struct request_names *names);

/* ---- claims: new ones, and those that replace old ones ---- */

/* Both are for the rows of ResourceClaim. */
void valid__create_device_claim(struct valid *v, const struct api_object *o);
void valid__update_device_claim(struct valid *v, const struct api_object *o,
                                const struct api_object *old);

#endif
