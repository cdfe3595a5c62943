/* A pod's requests with the numbers that the columns of nodes have for resources. */
#include "sched/cluster/requests_int.h"

static void add(struct sched__requests *out, uint32_t resource, int64_t amount) {
    out->v[out->n++] = (struct sched__amount){resource, amount};
}

void sched__pod_requests(struct sched *s, const struct api_pod *pod, unsigned use, struct arena *a,
                         struct sched__requests *out) {
    struct sched_requests r;
    sched_requests_get(a, pod, &s->gates, use, &r);
    *out = (struct sched__requests){
        .v = arena_array(a, struct sched__amount, r.n),
        .nonzero_cpu = r.nonzero_cpu,
        .nonzero_memory = r.nonzero_memory,
        .scored_cpu = r.scored_cpu,
        .scored_memory = r.scored_memory,
    };
    uint32_t *numbers = arena_array(a, uint32_t, r.n);
    int64_t fixed[SCHED__SCALARS] = {0};
    for (size_t i = 0; i < r.n; i++) {
        numbers[i] = sched__resource_get(s, r.v[i].name);
        if (numbers[i] < SCHED__SCALARS)
            fixed[numbers[i]] = r.v[i].amount;
    }
    for (uint32_t k = 0; k < SCHED__SCALARS; k++)
        if (fixed[k])
            add(out, k, fixed[k]);
    for (size_t i = 0; i < r.n; i++)
        if (numbers[i] >= SCHED__SCALARS)
            add(out, numbers[i], r.v[i].amount);
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
