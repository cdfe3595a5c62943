/*
 * Leader election: of several processes that could do the same work, one does, and says so in a
 * Lease that it renews. When it does not any more, another one takes over.
 *
 * How long a Lease has not been renewed is measured by the own clock, from the moment at which the
 * last renewal was seen: clocks of other machines do not count, nor does setting the own one.
 * A leader counts from the moment at which it sent its last write, so that it has given up before
 * the Lease ends for those who saw that write at once.
 * Other than upstream, who sees the Lease in other hands stops at once, and who could not renew it
 * does not release it.
 *
 * Follows k8s.io/client-go tools/leaderelection, func (*LeaderElector) Run.
 */
#ifndef CLIENT_ELECTION_H
#define CLIENT_ELECTION_H

#include "client/client.h"

struct buf;
struct election;
struct events;
struct log;

/* How it ended. */
enum election_end {
    ELECTION_STOPPED, /* as it was asked to; the Lease is free if it could be released */
    ELECTION_LOST,    /* it could not be renewed in time, or somebody else has it */
};

/* Times are nanoseconds. */
struct election_times {
    int64_t lease_duration; /* others wait so long behind the last renewal that they saw */
    int64_t renew_deadline; /* who leads gives up when renewing has failed for so long */
    int64_t retry_period;   /* between two attempts; who does not lead waits up to 2.2 times this */
};

struct election_opts {
    struct client *client;       /* stored */
    struct events *events;       /* stored; NULL: nothing is said of who leads */
    const struct log *log;       /* stored */
    struct str namespace, name;  /* stored: of the Lease; the name is that of metrics, too */
    struct str server;           /* stored: where it is, for logs; may be empty */
    struct str identity;         /* stored: no other process has the same */
    struct election_times times; /* as election_times_check has them */
    uint64_t seed;               /* of the jitter; not 0 */
    void (*elected)(void *arg);  /* from now on this process leads */
    void (*ended)(void *arg, enum election_end end); /* it does not, and tries no more */
    void *arg;
};

/* Can times be used? -1 with upstream's text when they cannot. */
int election_times_check(const struct election_times *times, struct err *err);

/* A candidate, which tries to get the Lease in the next turn. Free it with election_free, which
 * accepts NULL, outside of the functions that it calls. */
struct election *election_new(const struct election_opts *opts);
void election_free(struct election *e);

/* Gives up. Who leads must have ended all work before: the Lease is released, also that of a
 * candidate that has written it and not been answered yet. `ended` is called in a later turn,
 * within renew_deadline; to be called once. */
void election_stop(struct election *e);

/* Does this process lead? */
bool election_is_leader(const struct election *e);

/* Who leads, as far as this process has seen; empty: nobody. Borrowed until the next turn. */
struct str election_leader(const struct election *e);

/* -1 when this process leads and the last renewal is that much older than the Lease may be. */
int election_check(const struct election *e, int64_t tolerance, struct err *err);

/* Appends what Prometheus reads about it. */
void election_metrics_write(const struct election *e, struct buf *out);

#endif
