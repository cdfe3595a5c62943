/*
 * What a controller is to the manager, and the manager to a controller.
 *
 * A controller is a file that ends with its table, a `struct manager__controller`, and has a row in
 * controllers.def. The table says which keys it looks after, and what is done when objects change;
 * the ends that all controllers have are made of it in frame.c.
 */
#ifndef MANAGER_CONTROLLER_INT_H
#define MANAGER_CONTROLLER_INT_H

#include <stddef.h>

#include "client/client.h"
#include "client/events.h"
#include "client/informer.h"
#include "client/workqueue.h"
#include "manager/manager.h"
#include "net/loop.h"

struct auth_authority;
struct auth_issuer;
struct intern;
struct members;
struct manager__base;
struct match;
struct selector;
struct selecting;
struct service_pods;

/* What controllers are given. It outlives them. */
struct manager {
    struct client *client;
    struct informers *informers;
    const struct log *log;
    const struct feature_set *gates;
    struct str root_ca;
    const struct auth_issuer *issuer;
    const struct auth_authority *authority;
    uint64_t seed;
    struct intern *atoms;
    struct match *match;    /* shared by all controllers: tolerations, taints, node affinity */
    struct net_timer sweep; /* of what it holds and nobody asks for */
    struct service_pods *service_pods; /* shared by controllers of endpoints; NULL: none asked */
    struct members *members;           /* files of objects that are selected by their labels */
    size_t most_objects;               /* of a kind that controllers make */
    struct manager__base **running;    /* by row of controllers.def; NULL: does not run */
};

/* ---- the table of a controller; `self` is its struct, `at` a place in that (offsetof) ---- */

enum { MANAGER__QUEUES = 3, MANAGER__KINDS = 6 };

/* A work queue of it. */
struct manager__queue {
    const char *name; /* for metrics and logs; NULL: there are no more */
    /* Looks after a key, and the object of this name; NULL if keys are no names. */
    void (*sync)(void *self, struct work *w, const struct api_object *o);
    enum api_type_id names; /* the type of objects that keys are names of; 0: they are no names */
    /* The same when there is no such object; NULL: then there is nothing to do. */
    void (*gone)(void *self, struct work *w);
    size_t at;      /* where the queue is kept, beside base.queue if it is the first; 0: nowhere */
    size_t workers; /* this and the others as in struct workqueue_opts */
    int64_t first_delay, most_delay;
};

/* A type of objects whose informer it has. The others are as in struct informer_handler. */
struct manager__kind {
    enum api_type_id type; /* 0: there are no more */
    size_t at;             /* where the informer is kept; 0: nowhere */
    void (*set)(void *self, const struct api_object *old, const struct api_object *o);
    void (*deleted)(void *self, const struct api_object *last);
    void (*synced)(void *self);
};

struct manager__controller {
    size_t size;           /* of its struct, which begins with struct manager__base */
    const void *variant;   /* which of those that share code it is, as they like */
    const char *component; /* in whose name its events are; NULL: it says nothing */
    /* Has it something to do? NULL: it always has. */
    bool (*is_wanted)(const struct manager *m);
    struct manager__queue queues[MANAGER__QUEUES];
    struct manager__kind kinds[MANAGER__KINDS];
    /* Of owners: how one selects its members, in the arena or borrowed. */
    const struct api_label_selector *(*selector)(struct arena *a, const struct api_object *o);
    /* Makes what else it has, before it is told of anything; frees that, when its queues are gone.
     * NULL: nothing. */
    void (*begin)(void *self);
    void (*end)(void *self);
    /* Appends its figures, in Prometheus' text format; NULL: none. */
    void (*write_metrics)(const void *self, struct buf *out);
};

#define CONTROLLER(id, name, alias) extern const struct manager__controller manager__##id;
#include "manager/controllers.def"
#undef CONTROLLER

/* ---- a controller at work ---- */

/* A queue, and whom it is for. */
struct manager__lane {
    void *self;
    const struct manager__queue *row;
    struct workqueue *queue;
    struct informer *informer; /* of the objects that keys are names of; or NULL */
};

/* What every controller has. */
struct manager__base {
    const struct manager__controller *row;
    struct manager *manager;
    struct events *events;     /* NULL: it says nothing */
    struct workqueue *queue;   /* the first one */
    struct informer *informer; /* of the objects that its keys are names of; or NULL */
    struct selecting *owners;  /* these, if they select others; or NULL */
    struct manager__lane lanes[MANAGER__QUEUES];
};

/* Begins to work; NULL: it has nothing to do. */
struct manager__base *manager__start(struct manager *m, const struct manager__controller *row);

/* Ends it and frees all that it has; it is not called any more. NULL is fine. */
void manager__stop(struct manager__base *self);

/* ---- what is done in many of them when an object changes: slots of struct manager__kind ---- */

/* Its name becomes a key of the first queue. */
void manager__add_set(void *self, const struct api_object *old, const struct api_object *o);
void manager__add_deleted(void *self, const struct api_object *last);

/* The name of its controller does, which is an object that keys are names of; without one, those
 * that may adopt it (by `selector`, if the table has one). */
void manager__member_set(void *self, const struct api_object *old, const struct api_object *o);
void manager__member_deleted(void *self, const struct api_object *last);

/* ---- the object that is worked on ---- */

/* What events are said of, and by what it is known when answers come; in the arena of the work. */
struct events_subject manager__subject(struct work *w, const struct api_object *o);

/* The object as it is now; NULL: it is gone, or another one has its name. */
const struct api_object *manager__current(const void *self, const struct events_subject *s);

/* ---- what else controllers ask ---- */

/* The informer of a type of objects. */
struct informer *manager__informer(struct manager *m, enum api_type_id type);

/* How many more objects of a type may be made; and what is said when it is none, in the arena. */
size_t manager__room(struct manager *m, enum api_type_id type);
struct str manager__why_full(const struct manager *m, struct arena *a, enum api_type_id type);

/* Can objects of the resource be listed, watched and deleted, and are they stored as this kind? */
bool manager__is_deletable(const struct registry_resource *resource);

/* Was something refused because its namespace is on its way out? */
bool manager__namespace_goes(const struct client_answer *answer);

/* An answer function of creations: the key is tried again unless that is so. */
void manager__created(void *arg, struct work *w, const struct client_answer *answer);

/* Wall time of the loop's clock, in nanoseconds since the Unix epoch; and its monotonic time. */
int64_t manager__now(const struct manager *m);
int64_t manager__mono(const struct manager *m);

#endif
