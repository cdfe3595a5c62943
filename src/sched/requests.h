/*
 * What a pod asks for: upstream's PodRequests over containers, init containers, sidecars, overhead,
 * pod-level resources and what the status says of a resize; the scheduler, the kubelet and whoever
 * adds up a node's pods count with the same figures.
 */
#ifndef SCHED_REQUESTS_H
#define SCHED_REQUESTS_H

#include "base/arena.h"

struct api_pod;
struct feature_set;

/* An amount of a resource: cpu in thousandths, everything else in units. */
struct sched_request {
    struct str name; /* borrowed from the pod */
    int64_t amount;
};

struct sched_requests {
    struct sched_request *v; /* by name, not zero; only resources that count for placement */
    size_t n;
    /* With 100m and 200Mi for containers that say nothing: what a node's pods come to for scoring,
     * and what the pod that is to be placed does: the requests of its containers alone, as upstream
     * leaves the pod-level ones and a resize out when NodeResourcesFit scores. */
    int64_t nonzero_cpu, nonzero_memory;
    int64_t scored_cpu, scored_memory;
};

/* What of a pod's status counts beside its spec, if the gates allow it. */
enum sched_requests_use {
    SCHED_REQUESTS_SPEC = 0,
    SCHED_REQUESTS_RESIZE = 1, /* what the kubelet reports of a resize */
    SCHED_REQUESTS_CLAIMS = 2, /* what claims of devices take of the node's own resources */
};

/*
 * The requests of a pod; the list lives in the arena. `use` is an or of the values above: a pod on
 * a node takes SCHED_REQUESTS_RESIZE | SCHED_REQUESTS_CLAIMS, one that is to be placed asks for
 * SCHED_REQUESTS_SPEC.
 */
void sched_requests_get(struct arena *a, const struct api_pod *pod, const struct feature_set *gates,
                        unsigned use, struct sched_requests *out);

/* Has the status anything that can count, so that requests may depend on `use`? */
bool sched_requests_have_status(const struct api_pod *pod);

/* Is it an extended resource: of a domain that is not Kubernetes' own, and well named? */
bool sched_resource_is_extended(struct str name);

/* Is it one of the resources that count beside cpu, memory, ephemeral-storage and pods: extended,
 * huge pages, with a name of Kubernetes' domain, or attachable volumes? */
bool sched_resource_is_scalar(struct str name);

#endif
