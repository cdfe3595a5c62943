/* What NodeResourcesFit and NodeResourcesBalancedAllocation share: the resources they score. */
#ifndef SCHED_PLUGINS_RESOURCES_INT_H
#define SCHED_PLUGINS_RESOURCES_INT_H

#include "sched/plugin_int.h"

/* A resource that counts: what nodes have of it, and what the pod adds. */
struct sched__scored {
    uint32_t resource;
    int64_t weight, request;
};

struct sched__scored_list {
    struct sched__scored *v;
    size_t n;
    bool any; /* the pod requests some of them */
};

/* The resources of a configuration that count for a class; `nonzero` assumes something for cpu and
 * memory where containers say nothing. Extended resources that are not requested do not count. */
struct sched__scored_list sched__scored_list(struct sched *s, struct sched__class *c,
                                             const struct sched_weighted_resource *spec, size_t n,
                                             bool nonzero);

#endif
