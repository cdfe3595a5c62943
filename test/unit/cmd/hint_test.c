/* Hints about feature gates: which ones a rejected pod gets, and when it is too large for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/types.h"
#include "base/limits.h"
#include "cmd/report/verdict.h"
#include "codec/json.h"

/* A pod with three tolerations that gates refuse, and with so many conditions, which cost two bytes
 * each in a text and a struct each in memory. */
static void write_pod(struct buf *out, size_t conditions) {
    buf_add(out, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                     "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                     "\"tolerations\":[{\"key\":\"a\",\"operator\":\"Gt\",\"value\":\"1\"},"
                     "{\"key\":\"a\",\"operator\":\"SemverGt\",\"value\":\"1\"},"
                     "{\"expression\":\"true\"}]},\"status\":{\"conditions\":["));
    for (size_t i = 0; i < conditions; i++)
        buf_add(out, STR("{},"));
    buf_add(out, STR("{}]}}"));
}

/* How many hints it gets. */
static size_t count_hints(size_t conditions) {
    struct arena a = {0};
    struct feature_config gates;
    static const struct json_opts any_size = {.max_bytes = SIZE_MAX};
    struct verdict_run *run = NULL;
    struct json tree;
    struct verdict verdict;
    struct buf text = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    feature_config_init(&gates, FEATURE_NEWEST);
    write_pod(&text, conditions);
    assert_int_equal(json_parse(&a, buf_view(&text), &any_size, &tree, NULL), 0);
    struct verdict_opts opts = {.gates = &gates};
    assert_int_equal(verdict_run_new(&opts, NULL, &run, NULL), 0);
    verdict_of(run, &(struct input_value){.tree = &tree}, &(struct input_source){.file = STR("f")},
               &verdict);
    assert_false(verdict.accepted);
    size_t hints = verdict.hints.n;
    verdict_run_free(run);
    buf_release(&text);
    arena_release(&a);
    return hints;
}

static void every_gate_in_the_way_is_named(void **state) {
    (void)state;
    assert_int_equal(count_hints(0), 3);
    assert_int_equal(count_hints(4000), 3);
}

/* The first two looks, which tell whether there is any hint to give, are always taken. */
static void an_object_that_is_too_large_gets_none(void **state) {
    (void)state;
    size_t conditions = LIMIT_HINT_BYTES / 2 / sizeof(struct api_pod_condition);
    assert_int_equal(count_hints(conditions), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gate_in_the_way_is_named),
        cmocka_unit_test(an_object_that_is_too_large_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
