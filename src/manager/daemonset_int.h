/*
 * What is to be done about a DaemonSet: a pure question about its pods and the nodes, answered with
 * lists.
 */
#ifndef MANAGER_DAEMONSET_INT_H
#define MANAGER_DAEMONSET_INT_H

#include "manager/adoption_int.h"

/* A node, or a name that pods are for and that no node has, with the pods for it. */
struct daemonset__node {
    struct str name;
    bool is_there;
    bool should_run, should_continue; /* a pod may be made; one that is there may stay */
    struct manager__objects pods;     /* but those that have ended and are on their way out */
};

struct daemonset__view {
    struct arena *arena;
    const struct api_daemon_set *body;
    struct str hash;       /* of the current revision */
    struct str generation; /* of the template, as an old annotation has it; or empty */
    int64_t now;
    struct daemonset__node *nodes;
    size_t n;
    /* May a pod that failed on this node be deleted now? NULL: it may. */
    bool (*may_replace)(void *arg, struct str node);
    void *arg;
};

/* Names of nodes on which pods are made, and pods that are deleted. Lists live in the arena. */
struct daemonset__plan {
    struct str *make;
    size_t make_count;
    struct manager__objects remove;
    struct manager__objects ended; /* among those: they have ended where they should run */
};

/* The node that a pod of a DaemonSet is for: where it is, or what its affinity names; or empty. */
struct str daemonset__target(const struct api_object *pod);

/* Plans what makes the number of pods right: one on each node that should have one. */
void daemonset__manage(struct daemonset__view *v, struct daemonset__plan *plan);

/* Plans the next step of a rolling update. */
void daemonset__roll(struct daemonset__view *v, struct daemonset__plan *plan);

/* The figures of the status; true if they are others than those that it has. */
bool daemonset__status(const struct daemonset__view *v, int64_t generation,
                       struct api_daemon_set_status *out);

/* Is the pod of the template at hand? */
bool daemonset__is_updated(const struct daemonset__view *v, const struct api_object *pod);

#endif
