/*
 * A cluster behind an API server, for commands that ask it one question: what it is, which gates it
 * runs with, and its objects.
 */
#ifndef CMD_REMOTE_H
#define CMD_REMOTE_H

#include "api/types.h"
#include "cmd/cluster_flags.h"
#include "cmd/gate_flags.h"

struct api_object;
struct client_request;

/* Everything belongs to the thread that calls these functions, which turn the loop. */
struct remote {
    struct cmd_call *call; /* stored */
    struct kubeconfig_access access;
    struct net_loop *loop;
    struct client *client;
};

/* Finds the server and makes a client; nothing is connected. Close it with remote_close, also after
 * a failure. Where there is no kubeconfig, the text says how files are named. */
int remote_open(struct remote *r, struct cmd_call *call, const struct cluster_opts *opts,
                struct err *err);
void remote_close(struct remote *r);

/* The namespace of requests that do not say one, empty if the kubeconfig says none. */
struct str remote_namespace(const struct remote *r, struct str given);

/* ---- what it is ---- */

/* Puts into *out what the flags say, and before that what the server says of itself: its version
 * (/version), and the gates that it runs with if they may be seen (/metrics). Of a version that was
 * given on the command line the defaults hold. What is assumed is told with -v=1. */
int remote_gates(struct remote *r, const struct gates_opts *given, struct gates_opts *out,
                 struct err *err);

/* Adds the gates that a server's metrics show to be other than by default, as the flag has them. */
void remote_gates_read(struct arena *a, struct str metrics, struct feature_version version,
                       struct opt_list *out);

/* Reads a server's /version; -1 when it says none. What is emulated comes before what it is. */
int remote_version_read(struct str body, struct feature_version *out, struct err *err);

/* ---- its objects ---- */

/* A kind to be read. */
struct remote_kind {
    enum api_type_id type;
    struct str namespace;      /* empty: all */
    struct str field_selector; /* empty: none */
    /* What nobody knows when it may not be listed, which is told; NULL: that is a failure. */
    const char *hides;
    const char *hint; /* what to do about that failure; or NULL */
};

/* Reads all of them, beside each other, and then calls visit for each object, which is borrowed, in
 * the order of the kinds. Kinds that the server does not have are empty. */
int remote_read(struct remote *r, const struct remote_kind *kinds, size_t n,
                void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err);

/* Where an object is, as a part of the server's paths: namespaces/default/pods/web. */
struct str remote_place(struct arena *a, const struct api_object *o);

#endif
