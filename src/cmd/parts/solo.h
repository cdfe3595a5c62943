/*
 * A component as a process of its own: `berth scheduler`, `berth controller-manager` and `berth
 * kubelet`, with whatever API server a kubeconfig leads to.
 *
 * Of several processes the one with the Lease works; the others wait. Health and figures are served
 * by all of them.
 */
#ifndef CMD_SOLO_H
#define CMD_SOLO_H

#include "cmd/gate_flags.h"
#include "cmd/parts/part.h"

struct kubeconfig_access;

/* ---- options ---- */

struct solo_connection {
    struct str kubeconfig, context, qps; /* absent: not given */
    int64_t burst;                       /* 0: not given */
};
extern const struct opt solo_connection_rows[];

struct solo_election {
    bool is_on;
    struct str lease_duration, renew_deadline, retry_period, lock, name, namespace; /* likewise */
};
extern const struct opt solo_election_rows[];

struct solo_serving {
    struct str address;
    int64_t port;
};

/* Rows of struct solo_serving, with the default of the port. */
#define SOLO_SERVING_ROWS(number)                                                             \
    {.name = "bind-address",                                                                  \
     .kind = OPT_STR,                                                                         \
     .value = "ADDRESS",                                                                      \
     .help = "Address on which /healthz, /livez, /readyz and /metrics are served to whoever " \
             "reaches it.",                                                                   \
     .fallback = "127.0.0.1",                                                                 \
     .offset = offsetof(struct solo_serving, address)},                                       \
    {                                                                                         \
        .name = "secure-port", .kind = OPT_INT, .value = "PORT",                              \
        .help = "Port on which they are served, with TLS and a certificate that vouches for " \
                "itself; 0 is nowhere.",                                                      \
        .fallback = (number), .offset = offsetof(struct solo_serving, port)                   \
    }

/* ---- running ---- */

struct solo_opts {
    const struct component *component;
    const struct part_setup *setup;
    const struct solo_connection *connection;
    const struct solo_election *election; /* NULL: everybody works */
    const struct solo_serving *serving;
    const struct sched_process *configured; /* what holds where options are not given; or NULL */
    double qps;                             /* and what holds then; 0: no limit */
    uint32_t burst;
    const char *event_source; /* who says that it leads */
    struct feature_version min_compat;
    const struct kubeconfig_access *access; /* of solo_connect */
};

/* Finds out which server is meant; `file` is a kubeconfig for when none is given, or empty. Texts
 * live in the call's arena. */
int solo_connect(struct cmd_call *call, const struct solo_connection *connection, struct str file,
                 struct kubeconfig_access *out, struct err *err);

/* Runs the component until SIGTERM or SIGINT: CMD_GOOD; or until the Lease is lost:
 * CMD_BAD_VERDICT. -1 when it cannot begin. When it works and has seen the cluster, "ready" is
 * printed. */
int solo_run(struct cmd_call *call, const struct solo_opts *opts, struct err *err);

#endif
