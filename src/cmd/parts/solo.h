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

/* ---- options: each command has a table of these rows, with its own defaults ---- */

struct solo_connection {
    struct str kubeconfig, context, qps;
    int64_t burst;
};

#define SOLO_CONNECTION_ROWS(most, at_once)                                                        \
    {.name = "kubeconfig",                                                                         \
     .kind = OPT_STR,                                                                              \
     .value = "FILE",                                                                              \
     .help = "Kubeconfig file that says which server to speak with, and as whom; by default "      \
             "$KUBECONFIG, ~/.kube/config, or in a pod its service account.",                      \
     .offset = offsetof(struct solo_connection, kubeconfig)},                                      \
        {.name = "context",                                                                        \
         .kind = OPT_STR,                                                                          \
         .value = "NAME",                                                                          \
         .help = "Context of the kubeconfig; by default the current one.",                         \
         .offset = offsetof(struct solo_connection, context)},                                     \
        {.name = "kube-api-qps",                                                                   \
         .kind = OPT_STR,                                                                          \
         .value = "NUMBER",                                                                        \
         .help = "Requests a second to the server; watches do not count, and events have as many " \
                 "of their own. 0 is no limit.",                                                   \
         .fallback = (most),                                                                       \
         .offset = offsetof(struct solo_connection, qps)},                                         \
    {                                                                                              \
        .name = "kube-api-burst", .kind = OPT_INT, .value = "N",                                   \
        .help = "Requests that may be sent at once when there were none for a while.",             \
        .fallback = (at_once), .offset = offsetof(struct solo_connection, burst)                   \
    }

struct solo_election {
    bool is_on;
    struct str lease_duration, renew_deadline, retry_period, lock, name, namespace;
};

#define SOLO_ELECTION_ROWS(lease)                                                                \
    {.name = "leader-elect",                                                                     \
     .kind = OPT_FLAG,                                                                           \
     .help = "Work only while this process has the Lease, of several that could.",               \
     .fallback = "true",                                                                         \
     .offset = offsetof(struct solo_election, is_on)},                                           \
        {.name = "leader-elect-lease-duration",                                                  \
         .kind = OPT_STR,                                                                        \
         .value = "DURATION",                                                                    \
         .help = "How long others wait behind the last renewal that they saw.",                  \
         .fallback = "15s",                                                                      \
         .offset = offsetof(struct solo_election, lease_duration)},                              \
        {.name = "leader-elect-renew-deadline",                                                  \
         .kind = OPT_STR,                                                                        \
         .value = "DURATION",                                                                    \
         .help = "How long renewing may fail before the process stops to work and ends with 1.", \
         .fallback = "10s",                                                                      \
         .offset = offsetof(struct solo_election, renew_deadline)},                              \
        {.name = "leader-elect-retry-period",                                                    \
         .kind = OPT_STR,                                                                        \
         .value = "DURATION",                                                                    \
         .help = "Time between two attempts to get or to renew the Lease.",                      \
         .fallback = "2s",                                                                       \
         .offset = offsetof(struct solo_election, retry_period)},                                \
        {.name = "leader-elect-resource-lock",                                                   \
         .kind = OPT_STR,                                                                        \
         .value = "KIND",                                                                        \
         .help = "What is locked: leases, which is all that there is.",                          \
         .fallback = "leases",                                                                   \
         .offset = offsetof(struct solo_election, lock)},                                        \
        {.name = "leader-elect-resource-name",                                                   \
         .kind = OPT_STR,                                                                        \
         .value = "NAME",                                                                        \
         .help = "Name of the Lease.",                                                           \
         .fallback = (lease),                                                                    \
         .offset = offsetof(struct solo_election, name)},                                        \
    {                                                                                            \
        .name = "leader-elect-resource-namespace", .kind = OPT_STR, .value = "NAME",             \
        .help = "Namespace of the Lease.", .fallback = "kube-system",                            \
        .offset = offsetof(struct solo_election, namespace)                                      \
    }

struct solo_serving {
    struct str address;
    int64_t port;
};

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
    const struct solo_serving *serving;   /* NULL: nothing is served */
    const char *event_source;             /* who says that it leads */
    struct feature_version min_compat;
    const struct kubeconfig_access *access; /* of solo_connect */
};

/* Finds out which server is meant. Texts live in the call's arena. */
int solo_connect(struct cmd_call *call, const struct solo_connection *connection,
                 struct kubeconfig_access *out, struct err *err);

/* Runs the component until SIGTERM or SIGINT: CMD_GOOD; or until the Lease is lost:
 * CMD_BAD_VERDICT. -1 when it cannot begin. When it works and has seen the cluster, "ready" is
 * printed. */
int solo_run(struct cmd_call *call, const struct solo_opts *opts, struct err *err);

#endif
