/*
 * The components around an API server in the same process: the scheduler on one thread, controllers
 * and simulated nodes on another. They meet through the API alone.
 */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include "cmd/serve.h"

struct live;

struct live_opts {
    struct serve *serve; /* stored: it listens, and its loop will run */
    /* What each component takes for its gates; stored. */
    const struct feature_set *scheduler_gates, *manager_gates, *kubelet_gates;
    const struct nodes_pool *pools; /* of nodes that are made if they are not there; stored */
    size_t pool_count;
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
