/*
 * Rolling updates, a step at a time: which pods of an old template go and which of the new one are
 * made next, given what is there and what of it is ready. No clock, no API: whoever conducts the
 * rollout carries a step out, tells what became of it and asks again.
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
};

/* A rollout. Zeroed and filled by the caller; release with controller_rollout_release. */
struct controller_rollout {
    enum controller_rollout_way way;
    struct str maker;        /* what remarks call the workload: deployment.apps/web */
    int64_t wanted;          /* pods that there shall be */
    int64_t max_surge;       /* more than those */
    int64_t max_unavailable; /* of those that need not be ready */
    int64_t kept;            /* of those that keep the old template, and count as new here */
    VEC(struct controller_rollout_pod) pods;
};

/* Forgets the pods; a zeroed rollout is fine. */
void controller_rollout_release(struct controller_rollout *r);

/* Resolves maxSurge and maxUnavailable of a Deployment against its replicas, and the way that its
 * strategy names. */
void controller_rollout_of_deployment(struct controller_rollout *r, const struct api_deployment *d);

/* The same for a StatefulSet and, against the number of nodes that need a daemon, a DaemonSet. */
void controller_rollout_of_stateful_set(struct controller_rollout *r,
                                        const struct api_stateful_set *set);
void controller_rollout_of_daemon_set(struct controller_rollout *r,
                                      const struct api_daemon_set *set, int64_t nodes);

/* Places in r->pods of the pods that are to be made, and of those that are to go. */
struct controller_rollout_step {
    size_t *make, *remove;
    size_t make_count, remove_count;
};

/* The next step, in the arena. False: there is nothing to do before something becomes ready, or at
 * all. */
bool controller_rollout_next(const struct controller_rollout *r, struct arena *a,
                             struct controller_rollout_step *out);

/* How far it is. */
struct controller_rollout_counts {
    int64_t updated, updated_ready; /* pods of the new template that are there */
    int64_t old, old_ready;
};
struct controller_rollout_counts controller_rollout_count(const struct controller_rollout *r);

/* Is every pod of the new template, and ready? */
bool controller_rollout_is_done(const struct controller_rollout *r);

#endif
