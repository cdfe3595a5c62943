/* The loop: order of timers, posts from other threads, deferred calls, descriptors, virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/loop.h"

#define MS (CLOCK_SECOND / 1000)

struct world {
    struct clock_manual clock;
    struct net_loop *loop;
    char log[64]; /* a letter for each call, in order */
    size_t n;
};

static int set_up(void **state) {
    static struct world w;
    w = (struct world){0};
    clock_manual_init(&w.clock, 0);
    w.loop = net_loop_new(&w.clock.clock);
    *state = &w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    net_loop_free(w->loop);
    return 0;
}

/* Something that writes its letter and may do one thing more. */
struct actor {
    struct world *world;
    char letter;
    struct net_timer timer;
    struct net_deferred deferred;
    struct net_io io;
    struct actor *victim; /* stopped by this one */
    int again;            /* so often it asks to be called again, at once */
};

static void note(struct actor *a) {
    if (a->world->n < sizeof a->world->log - 1)
        a->world->log[a->world->n++] = a->letter;
}

static void on_timer(void *arg) {
    struct actor *a = arg;
    note(a);
    if (a->victim)
        net_timer_stop(a->world->loop, &a->victim->timer);
    if (a->again-- > 0)
        net_timer_start(a->world->loop, &a->timer, net_loop_now(a->world->loop));
}

static void on_deferred(void *arg) {
    struct actor *a = arg;
    note(a);
    if (a->victim)
        net_loop_undefer(a->world->loop, &a->victim->deferred);
    if (a->again-- > 0)
        net_loop_defer(a->world->loop, &a->deferred);
}

static void on_io(void *arg, uint32_t events) {
    struct actor *a = arg;
    (void)events;
    note(a);
    if (a->victim)
        net_io_stop(a->world->loop, &a->victim->io);
}

static void on_post(void *arg) {
    note(arg);
}

static struct actor make_actor(struct world *w, char letter) {
    return (struct actor){.world = w, .letter = letter};
}

static void wire(struct actor *a) {
    a->timer = (struct net_timer){.fn = on_timer, .arg = a};
    a->deferred = (struct net_deferred){.fn = on_deferred, .arg = a};
    a->io = (struct net_io){.fn = on_io, .arg = a, .fd = -1};
}

static void test_timers_run_in_order_of_time_then_of_start(void **state) {
    struct world *w = *state;
    struct actor actors[] = {make_actor(w, 'a'), make_actor(w, 'b'), make_actor(w, 'c'),
                             make_actor(w, 'd')};
    const int64_t times[] = {30, 10, 20, 10};
    for (size_t i = 0; i < 4; i++) {
        wire(&actors[i]);
        net_timer_start(w->loop, &actors[i].timer, times[i]);
    }
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "");
    assert_int_equal(net_loop_next_timer(w->loop), 10);
    clock_manual_advance(&w->clock, 25);
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "bdc");
    net_timer_start(w->loop, &actors[0].timer, 26); /* moved */
    clock_manual_advance(&w->clock, 1);
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "bdca");
    assert_int_equal(net_loop_next_timer(w->loop), INT64_MAX);
}

static void test_a_timer_stops_another_and_starts_itself(void **state) {
    struct world *w = *state;
    struct actor a = make_actor(w, 'a'), b = make_actor(w, 'b');
    wire(&a);
    wire(&b);
    a.victim = &b;
    a.again = 2;
    net_timer_start(w->loop, &a.timer, 0);
    net_timer_start(w->loop, &b.timer, 0);
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "a"); /* a again is for the next turn */
    assert_false(net_timer_is_running(&b.timer));
    net_loop_turn(w->loop, 0);
    net_loop_turn(w->loop, 0);
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "aaa");
}

static void test_deferred_calls_come_once_at_the_end(void **state) {
    struct world *w = *state;
    struct actor a = make_actor(w, 'a'), b = make_actor(w, 'b'), c = make_actor(w, 'c');
    wire(&a);
    wire(&b);
    wire(&c);
    net_loop_defer(w->loop, &a.deferred);
    net_loop_defer(w->loop, &b.deferred);
    net_loop_defer(w->loop, &a.deferred);
    net_loop_post(w->loop, on_post, &c);
    a.victim = &b;
    a.again = 1;
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "ca");
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "caa");
    net_loop_defer(w->loop, &b.deferred);
    net_loop_undefer(w->loop, &b.deferred);
    net_loop_undefer(w->loop, &b.deferred);
    net_loop_defer(w->loop, &c.deferred);
    net_loop_turn(w->loop, 0);
    assert_string_equal(w->log, "caac");
}

static void test_descriptors_can_be_stopped_in_the_same_turn(void **state) {
    struct world *w = *state;
    int ends[2][2];
    struct actor a = make_actor(w, 'a'), b = make_actor(w, 'b');
    wire(&a);
    wire(&b);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pipe(ends[i]), 0);
        assert_int_equal(write(ends[i][1], "x", 1), 1);
    }
    a.io.fd = ends[0][0];
    b.io.fd = ends[1][0];
    net_io_start(w->loop, &a.io, EPOLLIN);
    net_io_start(w->loop, &b.io, EPOLLIN);
    net_loop_turn(w->loop, 0);
    assert_int_equal(w->n, 2);
    a.victim = &b;
    b.victim = &a;
    net_loop_turn(w->loop, 0);
    assert_int_equal(w->n, 3); /* one was called, and stopped the other */
    struct actor *left = w->log[2] == 'a' ? &a : &b;
    left->victim = NULL;
    net_io_change(w->loop, &left->io, 0);
    net_loop_turn(w->loop, 0);
    assert_int_equal(w->n, 3);
    net_io_change(w->loop, &left->io, EPOLLIN);
    net_loop_turn(w->loop, 0);
    assert_int_equal(w->n, 4);
    net_io_stop(w->loop, &left->io);
    for (int i = 0; i < 2; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
}

