/* A pod's requests with the numbers that the columns of nodes have for resources. */
#include "sched/cluster/requests_int.h"

#include <stdlib.h>

static int compare_amount(const void *a, const void *b) {
    const struct sched__amount *x = a, *y = b;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

void sched__pod_requests(struct sched *s, const struct api_pod *pod, struct arena *a,
                         struct sched__requests *out) {
    struct sched_requests r;
    sched_requests_get(a, pod, &s->gates, true, &r);
    *out = (struct sched__requests){
        .v = arena_array(a, struct sched__amount, r.n),
        .n = r.n,
        .nonzero_cpu = r.nonzero_cpu,
        .nonzero_memory = r.nonzero_memory,
        .scored_cpu = r.scored_cpu,
        .scored_memory = r.scored_memory,
    };
    for (size_t i = 0; i < r.n; i++)
        out->v[i] = (struct sched__amount){sched__resource_get(s, r.v[i].name), r.v[i].amount};
    if (r.n > 1)
        qsort(out->v, r.n, sizeof *out->v, compare_amount);
}

struct quantity sched__amount_quantity(uint32_t resource, int64_t amount) {
    if (resource == SCHED__CPU)
        return quantity_of_milli(amount, QUANTITY_DECIMAL_SI);
    return quantity_of_i64(amount,
                           resource < SCHED__SCALARS ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI);
}

void sched__amount_write(struct buf *out, uint32_t resource, int64_t amount) {
    struct quantity q = sched__amount_quantity(resource, amount);
    quantity_write_canonical(out, &q);
}
