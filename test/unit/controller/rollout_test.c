/* Steps of rolling updates: how many pods are made and how many go, given what is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/object.h"
#include "controller/rollout.h"

struct row {
    const char *name;
    struct controller_rollout plan;
    struct controller_rollout_counts there;
    size_t make, remove;
};

#define REPLICAS(w, surge, unavailable)                                      \
    {                                                                        \
        .way = CONTROLLER_ROLLOUT_REPLICAS, .wanted = w, .max_surge = surge, \
        .max_unavailable = unavailable                                       \
    }
#define RECREATE(w) \
    { .way = CONTROLLER_ROLLOUT_RECREATE, .wanted = w }

static const struct row rows[] = {
    {"new pods surge first", REPLICAS(10, 3, 2), {0, 0, 10, 10}, 3, 0},
    {"then old ones go, as many as may be missing", REPLICAS(10, 3, 2), {3, 0, 10, 10}, 0, 2},
    {"new pods fill what went", REPLICAS(10, 3, 2), {3, 0, 8, 8}, 2, 0},
    {"new pods that are never ready stop it", REPLICAS(10, 3, 2), {5, 0, 8, 8}, 0, 0},
    {"an old pod that breaks meanwhile stays", REPLICAS(10, 3, 2), {5, 0, 8, 7}, 0, 0},
    {"ready ones let it go on", REPLICAS(10, 3, 2), {5, 5, 8, 8}, 0, 5},
    {"broken old pods go beside those that may", REPLICAS(10, 3, 2), {0, 0, 13, 8}, 0, 5},
    {"no surge: old ones go first", REPLICAS(4, 0, 1), {0, 0, 4, 4}, 0, 1},
    {"no surge: then one is made", REPLICAS(4, 0, 1), {0, 0, 3, 3}, 1, 0},
    {"the end", REPLICAS(4, 1, 0), {4, 4, 0, 0}, 0, 0},
    {"fewer replicas", REPLICAS(2, 1, 0), {4, 4, 0, 0}, 0, 2},
    {"recreate: all go", RECREATE(3), {0, 0, 3, 2}, 0, 3},
    {"recreate: all come", RECREATE(3), {0, 0, 0, 0}, 3, 0},
};

static void add(struct controller_rollout *r, const struct api_object *pod, bool is_new,
                enum controller_rollout_state state, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        vec_push(&r->pods, (struct controller_rollout_pod){pod, STR(""), is_new, state, 0});
}

static void steps_of_replicas(void **state) {
    struct api_object *pod = api_object_new(api_kind_find(STR("v1"), STR("Pod")));
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct controller_rollout_counts *c = &rows[i].there;
        struct controller_rollout r = rows[i].plan;
        add(&r, pod, true, CONTROLLER_POD_READY, c->updated_ready);
        add(&r, pod, true, CONTROLLER_POD_WAITING, c->updated - c->updated_ready);
        add(&r, pod, false, CONTROLLER_POD_READY, c->old_ready);
        add(&r, pod, false, CONTROLLER_POD_WAITING, c->old - c->old_ready);
        add(&r, pod, true, CONTROLLER_POD_ABSENT, r.wanted - c->updated);
        controller_rollout_start(&r);
        bool goes_on = controller_rollout_next(&r);
        print_message("%s\n", rows[i].name);
        assert_int_equal(r.step.make.n, rows[i].make);
        assert_int_equal(r.step.remove.n, rows[i].remove);
        assert_int_equal(goes_on, rows[i].make || rows[i].remove);
        controller_rollout_release(&r);
    }
    api_object_free(pod);
}

/* The pod that goes first, by one rule after the other. */
static void the_least_useful_pod_goes_first(void **state) {
    static const char *const texts[] = {
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"a\"},"
         "\"status\":{\"phase\":\"Running\"},\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:"
         "00:"
         "00Z\"}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"b\"},"
         "\"status\":{\"phase\":\"Running\"},\"metadata\":{\"creationTimestamp\":\"2026-01-02T00:"
         "00:"
         "00Z\"}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"c\"},"
         "\"status\":{\"phase\":\"Running\"},\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:"
         "00:"
         "00Z\"}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"c\"},"
         "\"status\":{\"phase\":\"Running\"},\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:"
         "00:"
         "00Z\"}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"d\"},"
         "\"status\":{\"phase\":\"Running\"},\"metadata\":{\"annotations\":"
         "{\"controller.kubernetes.io/pod-deletion-cost\":\"-1\"}}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"e\"},"
         "\"status\":{\"phase\":\"Pending\"}}"),
        ("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}"),
    };
    static const size_t order[] = {6, 5, 4, 2, 3, 1, 0};
    enum { N = sizeof texts / sizeof *texts };
    struct api_object *pods[N];
    struct controller_rollout r = REPLICAS(N, 0, N);
    AUTO(arena_release) struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct json tree;
        assert_int_equal(json_parse(&a, str_of(texts[i]), NULL, &tree, NULL), 0);
        assert_int_equal(api_object_decode(&tree, NULL, &pods[i], NULL), 0);
        add(&r, pods[i], false, CONTROLLER_POD_READY, 1);
    }
    controller_rollout_start(&r);
    assert_true(controller_rollout_next(&r));
    assert_int_equal(r.step.remove.n, N);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(r.step.remove.v[i], order[i]);
        api_object_free(pods[i]);
    }
    controller_rollout_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_replicas),
        cmocka_unit_test(the_least_useful_pod_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
