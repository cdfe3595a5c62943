/* Leader election on virtual time: who leads, for how long, and who comes next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "base/buf.h"
#include "client/election.h"
#include "client/events.h"

/* ---- a carrier whose answers come late, or not at all ---- */

struct line {
    struct client base;
    struct client *inner;
    int64_t delay;
    bool is_dead; /* nothing comes back, and nothing is executed */
    struct line_call *calls;
};

struct line_call {
    struct client_call base;
    struct line *line;
    client_answer_fn *done;
    void *arg;
    struct client_call *inner;
    struct net_timer timer;
    enum err_code code;
    const struct api_object *object;
    struct line_call *next, **link;
};

static void call_free(struct line_call *c) {
    if (c->inner)
        client_cancel(c->inner);
    net_timer_stop(c->line->base.loop, &c->timer);
    api_object_unref(c->object);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    free(c);
}

static void deliver(void *arg) {
    struct line_call *c = arg;
    c->done(c->arg, &(struct client_answer){.code = c->code, .object = c->object});
    call_free(c);
}

static void on_inner(void *arg, const struct client_answer *answer) {
    struct line_call *c = arg;
    c->inner = NULL;
    c->code = answer->code;
    c->object = answer->object ? api_object_ref(answer->object) : NULL;
    net_timer_start(c->line->base.loop, &c->timer,
                    net_loop_now(c->line->base.loop) + c->line->delay);
}

static struct client_call *line_send(struct client *client, const struct client_request *r,
                                     client_answer_fn *done, void *arg) {
    struct line *line = heap_entry(client, struct line, base);
    struct line_call *c = xcalloc(1, sizeof *c);
    *c = (struct line_call){.base = {client}, .line = line, .done = done, .arg = arg};
    c->timer = (struct net_timer){.fn = deliver, .arg = c};
    c->next = line->calls;
    c->link = &line->calls;
    if (c->next)
        c->next->link = &c->next;
    line->calls = c;
    if (line->is_dead)
        api_object_free(r->object);
    else
        c->inner = client_send(line->inner, r, on_inner, c);
    return &c->base;
}

static void line_cancel(struct client_call *call) {
    call_free(heap_entry(call, struct line_call, base));
}

static const struct client_carrier line_carrier = {.send = line_send, .cancel = line_cancel};

/* ---- two candidates ---- */

struct candidate {
    struct race *race;
    struct line line;
    struct events *events;
    struct election *e;
    int elected, ended;
    enum election_end end;
    int64_t elected_at, ended_at;
};

struct race {
    struct world w;
    struct candidate a, b;
};

static void on_elected(void *arg) {
    struct candidate *c = arg;
    c->elected++;
    c->elected_at = net_loop_now(c->race->w.loop);
}

static void on_ended(void *arg, enum election_end end) {
    struct candidate *c = arg;
    c->ended++;
    c->end = end;
    c->ended_at = net_loop_now(c->race->w.loop);
}

#define S CLOCK_SECOND

static void enter_with(struct race *r, struct candidate *c, const char *identity,
                       struct election_times times) {
    *c = (struct candidate){.race = r};
    c->line =
        (struct line){.base = {.carrier = &line_carrier, .loop = r->w.loop}, .inner = r->w.client};
    c->events = events_new(&(struct events_opts){
        .client = r->w.client, .log = &r->w.log, .component = "kube-scheduler"});
    c->e = election_new(&(struct election_opts){.client = &c->line.base,
                                                .events = c->events,
                                                .log = &r->w.log,
                                                .namespace = STR("default"),
                                                .name = STR("kube-scheduler"),
                                                .identity = str_of(identity),
                                                .times = times,
                                                .seed = (uint64_t)identity[0],
                                                .elected = on_elected,
                                                .ended = on_ended,
                                                .arg = c});
}

static void enter(struct race *r, struct candidate *c, const char *identity) {
    enter_with(r, c, identity, (struct election_times){15 * S, 10 * S, 2 * S});
}

static void leave(struct candidate *c) {
    election_free(c->e);
    events_free(c->events);
    c->e = NULL;
    c->events = NULL;
}

static int set_up(void **state) {
    struct race *r = xcalloc(1, sizeof *r);
    world_start(&r->w, "");
    enter(r, &r->a, "a_1");
    *state = r;
    return 0;
}

static int tear_down(void **state) {
    struct race *r = *state;
    leave(&r->a);
    leave(&r->b);
    world_stop(&r->w);
    free(r);
    return 0;
}

