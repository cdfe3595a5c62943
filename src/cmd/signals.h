/* SIGTERM and SIGINT as calls on a loop. */
#ifndef CMD_SIGNALS_H
#define CMD_SIGNALS_H

#include "base/err.h"
#include "net/loop.h"

struct signals {
    struct net_loop *loop;
    struct net_io io;
    bool is_listening;
    net_fn *fn;
    void *arg;
};

/* Has fn(arg) called on the loop for each of them from now on, and nothing else happen. */
int signals_listen(struct signals *s, struct net_loop *loop, net_fn *fn, void *arg,
                   struct err *err);

/* Ends it, before the loop is freed. All zeroes are fine. */
void signals_release(struct signals *s);

#endif
