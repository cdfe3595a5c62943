/*
 * Workloads to pods: what the controllers of Deployments, ReplicaSets, StatefulSets, DaemonSets and
 * Jobs would make, less the pods that are there. Names are counted, not drawn, so that the same
 * objects give the same pods.
 */
#ifndef CONTROLLER_EXPAND_H
#define CONTROLLER_EXPAND_H

#include "api/object.h"
#include "controller/rollout.h"

struct feature_set;
struct match_engine;

/* An object of the cluster. */
struct controller_object {
    const struct api_object *object;
    bool stored;                     /* it has the uid by which its pods name it */
    const struct api_object *before; /* what it was before it was changed; NULL: it is as it was */
};

/* The cluster that pods are made for. Names of what is made live in its arena. */
struct controller_cluster {
    void *ctx;
    struct arena *arena;
    const struct feature_set *gates;
    const struct match_engine *engine; /* evaluates expressions of DaemonSets' tolerations */

    /* The object of that type and name, or NULL. */
    const struct api_object *(*find)(void *ctx, enum api_type_id type, struct str namespace,
                                     struct str name);

    /* What follows is made by the workload at this place of the list. */
    void (*begin)(void *ctx, size_t place);

    /* Creates an object, which is taken, under the name of its maker in what is said about it: as
     * it is stored, borrowed. NULL when a server would refuse it. */
    const struct api_object *(*create)(void *ctx, struct api_object *o, struct str maker);

    /* The same for one that differs from another that was created only in what no rule refuses. */
    bool (*adopt)(void *ctx, struct api_object *o);

    /* A workload was changed: what is created from here on comes only as its rollout goes on, and
     * may have the name of what it replaces. */
    void (*roll_begin)(void *ctx);

    /* The rollout, which is taken: all pods that are there, then those that were created. */
    void (*roll_end)(void *ctx, struct controller_rollout *r);

    /* A workload cannot be expanded, or is not meant to be. */
    void (*refuse)(void *ctx, struct str text);
    void (*note)(void *ctx, struct str text);
};

/* What has been made of templates in this run, see LIMIT_EXPANDED_PODS and _BYTES. */
struct controller_made {
    size_t pods, bytes;
};

/* Makes the pods that the workloads among the objects ask for. */
void controller_expand(const struct controller_cluster *cluster,
                       const struct controller_object *objects, size_t n,
                       struct controller_made *made);

#endif