/* Posts from threads: every one is run, and those of one thread in its order. */
enum { THREADS = 4, POSTS = 5000 };

struct counter {
    struct net_loop *loop;
    struct poster *posters;
    int done;
};

struct poster {
    struct counter *counter;
    int expected; /* by the loop */
    struct numbered {
        struct poster *poster;
        int number;
    } posts[POSTS];
};

static void count_post(void *arg) {
    struct numbered *post = arg;
    struct counter *counter = post->poster->counter;
    assert_int_equal(post->number, post->poster->expected++);
    if (++counter->done == THREADS * POSTS)
        net_loop_stop(counter->loop);
}

static void *post_all(void *arg) {
    struct poster *p = arg;
    for (int i = 0; i < POSTS; i++) {
        p->posts[i] = (struct numbered){p, i};
        net_loop_post(p->counter->loop, count_post, &p->posts[i]);
    }
    return NULL;
}

static void test_posts_of_threads_all_arrive(void **state) {
    (void)state;
    static struct poster posters[THREADS];
    pthread_t threads[THREADS];
    struct counter counter = {.loop = net_loop_new(&clock_system), .posters = posters};
    for (int i = 0; i < THREADS; i++) {
        posters[i].counter = &counter;
        assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    net_loop_run(counter.loop);
    assert_int_equal(counter.done, THREADS * POSTS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    net_loop_free(counter.loop);
}

/* A post that posts again never ends, and yet timers are called. */
struct nag {
    struct net_loop *loop;
    struct net_timer timer;
    uint64_t calls;
};

static void nag_again(void *arg) {
    struct nag *nag = arg;
    nag->calls++;
    net_loop_post(nag->loop, nag_again, nag);
}

static void stop_nagging(void *arg) {
    struct nag *nag = arg;
    net_loop_stop(nag->loop);
}

static void test_posts_do_not_starve_timers(void **state) {
    (void)state;
    struct nag nag = {.loop = net_loop_new(&clock_system)};
    nag.timer = (struct net_timer){.fn = stop_nagging, .arg = &nag};
    for (int i = 0; i < 3000; i++)
        net_loop_post(nag.loop, nag_again, &nag);
    net_timer_start(nag.loop, &nag.timer, net_loop_now(nag.loop) + 5 * MS);
    net_loop_run(nag.loop);
    assert_true(nag.calls > 0);
    net_loop_free(nag.loop);
}

/* A day of a timer that starts itself every minute passes without waiting. */
struct minute_hand {
    struct net_loop *loop;
    struct net_timer timer;
    int minutes;
};

static void tick(void *arg) {
    struct minute_hand *hand = arg;
    hand->minutes++;
    net_timer_start(hand->loop, &hand->timer, hand->timer.at + 60 * CLOCK_SECOND);
}

static void test_virtual_time_passes_at_once(void **state) {
    struct world *w = *state;
    struct minute_hand hand = {.loop = w->loop};
    const int64_t day = 24 * 3600 * CLOCK_SECOND;
    hand.timer = (struct net_timer){.fn = tick, .arg = &hand};
    net_timer_start(w->loop, &hand.timer, 60 * CLOCK_SECOND);
    net_loop_run_virtual(w->loop, &w->clock, day);
    assert_int_equal(hand.minutes, 24 * 60);
    assert_int_equal(clock_mono(&w->clock.clock), day);
    net_loop_run_virtual(w->loop, &w->clock, day + CLOCK_SECOND);
    assert_int_equal(hand.minutes, 24 * 60);
    net_timer_stop(w->loop, &hand.timer);
}

static void stop_loop(void *arg) {
    net_loop_stop(arg);
}

/* An hour of a clock that runs fast is waited for as long as it takes. */
static void test_a_fast_clock_is_waited_for_less(void **state) {
    (void)state;
    struct clock_fast fast;
    clock_fast_init(&fast, 36000);
    struct net_loop *loop = net_loop_new(&fast.clock);
    struct net_timer timer = {.fn = stop_loop, .arg = loop};
    int64_t start = clock_mono(&clock_system);
    net_timer_start(loop, &timer, net_loop_now(loop) + 3600 * CLOCK_SECOND);
    net_loop_run(loop);
    int64_t took = clock_mono(&clock_system) - start;
    assert_true(took >= CLOCK_SECOND / 11 && took < 60 * CLOCK_SECOND);
    net_loop_free(loop);
}

static void test_a_stop_before_the_run_ends_it(void **state) {
    struct world *w = *state;
    net_loop_stop(w->loop);
    net_loop_run(w->loop);
    assert_int_equal(w->n, 0);
    net_loop_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_timers_run_in_order_of_time_then_of_start),
        TEST(test_a_timer_stops_another_and_starts_itself),
        TEST(test_deferred_calls_come_once_at_the_end),
        TEST(test_descriptors_can_be_stopped_in_the_same_turn),
        TEST(test_posts_of_threads_all_arrive),
        TEST(test_posts_do_not_starve_timers),
        TEST(test_virtual_time_passes_at_once),
        TEST(test_a_fast_clock_is_waited_for_less),
        TEST(test_a_stop_before_the_run_ends_it),
    };
    return cmocka_run_group_tests_name("net/loop", tests, NULL, NULL);
}
