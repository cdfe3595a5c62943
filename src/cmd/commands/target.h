/* What an argument names: a pod, or the pods of a workload. */
#ifndef CMD_COMMANDS_TARGET_H
#define CMD_COMMANDS_TARGET_H

#include "sim/cluster.h"

struct target {
    const char *kind; /* "pod", or as sim_owner_of has it */
    struct str name;
};

/* Reads pod/web, web, deploy/web or deployments.apps/web; an empty text names no pod. The name is
 * borrowed. */
int target_read(struct str typed, struct target *out, struct err *err);

/* Is it a pod, and not those of a workload? */
bool target_is_pod(const struct target *target);

/* Finds the pod of that name in the cluster's own namespace; *out is borrowed. Fails when it is not
 * there, with what may have been meant, when it was refused, or is not to be scheduled. */
int target_find_pod(const struct sim_cluster *c, struct str name, const struct api_object **out,
                    struct err *err);

#endif
