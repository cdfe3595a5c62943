/* Updates of objects with long lists: what changed is found in proportion to these. */
#include "world.h"

#include "../cost.h"
#include "pod_event.h"

static void check(cost_fn *fn, size_t n) {
    double growth = cost_growth(fn, n);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many of %zu take %.1f times as long", n, growth);
}

/* A text with a list in it, until it is an object. */
static struct buf text_of(const char *head) {
    struct buf out = BUF_INIT(SIZE_MAX);
    buf_addf(&out, "%s", head);
    return out;
}

static struct api_object *object_of(struct buf *text, const char *tail) {
    struct arena a = {0};
    struct json tree;
    struct err err;
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    buf_addf(text, "%s", tail);
    if (json_parse(&a, buf_view(text), &any, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    struct api_object *o = object_of_json(&tree);
    buf_release(text);
    arena_release(&a);
    return o;
}

static uint32_t bits_of(struct cost *c, const struct api_object *before,
                        const struct api_object *after) {
    cost_begin(c);
    uint32_t bits = sched__event_bits(before, after);
    cost_end(c);
    api_object_unref(before);
    api_object_unref(after);
    return bits;
}

#define NODE "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\"status\":{"

/* ---- conditions ---- */

static const struct api_object *node_of_conditions(size_t n, const char *last) {
    struct buf text = text_of(NODE "\"conditions\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "{\"type\":\"c%zu\",\"status\":\"True\"},", i);
    buf_addf(&text, "{\"type\":\"last\",\"status\":\"%s\"}", last);
    return api_publish(object_of(&text, "]}}"));
}

static void compare_conditions(struct cost *c, size_t n) {
    const struct api_object *before = node_of_conditions(n, "True");
    assert_int_equal(bits_of(c, before, node_of_conditions(n, "False")), SCHED__NODE_CONDITION);
}

static void conditions_of_a_node(void **state) {
    (void)state;
    check(compare_conditions, 2000);
}

/* ---- requests ---- */

static const struct api_object *pod_of_requests(size_t n, const char *cpu) {
    struct buf text =
        text_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                "\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{\"nodeName\":"
                "\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "\"a.b/r%zu\":\"1\",", i);
    buf_addf(&text, "\"cpu\":\"%s\"", cpu);
    return api_publish(object_of(&text, "}}}]}}"));
}

static void compare_requests(struct cost *c, size_t n) {
    struct sched s = {.gates = data_newest_gates(), .atoms = intern_new(1)};
    const struct api_object *before = pod_of_requests(n, "2"), *after = pod_of_requests(n, "1");
    cost_begin(c);
    struct sched__event event = pod_event(&s, before, after, false);
    cost_end(c);
    assert_true(event.bits & SCHED__POD_SCALE_DOWN);
    api_object_unref(before);
    api_object_unref(after);
    arena_release(&s.scratch);
    intern_free(s.atoms);
}

static void requests_of_a_pod(void **state) {
    (void)state;
    check(compare_requests, 2000);
}

/* ---- amounts that can be had ---- */

static struct api_object *node_of_amounts(size_t n, const char *last) {
    struct buf text = text_of(NODE "\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\",");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "\"a.b/r%zu\":\"1\",", i);
    buf_addf(&text, "\"a.b/z\":\"%s\"", last);
    return object_of(&text, "}}}");
}

/* A pod waits for room on a node, which gets more of something else. */
static void compare_amounts(struct cost *c, size_t n) {
    struct world w;
    struct sched_result r;
    world_start(&w, data_newest_gates(), (struct sched_opts){.seed = 1});
    world_set(&w, node_of_amounts(n, "1"));
    for (int i = 0; i < 2; i++)
        world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%d',"
                                     "'namespace':'default','uid':'u%d'},'spec':{'containers':[{"
                                     "'name':'c','resources':{'requests':{'cpu':'1'}}}]}}",
                                     i, i));
    while (sched_next(w.s, &r)) {
    }
    const struct api_object *after = world_publish(&w, node_of_amounts(n, "2"));
    cost_begin(c);
    sched_set(w.s, after);
    cost_end(c);
    api_object_unref(after);
    sched_free(w.s);
}

static void amounts_of_a_node(void **state) {
    (void)state;
    check(compare_amounts, 2000);
}

/* ---- drivers ---- */

static const struct api_object *drivers_of(size_t n) {
    struct buf text = text_of("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSINode\","
                              "\"metadata\":{\"name\":\"n\"},\"spec\":{\"drivers\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s{\"name\":\"d%zu\",\"nodeID\":\"n\",\"allocatable\":{\"count\":1}}",
                 i ? "," : "", i);
    return api_publish(object_of(&text, "]}}"));
}

static void compare_drivers(struct cost *c, size_t n) {
    struct sched__event event = {
        .bits = SCHED__CSI_NODE_UPDATE, .before = drivers_of(n), .after = drivers_of(n)};
    cost_begin(c);
    assert_false(sched__node_volume_limits.hint(NULL, NULL, &event));
    cost_end(c);
    api_object_unref(event.before);
    api_object_unref(event.after);
}

static void drivers_of_a_node(void **state) {
    (void)state;
    check(compare_drivers, 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_of_a_node),
        cmocka_unit_test(requests_of_a_pod),
        cmocka_unit_test(amounts_of_a_node),
        cmocka_unit_test(drivers_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
