/*
 * What a controller is to the manager, and the manager to a controller.
 *
 * A controller is a file that ends with its `struct manager__controller`, and a row in
 * controllers.def.
 */
#ifndef MANAGER_CONTROLLER_INT_H
#define MANAGER_CONTROLLER_INT_H

#include "client/client.h"
#include "client/events.h"
#include "client/informer.h"
#include "client/workqueue.h"
#include "manager/manager.h"
#include "net/loop.h"

struct auth_issuer;
struct intern;
struct match;
struct service_pods;

/* What controllers are given. It outlives them. */
struct manager {
    struct client *client;
    struct informers *informers;
    const struct log *log;
    const struct feature_set *gates;
    struct str root_ca;
    const struct auth_issuer *issuer;
    uint64_t seed;
    struct intern *atoms;
    struct match *match;    /* shared by all controllers: tolerations, taints, node affinity */
    struct net_timer sweep; /* of what it holds and nobody asks for */
    struct service_pods *service_pods; /* shared by controllers of endpoints; NULL: none asked */
    size_t most_objects;               /* of a kind that controllers make */
    void **running; /* what `start` gave, by row of the table; NULL: does not run */
};

struct manager__controller {
    /* Begins to work: listens to informers, makes its queue. NULL: it has nothing to do. */
    void *(*start)(struct manager *m);
    /* Ends it and frees all that `start` made; its handlers are not called any more. */
    void (*stop)(void *self);
};

#define CONTROLLER(id, name, alias) extern const struct manager__controller manager__##id;
#include "manager/controllers.def"
#undef CONTROLLER

/* The informer of a type of objects. */
struct informer *manager__informer(struct manager *m, enum api_type_id type);

/* How many more objects of a type may be made; and what is said when it is none, in the arena. */
size_t manager__room(struct manager *m, enum api_type_id type);
struct str manager__why_full(const struct manager *m, struct arena *a, enum api_type_id type);

/* A recorder of events in the name of a component. */
struct events *manager__events(struct manager *m, const char *component);

/* Can objects of the resource be listed, watched and deleted, and are they stored as this kind? */
bool manager__is_deletable(const struct registry_resource *resource);

/* Was something refused because its namespace is on its way out? */
bool manager__namespace_goes(const struct client_answer *answer);

/* Wall time of the loop's clock, in nanoseconds since the Unix epoch. */
int64_t manager__now(const struct manager *m);

#endif
