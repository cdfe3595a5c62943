/*
 * The scheduling queue: which pending pod is tried next, and when.
 *
 * A pending pod is in exactly one place. The active heap holds those to be tried now, two back-off
 * heaps those that failed a moment ago (rejected, or because of an error), unschedulable_pods
 * those that wait for something to change, gated ones wait for their gates to go, and a pod that
 * was handed out is in flight until the core says what became of it. Events that come while a pod
 * is in flight are kept and looked at when it comes back. A pod that found its node is being bound
 * until that is known to have worked, or not.
 *
 * Among the unschedulable pods, those of one class that the same plug-ins rejected form a group:
 * what an event means for them is asked once.
 */
#ifndef SCHED_QUEUE_QUEUE_INT_H
#define SCHED_QUEUE_QUEUE_INT_H

#include "sched/plugin_int.h"

enum sched__event_id {
#define EVENT(id, ...) SCHED__EVENT_##id,
#include "sched/events.def"
#undef EVENT
    SCHED__EVENT_COUNT
};

struct sched__event_row {
    struct str label; /* in metrics */
    uint32_t bit;     /* enum sched__event_bits, or 0 */
    bool own;         /* of the pending pod itself */
};

/* By enum sched__event_id; in hints.c. */
extern const struct sched__event_row sched__event_rows[SCHED__EVENT_COUNT];

enum sched__place {
    SCHED__ACTIVE,
    SCHED__BACKOFF,
    SCHED__ERROR_BACKOFF,
    SCHED__UNSCHEDULABLE_PODS,
    SCHED__GATED,
    SCHED__IN_FLIGHT,
    SCHED__BINDING,
    SCHED__PLACE_COUNT
};

struct sched__group;

/* What the queue knows of a pod. */
struct sched__queued {
    struct heap_node node; /* in the heap of its place, if it has one */
    struct sched_pod *pod;
    struct sched__group *group;        /* unschedulable_pods */
    struct sched__queued *prev, *next; /* in the group, or in flight in the order of popping */
    int64_t timestamp;                 /* of adding, or of the last failure */
    int64_t expiry;                    /* end of back-off; INT64_MIN: there is none */
    int64_t first_active;              /* INT64_MIN: was never active */
    int64_t flushed_at; /* left unschedulable_pods because of its age; INT64_MIN: never */
    uint64_t order;     /* tells pods of the same timestamp apart */
    uint64_t popped_at; /* in flight: number of the first event since */
    uint32_t rejecting; /* plug-ins, bits by enum sched_plugin */
    uint32_t attempts, rejections, errors;
    double seconds;   /* being bound: what the decision took */
    uint16_t profile; /* when it was added, as label of metrics */
    uint8_t place;    /* enum sched__place */
    bool flushed;     /* the current attempt is due to its age */
};

/* Unschedulable pods of one class that the same plug-ins rejected. */
struct sched__group {
    struct {
        const struct sched__pod_class *cls;
        uint64_t rejecting;
    } key; /* as bytes: in the map of groups */
    struct sched__queued *first, *last;
};

/* An event that pods in flight have not seen. */
struct sched__held_event {
    uint8_t id;                /* enum sched__event_id */
    uint64_t target;           /* `order` of the only pod it concerns; 0: all */
    struct sched__event event; /* its objects are held */
};

struct sched__queue {
    struct heap active, backoff, error_backoff, unschedulable_pods;
    struct map groups;
    uint32_t gated, in_flight;
    struct sched__queued *first_in_flight, *last_in_flight;
    VEC(struct sched__held_event) held;
    uint64_t held_base; /* number of the first of these */
    uint64_t last_order;
    int64_t next_flush; /* of unschedulable_pods */
    int64_t initial_backoff, max_backoff;
    bool pop_backoff;   /* gate SchedulerPopFromBackoffQ */
    uint32_t *rejected; /* pods that count for a plug-in: by profile and plug-in */
    const struct sched__plugin *plugins[SCHED_PLUGIN_COUNT];
};

/* s->queue; s->config, clock and gates must be there. Free with sched__queue_free. */
struct sched__queue *sched__queue_new(struct sched *s);

/* Frees s->queue with what it keeps of pods, which stay as they are otherwise; NULL is fine. */
void sched__queue_free(struct sched *s);

/* A new pending pod, with class and priority. Runs PreEnqueue; takes over its nomination. */
void sched__queue_add(struct sched *s, struct sched_pod *pod);

/* A pending pod has another object, maybe another class and priority, all set already; `before` is
 * what it was. Moves it if one of the plug-ins that rejected it takes the change for
 * good news; takes over a changed nomination. A pod that is not in the queue is added. */
void sched__queue_update(struct sched *s, struct sched_pod *pod, const struct sched_pod *before);

