/*
 * What the API server's admission plug-ins do to pods before the pod's own rules are asked:
 * Priority resolves the name of a class, DefaultTolerationSeconds lets pods stay on a node that is
 * in trouble for a while. In upstream's order.
 */
#ifndef VALID_ADMIT_H
#define VALID_ADMIT_H

#include "api/object.h"
#include "base/err.h"

struct valid_admit_opts {
    /* PriorityClass objects of the cluster, defaulted; borrowed. The two classes that every cluster
     * has are known without being here. */
    const struct api_object *const *priority_classes;
    size_t priority_class_count;
    int64_t not_ready_seconds, unreachable_seconds;
};

/* A cluster without classes of its own, and the server's defaults for the rest. */
#define VALID_ADMIT_DEFAULTS \
    ((struct valid_admit_opts){.not_ready_seconds = 300, .unreachable_seconds = 300})

/*
 * A new pod, defaulted and not yet published. Fails with ERR_FORBIDDEN and upstream's text when the
 * class is not there, or the pod names a priority or a preemption policy that is not the class's.
 */
int valid_admit_pod_create(struct api_object *o, const struct valid_admit_opts *opts,
                           struct err *err);

/* A pod that replaces old, as stored: what the plug-ins decided once is kept. */
void valid_admit_pod_update(struct api_object *o, const struct api_object *old,
                            const struct valid_admit_opts *opts);

#endif
