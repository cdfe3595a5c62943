/* What is warned of is bounded, in number and in work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/limits.h"
#include "valid/valid.h"

/* Warnings about a pod with n ports of one number, each of another one of the host; the last is
 * there twice. */
static struct valid_warnings *judge_ports(struct arena *a, unsigned n) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                       "\"spec\":{\"containers\":[{\"name\":\"c\",\"ports\":["));
    for (unsigned i = 1; i <= n; i++)
        buf_addf(&text, "{\"containerPort\":80,\"hostPort\":%u},", i);
    buf_addf(&text, "{\"containerPort\":80,\"hostPort\":%u}]}]}}", n);
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(a, buf_view(&text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    struct valid_warnings *w = arena_new(a, struct valid_warnings);
    *w = (struct valid_warnings){.a = a, .gates = &config.enabled};
    valid_warn(o, NULL, false, w);
    api_object_free(o);
    buf_release(&text);
    return w;
}

static void few_ports_are_compared(void **state) {
    (void)state;
    struct arena a = {0};
    const struct valid_warnings *w = judge_ports(&a, 100);
    assert_int_equal(w->n, 1);
    assert_true(str_is(w->v[0], "spec.containers[0].ports[100]: duplicate port definition with "
                                "spec.containers[0].ports[99]"));
    arena_release(&a);
}

static void too_many_are_not(void **state) {
    (void)state;
    struct arena a = {0};
    const struct valid_warnings *w = judge_ports(&a, 2000);
    assert_int_equal(w->n, 0);
    assert_true(w->compared >= LIMIT_WARNED_PAIRS && w->compared < LIMIT_WARNED_PAIRS + 3000);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_ports_are_compared),
        cmocka_unit_test(too_many_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
