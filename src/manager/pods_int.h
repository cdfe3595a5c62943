/* What controllers ask of a pod. */
#ifndef MANAGER_PODS_INT_H
#define MANAGER_PODS_INT_H

#include "api/object.h"
#include "base/map.h"

struct feature_set;

/* Does the pod count: has it neither ended, nor begun to go? */
bool manager__pod_is_active(const struct api_object *pod);

/* Is the pod on its way out, and has not ended yet? */
bool manager__pod_is_terminating(const struct api_object *pod);

/* Its condition of this type, or NULL. */
const struct api_pod_condition *manager__pod_condition(const struct api_object *pod,
                                                       const char *type);

/* Is the pod ready? */
bool manager__pod_is_ready(const struct api_object *pod);

/* Has the pod been ready for so many seconds? Times are nanoseconds since the Unix epoch. */
bool manager__pod_is_available(const struct api_object *pod, int32_t min_ready_seconds,
                               int64_t now);

/* Who of a pod's init containers is a sidecar, for somebody who asks by the names in statuses. */
struct manager__sidecars {
    const struct api_container_list *all;
    struct map by_name; /* of sidecars; made when a status stands elsewhere than its container */
    bool is_known;
};

/* For the pod, which is borrowed; and the end of it. */
void manager__sidecars_init(struct manager__sidecars *s, const struct api_pod *pod);
void manager__sidecars_release(struct manager__sidecars *s);

/* Is the container of the status at this place one? */
bool manager__sidecars_have(struct manager__sidecars *s, size_t place, struct str name);

/* In how many nanoseconds the pod will be available if it stays as it is; 0: it is, or will not
 * be. */
int64_t manager__pod_available_in(const struct api_object *pod, int32_t min_ready_seconds,
                                  int64_t now);

/* What the names of the pods of an owner of this name begin with; in the arena. */
struct str manager__pod_prefix(struct arena *a, struct str owner);

/* A moment in nanoseconds since the Unix epoch, or the nearest that they can tell; 0 for none. And
 * back, to the second. */
int64_t manager__time_ns(struct api_time t);
struct api_time manager__time(int64_t ns);

/* A pod that may be deleted, and the number of related pods on its node. */
struct manager__candidate {
    const struct api_object *pod;
    int64_t related;
    void *arg; /* of whoever asks */
};

/* Sorts pods: those that had better be deleted come first. */
void manager__rank_for_deletion(struct manager__candidate *pods, size_t n, int64_t now,
                                const struct feature_set *gates);

/* The same without looking at costs or related pods, and with times as they are. */
void manager__rank_active(struct manager__candidate *pods, size_t n);

#endif
