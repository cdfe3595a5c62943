/* What the recorder of events remembers: it is bounded, and each memory is small. What it makes of
 * events that are like others, too many, or gone. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../world.h"
#include "base/clock.h"
#include "client/events.h"
#include "net/loop.h"

#if defined(__SANITIZE_ADDRESS__)
/* As <sanitizer/allocator_interface.h> has it, which not every compiler brings along. */
size_t __sanitizer_get_current_allocated_bytes(void);

static size_t allocated(void) {
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

/* Events about pods that come and go; as many objects are remembered, each with three memories. */
enum { OBJECTS = 4096, OBJECT_MOST = 3 * 1200 };

/* A client that takes all requests, and answers none. */
struct sink {
    struct client base;
    struct client_call call;
    int requests;
};

static struct client_call *swallow(struct client *c, const struct client_request *r,
                                   client_answer_fn *done, void *arg) {
    struct sink *sink = (struct sink *)c;
    (void)done;
    (void)arg;
    api_object_free(r->object);
    sink->requests++;
    return &sink->call;
}

static void forget(struct client_call *call) {
    (void)call;
}

static void say(struct events *e, int from, int to) {
    for (int i = from; i < to; i++) {
        char name[32], uid[40];
        snprintf(name, sizeof name, "web-7d4b9c6f5d-%05d", i);
        snprintf(uid, sizeof uid, "6f1c2d3e-0000-4000-8000-%012d", i);
        const struct events_subject pod = {client_kind(API_T_pod), STR("default"), str_of(name),
                                           str_of(uid)};
        events_say_of(e, &pod, EVENTS_NORMAL, "Scheduled", "Successfully assigned default/%s to n",
                      name);
    }
}

static void what_is_remembered_is_small(void **state) {
    static const struct client_carrier carrier = {.send = swallow, .cancel = forget};
    struct net_loop *loop = net_loop_new(&clock_system);
    struct sink sink = {.base = {.carrier = &carrier, .loop = loop}, .call = {&sink.base}};
    (void)state;
    struct events *e = events_new(&(struct events_opts){.client = &sink.base, .component = "test"});
    size_t before = allocated();
    say(e, 0, OBJECTS);
    size_t full = allocated();
    say(e, OBJECTS, 3 * OBJECTS);
    size_t after = allocated();
    assert_int_equal(sink.requests, 3 * OBJECTS);
    print_message("%zu bytes for each object\n", (full - before) / OBJECTS);
    assert_true(full - before <= (size_t)OBJECTS * OBJECT_MOST);
    assert_true(after <= full + (full - before) / 10);
    events_free(e);
    net_loop_free(loop);
}

/* ---- in a cluster ---- */

/* Says something about a pod, and lets it be written. */
static void tell(struct world *w, struct events *e, enum events_type type, const char *text) {
    const struct events_subject pod = {client_kind(API_T_pod), STR("default"), STR("web-1"),
                                       STR("6f1c2d3e-0000-4000-8000-000000000001")};
    events_say_of(e, &pod, type, "Happened", "%s", text);
    world_run(w, 0.1);
}

/* The event with this message, or NULL; a copy in the world's arena. */
struct search {
    struct world *w;
    const char *message;
    const struct api_event *found;
};

static void look(void *arg, const struct api_object *o) {
    struct search *s = arg;
    const struct api_event *e = o->body;
    struct api_event *copy = arena_new(&s->w->arena, struct api_event);
    if (!str_is(e->message, s->message))
        return;
    api_struct_copy(&s->w->arena, o->type, e, copy);
    s->found = copy;
}

static const struct api_event *find(struct world *w, const char *message) {
    struct search s = {w, message, NULL};
    world_each(w, API_T_event, look, &s);
    return s.found;
}

static struct events *start(struct world *w) {
    world_start(w, "");
    return events_new(
        &(struct events_opts){.client = w->client, .log = &w->log, .component = "test"});
}

static void stop(struct world *w, struct events *e) {
    events_free(e);
    world_stop(w);
}

/* Nine texts have events of their own; the tenth and all others have one, with the last text. */
static void many_texts_are_one_event(void **state) {
    struct world w;
    struct events *e = start(&w);
    char text[32];
    (void)state;
    for (int i = 1; i <= 12; i++) {
        snprintf(text, sizeof text, "text %d", i);
        tell(&w, e, EVENTS_NORMAL, text);
    }
    assert_int_equal(world_count(&w, API_T_event), 10);
    assert_non_null(find(&w, "text 9"));
    const struct api_event *sum = find(&w, "(combined from similar events): text 12");
    assert_non_null(sum);
    assert_int_equal(sum->count, 3);
    stop(&w, e);
}

/* Of one type 25 are heard, and then one in five minutes, which tells of those before it as well;
 * those of the other type are not affected. */
static void too_many_are_not_heard(void **state) {
    struct world w;
    struct events *e = start(&w);
    (void)state;
    for (int i = 0; i < 27; i++)
        tell(&w, e, EVENTS_NORMAL, "again");
    assert_int_equal(find(&w, "again")->count, 25);
    tell(&w, e, EVENTS_NORMAL, "late");
    assert_null(find(&w, "late"));
    tell(&w, e, EVENTS_WARNING, "bad");
    assert_non_null(find(&w, "bad"));
    world_run(&w, 300);
    tell(&w, e, EVENTS_NORMAL, "again");
    assert_int_equal(find(&w, "again")->count, 28);
    world_run(&w, 300);
    tell(&w, e, EVENTS_NORMAL, "late");
    assert_int_equal(find(&w, "late")->count, 2);
    stop(&w, e);
}

/* An event that has expired is there again as soon as it is said again. */
static void what_has_expired_is_made_anew(void **state) {
    struct world w;
    struct events *e = start(&w);
    (void)state;
    tell(&w, e, EVENTS_NORMAL, "again");
    struct api_time first = find(&w, "again")->first_timestamp;
    world_delete(&w, API_T_event, arena_str(&w.arena, find(&w, "again")->metadata.name).p);
    assert_int_equal(world_count(&w, API_T_event), 0);
    world_run(&w, 60);
    tell(&w, e, EVENTS_NORMAL, "again");
    const struct api_event *event = find(&w, "again");
    assert_non_null(event);
    assert_int_equal(event->count, 2);
    assert_int_equal(event->first_timestamp.sec, first.sec);
    assert_int_equal(event->last_timestamp.sec, first.sec + 60);
    stop(&w, e);
}

/* ---- a server that is away ---- */

/* A client whose first requests nobody answers. */
struct broken {
    struct client base;
    struct client *inner;
    int failures;
    struct client_call call; /* the one that fails */
    struct net_deferred answer;
    client_answer_fn *done;
    void *arg;
};

static void fail_call(void *arg) {
    struct broken *b = arg;
    b->done(b->arg, &(struct client_answer){.code = ERR_IO, .message = STR("connection refused")});
}

static struct client_call *broken_send(struct client *c, const struct client_request *r,
                                       client_answer_fn *done, void *arg) {
    struct broken *b = heap_entry(c, struct broken, base);
    if (!b->failures)
        return client_send(b->inner, r, done, arg);
    b->failures--;
    api_object_free(r->object);
    b->done = done;
    b->arg = arg;
    net_loop_defer(c->loop, &b->answer);
    return &b->call;
}

static void broken_cancel(struct client_call *call) {
    struct broken *b = heap_entry(call, struct broken, call);
    net_loop_undefer(b->base.loop, &b->answer);
}

/* Twelve times it is tried again, and then when it is said again. */
static void what_nobody_answered_is_tried_again(void **state) {
    static const struct client_carrier carrier = {.send = broken_send, .cancel = broken_cancel};
    struct world w;
    (void)state;
    world_start(&w, "");
    struct broken b = {.base = {.carrier = &carrier, .loop = w.loop}, .inner = w.client};
    b.answer = (struct net_deferred){.fn = fail_call, .arg = &b};
    b.call.client = &b.base;
    struct events *e =
        events_new(&(struct events_opts){.client = &b.base, .log = &w.log, .component = "test"});
    b.failures = 3;
    tell(&w, e, EVENTS_NORMAL, "early");
    tell(&w, e, EVENTS_NORMAL, "early");
    assert_null(find(&w, "early"));
    world_run(&w, 30);
    assert_int_equal(find(&w, "early")->count, 2);
    b.failures = 13;
    tell(&w, e, EVENTS_NORMAL, "late");
    world_run(&w, 300);
    assert_int_equal(b.failures, 0);
    assert_null(find(&w, "late"));
    tell(&w, e, EVENTS_NORMAL, "late");
    assert_int_equal(find(&w, "late")->count, 2);
    b.failures = 1;
    tell(&w, e, EVENTS_NORMAL, "never");
    stop(&w, e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_small),
        cmocka_unit_test(many_texts_are_one_event),
        cmocka_unit_test(too_many_are_not_heard),
        cmocka_unit_test(what_has_expired_is_made_anew),
        cmocka_unit_test(what_nobody_answered_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
