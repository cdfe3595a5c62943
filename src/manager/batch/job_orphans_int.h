/*
 * Pods that have the finalizer of Jobs and nobody who would count them: their Job is finished, or
 * gone. They are let go.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) handleSingleOrphanPod.
 */
#ifndef MANAGER_BATCH_JOB_ORPHANS_INT_H
#define MANAGER_BATCH_JOB_ORPHANS_INT_H

#include "manager/controller_int.h"

struct job__orphans {
    struct informer *jobs, *pods;
    struct workqueue *queue; /* keys: pods */
    const struct feature_set *gates;
};

/* Looks after a pod of the queue. */
void job__orphans_sync(const struct job__orphans *o, struct work *w, const struct api_object *pod);

/* The pod may be one: it is looked at. */
void job__orphans_add(struct job__orphans *o, const struct api_object *pod);

/* The same for all pods of a Job that is finished or gone. */
void job__orphans_add_of(struct job__orphans *o, const struct api_object *job);

/* The Job that controls the pod, as it is now; or NULL. */
const struct api_object *job__of_pod(const struct informer *jobs, const struct api_object *pod);

/* Is the Job somebody else's to look after? */
bool job__is_foreign(const struct api_object *job, const struct feature_set *gates);

#endif