static const struct api_lease_spec *lease(struct race *r) {
    const struct api_object *o = world_get(&r->w, API_T_lease, "kube-scheduler");
    assert_non_null(o);
    return &((const struct api_lease *)o->body)->spec;
}

static void test_first_leads(void **state) {
    struct race *r = *state;
    struct err err;
    world_run(&r->w, 1);
    assert_int_equal(r->a.elected, 1);
    assert_true(election_is_leader(r->a.e));
    const struct api_lease_spec *spec = lease(r);
    assert_true(str_is(spec->holder_identity, "a_1"));
    assert_int_equal(spec->lease_duration_seconds.v, 15);
    assert_int_equal(spec->lease_transitions.v, 0);
    const struct api_event *event = world_event(&r->w, "LeaderElection", "kube-scheduler");
    assert_true(str_is(event->message, "a_1 became leader"));
    assert_true(str_is(event->involved_object.kind, "Lease"));
    struct api_time acquired = spec->acquire_time;
    world_run(&r->w, 60);
    spec = lease(r);
    assert_int_equal(spec->acquire_time.sec, acquired.sec);
    assert_in_range(spec->renew_time.sec, acquired.sec + 58, acquired.sec + 61);
    assert_int_equal(election_check(r->a.e, 0, &err), 0);
    assert_int_equal(r->a.elected, 1);
    assert_int_equal(r->a.ended, 0);
}

static void test_second_waits(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 600);
    assert_int_equal(r->b.elected, 0);
    assert_true(str_is(election_leader(r->b.e), "a_1"));
    assert_int_equal(lease(r)->lease_transitions.v, 0);
}

/* Candidates that begin in the same moment: one creates the Lease, the other finds it there. */
static void test_both_at_once(void **state) {
    struct race *r = *state;
    enter(r, &r->b, "b_1");
    world_run(&r->w, 30);
    assert_int_equal(r->a.elected + r->b.elected, 1);
}

static void test_killed_leader(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 20);
    int64_t died = net_loop_now(r->w.loop);
    leave(&r->a);
    world_run(&r->w, 30);
    assert_int_equal(r->b.elected, 1);
    assert_in_range(r->b.elected_at - died, 13 * S, 20 * S);
    assert_int_equal(lease(r)->lease_transitions.v, 1);
    assert_true(str_is(lease(r)->holder_identity, "b_1"));
}

static void test_released(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 9);
    election_stop(r->a.e);
    int64_t stopped = net_loop_now(r->w.loop);
    assert_int_equal(r->a.ended, 0);
    world_run(&r->w, 0.1);
    assert_int_equal(r->a.ended, 1);
    assert_int_equal(r->a.end, ELECTION_STOPPED);
    assert_int_equal(lease(r)->holder_identity.n, 0);
    assert_int_equal(lease(r)->lease_duration_seconds.v, 1);
    world_run(&r->w, 10);
    assert_in_range(r->b.elected_at - stopped, 0, 5 * S);
    assert_int_equal(lease(r)->lease_transitions.v, 1);
}

static void test_stopped_without_leading(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 9);
    election_stop(r->b.e);
    world_run(&r->w, 0.1);
    assert_int_equal(r->b.ended, 1);
    assert_true(str_is(lease(r)->holder_identity, "a_1"));
}

/* A renewal that the leader wrote while it stopped makes the release a conflict: it is tried again.
 */
static void test_release_after_a_write(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    r->a.line.delay = S;
    world_run(&r->w, 2.5); /* a renewal was executed, and its answer is on its way */
    election_stop(r->a.e);
    world_run(&r->w, 9);
    assert_int_equal(r->a.ended, 1);
    assert_int_equal(lease(r)->holder_identity.n, 0);
}

/* A candidate that has written the Lease, and stops before it is told so, leaves it to the next. */
static void test_stopped_while_acquiring(void **state) {
    struct race *r = *state;
    r->a.line.delay = S;
    world_run(&r->w, 1.5); /* it has read that there is none, and written one */
    assert_int_equal(r->a.elected, 0);
    assert_true(str_is(lease(r)->holder_identity, "a_1"));
    election_stop(r->a.e);
    world_run(&r->w, 4);
    assert_int_equal(r->a.ended, 1);
    assert_int_equal(r->a.end, ELECTION_STOPPED);
    assert_int_equal(r->a.elected, 0);
    assert_int_equal(lease(r)->holder_identity.n, 0);
}

