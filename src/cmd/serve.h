/*
 * An API server with its store, from options to the last request: what `berth apiserver` is, and
 * what `berth up` has in its middle.
 */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include "apiserver/core.h"
#include "auth/pki.h"
#include "cmd/audit_flags.h"
#include "cmd/auth_flags.h"
#include "cmd/cmd.h"
#include "cmd/gate_flags.h"
#include "cmd/service_flags.h"
#include "cmd/signals.h"
#include "net/net.h"
#include "server/server.h"

struct tolexpr;

/* Where it listens by default. */
enum { SERVE_PORT = 6443 };

/* A command embeds them and names SERVE_GROUPS among its groups. */
struct serve_opts {
    struct gates_opts gates;
    struct auth_opts auth;
    struct service_opts services;
    struct audit_opts audit;
    struct str data_dir, bind_address, kubeconfig;
    struct opt_list enabled, disabled; /* plug-ins of admission */
    int64_t port;
    bool memory;
    struct str request_timeout, shutdown_delay;
    int64_t max_inflight, max_mutating_inflight;

    /* What commands set themselves. */
    apiserver_log_fn *read_log;     /* see struct apiserver_opts; or NULL */
    const struct clock *wire_clock; /* see struct server_opts; or NULL */
};
extern const struct opt serve_opts[], serve_request_opts[];

/* The groups of options; `at` is where the command has its struct serve_opts. */
#define SERVE_GROUPS(at)                                                          \
    {"Server", serve_opts, (at)},                                                 \
        {"Authentication", auth_opts, (at) + offsetof(struct serve_opts, auth)},  \
        {"Services", service_opts, (at) + offsetof(struct serve_opts, services)}, \
        {"Requests", serve_request_opts, (at)},                                   \
        {"Audit", audit_opts, (at) + offsetof(struct serve_opts, audit)}, {       \
        "Feature gates", gates_opts, (at) + offsetof(struct serve_opts, gates)    \
    }

/* A server that is open. Belongs to the thread of its core, on which it was opened. */
struct serve {
    struct cmd_call *call;
    const struct serve_opts *opts;
    struct feature_config gates;
    struct registry_plugins plugins;
    struct service_config services;
    struct server_audit_keep audit_keep;
    struct str dir;   /* of the store and the certificates */
    bool dir_is_ours; /* made for this run, and removed behind it */
    struct auth_pki pki;
    struct auth_config auth;
    struct net_loop *loop; /* of the core, which is this thread */
    struct apiserver_core *core;
    struct apiserver_catalog *catalog;
    struct tolexpr *expressions;
    struct store *store;
    struct apiserver *api;
    struct net_tls *tls;
    struct server *server;
    struct signals signals;
    int64_t request_timeout, shutdown_delay;
    net_fn *interrupted; /* what SIGTERM and SIGINT do; NULL: serve_stop */
    void *interrupted_arg;
    struct str kubeconfig; /* the file, once it is written */
};

/* Opens the store and makes all parts of a server but the one that listens: requests of this
 * process can be executed. Whatever comes of it, serve_close is owed. */
int serve_open(struct serve *s, struct cmd_call *call, const struct serve_opts *opts,
               struct err *err);

/* Begins to listen. Requests of others are served while the loop runs. */
int serve_listen(struct serve *s, struct err *err);

/* How the administrator gets in, once it listens. */
struct auth_kubeconfig serve_access(struct serve *s);

/* Writes the administrator's kubeconfig; s->kubeconfig says where. */
int serve_write_kubeconfig(struct serve *s, struct err *err);

/* The same, and the line that says that the server is ready. */
int serve_tell_ready(struct serve *s, struct err *err);

/* Lets requests under way finish and ends the loop. On the loop's thread. */
void serve_stop(struct serve *s);

/* Closes everything. The loop must not run any more. */
void serve_close(struct serve *s);

#endif
