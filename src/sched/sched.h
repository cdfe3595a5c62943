/*
 * The scheduler's core: which node a pod goes to, with upstream's verdicts, scores and messages.
 *
 * A state machine on an injected clock. It is told of objects (sched_set, sched_delete), and asked
 * for the next decision (sched_next). A pod that found its node is assumed to be there from then
 * on, until somebody tells what became of it (see sched_next). There is no time, randomness, thread
 * or order of hash tables in it: the same calls give the same answers.
 *
 * Cost grows with what is distinct: pods that ask for the same things are one class, a class
 * remembers what each node made of it, and only nodes that changed since are asked again. Memory
 * follows what is there: what came and went is given back as other things come.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "base/arena.h"
#include "base/buf.h"
#include "sched/config.h"

struct api_object;
struct clock;
struct feature_set;
struct log;
struct match_engine;
struct sched;

struct sched_opts {
    const struct feature_set *gates;   /* copied */
    const struct match_engine *engine; /* stored; NULL: expressions match nothing */
    const struct sched_config *config; /* stored; NULL: upstream's default */
    const struct clock *clock;         /* stored */
    /* For durations in metrics, stored. NULL: they are those of `clock`, and how long plug-ins take
     * is not measured. No decision depends on it. */
    const struct clock *stopwatch;
    const struct log *log; /* stored; NULL: nothing is logged */
    uint64_t seed;         /* of hash tables; nothing observable depends on it */
    uint64_t tie_seed;     /* 0: of equally good nodes the first is taken */
};

/* A scheduler that knows no objects. Free with sched_free. */
struct sched *sched_new(const struct sched_opts *opts);
void sched_free(struct sched *s); /* NULL is fine */

/* The object was added or changed: as stored by a server, defaulted. It must not change any more:
 * it may be held, but of pods that are alike only one is. Kinds that do not matter for scheduling
 * are ignored. */
void sched_set(struct sched *s, const struct api_object *object);

/* The object is gone; found by kind, namespace and name. */
void sched_delete(struct sched *s, const struct api_object *object);

/* ---- decisions ---- */

/* With the feature gate GenericWorkload, a pod with spec.schedulingGroup is placed together with
 * the others of its pod group, or not at all. That is not decided here: such pods are never tried,
 * and this is said of them. */
#define SCHED_NO_POD_GROUPS                                                                  \
    STR("it belongs to a pod group (spec.schedulingGroup): Berth does not decide about pod " \
        "groups")

enum sched_outcome {
    SCHED_SCHEDULED,
    SCHED_UNSCHEDULABLE,
    SCHED_FAILED,  /* an error, not a verdict: reason SchedulerError */
    SCHED_SKIPPED, /* not tried, as it is being deleted: an event, no condition */
};

/* Which pod. */
struct sched_pod_name {
    struct str namespace, name, uid;
};

/* What has to be written before a pod is bound, for a claim that waited for its first consumer. */
struct sched_volume_task {
    struct str claim, claim_uid; /* its namespace is the pod's */
    struct str volume;           /* that becomes the claim's; absent: it is to be provisioned */
};

/* What became of one pod. Everything is borrowed until the next decision. */
struct sched_result {
    struct sched_pod_name pod;
    enum sched_outcome outcome;
    struct str node;      /* scheduled: where */
    struct str message;   /* else: of the event and, unless skipped, of PodScheduled */
    struct str nominated; /* the node that is kept free for the pod from now on, or absent */
    const struct sched_pod_name *victims;
    size_t victim_count;
    const struct sched_pod_name *outranked; /* they had that node before, and now have none */
    size_t outranked_count;
    const struct sched_volume_task *volumes; /* scheduled: upstream's PreBind */
    size_t volume_count;
};

/*
 * Decides the next pod of the queue. False when no pod is to be tried at this time.
 *
 * A pod that was placed is assumed: it takes its place on the node, and is not tried again, until
 * it is told of with a node, this or another (its binding is confirmed), as one that has ended or
 * with another uid (it is gone), by sched_delete, or by sched_forget. Nothing else ends that,
 * neither time nor the end of the node: as in upstream's cache, whose assumed pods do not expire
 * (k8s.io/kubernetes pkg/scheduler/backend/cache, func (*cacheImpl) AssumePod), whoever binds pods
 * has an answer for each of them, be it a deadline of its own, and comes back with it. When its
 * deletion begins, its binding is bound to fail: it leaves the node then, but waits for the answer.
 *
 * A pod that is being deleted is skipped, once, and then not in the queue until it changes.
 */
bool sched_next(struct sched *s, struct sched_result *out);

/*
 * The binding of a pod that sched_next placed failed, or was refused: its node and volumes are free
 * again, which pods that wait for such things are told, and the pod, as it was last told of, is
 * tried again after its back-off. False, and nothing happens, when the pod is not being bound.
 */
bool sched_forget(struct sched *s, const struct sched_pod_name *pod);

/* A pod that waits, for another try or for something to change, is tried at once: for one whose
 * victims could not be preempted. False, and nothing happens, when it does not wait. */
bool sched_activate(struct sched *s, const struct sched_pod_name *pod);

/* When sched_next will have something to do again if nothing happens: nanoseconds of the clock's
 * wall time, INT64_MAX for never. */
int64_t sched_next_time(const struct sched *s);

/* ---- the same question without consequences ---- */

enum sched_code {
    SCHED_CODE_SUCCESS,
    SCHED_CODE_UNSCHEDULABLE,
    SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE,
    SCHED_CODE_ERROR
};

/* "Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error"; static. */
struct str sched_code_name(enum sched_code code);

struct sched_status {
    enum sched_code code;
    struct str plugin; /* empty for nodes that PreFilter left out */
    struct str *reasons;
    size_t reason_count;
};

/* What one node made of the pod. */
struct sched_node_report {
    struct str node;
    uint32_t slot;              /* of the node */
    struct sched_status status; /* of the first plug-in that rejects it */
    bool absent;                /* PreFilter left it out */
    int64_t scores[SCHED_PLUGIN_COUNT];
    int64_t total;
};

struct sched_report {
    struct sched_status
        rejected;     /* PreFilter rejected the pod on all nodes; SCHED_CODE_SUCCESS: no */
    struct str error; /* scheduling fails with this; absent: no */
    struct sched_node_report *nodes; /* in the order in which they were added */
    size_t node_count, feasible;
    bool nominated;                   /* the node in the pod's status fits: no other was asked */
    bool scored;                      /* two or more nodes fit */
    bool scoring[SCHED_PLUGIN_COUNT]; /* which plug-ins gave scores */
    struct str message;               /* nothing fits: without the PostFilter's part */
    size_t best;                      /* the node that is taken, if feasible > 0 and no error */
};

/* What every node and plug-in makes of a pod, which need not be known to the scheduler. Nothing is
 * assumed, preempted or queued. *out lives in the arena; names of nodes are borrowed until the
 * scheduler is told of another object. */
void sched_examine(struct sched *s, const struct api_object *pod, struct arena *a,
                   struct sched_report *out);

#endif
