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
struct json;

/* Everything belongs to the thread that calls these functions, which turn the loop. */
struct remote {
    struct cmd_call *call; /* stored */
    struct kubeconfig_access access;
    struct net_loop *loop;
    struct client *client;
    struct opt_list hidden; /* kinds that may not be listed, as remote_read has found */
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

/* remote_open and remote_gates, which changes *gates; what is wrong with these is told before
 * anything is asked. */
int remote_begin(struct remote *r, struct cmd_call *call, const struct cluster_opts *opts,
                 struct gates_opts *gates, struct err *err);

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
    /* When it may not be listed: what is not known then, which is told; or else why nothing can be
     * said, which is a failure, and whether --skip helps. */
    const char *hides, *blinds;
    bool can_be_skipped;
};

/* Reads all of them, beside each other, and then calls visit for each object, which is borrowed, in
 * the order of the kinds. Kinds that the server does not have are empty. */
int remote_read(struct remote *r, const struct remote_kind *kinds, size_t n,
                void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err);

/* Asks for one object: *out is the caller's reference, or NULL when there is none. */
int remote_get(struct remote *r, const struct api_kind *kind, struct str namespace, struct str name,
               const struct api_object **out, struct err *err);

/* An object as kubectl shows it: without managedFields. */
struct json remote_tree(struct arena *a, const struct api_object *o);

/* Where an object is, as a part of the server's paths: namespaces/default/pods/web. */
struct str remote_place(struct arena *a, const struct api_object *o);

#endif
