/* What plug-ins that score resources share: which resources count, and lines through points. */
#ifndef SCHED_PLUGINS_NODE_RESOURCES_INT_H
#define SCHED_PLUGINS_NODE_RESOURCES_INT_H

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
struct sched__scored_list sched__scored_list(struct sched *s, struct sched__pod_class *c,
                                             const struct sched_weighted_resource *spec, size_t n,
                                             bool nonzero);

/* The score, 0 to 100, of so much use in percent: a line through the points, which are in order;
 * level before the first of them and behind the last. */
int64_t sched__shape_score(const struct sched_shape_point *points, size_t n, int64_t percent);

#endif
