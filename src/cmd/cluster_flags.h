/*
 * Which server a command speaks with: kubectl's flags, the kubeconfig that they find, and what
 * kubectl says when it cannot be spoken with.
 */
#ifndef CMD_CLUSTER_FLAGS_H
#define CMD_CLUSTER_FLAGS_H

#include "client/kubeconfig.h"
#include "cmd/cmd.h"

struct client;
struct client_answer;
struct net_loop;

/* A command embeds them and names cluster_opts among its groups. */
struct cluster_opts {
    struct str kubeconfig, context, request_timeout;
};
extern const struct opt cluster_opts[];

/* Was a server asked for by one of these flags? */
bool cluster_is_named(const struct cluster_opts *opts);

/* Finds the server as kubectl does: --kubeconfig, $KUBECONFIG, ~/.kube/config, the service account
 * of a pod. It lives in the arena of the call. */
int cluster_find(const struct cmd_call *call, const struct cluster_opts *opts,
                 struct kubeconfig_access *out, struct err *err);

/* Reads a time as kubectl's --timeout and --request-timeout have it: seconds, or 1s, 2m, 3h. */
int cluster_read_timeout(struct str text, int64_t *nanoseconds, struct err *err);

/* A client of that server, both of which are stored, as is the loop. NULL when the timeout cannot
 * be read or libcurl is missing. Free it with client_free. */
struct client *cluster_client_new(struct net_loop *loop, const struct cluster_opts *opts,
                                  const struct kubeconfig_access *access, struct err *err);

/* Fails with what kubectl says to an answer that is a failure. Always returns -1. */
int cluster_fail(const struct kubeconfig_access *access, const struct client_answer *answer,
                 struct err *err);

#endif
