/*
 * What ReplicaSets and ReplicationControllers share: a ReplicationController is read as the
 * ReplicaSet that it could be.
 */
#ifndef MANAGER_REPLICASET_INT_H
#define MANAGER_REPLICASET_INT_H

#include "api/object.h"
#include "manager/adoption_int.h"
#include "manager/pod_control_int.h"

/* What is different. */
struct replicas__kind {
    bool tells_terminating; /* its status has terminatingReplicas */
    /* The object as a ReplicaSet, in the arena and borrowing from the object. */
    const struct api_replica_set *(*read)(struct arena *a, const struct api_object *o);
    /* Writes a copy of the status into a draft of the object. */
    void (*write_status)(struct api_object *draft, const struct api_replica_set_status *status);
};

/* ReplicationControllers, and the slot `selector` of their table. */
extern const struct replicas__kind replicas__controllers;
const struct api_label_selector *replicas__controller_selector(struct arena *a,
                                                               const struct api_object *o);

/* How many pods there are, and of what sort. */
struct replicas__counts {
    int32_t replicas, fully_labeled, ready, available;
    struct api_opt_i32 terminating;
};

/* Counts active pods; `terminating` is left as it is. */
void replicas__count(struct replicas__counts *counts, const struct api_replica_set *set,
                     const struct manager__objects *pods, int64_t now);

/* The status that a ReplicaSet should have after work on this generation of it. False: it has it
 * already. Lists live in the arena and borrow from the old status. */
bool replicas__status(struct arena *a, const struct api_replica_set *set,
                      const struct replicas__counts *counts, int64_t generation,
                      const struct manager__failure *failure, int64_t now,
                      struct api_replica_set_status *out);

/* In how many nanoseconds the next pod will be available; 0: none will be. */
int64_t replicas__next_check(const struct manager__objects *pods, int32_t min_ready_seconds,
                             int64_t now);

#endif
