/* What controllers say in the status of pods, as a patch that leaves alone what others say. */
#ifndef MANAGER_POD_MARK_INT_H
#define MANAGER_POD_MARK_INT_H

#include "base/arena.h"
#include "client/workqueue.h"

struct manager__pod_mark {
    const char *type, *status, *reason, *message; /* no type: no condition */
    const char *phase;                            /* of the pod; NULL: it stays */
};

/* The text of a strategic merge patch that gives the pod this condition and phase since `now`, in
 * nanoseconds of wall time, if it is still the pod of this uid; absent when the pod has both. */
struct str manager__pod_mark_patch(struct arena *a, const struct api_object *pod,
                                   const struct manager__pod_mark *c, int64_t now);

/* Sends such a patch. */
void manager__pod_mark_send(struct work *w, const struct api_object *pod, struct str patch,
                            work_answer_fn *answered, void *arg);

#endif
