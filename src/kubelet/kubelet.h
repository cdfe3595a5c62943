/*
 * The kubelet's word on a pod that was bound to its node: upstream's predicate handler on Linux.
 *
 * The scheduler may have been wrong, late or absent, so the kubelet asks again for itself: system,
 * resources, node affinity, name, ports, and taints that execute. All failures are found; the first
 * is what upstream reports.
 */
#ifndef KUBELET_KUBELET_H
#define KUBELET_KUBELET_H

#include "base/arena.h"
#include "base/buf.h"

struct api_node;
struct api_pod;
struct feature_set;
struct match;

enum kubelet_code {
    KUBELET_OS_LABEL,  /* the pod's label kubernetes.io/os */
    KUBELET_OS_FIELD,  /* spec.os */
    KUBELET_GROUPS,    /* supplementalGroupsPolicy Strict, which the node cannot do */
    KUBELET_RESOURCE,  /* not enough of it is left */
    KUBELET_AFFINITY,  /* nodeSelector or required node affinity */
    KUBELET_NODE_NAME, /* bound to another node */
    KUBELET_PORTS,     /* a host port is in use */
    KUBELET_TAINT,     /* a NoExecute taint is not tolerated */
};

struct kubelet_failure {
    enum kubelet_code code;
    struct str resource; /* KUBELET_RESOURCE: cpu in thousandths, pods as 1, others in units */
    int64_t requested, used, capacity;
    uint32_t taint; /* KUBELET_TAINT: its place */
};

struct kubelet_verdict {
    struct kubelet_failure *v; /* in upstream's order; scalar resources by name */
    size_t n;                  /* 0: admitted */
};

struct kubelet_ctx {
    struct match *match;             /* compiles selectors and tolerations */
    const struct feature_set *gates; /* of the kubelet */
    struct arena *arena;             /* for verdicts */
};

/* The node as the kubelet knows it, with the pods that it admitted before. */
struct kubelet_state {
    const struct api_node *node;
    const struct api_pod *const *pods;
    size_t pod_count;
};

/* May the pod run here? Pods and node are as a server stores them, defaulted. *out lives in the
 * arena and borrows from the pod. */
void kubelet_admit(const struct kubelet_ctx *ctx, const struct kubelet_state *state,
                   const struct api_pod *pod, struct kubelet_verdict *out);

/* Appends the reason of the event and of the pod's status: "OutOfcpu", "NodeAffinity". */
void kubelet_failure_write_reason(struct buf *out, const struct kubelet_failure *f);

/* Appends upstream's message: "Node didn't have enough resource: cpu, requested: …". */
void kubelet_failure_write_message(struct buf *out, const struct kubelet_failure *f);

#endif
