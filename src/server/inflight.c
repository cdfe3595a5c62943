/* Seats are counted, not queued: who does not get one is told to come again. */
#include "server/inflight.h"

enum server_rank server_rank_of(const struct auth_user *user) {
    static const char *const names[] = {"system:kube-scheduler", "system:kube-controller-manager",
                                        "system:apiserver"};
    struct str namespace, name;
    if (auth_user_is_in(user, STR(AUTH_MASTERS)))
        return SERVER_RANK_MASTER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(user->name, names[i]))
            return SERVER_RANK_SYSTEM;
    if (auth_user_is_in(user, STR(AUTH_NODES)))
        return SERVER_RANK_SYSTEM;
    return auth_service_account_split(user->name, &namespace, &name) &&
                   str_is(namespace, "kube-system")
               ? SERVER_RANK_SYSTEM
               : SERVER_RANK_ORDINARY;
}

/* How many there may be, the asker among them. */
static uint32_t most_for(uint32_t limit, enum server_rank rank) {
    if (!limit || rank == SERVER_RANK_MASTER)
        return UINT32_MAX;
    return rank == SERVER_RANK_SYSTEM ? limit : limit - limit / SERVER_INFLIGHT_RESERVED;
}

bool server_inflight_take(struct server_inflight *f, enum server_seat seat, enum server_rank rank) {
    uint32_t now = __atomic_add_fetch(&f->now[seat], 1, __ATOMIC_RELAXED);
    if (now <= most_for(f->limits[seat], rank))
        return true;
    __atomic_sub_fetch(&f->now[seat], 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&f->refused[seat], 1, __ATOMIC_RELAXED);
    return false;
}

void server_inflight_give(struct server_inflight *f, enum server_seat seat) {
    if (seat != SERVER_SEAT_NONE)
        __atomic_sub_fetch(&f->now[seat], 1, __ATOMIC_RELAXED);
}

uint32_t server_inflight_now(const struct server_inflight *f, enum server_seat seat) {
    return __atomic_load_n(&f->now[seat], __ATOMIC_RELAXED);
}

uint64_t server_inflight_refused(const struct server_inflight *f, enum server_seat seat) {
    return __atomic_load_n(&f->refused[seat], __ATOMIC_RELAXED);
}
