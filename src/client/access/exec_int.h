/* A program that is asked for credentials, run beside the loop. */
#ifndef CLIENT_EXEC_INT_H
#define CLIENT_EXEC_INT_H

#include <sys/types.h>

#include "base/buf.h"
#include "client/credentials_int.h"

/* A run of a program, embedded in its owner; the first members are set once. */
struct client__exec {
    struct net_loop *loop;
    /* It has ended well, and this is what it has printed; or err says why not. */
    void (*done)(void *arg, struct str output, const struct err *err);
    void *arg;
    pid_t pid; /* 0: it does not run */
    struct net_io output, end;
    struct net_timer late;
    struct buf printed;
};

/* Starts it; `info` is what it is told in $KUBERNETES_EXEC_INFO. `done` is called in a later turn.
 * -1 when there is no such program. */
int client__exec_start(struct client__exec *x, const struct kubeconfig_exec *what, struct str info,
                       struct err *err);

/* Ends it, if it runs: `done` is not called. */
void client__exec_stop(struct client__exec *x);

/* What a program is told about the server and the version it is to answer in, in the arena. */
struct str client__exec_info(struct arena *a, const struct kubeconfig_access *access);

/* Reads what a program has printed, an ExecCredential of that version; *until is when it ends, in
 * seconds since the epoch, or INT64_MAX. Texts live in the arena. */
int client__exec_read(struct arena *a, struct str output, struct str api_version,
                      struct client__credential *out, int64_t *until, struct err *err);

#endif
