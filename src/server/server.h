/*
 * HTTP in front of the API server: routes, identities, negotiation, streams.
 *
 * Threads: the core's loop executes writes and owns everything that changes; one loop per worker
 * has sockets, reads snapshots, and encodes. A request is read, authenticated, authorized, decoded
 * and answered on its worker; a write is posted to the core and comes back when it is durable.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "apiserver/core.h"
#include "auth/token.h"
#include "base/log.h"
#include "feature/feature.h"
#include "net/net.h"
#include "server/audit_file.h"

struct server;

struct server_opts {
    struct apiserver *api;                       /* stored */
    const struct apiserver_catalog *catalog;     /* stored */
    struct store *store;                         /* stored */
    struct apiserver_core *core;                 /* stored: executes writes */
    struct net_loop *loop;                       /* stored: the core's */
    const struct feature_set *gates;             /* stored */
    const struct clock *clock;                   /* stored: of objects, tokens, tables */
    const struct clock *wire_clock;              /* stored: of connections; NULL: the same */
    const struct log *log;                       /* stored */
    const char *address;                         /* numeric */
    uint16_t port;                               /* 0: any that is free */
    struct net_tls *tls;                         /* borrowed for the call; NULL: plain, for tests */
    size_t workers;                              /* threads with sockets */
    struct auth_authenticator who;               /* how it is found out who asks; stored */
    struct feature_version emulated, min_compat; /* as /version tells them */
    const char *program_version, *program_commit; /* likewise; stored; "": not known */
    int64_t request_timeout;                      /* nanoseconds; 0: a minute */
    uint32_t max_inflight, max_mutating_inflight; /* 0: no limit */
    const char *audit_policy;                     /* a file; NULL: nothing is audited */
    const char *audit_log;                        /* a file, or "-"; NULL likewise; stored */
    struct server_audit_keep audit_keep;          /* how much of it is kept */
    struct str jwks_uri; /* where others find the keys of tokens; empty: on this server; stored */
    bool is_open;        /* everybody may do everything: for tests without identities */
};

/* Listens and starts the workers' threads. Called on the core's thread, before its loop runs. */
int server_new(const struct server_opts *opts, struct server **out, struct err *err);

/* The port that it listens on. */
uint16_t server_port(const struct server *s);

/* Host and port as they stand in URLs, an IPv6 address in brackets. The server's. */
const char *server_address(const struct server *s);

/* After `delay` nanoseconds, in which all is served but /readyz fails, lets requests under way
 * finish, for at most `grace` nanoseconds, then stops the core's loop. To be called on the core's
 * thread while its loop runs; again, to end the delay. */
void server_stop(struct server *s, int64_t delay, int64_t grace);

/* Ends the workers' threads and frees the server, when the core's loop does not run any more. NULL
 * is fine. */
void server_free(struct server *s);

#endif
