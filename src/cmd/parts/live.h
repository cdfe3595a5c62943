/*
 * The components around an API server in the same process: the scheduler on one thread, controllers
 * and simulated nodes on another. They meet through the API alone.
 */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include "cmd/parts/part.h"
#include "cmd/serve.h"

struct live;

struct live_opts {
    struct serve *serve;            /* stored: it listens, and its loop will run */
    const struct part_setup *setup; /* stored: what the components do */
    /* Called on the thread of the server's loop when all components have seen what is stored, and
     * the nodes are ready; and when all of them have ended. */
    net_fn *ready, *ended;
    void *arg;
};

/* Starts the components' threads. */
struct live *live_start(const struct live_opts *opts);

/* Ends the components; `ended` is called when that is done, for which the server's loop must run.
 */
void live_stop(struct live *l);

/* Frees it when all have ended, or none was started. NULL is fine. */
void live_free(struct live *l);

#endif
