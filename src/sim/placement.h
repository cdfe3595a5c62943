/*
 * The scheduler at work on a cluster: every pending pod is tried, in the order of the queue, until
 * nothing changes any more. Back-off is waited for on a clock that is moved by hand.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sched/sched.h"
#include "sim/cluster.h"

struct clock_manual;

/* What became of a pod: its name in the table, and what the sum calls such pods. */
#define SIM_STATES(X)                                  \
    X(SCHEDULED, "Scheduled", "scheduled")             \
    X(UNSCHEDULABLE, "Unschedulable", "unschedulable") \
    X(FAILED, "SchedulerError", "failed")              \
    X(GATED, "Gated", "gated")                         \
    X(IGNORED, "Ignored", "ignored")                   \
    X(WAITING, "Pending", "pending")                   \
    X(PREEMPTED, "Preempted", "preempted")             \
    X(REMOVED, "Removed", "removed")

enum sim_placement_state {
#define X(id, name, word) SIM_##id,
    SIM_STATES(X)
#undef X
        SIM_STATE_COUNT
};

struct sim_placement_pod {
    const struct api_object *pod; /* held; as it was given */
    enum sim_placement_state state;
    struct sim_item *item; /* of pods that were pending; else NULL */
    struct str node;       /* where it is, or was before it was preempted */
    struct str message;    /* why it is not scheduled */
    struct str nominated;  /* the node that it waits for; or absent */
    struct str victims;    /* that would have to go, in a dry run; or absent */
    struct str scheduler;  /* preempted: the schedulerName of the pod it made room for */
};

struct sim_placement_opts {
    const struct sched_config *config; /* stored */
    bool dry_run;                      /* victims stay where they are */
    bool is_told; /* the scheduler knows of all but pods that are pending: sim_probe_tell */
    /* Is told after each decision how many pods of how many have been tried; NULL: nobody asks. */
    void (*progress)(void *ctx, size_t decided, size_t pending);
    void *ctx; /* of progress */
};

struct sim_placement {
    const struct sim_placement_opts *opts;
    struct sim_cluster *cluster;
    struct sched *sched;
    struct clock_manual *clock;
    struct arena arena;
    VEC(struct sim_placement_pod) pods; /* pending ones in the order of the input, then others */
    struct map by_name;                 /* place in pods + 1, by namespace/name */
    struct map bound;  /* objects of pods that had their node, by the same; made when asked for */
    struct map rolled; /* pods of rollouts, by their objects */
    struct map texts;  /* messages and names, each once */
    size_t pending, decided; /* for the progress */
    int64_t last_change;     /* when a pod last found or lost its place */
};

/* Tells the scheduler of the cluster, as far as it does not know it, and runs it on the clock,
 * which is set. Everything but p is stored until sim_placement_release. */
void sim_placement_run(struct sim_placement *p, struct sim_cluster *c, struct sched *s,
                       struct clock_manual *clock, const struct sim_placement_opts *opts);
void sim_placement_release(struct sim_placement *p);

/* The pod as it is now: on its node if it was given one. Shares what it can; the caller owns it. */
struct api_object *sim_placement_pod_now(const struct sim_placement_pod *pod);

/* Is it still without a node, and there? */
static inline bool sim_placement_pod_is_pending(const struct sim_placement_pod *pod) {
    return pod->state != SIM_SCHEDULED && pod->state != SIM_PREEMPTED && pod->state != SIM_REMOVED;
}

/* Did every pod that was pending find its node, and did every rollout come to its end? */
bool sim_placement_is_complete(const struct sim_placement *p);

/* --- for the files that make up a placement --- */

/* Tells the scheduler of a pod that is pending from now on. */
void sim__placement_begin(struct sim_placement *p, struct sim_item *item);

/* Takes a pod off: the scheduler is told, and the report has it in that state. */
void sim__placement_end(struct sim_placement *p, const struct api_object *o,
                        enum sim_placement_state state, struct str message);

/* Gets to know the pods of all rollouts. */
void sim__rollouts_begin(struct sim_placement *p);

/* Tells the rollout of a pod, if it is of one, what became of it. */
void sim__rollouts_note(struct sim_placement *p, const struct api_object *o,
                        enum controller_rollout_state state);

/* Goes on after something was told to the scheduler, until nothing changes any more. */
void sim__placement_continue(struct sim_placement *p);

/* Goes one step further in every rollout. False: there was nothing to do. */
bool sim__rollouts_step(struct sim_placement *p);

#endif
