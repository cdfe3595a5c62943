/*
 * How many requests may be under way at a time, by those who read and those who write.
 *
 * Ordinary clients leave a fifth of each limit to the parts of the system, so that a cluster whose
 * users overload the server still schedules pods and hears of its nodes; members of system:masters
 * are always answered. Watches do not count.
 *
 * Follows k8s.io/apiserver pkg/server/filters, func WithMaxInFlightLimit.
 */
#ifndef SERVER_INFLIGHT_H
#define SERVER_INFLIGHT_H

#include "auth/auth.h"

/* The place that a request has among those under way. */
enum server_seat { SERVER_SEAT_NONE, SERVER_SEAT_READ, SERVER_SEAT_WRITE, SERVER_SEATS };

enum { SERVER_INFLIGHT_RESERVED = 5 }; /* a limit divided by this is for the system alone */

/* All of it is atomic but for the limits, which are set before threads run. 0: no limit. */
struct server_inflight {
    uint32_t limits[SERVER_SEATS];
    uint32_t now[SERVER_SEATS];
    uint64_t refused[SERVER_SEATS];
};

/* Who may go beyond what. */
enum server_rank { SERVER_RANK_ORDINARY, SERVER_RANK_SYSTEM, SERVER_RANK_MASTER };

/* The rank of a user: nodes, the scheduler, the controller manager and service accounts of
 * kube-system are parts of the system. */
enum server_rank server_rank_of(const struct auth_user *user);

/* Takes a seat; false: there is none for this rank. Any thread. */
bool server_inflight_take(struct server_inflight *f, enum server_seat seat, enum server_rank rank);

/* Gives it back; SERVER_SEAT_NONE is none. Any thread. */
void server_inflight_give(struct server_inflight *f, enum server_seat seat);

/* How many have such a seat now, and how many were refused one. Any thread. */
uint32_t server_inflight_now(const struct server_inflight *f, enum server_seat seat);
uint64_t server_inflight_refused(const struct server_inflight *f, enum server_seat seat);

#endif