/* The pod is gone, or was bound by someone else, wherever it is; forgets its nomination. A pod that
 * is not in the queue is fine. */
void sched__queue_remove(struct sched *s, struct sched_pod *pod);

/* The pod to be tried now, which is in flight from then on; NULL when there is none at this time.
 * sched__queue_done, _failed, _skip or _remove end that, soon: events are kept until then. */
struct sched_pod *sched__queue_pop(struct sched *s);

/* The attempt, or the binding, failed: these plug-ins rejected the pod. An error, or no plug-in
 * (there is no node): the pod is tried again after its back-off, whatever happens. */
void sched__queue_failed(struct sched *s, struct sched_pod *pod, uint32_t rejecting, bool is_error);

/* The pod in flight is not tried, and out of the queue until it is added again; its nomination
 * stays. */
void sched__queue_skip(struct sched *s, struct sched_pod *pod);

/* The decision, which took so many seconds, found a node: the pod is being bound. Forgets its
 * nomination. */
void sched__queue_done(struct sched *s, struct sched_pod *pod, double seconds);

/* Has the pod found a node, and is it not known yet what became of its binding? */
static inline bool sched__queue_is_binding(const struct sched_pod *pod) {
    return pod->queued && pod->queued->place == SCHED__BINDING;
}

/* The pod that is being bound is on its node, and the queue knows it no more. */
void sched__queue_bound(struct sched *s, struct sched_pod *pod);

/*
 * Something happened: unschedulable pods move if a plug-in that rejected them registers one of the
 * event's bits and its hint agrees. Hints are asked about one bit at a time and about one pod of a
 * class, so they must look at nothing of a pod that its class does not determine.
 * sched__queue_event_up_to leaves pods above a priority alone: for what a nominated pod has set
 * free.
 */
void sched__queue_event(struct sched *s, const struct sched__event *event);
void sched__queue_event_up_to(struct sched *s, const struct sched__event *event, int32_t priority);

/* A pending pod is gone that was like this: pods that are not more important may have what its
 * object nominated it to, if it did. */
void sched__queue_freed(struct sched *s, const struct sched_pod *pod);

/* A pod in back-off or among the unschedulable ones becomes active; false: it is in neither. */
bool sched__queue_activate(struct sched *s, struct sched_pod *pod);

/* When sched__queue_pop will have something if nothing happens: now, a time to come, INT64_MAX. */
int64_t sched__queue_next_time(const struct sched *s);

/* Nominates a pod to a node (which it need not have been before), and takes that back; the node's
 * list is kept in the order of nomination. The node is touched. */
void sched__nominate(struct sched *s, struct sched_pod *pod, uint32_t slot);
void sched__unnominate(struct sched *s, struct sched_pod *pod);

/* ---- queue_places.c, for queue.c ---- */

/* An element of one of the heaps. */
static inline struct sched__queued *sched__queued_of(struct heap_node *node) {
    return heap_entry(node, struct sched__queued, node);
}

/* Since when the pod has been waiting, for the purpose of waiting too long. */
static inline int64_t sched__waits_since(const struct sched__queued *p) {
    return p->flushed_at > p->timestamp ? p->flushed_at : p->timestamp;
}

/* Empty places, and their end: pods are not touched. */
void sched__places_init(struct sched__queue *q, uint64_t seed);
void sched__places_release(struct sched__queue *q);

/* Puts a pod that is nowhere into a place, and takes it out of where it is. */
void sched__places_enter(struct sched__queue *q, struct sched__queued *p, enum sched__place place);
void sched__places_leave(struct sched__queue *q, struct sched__queued *p);

/* Restores the order of the pod's heap after its priority changed. */
void sched__places_fix(struct sched__queue *q, struct sched__queued *p);

/* ---- hints.c ---- */

/*
 * What this change of an object means to pending pods: enum sched__event_bits, 0 for nothing. An
 * object that comes or goes has no `before` or no `after`. Pods have their own questions.
 */
uint32_t sched__event_bits(const struct api_object *before, const struct api_object *after);

/* The same for a pod on a node; `before` is NULL if it was on none. */
uint32_t sched__pod_bits(struct sched *s, const struct sched_pod *before,
                         const struct sched_pod *after);

/* The same for a pending pod's change of itself. */
uint32_t sched__own_bits(struct sched *s, const struct sched_pod *before,
                         const struct sched_pod *after);

/* ---- plug-ins that are asked by the queue ---- */

/* PrioritySort: does a come out before b? Total: never true both ways of two pods. */
bool sched__sort_before(const struct sched__queued *a, const struct sched__queued *b);

/* SchedulingGates: does PreEnqueue of its profile hold the pod back? */
bool sched__gates_hold(const struct sched_pod *pod);

#endif
