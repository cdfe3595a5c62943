/*
 * Where a component tells how it is: a server for /healthz, /livez, /readyz and /metrics, on the
 * loop of the component, so that it answers from the state as it is.
 *
 * Whoever reaches its port is answered; it should listen where only those can who may know.
 */
#ifndef HEALTH_ENDPOINT_H
#define HEALTH_ENDPOINT_H

#include "health/health.h"
#include "net/net.h"

struct endpoint;

struct endpoint_opts {
    struct net_loop *loop;
    const char *address;                /* numeric; borrowed for the call */
    uint16_t port;                      /* 0: any that is free */
    struct net_certificate certificate; /* borrowed for the call; empty: without TLS */
    struct health_checks checks;        /* stored */
    void (*write_metrics)(void *arg, struct buf *out);
    void *arg;
};

/* Listens. NULL when it cannot. Free it with endpoint_free on the loop's thread, outside of its
 * turns; NULL is fine. */
struct endpoint *endpoint_new(const struct endpoint_opts *opts, struct err *err);
void endpoint_free(struct endpoint *e);

/* The port that it listens on. */
uint16_t endpoint_port(const struct endpoint *e);

/* A request, as far as it counts, and the answer to it; *type is the type of its content. */
int endpoint_answer(const struct endpoint_opts *opts, struct str method, struct str path,
                    struct str query, const char **type, struct buf *out);

#endif