static void test_stopped_while_acquiring_unanswered(void **state) {
    struct race *r = *state;
    r->a.line.delay = S;
    world_run(&r->w, 1.5);
    r->a.line.is_dead = true;
    election_stop(r->a.e);
    world_run(&r->w, 11);
    assert_int_equal(r->a.ended, 1);
    assert_int_equal(r->a.end, ELECTION_STOPPED);
}

static void test_lost_server(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 9);
    int64_t died = net_loop_now(r->w.loop);
    r->a.line.is_dead = true;
    world_run(&r->w, 40);
    assert_int_equal(r->a.ended, 1);
    assert_int_equal(r->a.end, ELECTION_LOST);
    assert_false(election_is_leader(r->a.e));
    assert_in_range(r->a.ended_at - died, 10 * S, 12 * S);
    assert_true(r->b.elected_at > r->a.ended_at); /* at no time do two lead */
}

/* The server answers, but slowly: renewals go on. */
static void test_slow_server(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    r->a.line.delay = 4 * S;
    world_run(&r->w, 120);
    assert_int_equal(r->a.ended, 0);
    assert_int_equal(r->b.elected, 0);
    r->a.line.delay = 6 * S; /* longer than a request may take */
    world_run(&r->w, 60);
    assert_int_equal(r->a.end, ELECTION_LOST);
}

/* A renewal is written at once, its answer is late, and then the server is gone: others count from
 * the moment of the write, and so does who leads. */
static void test_late_answer(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 8.5);
    r->a.line.delay = 49 * S / 10;
    int32_t renewed = lease(r)->renew_time.nsec;
    int64_t renewed_at = lease(r)->renew_time.sec;
    while (lease(r)->renew_time.sec == renewed_at && lease(r)->renew_time.nsec == renewed)
        world_run(&r->w, 0.1);
    int64_t written = net_loop_now(r->w.loop);
    world_run(&r->w, 5);
    assert_int_equal(r->a.ended, 0);
    r->a.line.is_dead = true;
    world_run(&r->w, 20);
    assert_int_equal(r->a.end, ELECTION_LOST);
    assert_true(r->a.ended_at - written <= 12 * S);
    world_run(&r->w, 20);
    assert_int_equal(r->b.elected, 1);
    assert_true(r->b.elected_at > r->a.ended_at);
}

/* With a deadline close to the end of the Lease, half of what is between them stays. */
static void test_close_times(void **state) {
    struct race *r = *state;
    leave(&r->a);
    enter_with(r, &r->a, "a_1", (struct election_times){10 * S, 9 * S, 5 * S});
    world_run(&r->w, 1);
    int64_t written = net_loop_now(r->w.loop) - S;
    assert_int_equal(r->a.elected, 1);
    r->a.line.is_dead = true;
    world_run(&r->w, 20);
    assert_int_equal(r->a.end, ELECTION_LOST);
    assert_in_range(r->a.ended_at - written, 9 * S, 96 * S / 10);
}

/* A Lease tells whole seconds: those who wait must not wait for less than the leader counts on. */
static void test_parts_of_seconds(void **state) {
    struct race *r = *state;
    struct election_times times = {19 * S / 10, 18 * S / 10, 14 * S / 10};
    leave(&r->a);
    enter_with(r, &r->a, "a_1", times);
    world_run(&r->w, 0.1);
    assert_int_equal(lease(r)->lease_duration_seconds.v, 2);
    enter_with(r, &r->b, "b_1", times);
    world_run(&r->w, 60);
    assert_int_equal(r->a.ended, 0);
    r->a.line.is_dead = true;
    world_run(&r->w, 20);
    assert_int_equal(r->a.end, ELECTION_LOST);
    assert_int_equal(r->b.elected, 1);
    assert_true(r->b.elected_at > r->a.ended_at);
}

/* The server is away for less than the deadline. */
static void test_short_break(void **state) {
    struct race *r = *state;
    world_run(&r->w, 10);
    r->a.line.is_dead = true;
    world_run(&r->w, 6);
    r->a.line.is_dead = false;
    world_run(&r->w, 60);
    assert_int_equal(r->a.ended, 0);
    assert_int_equal(lease(r)->lease_transitions.v, 0);
}

static void patch(struct race *r, const char *text) {
    world_patch(&r->w, API_T_lease, "kube-scheduler", NULL, text);
}

