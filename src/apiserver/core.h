/*
 * The core: the thread that executes writes, one after the other. Those of one turn of its loop are
 * one batch of the store, and are answered when the batch is durable.
 */
#ifndef APISERVER_CORE_H
#define APISERVER_CORE_H

#include "apiserver/apiserver.h"

struct apiserver_core;
struct net_loop;

struct apiserver_core_opts {
    struct apiserver *api;     /* stored */
    struct store *store;       /* stored */
    struct net_loop *loop;     /* stored: of the core's thread */
    const struct clock *clock; /* stored */
};

/* A core whose loop need not run yet. To be freed when no job is under way and the loop does not
 * run any more; NULL is fine. */
struct apiserver_core *apiserver_core_new(const struct apiserver_core_opts *opts);
void apiserver_core_free(struct apiserver_core *core);

/* Has fn(ctx) called on the core's thread whenever a batch has become durable, before its jobs are
 * done. There is one at most; NULL ends it. On the core's thread. */
void apiserver_core_listen(struct apiserver_core *core, void (*fn)(void *ctx), void *ctx);

/* Has fn(ctx) called on the core's thread every so many nanoseconds, from then on; what it writes
 * belongs to the open batch, and true says that it has written something. There is one at most. On
 * the core's thread. */
void apiserver_core_repeat(struct apiserver_core *core, int64_t period, bool (*fn)(void *ctx),
                           void *ctx);

/* A write on its way, embedded in what its owner has. */
struct apiserver_job {
    struct apiserver_request *request;
    struct apiserver_response *response;     /* filled when it is done */
    void (*done)(struct apiserver_job *job); /* on the core's thread: executed and durable */
    struct apiserver_core *core;             /* of the core, as is what follows */
    struct apiserver_job *next;
};

/* Has the job executed; it and all it refers to are the core's until `done`. Any thread; jobs of
 * one thread are executed in the order in which they came. */
void apiserver_core_submit(struct apiserver_core *core, struct apiserver_job *job);

#endif
