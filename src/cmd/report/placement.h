/*
 * The scheduler at work on a cluster: every pending pod is tried, in the order of the queue, until
 * nothing changes any more. Back-off is waited for on a clock that is moved by hand.
 */
#ifndef CMD_REPORT_PLACEMENT_H
#define CMD_REPORT_PLACEMENT_H

#include "cmd/input/cluster.h"
#include "sched/sched.h"

struct clock_fake;

/* What became of a pod: its name in the table, and what the sum calls such pods. */
#define PLACEMENT_STATES(X)                            \
    X(SCHEDULED, "Scheduled", "scheduled")             \
    X(UNSCHEDULABLE, "Unschedulable", "unschedulable") \
    X(FAILED, "SchedulerError", "failed")              \
    X(GATED, "Gated", "gated")                         \
    X(IGNORED, "Ignored", "ignored")                   \
    X(WAITING, "Pending", "pending")                   \
    X(PREEMPTED, "Preempted", "preempted")

enum placement_state {
#define X(id, name, word) PLACEMENT_##id,
    PLACEMENT_STATES(X)
#undef X
        PLACEMENT_STATE_COUNT
};

struct placement_pod {
    struct api_object *pod; /* held; as it was given */
    enum placement_state state;
    struct cluster_item *item; /* of pods that were pending; else NULL */
    struct str node;           /* where it is, or was before it was preempted */
    struct str message;        /* why it is not scheduled */
    struct str nominated;      /* the node that it waits for; or absent */
    struct str victims;        /* that would have to go, in a dry run; or absent */
    struct str scheduler;      /* preempted: the schedulerName of the pod it made room for */
};

struct placement_opts {
    const struct sched_config *config; /* stored */
    bool dry_run;                      /* victims stay where they are */
};

struct placement {
    const struct placement_opts *opts;
    struct cluster *cluster;
    struct sched *sched;
    struct clock_fake *clock;
    struct arena arena;
    VEC(struct placement_pod) pods; /* pending ones in the order of the input, then victims */
    struct map by_name;             /* place in pods + 1, by namespace/name */
    struct map bound;               /* objects of pods that had their node, by the same */
    struct map texts;               /* messages and names, each once */
    size_t pending, decided;        /* for the progress */
    int64_t last_change;            /* when a pod last found or lost its place */
};

/* Tells the scheduler of the whole cluster and runs it on the clock, which is set. Everything but p
 * is stored until placement_release. */
void placement_run(struct placement *p, struct cluster *c, struct sched *s,
                   struct clock_fake *clock, const struct placement_opts *opts);
void placement_release(struct placement *p);

/* The pod as it is now: on its node if it was given one. Shares what it can; the caller owns it. */
struct api_object *placement_pod_now(const struct placement_pod *pod);

/* Did every pod that was pending find its node? */
bool placement_is_complete(const struct placement *p);

#endif
