/*
 * See resources_int.h.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources,
 * func (*resourceAllocationScorer) calculateResourceAllocatableRequest.
 */
#include "sched/plugins/node_resources_int.h"

#include "sched/requests.h"

static int64_t requested(const struct sched__pod_class *c, uint32_t resource, bool nonzero) {
    if (nonzero && resource == SCHED__CPU)
        return c->scored_cpu;
    if (nonzero && resource == SCHED__MEMORY)
        return c->scored_memory;
    const struct sched__amounts *requests = nonzero ? &c->asked : &c->balanced;
    for (size_t i = 0; i < requests->n; i++)
        if (requests->v[i].resource == resource)
            return requests->v[i].amount;
    return 0;
}

struct sched__scored_list sched__scored_list(struct sched *s, struct sched__pod_class *c,
                                             const struct sched_weighted_resource *spec, size_t n,
                                             bool nonzero) {
    struct sched__scored_list list = {.v = arena_array(&c->arena, struct sched__scored, n)};
    for (size_t i = 0; i < n; i++) {
        uint32_t resource = sched__resource_get(s, spec[i].name);
        int64_t request = requested(c, resource, nonzero);
        list.any = list.any || request;
        if (request || !sched_resource_is_scalar(spec[i].name))
            list.v[list.n++] = (struct sched__scored){resource, spec[i].weight, request};
    }
    return list;
}

int64_t sched__shape_score(const struct sched_shape_point *points, size_t n, int64_t percent) {
    size_t i = 0;
    while (i < n && percent > points[i].utilization)
        i++;
    if (i == 0)
        return points[0].score * 10;
    if (i == n)
        return points[n - 1].score * 10;
    int64_t low = points[i - 1].score * 10, high = points[i].score * 10;
    return low + (high - low) * (percent - points[i - 1].utilization) /
                     (points[i].utilization - points[i - 1].utilization);
}
