/*
 * Rolling updates, a step at a time: which pods of an old template go and which of the new one are
 * made next, given what is there and what of it is ready. No clock, no API: whoever conducts the
 * rollout carries a step out, tells what became of the pods and asks again. A step costs what it
 * changes, however many pods there are.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController) rolloutRolling.
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) rollingUpdate.
 * Follows k8s.io/kubernetes pkg/controller/statefulset,
 * func updateStatefulSetAfterInvariantEstablished.
 */
#ifndef CONTROLLER_ROLLOUT_H
#define CONTROLLER_ROLLOUT_H

#include "api/object.h"
#include "base/vec.h"

/* How pods are replaced. */
enum controller_rollout_way {
    CONTROLLER_ROLLOUT_RECREATE, /* all old ones go first */
    CONTROLLER_ROLLOUT_REPLICAS, /* any old one makes room for any new one */
    CONTROLLER_ROLLOUT_MEMBERS,  /* one after the other in the order of the list, each in place of
                                    the old one of its name */
    CONTROLLER_ROLLOUT_DAEMONS,  /* each in place of, or beside, the old one of its node */
};

enum controller_rollout_state {
    CONTROLLER_POD_ABSENT,  /* not made yet */
    CONTROLLER_POD_WAITING, /* made, but not ready */
    CONTROLLER_POD_READY,
    CONTROLLER_POD_GONE,
};

/* A pod of the rollout. */
struct controller_rollout_pod {
    const struct api_object *object; /* borrowed */
    struct str place;                /* its name or node, where only one pod may be; or empty */
    bool is_new;                     /* it is of the new template */
    enum controller_rollout_state state;
    size_t pair; /* of way MEMBERS and DAEMONS: the number of its place */
};

/* How far it is. */
struct controller_rollout_counts {
    int64_t updated, updated_ready; /* pods of the new template that are there */
    int64_t old, old_ready;
};

/* Places in the list of pods: of those that are to go, and of those that are to be made. */
struct controller_rollout_step {
    VEC(size_t) remove, make;
};

struct controller_rollout_pair;

/*
 * A rollout. The caller zeroes it, fills the first part and the pods, and starts it; from then on
 * states change by controller_rollout_set only. Release with controller_rollout_release.
 */
struct controller_rollout {
    enum controller_rollout_way way;
    struct str maker;        /* what remarks call the workload: deployment.apps/web */
    int64_t wanted;          /* pods that there shall be */
    int64_t max_surge;       /* more than those */
    int64_t max_unavailable; /* of those that need not be ready */
    int64_t kept;            /* of those that keep the old template, and count as new here */
    VEC(struct controller_rollout_pod) pods;

    struct controller_rollout_counts counts;
    struct arena arena;                    /* of what follows */
    size_t next_new;                       /* pods before this one have been made */
    size_t *order, order_count, next_old;  /* old pods as they go; those before next_old went */
    struct controller_rollout_pair *pairs; /* pods by their places */
    size_t pair_count, first_open;         /* the first place that is not settled yet */
    int64_t unready;                       /* places without a pod that is ready */
    bool is_settled;                       /* all places have been looked at */
    struct controller_rollout_step step;   /* the last one */
};

/* Releases what it holds; a zeroed rollout is fine. */
void controller_rollout_release(struct controller_rollout *r);

/* Resolves maxSurge and maxUnavailable of a Deployment against its replicas, and the way that its
 * strategy names. */
void controller_rollout_of_deployment(struct controller_rollout *r, const struct api_deployment *d);

/* The same for a StatefulSet and, against the number of nodes that need a daemon, a DaemonSet. */
void controller_rollout_of_stateful_set(struct controller_rollout *r,
                                        const struct api_stateful_set *set);
void controller_rollout_of_daemon_set(struct controller_rollout *r,
                                      const struct api_daemon_set *set, int64_t nodes);

/* Counts and orders the pods; afterwards the list stays as it is. */
void controller_rollout_start(struct controller_rollout *r);

/* Tells what became of a pod. */
void controller_rollout_set(struct controller_rollout *r, size_t pod,
                            enum controller_rollout_state state);

/* The next step, in r->step: pods to remove first, then those to make. They count as gone and made
 * from here on. False: there is nothing to do before something becomes ready, or at all. */
bool controller_rollout_next(struct controller_rollout *r);

/* Is every pod of the new template, and ready? */
bool controller_rollout_is_done(const struct controller_rollout *r);

#endif
