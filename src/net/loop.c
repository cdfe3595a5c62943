/* The loop: epoll for descriptors, a heap for timers, a locked queue and an eventfd for posts. */
#include "net/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* Calls of each sort in one turn, so that none of them keeps the others waiting for long. */
enum { TURN_EVENTS = 256, TURN_POSTS = 1024, TURN_TIMERS = 1024 };

struct post {
    struct post *next;
    net_fn *fn;
    void *arg;
};

struct post_queue {
    struct post *first, **end;
};

struct net_loop {
    const struct clock *clock;
    int64_t now;
    int epoll;
    struct heap timers;
    uint64_t timers_started;
    struct net_deferred *deferred, **deferred_end;
    struct epoll_event events[TURN_EVENTS]; /* of this turn; data.ptr is NULL when it was stopped */
    int event_count;
    struct post_queue taken; /* posts that left the queue and wait for their turn */

    /* Shared with other threads. */
    struct net_io wake; /* an eventfd that is written when something was posted, or to stop */
    pthread_mutex_t lock;
    struct post_queue posted; /* under the lock */
    atomic_bool stopped;
};

static bool timer_before(const struct heap_node *a, const struct heap_node *b) {
    const struct net_timer *x = heap_const_entry(a, struct net_timer, node);
    const struct net_timer *y = heap_const_entry(b, struct net_timer, node);
    return x->at != y->at ? x->at < y->at : x->order < y->order;
}

/* It is told of each write to the eventfd, once, so that nobody need read it. */
static void woken(void *arg, uint32_t events) {
    (void)arg;
    (void)events;
}

