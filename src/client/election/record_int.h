/* What a Lease says about who leads. */
#ifndef CLIENT_ELECTION_RECORD_INT_H
#define CLIENT_ELECTION_RECORD_INT_H

#include "client/election.h"

/* Follows k8s.io/client-go tools/leaderelection/resourcelock, type LeaderElectionRecord. */
struct client__record {
    struct str holder; /* empty: nobody */
    int32_t seconds;   /* for which a renewal holds */
    struct api_time acquired, renewed;
    int32_t transitions; /* how often another holder came */
};

/* What a Lease says; texts are borrowed from it. NULL is a Lease that says nothing. */
struct client__record client__record_of(const struct api_object *lease);

/* Do two say the same? */
bool client__record_eq(const struct client__record *a, const struct client__record *b);

/* A time as a Lease has it: of the wall clock, in microseconds. */
struct api_time client__record_time(int64_t wall);

/* The Lease with this record; from nothing if there is none yet. The caller owns it. */
struct api_object *client__record_object(const struct api_object *lease, struct str namespace,
                                         struct str name, const struct client__record *record);

#endif
