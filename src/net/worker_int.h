/*
 * What the connections of a server on one loop share: its limits, its handler, counters, a buffer
 * to read into. Owned by the loop's thread; only the counters are read by others.
 */
#ifndef NET_WORKER_INT_H
#define NET_WORKER_INT_H

#include <stdatomic.h>

#include "base/buf.h"
#include "net/net.h"

/* Counters, written by one thread and read by any. */
struct net__counters {
#define X(name) _Atomic uint64_t name;
    NET_STATS(X)
#undef X
};

enum { NET__READ_BYTES = 64 << 10, NET__DATE_BYTES = 29 };

struct net__worker {
    struct net_loop *loop;
    struct net_limits limits;
    void (*request)(void *self, struct net_exchange *x);
    void *self;
    struct net__conn *conns; /* all that are open */
    struct net__counters counters;
    bool is_shutting_down;
    struct {
        net_fn *fn;
        void *arg;
    } closed;                          /* called when a connection has gone; fn may be NULL */
    int64_t date_second;               /* that date_text is of */
    char date_text[NET__DATE_BYTES];   /* as in "Date: Sun, 06 Nov 1994 08:49:37 GMT" */
    char read_buffer[NET__READ_BYTES]; /* what a connection has just read */
    struct buf sealed;                 /* what TLS has just made, to be sent; empty between turns */
};

/* Adds to a counter of a worker; only on its thread. */
#define net__count(worker, name, delta)                                                          \
    atomic_store_explicit(&(worker)->counters.name,                                              \
                          atomic_load_explicit(&(worker)->counters.name, memory_order_relaxed) + \
                              (uint64_t)(delta),                                                 \
                          memory_order_relaxed)

/* A worker on this loop; limits that are all zeroes are the default. */
struct net__worker *net__worker_new(struct net_loop *loop, const struct net_limits *limits,
                                    void (*request)(void *self, struct net_exchange *x),
                                    void *self);

/* Frees a worker that has no connections. */
void net__worker_free(struct net__worker *worker);

/* The time of day of this turn as HTTP writes it; a view that is valid until the next call. */
struct str net__worker_date(struct net__worker *worker);

/* Adds a worker's counters to *sum. Any thread. */
void net__worker_add_stats(const struct net__worker *worker, struct net_stats *sum);

#endif
