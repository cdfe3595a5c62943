/*
 * The life of a pod's containers, which all live alike: read from a status, led a step further, and
 * written as a status again.
 */
#ifndef NODES_LIFE_INT_H
#define NODES_LIFE_INT_H

#include "api/object.h"

enum nodes__mode {
    NODES__NEW,      /* no kubelet has seen the pod */
    NODES__CREATING, /* containers are made */
    NODES__RUNNING,
    NODES__BACKOFF, /* they have ended, and will be restarted after a while */
    NODES__ENDED,   /* for good */
};

/* Once from start to end; times in seconds since the Unix epoch. */
struct nodes__run {
    int64_t started, finished;
    int32_t exit_code;
};

struct nodes__life {
    enum nodes__mode mode;
    int64_t begun; /* startTime of the pod */
    struct nodes__run run;
    struct nodes__run last; /* the run before it; finished is 0 when there was none */
    int32_t restarts;
    bool is_late; /* it was ended because activeDeadlineSeconds are over */
};

/* The life that a status shows. */
struct nodes__life nodes__read_life(const struct api_pod *pod);

/* How long containers that have been restarted so often wait for the next time, in seconds. */
int64_t nodes__backoff_seconds(int32_t restarts);

/* Addresses, which a status has from some moment on. */
struct nodes__ips {
    struct str host, pod;
};

/* The status that shows the life at `now`, in seconds: *status is what the pod says now, and
 * becomes what it is to say. New parts are the arena's. */
void nodes__write_life(struct arena *a, const struct api_object *pod,
                       const struct nodes__life *life, const struct nodes__ips *ips, int64_t now,
                       struct api_pod_status *status);

/* Sets the conditions of a kubelet that follow from the rest of the status. */
void nodes__write_conditions(struct arena *a, const struct api_object *pod,
                             const struct nodes__life *life, int64_t now,
                             struct api_pod_status *status);

/* Leaves only conditions in the list that are not the kubelet's; with room for the others. */
void nodes__keep_conditions(struct arena *a, struct api_pod_condition_list *list);

#endif
