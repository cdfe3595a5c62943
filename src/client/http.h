/*
 * The carrier to any API server, by HTTPS: requests and events as JSON, many at a time on one
 * connection where the server speaks HTTP/2.
 *
 * A request that a busy server tells when to come again (Retry-After) is sent again by itself, a
 * few times. One that nobody answers has the status 0 and the code ERR_UNAVAILABLE, or ERR_TIMEOUT
 * if its time was over; whether it was executed is not known then. A watch whose connection has
 * died without a word ends within a minute.
 */
#ifndef CLIENT_HTTP_H
#define CLIENT_HTTP_H

#include "client/client.h"
#include "client/kubeconfig.h"

struct client_http_opts {
    struct net_loop *loop;                  /* stored; on the system's clock */
    const struct kubeconfig_access *access; /* stored, with its texts */
    struct str user_agent;                  /* stored; "berth/v0.1.0" */
    /* Requests that may be sent in a second, but for watches; 0: any number; and at once, which is
     * at least 1. Events are counted by themselves, as upstream's components have a client of their
     * own for these. */
    double qps;
    uint32_t burst;
    /* Nanoseconds for a request but a watch, with its retries; 0: a minute. */
    int64_t timeout;
};

/* A client of a server elsewhere. Nothing is connected before the first request. NULL when libcurl
 * is missing. From then on, the process ignores SIGPIPE. Free it with client_free on the loop's
 * thread, outside of answers and events. */
struct client *client_http_new(const struct client_http_opts *opts, struct err *err);

#endif