/* Somebody else wrote to the Lease: the renewal is a conflict, and the Lease is read. */
static void test_conflict(void **state) {
    struct race *r = *state;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    world_run(&r->w, 1);
    patch(r, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    world_run(&r->w, 10);
    assert_int_equal(r->a.ended, 0);
    assert_int_equal(lease(r)->lease_transitions.v, 0);
    election_metrics_write(r->a.e, &text);
    assert_true(str_find(buf_view(&text),
                         STR("leader_election_slowpath_total{name=\"kube-scheduler\"} 1\n")) !=
                STR_NONE);
    assert_true(str_find(buf_view(&text),
                         STR("leader_election_master_status{name=\"kube-scheduler\"} 1\n")) !=
                STR_NONE);
}

static void test_taken_away(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    patch(r, "{\"spec\":{\"holderIdentity\":\"c_1\"}}");
    world_run(&r->w, 3);
    assert_int_equal(r->a.end, ELECTION_LOST);
    assert_true(str_is(lease(r)->holder_identity, "c_1"));
}

static void test_deleted_lease(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    world_delete(&r->w, API_T_lease, "kube-scheduler");
    world_run(&r->w, 10);
    assert_int_equal(r->a.ended, 0);
    assert_true(str_is(lease(r)->holder_identity, "a_1"));
}

/* The holder's clock is an hour behind, or ahead: what counts is when its renewals are seen. */
static void test_skewed_clocks(void **state) {
    struct race *r = *state;
    static const char *const times[] = {"2023-11-14T21:13:%02d.000000Z",
                                        "2023-11-14T23:13:%02d.000000Z"};
    world_run(&r->w, 1);
    leave(&r->a);
    patch(r, "{\"spec\":{\"holderIdentity\":\"c_1\"}}");
    enter(r, &r->b, "b_1");
    for (int i = 0; i < 100; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
        struct str time = arena_printf(&r->w.arena, i < 50 ? times[0] : times[1], i % 50);
        buf_addf(&text, "{\"spec\":{\"renewTime\":\"%.*s\"}}", STR_ARG(time));
        buf_add_char(&text, '\0');
        patch(r, text.p);
        world_run(&r->w, 5);
    }
    assert_int_equal(r->b.elected, 0);
    int64_t last = net_loop_now(r->w.loop);
    world_run(&r->w, 30);
    assert_int_equal(r->b.elected, 1);
    assert_in_range(r->b.elected_at - last, 9 * S, 20 * S);
}

/* The time of the day is set while it leads. */
static void test_clock_is_set(void **state) {
    struct race *r = *state;
    world_run(&r->w, 1);
    enter(r, &r->b, "b_1");
    world_run(&r->w, 5);
    r->w.clock.wall_ns -= 3600 * S;
    world_run(&r->w, 30);
    r->w.clock.wall_ns += 7200 * S;
    world_run(&r->w, 30);
    assert_int_equal(r->a.ended, 0);
    assert_int_equal(r->b.elected, 0);
}

static void test_times(void **state) {
    static const struct {
        struct election_times times;
        const char *text; /* NULL: they are good */
    } cases[] = {
        {{15 * S, 10 * S, 2 * S}, NULL},
        {{10 * S, 10 * S, 2 * S}, "leaseDuration must be greater than renewDeadline"},
        {{15 * S, 10 * S, 9 * S}, "renewDeadline must be greater than retryPeriod*JitterFactor"},
        {{INT64_MAX, INT64_MAX - 1, INT64_MAX - 2},
         "renewDeadline must be greater than retryPeriod*JitterFactor"},
        {{15 * S, 10 * S, 0}, "retryPeriod must be greater than zero"},
        {{INT32_MAX * S, 10 * S, 2 * S}, NULL},
        {{INT32_MAX * S + 1, 10 * S, 2 * S}, "leaseDuration must be greater than zero"},
        {{S / 2, S / 4, S / 8}, "leaseDuration must be greater than zero"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        int rc = election_times_check(&cases[i].times, &err);
        assert_int_equal(rc, cases[i].text ? -1 : 0);
        if (cases[i].text)
            assert_string_equal(err.msg, cases[i].text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_first_leads),
        TEST(test_second_waits),
        TEST(test_both_at_once),
        TEST(test_killed_leader),
        TEST(test_released),
        TEST(test_stopped_without_leading),
        TEST(test_release_after_a_write),
        TEST(test_stopped_while_acquiring),
        TEST(test_stopped_while_acquiring_unanswered),
        TEST(test_lost_server),
        TEST(test_slow_server),
        TEST(test_late_answer),
        TEST(test_close_times),
        TEST(test_parts_of_seconds),
        TEST(test_short_break),
        TEST(test_conflict),
        TEST(test_taken_away),
        TEST(test_deleted_lease),
        TEST(test_skewed_clocks),
        TEST(test_clock_is_set),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
