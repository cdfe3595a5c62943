/* Figures in Prometheus' text format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/metric.h"

static void assert_text(struct buf *out, const char *wanted) {
    if (!str_is(buf_view(out), wanted))
        fail_msg("%.*s", STR_ARG(buf_view(out)));
    buf_clear(out);
}

static void numbers_have_as_few_digits_as_tell_them(void **state) {
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {0.1, "0.1"},
        {1e-8, "1e-08"},
        {2.5, "2.5"},
        {999999, "999999"},
        {1000000, "1e+06"},
        {1234567, "1.234567e+06"},
        {0.0001, "0.0001"},
        {819.2, "819.2"},
        {9.999999999999999e-6, "9.999999999999999e-06"},
        {-1.5, "-1.5"},
    };
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        metric_number(&out, cases[i].v);
        assert_text(&out, cases[i].text);
    }
}

static const struct histogram_row row = {
    .name = "wait_seconds", .level = "ALPHA", .help = "How long.", .bounds = {0.5, 2}};

static void values_are_counted_by_bounds(void **state) {
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    struct histogram h = {0}, sum = {0};
    (void)state;
    histogram_observe(&row, &h, 0.5); /* a bound belongs to what is below it */
    histogram_observe_ns(&row, &h, CLOCK_SECOND);
    histogram_observe(&row, &h, 7);
    assert_int_equal(histogram_count(&h), 3);
    histogram_head(&out, &row);
    histogram_write(&out, &row, STR(""), &h);
    assert_text(&out, "# HELP wait_seconds [ALPHA] How long.\n"
                      "# TYPE wait_seconds histogram\n"
                      "wait_seconds_bucket{le=\"0.5\"} 1\n"
                      "wait_seconds_bucket{le=\"2\"} 2\n"
                      "wait_seconds_bucket{le=\"+Inf\"} 3\n"
                      "wait_seconds_sum 8.5\n"
                      "wait_seconds_count 3\n");
    histogram_add(&sum, &h);
    histogram_add(&sum, &h);
    histogram_write(&out, &row, STR("name=\"x\""), &sum);
    assert_text(&out, "wait_seconds_bucket{name=\"x\",le=\"0.5\"} 2\n"
                      "wait_seconds_bucket{name=\"x\",le=\"2\"} 4\n"
                      "wait_seconds_bucket{name=\"x\",le=\"+Inf\"} 6\n"
                      "wait_seconds_sum{name=\"x\"} 17\n"
                      "wait_seconds_count{name=\"x\"} 6\n");
}

static void all_bounds_may_be_used(void **state) {
    struct histogram_row full = {.name = "n", .level = "ALPHA", .help = ""};
    struct histogram h = {0};
    (void)state;
    for (int i = 0; i < HISTOGRAM_MOST; i++)
        full.bounds[i] = i + 1;
    histogram_observe(&full, &h, 1e9);
    histogram_observe(&full, &h, HISTOGRAM_MOST);
    assert_int_equal(h.counts[HISTOGRAM_MOST], 1);
    assert_int_equal(h.counts[HISTOGRAM_MOST - 1], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_as_few_digits_as_tell_them),
        cmocka_unit_test(values_are_counted_by_bounds),
        cmocka_unit_test(all_bounds_may_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
