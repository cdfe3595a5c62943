/*
 * The carrier to a server in the same process: requests are handed over as data, published objects
 * come back by reference, and nothing is encoded. Admission, conflicts and texts are the same as
 * over a connection.
 */
#ifndef CLIENT_LOCAL_H
#define CLIENT_LOCAL_H

#include "apiserver/apiserver.h"
#include "apiserver/core.h"
#include "client/client.h"

struct client_local_opts {
    struct net_loop *loop;                   /* stored: of the component */
    struct apiserver *api;                   /* stored */
    struct apiserver_core *core;             /* stored: executes writes, on its own thread */
    const struct apiserver_catalog *catalog; /* stored */
    struct store *store;                     /* stored */
    const struct feature_set *gates;         /* stored: the server's, for defaults */
    const struct auth_user *user;            /* stored: who asks, for admission and managers */
    struct str user_agent;                   /* stored: "kube-scheduler" */
};

/* A client of the server in this process. Free it with client_free on the loop's thread, outside of
 * its turns, while the core still runs: it waits for writes that are under way. */
struct client *client_local_new(const struct client_local_opts *opts);

#endif
