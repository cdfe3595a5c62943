/*
 * The EndpointSlices that a service should have, as what is to be done with those that it has.
 */
#ifndef MANAGER_SERVICES_SLICE_PLAN_INT_H
#define MANAGER_SERVICES_SLICE_PLAN_INT_H

#include "manager/services/endpoint_parts_int.h"

enum { SLICE_MOST_ENDPOINTS = 100 };

enum slice_fate {
    SLICE_KEPT,
    SLICE_CREATED,
    SLICE_UPDATED,
    SLICE_DELETED,
    SLICE_NONE, /* one that was to be deleted took its place */
};

/* A slice that is there, or is to be made. */
struct slice_draft {
    const struct api_object *was; /* NULL: it is new */
    enum slice_fate fate;
    struct api_endpoint_list endpoints;
    endpoint__ports ports;
    struct slice_draft *next; /* of the same ports */
};

struct slice_plan {
    struct arena *arena;
    const struct api_object *service;
    struct str address_type;
    struct labels labels; /* that all its slices have */
    struct slice_draft **v;
    size_t n;
    bool prefers_node; /* hints are for nodes, too */
    bool prefers_zone; /* there are hints */
};

/* A pod as an endpoint: what the service's ports are in it, a list that other pods may share, and
 * what stands in a slice. */
struct slice_pod {
    const endpoint__ports *ports;
    struct api_endpoint endpoint;
};

/* The labels of the slices of a service that this controller manages, sorted in the arena. */
struct labels slice_plan__labels(struct arena *a, const struct api_object *service,
                                 struct str manager);

/* Fills the drafts of a plan whose other members are set: for these pods, from these slices, all of
 * the plan's address type. Everything lives in its arena and borrows from what was given. */
void slice_plan__make(struct slice_plan *plan, const struct slice_pod *pods, size_t pod_count,
                      const struct manager__objects *slices, uint64_t seed);

/* Is the slice the service's own? */
bool slice_plan__is_owned(const struct api_object *slice, const struct api_object *service);

/* The object that is to be written for a draft that is created or updated; the caller owns it. */
struct api_object *slice_plan__object(const struct slice_plan *plan, const struct slice_draft *d,
                                      struct api_time trigger);

/* ---- hints (slice_hints.c) ---- */

/* Sets or takes away the hints of all drafts; one that has wrong ones is updated. */
void slice_plan__set_hints(struct slice_plan *plan);

#endif
