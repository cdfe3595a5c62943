/* What the recorder of events remembers: it is bounded, and each memory is small. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

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
enum { OBJECTS = 4096, OBJECT_MOST = 3 * 1000 };

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
