/* Figures of several workers as one text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "server/counts.h"

static const struct str pods = STR_INIT("pods"), core = STR_INIT(""), v1 = STR_INIT("v1"),
                        none = STR_INIT("");
static const char *const list = "LIST", *const watch = "WATCH", *const cluster = "cluster";

static bool has(const struct buf *text, const char *line) {
    return str_find(buf_view(text), str_of(line)) != STR_NONE;
}

static void workers_are_added_up(void **state) {
    struct server_counts *counts[] = {server_counts_new(), server_counts_new()};
    struct server_labels l = {core, v1, pods, none, list, cluster, false};
    struct server_labels w = {core, v1, pods, none, watch, cluster, false};
    struct buf text = BUF_INIT(SIZE_MAX);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct server_series *s = server_counts_series(counts[i], &l);
        assert_ptr_equal(s, server_counts_series(counts[i], &l));
        server_series_answer(s, 200, 3000000);
        server_series_answer(s, 404, INT64_C(2500000000));
        server_series_size(s, 5000);
        server_series_long(server_counts_series(counts[i], &w), 1);
        server_watch_series_event(server_counts_watch(counts[i], &w), 2000);
        server_counts_tally(counts[i], SERVER_TALLY_DENIED);
    }
    server_series_long(server_counts_series(counts[1], &w), -1);
    assert_int_equal(server_counts_sum(counts, 2, SERVER_TALLY_DENIED), 2);
    server_counts_write(&text, counts, 2);
    assert_true(has(&text, "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run="
                           "\"\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\","
                           "verb=\"LIST\",version=\"v1\"} 2\n"));
    assert_true(has(&text, "version=\"v1\",le=\"0.005\"} 2\n"));
    assert_true(has(&text, "version=\"v1\",le=\"2\"} 2\n"));
    assert_true(has(&text, "version=\"v1\",le=\"3\"} 4\n"));
    assert_true(has(&text, "version=\"v1\",le=\"+Inf\"} 4\n"));
    assert_true(has(&text, "apiserver_request_duration_seconds_sum{component=\"apiserver\",dry_run="
                           "\"\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\","
                           "verb=\"LIST\",version=\"v1\"} 5.006\n"));
    assert_true(has(&text, "version=\"v1\",le=\"10000\"} 2\n"));
    assert_true(has(&text, "verb=\"WATCH\",version=\"v1\"} 1\n"));
    assert_true(has(&text, "apiserver_watch_events_total{group=\"\",resource=\"pods\",version="
                           "\"v1\"} 2\n"));
    assert_true(has(&text, "version=\"v1\",le=\"2048\"} 2\n"));
    buf_release(&text);
    server_counts_free(counts[0]);
    server_counts_free(counts[1]);
    server_counts_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
