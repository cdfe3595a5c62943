/* A pod's requests, with the numbers that the columns of nodes have for resources. */
#ifndef SCHED_CLUSTER_REQUESTS_INT_H
#define SCHED_CLUSTER_REQUESTS_INT_H

#include "sched/requests.h"
#include "sched/sched_int.h"

struct sched__requests {
    /* Not zero: cpu, memory and ephemeral storage, then the others by name, which is also the order
     * in which reasons speak of them. */
    struct sched__amount *v;
    size_t n;
    int64_t nonzero_cpu, nonzero_memory; /* on a node, for scoring */
    int64_t scored_cpu, scored_memory;   /* of the pod to be placed, for scoring */
};

/* What the pod asks for, in the arena; see sched_requests_get. Resources nobody named before get
 * their numbers, which the caller must hold. */
void sched__pod_requests(struct sched *s, const struct api_pod *pod, unsigned use, struct arena *a,
                         struct sched__requests *out);

/* An amount as the API has it, and as text: "1500m", "2Gi". */
struct quantity sched__amount_quantity(uint32_t resource, int64_t amount);
void sched__amount_write(struct buf *out, uint32_t resource, int64_t amount);

#endif
