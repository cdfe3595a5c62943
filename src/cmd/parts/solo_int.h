/* What options of processes with one component come to. */
#ifndef CMD_SOLO_INT_H
#define CMD_SOLO_INT_H

#include "base/clock.h"
#include "client/election.h"
#include "client/http.h"
#include "cmd/parts/solo.h"

struct solo__election {
    bool is_on;
    struct election_times times;
    struct str namespace, name; /* of the Lease */
};

/* What options, the file and defaults say of leader election, in this order. */
int solo__read_election(const struct solo_opts *o, struct solo__election *out, struct err *err);

/* The same of requests in a second and at once. */
int solo__read_limits(const struct solo_opts *o, struct client_http_opts *out, struct err *err);

#endif
