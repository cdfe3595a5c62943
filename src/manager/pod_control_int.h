/*
 * Making and deleting the pods of an object, with what is said about it.
 *
 * Follows k8s.io/kubernetes pkg/controller, func (RealPodControl) createPods.
 */
#ifndef MANAGER_POD_CONTROL_INT_H
#define MANAGER_POD_CONTROL_INT_H

#include "manager/controller_int.h"

/* At most so many are made, or deleted, before what became of them is looked at. */
enum { MANAGER__BURST = 500 };

/* Why pods could not be made or deleted. */
struct manager__failure {
    const char *reason; /* FailedCreate, FailedDelete; NULL: nothing failed */
    struct str message;
};

/* The pods of one piece of work; the caller fills the first part. It lives as long as the work. */
struct manager__pods {
    struct manager *manager;
    struct work *work;
    struct events *events;
    struct events_subject subject; /* whose pods they are */
    /* A draft of the pod at this place, which is taken; NULL: none is to be made any more. */
    struct api_object *(*make)(void *arg, size_t place);
    void (*done)(void *arg); /* everything is answered */
    void *arg;
    struct str first_patch; /* of pods that are to be deleted: strategic; empty: none */

    struct manager__failure failure; /* the first one */
    size_t made, missing, batch, unanswered;
    size_t succeeded; /* of those that were to be made, or deleted */
};

/* Makes pods: one, then two, four, … as long as all goes well, so that a refusal costs little. Then
 * `done` is called, at once if there are none to be made. */
void manager__pods_create(struct manager__pods *p, size_t count);

/* Deletes pods of these names, which live as long as the work; the same. */
void manager__pods_delete(struct manager__pods *p, const struct str *names, size_t n);

/* The same for all of them, however many there are. */
void manager__pods_delete_all(struct manager__pods *p, const struct str *names, size_t n);

/* The names of pods, copied into the arena. */
struct str *manager__pod_names(struct arena *a, const struct api_object *const *pods, size_t n);

#endif
