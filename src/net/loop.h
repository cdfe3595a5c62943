/*
 * The loop: one thread that waits for descriptors, timers and posts of other threads, and calls
 * whoever asked for them. Time is the clock that the loop was given, so that the same code runs on
 * the time of the day in a server and on virtual time in a simulation.
 *
 * Everything here belongs to the thread that runs the loop, but for net_loop_post and
 * net_loop_stop, which any thread may call. Before the loop runs, its maker is that thread.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

struct clock;
struct clock_manual;
struct net_loop;

/* What a loop calls; arg is whatever was given with it. */
typedef void net_fn(void *arg);

/* A loop on this clock (borrowed for as long as the loop lives). Ends the program when the system
 * has no descriptors left, as xmalloc does without memory: loops are made when a program starts. */
struct net_loop *net_loop_new(const struct clock *clock);

/* Frees a loop that does not run. Posts that were not run are forgotten; timers, descriptors and
 * deferred calls must have been stopped by their owners. NULL is allowed. */
void net_loop_free(struct net_loop *loop);

/* Runs turns until net_loop_stop. */
void net_loop_run(struct net_loop *loop);

/*
 * One turn: waits until something is due, at most for timeout nanoseconds of real time (negative:
 * without end), then calls, each for a bounded number: descriptors that are ready, posts in the
 * order in which they came, timers that are due in the order of their times, and last what was
 * deferred. What does not fit into the turn comes in the next, which then does not wait.
 */
void net_loop_turn(struct net_loop *loop, int64_t timeout);

/*
 * Runs on virtual time until the loop's clock, which is this one, shows mono_end: turns without
 * waiting until nothing is left to do, then moves the clock to the next timer, and so on.
 */
void net_loop_run_virtual(struct net_loop *loop, struct clock_manual *clock, int64_t mono_end);

/* Ends net_loop_run after the turn at hand; a stop before it runs ends it at once. Any thread. */
void net_loop_stop(struct net_loop *loop);

/* Has fn(arg) called in one of the next turns. Any thread; posts of one thread keep their order.
 * The queue has no bound of its own: who posts bounds what it has under way. */
void net_loop_post(struct net_loop *loop, net_fn *fn, void *arg);

/* Monotonic time of the loop's clock, as read when this turn began. */
int64_t net_loop_now(const struct net_loop *loop);

/* The loop's clock. */
const struct clock *net_loop_clock(const struct net_loop *loop);

/* When the next timer is due; INT64_MAX when none runs. */
int64_t net_loop_next_timer(const struct net_loop *loop);

/* A timer, embedded in its owner; fn and arg are set once. All zeroes but for these: not running.
 */
struct net_timer {
    net_fn *fn;
    void *arg;
    int64_t at;     /* when it is due, in the loop's monotonic time */
    uint64_t order; /* timers of one time are called in the order in which they were started */
    struct heap_node node;
};

/* Has the timer called once at this monotonic time; one that runs already is moved. */
void net_timer_start(struct net_loop *loop, struct net_timer *timer, int64_t at);

/* Stops the timer; one that does not run stays so. */
void net_timer_stop(struct net_loop *loop, struct net_timer *timer);

/* Is the timer waiting for its time? */
bool net_timer_is_running(const struct net_timer *timer);

/* A call at the end of a turn, embedded in its owner; fn and arg are set once. */
struct net_deferred {
    net_fn *fn;
    void *arg;
    struct net_deferred *next, **place; /* of the loop; place is NULL when it is not waiting */
};

/* Has it called once at the end of this turn; at the end of the next when deferred calls run right
 * now. One that waits already stays where it is. */
void net_loop_defer(struct net_loop *loop, struct net_deferred *deferred);

/* Takes it back; one that does not wait stays so. */
void net_loop_undefer(struct net_loop *loop, struct net_deferred *deferred);

/* A descriptor, embedded in its owner. fn is called with the events of epoll (EPOLLIN, EPOLLOUT,
 * EPOLLRDHUP, EPOLLERR, EPOLLHUP) for as long as they hold (level-triggered). */
struct net_io {
    void (*fn)(void *arg, uint32_t events);
    void *arg;
    int fd;          /* borrowed: stop before it is closed */
    uint32_t events; /* what is asked for; set by net_io_start */
};

/* Begins to watch io->fd for events. */
void net_io_start(struct net_loop *loop, struct net_io *io, uint32_t events);

/* Changes what is asked for; costs nothing when it is the same. */
void net_io_change(struct net_loop *loop, struct net_io *io, uint32_t events);

/* Ends it: fn is not called again, also not for events of the turn at hand. */
void net_io_stop(struct net_loop *loop, struct net_io *io);

#endif
