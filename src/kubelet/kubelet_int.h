/* Inside of kubelet: the checks that need more than a comparison. */
#ifndef KUBELET_KUBELET_INT_H
#define KUBELET_KUBELET_INT_H

#include "api/types.h"
#include "kubelet/kubelet.h"

/* A verdict that grows in the arena of the context. */
struct kubelet__check {
    const struct kubelet_ctx *ctx;
    const struct kubelet_state *state;
    const struct api_pod *pod;
    struct kubelet_verdict *out;
    size_t cap;
};

/* Appends a failure, which is copied. */
void kubelet__fail(struct kubelet__check *c, const struct kubelet_failure *f);

/* Appends a failure for each resource of which there is too little, the number of pods first. */
void kubelet__check_resources(struct kubelet__check *c);

/* Does one of the pods on the node use a host port that the pod wants? */
bool kubelet__has_port_conflict(const struct kubelet__check *c);

#endif