static void wake(struct net_loop *loop) {
    uint64_t one = 1;
    while (write(loop->wake.fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

struct net_loop *net_loop_new(const struct clock *clock) {
    struct net_loop *loop = xcalloc(1, sizeof *loop);
    loop->clock = clock;
    loop->now = clock_mono(clock);
    loop->timers.before = timer_before;
    loop->deferred_end = &loop->deferred;
    loop->posted.end = &loop->posted.first;
    loop->taken.end = &loop->taken.first;
    pthread_mutex_init(&loop->lock, NULL);
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = (struct net_io){.fn = woken, .arg = loop};
    loop->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->epoll < 0 || loop->wake.fd < 0)
        BUG("no descriptors for an event loop");
    net_io_start(loop, &loop->wake, EPOLLIN | EPOLLET);
    return loop;
}

static void forget_posts(struct post_queue *queue) {
    for (struct post *post; (post = queue->first);) {
        queue->first = post->next;
        free(post);
    }
}

void net_loop_free(struct net_loop *loop) {
    if (!loop)
        return;
    assert(loop->timers.n == 0 && !loop->deferred);
    forget_posts(&loop->taken);
    forget_posts(&loop->posted);
    heap_release(&loop->timers);
    pthread_mutex_destroy(&loop->lock);
    close(loop->wake.fd);
    close(loop->epoll);
    free(loop);
}

void net_loop_stop(struct net_loop *loop) {
    atomic_store(&loop->stopped, true);
    wake(loop);
}

void net_loop_post(struct net_loop *loop, net_fn *fn, void *arg) {
    struct post *post = xmalloc(sizeof *post);
    *post = (struct post){.fn = fn, .arg = arg};
    pthread_mutex_lock(&loop->lock);
    bool was_empty = !loop->posted.first;
    *loop->posted.end = post;
    loop->posted.end = &post->next;
    pthread_mutex_unlock(&loop->lock);
    if (was_empty)
        wake(loop);
}

/* Moves what was posted behind what waits already. */
static void take_posts(struct net_loop *loop) {
    pthread_mutex_lock(&loop->lock);
    if (loop->posted.first) {
        *loop->taken.end = loop->posted.first;
        loop->taken.end = loop->posted.end;
        loop->posted = (struct post_queue){.end = &loop->posted.first};
    }
    pthread_mutex_unlock(&loop->lock);
}

static void run_posts(struct net_loop *loop) {
    take_posts(loop);
    for (int i = 0; i < TURN_POSTS && loop->taken.first; i++) {
        struct post *post = loop->taken.first;
        loop->taken.first = post->next;
        if (!post->next)
            loop->taken.end = &loop->taken.first;
        post->fn(post->arg);
        free(post);
    }
}

int64_t net_loop_now(const struct net_loop *loop) {
    return loop->now;
}

const struct clock *net_loop_clock(const struct net_loop *loop) {
    return loop->clock;
}

int64_t net_loop_next_timer(const struct net_loop *loop) {
    const struct heap_node *first = heap_peek(&loop->timers);
    return first ? heap_const_entry(first, struct net_timer, node)->at : INT64_MAX;
}

void net_timer_start(struct net_loop *loop, struct net_timer *timer, int64_t at) {
    timer->at = at;
    timer->order = loop->timers_started++;
    if (net_timer_is_running(timer))
        heap_fix(&loop->timers, &timer->node);
    else
        heap_push(&loop->timers, &timer->node);
}

void net_timer_stop(struct net_loop *loop, struct net_timer *timer) {
    if (net_timer_is_running(timer))
        heap_remove(&loop->timers, &timer->node);
}

bool net_timer_is_running(const struct net_timer *timer) {
    return timer->node.place != 0;
}

/* Timers that are started meanwhile, and are due at once, wait for the next turn. */
static void run_timers(struct net_loop *loop) {
    uint64_t started = loop->timers_started;
    for (int i = 0; i < TURN_TIMERS && net_loop_next_timer(loop) <= loop->now; i++) {
        struct net_timer *timer = heap_entry(heap_peek(&loop->timers), struct net_timer, node);
        if (timer->order >= started)
            return;
        heap_remove(&loop->timers, &timer->node);
        timer->fn(timer->arg);
    }
}

static void append_deferred(struct net_deferred *deferred, struct net_deferred ***end) {
    deferred->next = NULL;
    deferred->place = *end;
    **end = deferred;
    *end = &deferred->next;
}

void net_loop_defer(struct net_loop *loop, struct net_deferred *deferred) {
    if (!deferred->place)
        append_deferred(deferred, &loop->deferred_end);
}

void net_loop_undefer(struct net_loop *loop, struct net_deferred *deferred) {
    if (!deferred->place)
        return;
    *deferred->place = deferred->next;
    if (deferred->next)
        deferred->next->place = deferred->place;
    else if (loop->deferred_end == &deferred->next)
        loop->deferred_end = deferred->place;
    deferred->place = NULL;
}

/* The list is taken off the loop first: what is deferred meanwhile belongs to the next turn. */
static void run_deferred(struct net_loop *loop) {
    struct net_deferred *list = loop->deferred;
    if (!list)
        return;
    list->place = &list;
    loop->deferred = NULL;
    loop->deferred_end = &loop->deferred;
    for (struct net_deferred *deferred; (deferred = list);) {
        net_loop_undefer(loop, deferred);
        deferred->fn(deferred->arg);
    }
}

static void control(struct net_loop *loop, int op, struct net_io *io) {
    struct epoll_event event = {.events = io->events, .data.ptr = io};
    if (epoll_ctl(loop->epoll, op, io->fd, &event) < 0)
        BUG("epoll_ctl");
}

void net_io_start(struct net_loop *loop, struct net_io *io, uint32_t events) {
    io->events = events;
    control(loop, EPOLL_CTL_ADD, io);
}

void net_io_change(struct net_loop *loop, struct net_io *io, uint32_t events) {
    if (io->events == events)
        return;
    io->events = events;
    control(loop, EPOLL_CTL_MOD, io);
}

void net_io_stop(struct net_loop *loop, struct net_io *io) {
    control(loop, EPOLL_CTL_DEL, io);
    for (int i = 0; i < loop->event_count; i++) {
        if (loop->events[i].data.ptr == io)
            loop->events[i].data.ptr = NULL;
    }
}

static void run_events(struct net_loop *loop) {
    for (int i = 0; i < loop->event_count; i++) {
        struct net_io *io = loop->events[i].data.ptr;
        if (io)
            io->fn(io->arg, loop->events[i].events);
    }
    loop->event_count = 0;
}

/* Milliseconds to wait, rounded up, so that a timer that the wait ends for is due. */
static int wait_time(const struct net_loop *loop, int64_t timeout) {
    if (loop->taken.first || loop->deferred)
        return 0;
    int64_t next = net_loop_next_timer(loop);
    if (next != INT64_MAX) {
        int64_t left = next - clock_mono(loop->clock);
        if (left <= 0)
            return 0;
        left = clock_wait(loop->clock, left);
        if (timeout < 0 || left < timeout)
            timeout = left;
    }
    const int64_t ms = CLOCK_SECOND / 1000, longest = 3600 * CLOCK_SECOND;
    if (timeout < 0)
        return -1;
    return timeout > longest ? (int)(longest / ms) : (int)((timeout + ms - 1) / ms);
}

void net_loop_turn(struct net_loop *loop, int64_t timeout) {
    int n = epoll_wait(loop->epoll, loop->events, TURN_EVENTS, wait_time(loop, timeout));
    if (n < 0 && errno != EINTR)
        BUG("epoll_wait");
    loop->event_count = n < 0 ? 0 : n;
    loop->now = clock_mono(loop->clock);
    run_events(loop); /* before posts are taken: a post that comes later must wake the next turn */
    run_posts(loop);
    run_timers(loop);
    run_deferred(loop);
}

void net_loop_run(struct net_loop *loop) {
    while (!atomic_load(&loop->stopped))
        net_loop_turn(loop, -1);
    atomic_store(&loop->stopped, false);
}

/* Did the last turn leave something that is due now? Posts of this thread count, too. */
static bool is_busy(struct net_loop *loop) {
    pthread_mutex_lock(&loop->lock);
    bool has_posts = loop->posted.first != NULL;
    pthread_mutex_unlock(&loop->lock);
    return has_posts || loop->taken.first || loop->deferred;
}

void net_loop_run_virtual(struct net_loop *loop, struct clock_manual *clock, int64_t mono_end) {
    assert(loop->clock == &clock->clock);
    for (;;) {
        net_loop_turn(loop, 0);
        int64_t next = net_loop_next_timer(loop);
        if (is_busy(loop) || next <= clock->mono_ns)
            continue;
        if (next > mono_end || clock->mono_ns >= mono_end)
            break;
        clock_manual_advance(clock, next - clock->mono_ns);
    }
    if (clock->mono_ns < mono_end)
        clock_manual_advance(clock, mono_end - clock->mono_ns);
}
