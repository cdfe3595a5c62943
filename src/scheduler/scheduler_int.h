/* Inside of the scheduler: its state, and what its files ask of each other. */
#ifndef SCHEDULER_SCHEDULER_INT_H
#define SCHEDULER_SCHEDULER_INT_H

#include "base/map.h"
#include "client/client.h"
#include "client/events.h"
#include "client/informer.h"
#include "feature/feature.h"
#include "net/loop.h"
#include "sched/sched.h"
#include "scheduler/scheduler.h"

struct scheduler__call;
struct scheduler__flight;

struct scheduler {
    struct client *client;
    struct net_loop *loop;
    const struct log *log;
    struct feature_set gates;
    const struct sched_config *config;
    struct sched *core;
    struct events **events; /* by profile: each says things in its own name */
    struct informer *pods, *nodes, *claims, *volumes;
    size_t unsynced;          /* kinds of which the core does not know all yet */
    struct net_deferred turn; /* decides a portion */
    struct net_timer wake;    /* when a pod's time has come */
    struct scheduler__call *calls;
    size_t under_way;                  /* of these */
    struct map flights;                /* struct scheduler__flight by uid of the pod */
    struct scheduler__flight *waiting; /* those that wait for their volumes */
    struct net_deferred look;          /* after these, when volumes or claims have changed */
    struct net_timer poll;             /* and every second */
    struct map victims;                /* struct victim by uid: on their way to be deleted */
    struct arena arena;
};

/* ---- scheduler.c ---- */

/* Has a portion of decisions made at the end of the turn. */
void scheduler__wake(struct scheduler *s);

/* The pod as informers show it, if it is still the one of that uid; or NULL. */
const struct api_object *scheduler__pod(const struct scheduler *s,
                                        const struct sched_pod_name *pod);

/* Who speaks about a pod of this schedulerName. */
struct events *scheduler__events(const struct scheduler *s, struct str scheduler_name);

/* A copy in the arena. */
struct sched_pod_name scheduler__name_copy(struct arena *a, const struct sched_pod_name *name);

/* ---- requests (calls.c) ---- */

/* What becomes of a request. */
struct scheduler__call_type {
    /* Fills in the request, which is done again before each try; what it borrows lives in the arena
     * or longer. False: it is not wanted any more. */
    bool (*make)(struct scheduler__call *c, struct arena *a, struct client_request *out);
    /* The last answer; NULL: the request was not wanted any more. The call may be started again, or
     * freed. */
    void (*done)(struct scheduler__call *c, const struct client_answer *answer);
    /* Frees the owner, when the scheduler ends before the answer. */
    void (*free)(struct scheduler__call *c);
    bool repeats_conflicts;
    bool is_patient; /* it is sent again until a server answers, every second at least */
};

/* A request on its way, embedded in its owner. It is sent again, a few times and later each time,
 * when the server was in trouble. */
struct scheduler__call {
    struct scheduler *s;
    const struct scheduler__call_type *type;
    struct client_call *sent; /* NULL: it waits for its next try */
    struct net_timer again;
    uint32_t tries;
    struct scheduler__call *next,
        **link; /* of the scheduler; link is NULL when it is not on its way */
};

/* Starts a call, whose owner must stay where it is. */
void scheduler__call_start(struct scheduler *s, struct scheduler__call *c,
                           const struct scheduler__call_type *type);

/* Ends it without an answer; one that is not on its way is fine. */
void scheduler__call_stop(struct scheduler__call *c);

/* ---- what a pod's status says (status_patch.c): pure ---- */

/* A condition that is to be written. */
struct scheduler__condition {
    const char *type, *status, *reason;
    struct str message;
};

/* The strategic merge patch that brings the condition (NULL: none) and the nominated node (NULL: it
 * stays; empty: it goes) into the pod's status, in the arena; absent: both are there already. */
struct str scheduler__status_patch(struct arena *a, const struct api_object *pod,
                                   const struct scheduler__condition *condition,
                                   const struct str *nominated, int64_t now);

/* The pod as it will be when it has the condition and its deletion has begun, with a reference. */
const struct api_object *scheduler__status_doomed(const struct api_object *pod,
                                                  const struct scheduler__condition *condition,
                                                  int64_t now);

/* The text of an event: upstream cuts it at 1,024 bytes. Lives in the arena if it is cut. */
struct str scheduler__note(struct arena *a, struct str message);

/* ---- what is said of a pod that was not placed (unscheduled.c) ---- */

/* Writes condition PodScheduled=False and the nominated node, as far as they change, and says
 * FailedScheduling. Nothing happens to a pod that is gone or has a node. */
void scheduler__report(struct scheduler *s, const struct sched_pod_name *pod, const char *reason,
                       struct str message, struct str nominated);

/* Says FailedScheduling, only. */
void scheduler__report_skipped(struct scheduler *s, const struct sched_pod_name *pod,
                               struct str message);

/* Writes the nominated node, if it changes; empty: there is none any more. */
void scheduler__nominate(struct scheduler *s, const struct sched_pod_name *pod, struct str node);

/* ---- binding (flights.c, prebind.c) ---- */

/* What a flight does now: it is WRITING volumes and claims, WAITING until they are bound, or
 * BINDING the pod. */
enum scheduler__phase { SCHEDULER__WRITING, SCHEDULER__WAITING, SCHEDULER__BINDING };

/* A volume or claim to be written, and the revision that it then had. */
struct scheduler__task {
    struct sched_volume_task what;
    uint64_t revision;
};

/* A pod on its way to its node. */
struct scheduler__flight {
    struct scheduler__call call;
    struct arena arena; /* of all texts */
    struct sched_pod_name pod;
    struct str node, scheduler_name;
    enum scheduler__phase phase;
    struct scheduler__task *tasks;
    size_t task_count, written;
    int64_t deadline;                       /* of waiting, in the loop's time */
    struct str error;                       /* why a request could not be made */
    struct scheduler__flight *next, **link; /* of those that wait; link is NULL: it does not */
};

/* Begins to bind the pod that the core has placed. */
void scheduler__bind(struct scheduler *s, const struct sched_result *r);

/* The volumes are bound: now the pod is. */
void scheduler__bind_pod(struct scheduler__flight *f);

/* The flight ends: the core forgets the pod, which is told why, if it is still there. It must be
 * known that the pod was not bound. */
void scheduler__bind_fail(struct scheduler__flight *f, struct str why);

/* Frees a flight that nobody knows any more. */
void scheduler__flight_free(struct scheduler__call *c);

/* Begins with the volumes of a flight that has some. */
void scheduler__volumes_start(struct scheduler__flight *f);

/* The flight does not wait for its volumes any more; fine if it did not. */
void scheduler__volumes_leave(struct scheduler__flight *f);

/* Looks after all flights that wait for their volumes. For the loop: arg is the scheduler. */
void scheduler__volumes_look(void *arg);

/* ---- preemption (preempt.c) ---- */

/* Has the victims of a decision deleted, and takes nominations back that they cost. */
void scheduler__preempt(struct scheduler *s, const struct sched_result *r);

/* The pod as the core is to see it: a victim is on its way to be deleted from the moment at which
 * that was decided. With a reference. */
const struct api_object *scheduler__seen_by_core(const struct scheduler *s,
                                                 const struct api_object *pod);

#endif
