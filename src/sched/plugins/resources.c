/* See resources_int.h. */
#include "sched/plugins/resources_int.h"

#include "sched/requests.h"

static int64_t requested(const struct sched__class *c, uint32_t resource, bool nonzero) {
    if (nonzero && resource == SCHED__CPU)
        return c->scored_cpu;
    if (nonzero && resource == SCHED__MEMORY)
        return c->scored_memory;
    for (size_t i = 0; i < c->request_count; i++)
        if (c->requests[i].resource == resource)
            return c->requests[i].amount;
    return 0;
}

struct sched__scored_list sched__scored_list(struct sched *s, struct sched__class *c,
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
