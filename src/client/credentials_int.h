/*
 * With what a client shows who it is: a token and a certificate that are given once, a token in a
 * file that changes, or both from a program that is asked again when they end.
 */
#ifndef CLIENT_CREDENTIALS_INT_H
#define CLIENT_CREDENTIALS_INT_H

#include "client/kubeconfig.h"
#include "net/loop.h"

struct client__credentials;

/* What there is to show; empty texts are not there. */
struct client__credential {
    struct str token;
    struct str certificate, key; /* PEM */
};

/* The credentials of an access, which is stored. `changed` is called when those that had to be
 * waited for have come, or not. Free it with client__credentials_free, which accepts NULL. */
struct client__credentials *client__credentials_new(struct net_loop *loop,
                                                    const struct kubeconfig_access *access,
                                                    net_fn *changed, void *arg);
void client__credentials_free(struct client__credentials *c);

enum client__credentials_state {
    CLIENT__CREDENTIALS_READY,
    CLIENT__CREDENTIALS_AWAITED, /* `changed` will be called */
    CLIENT__CREDENTIALS_FAILED,  /* err says why; the next one who asks causes another try */
};

/* Looks after them. *out is good until the next turn. */
enum client__credentials_state client__credentials_get(struct client__credentials *c,
                                                       struct client__credential *out,
                                                       struct err *err);

/* The server has refused them: they are asked for again. */
void client__credentials_refused(struct client__credentials *c);

#endif
