/* What health and figures look like to who asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "health/endpoint.h"

static int good(const void *arg, struct err *err) {
    (void)arg, (void)err;
    return 0;
}

static int bad(const void *arg, struct err *err) {
    return *(const bool *)arg ? err_set(err, ERR_UNAVAILABLE, "not synchronized") : 0;
}

static const struct health_check checks[] = {
    {STR_INIT("ping"), HEALTH_ALL, good},
    {STR_INIT("informer-sync"), HEALTH_READYZ, bad},
};

static void write_metrics(void *arg, struct buf *out) {
    (void)arg;
    buf_add(out, STR("figures 1\n"));
}

static void test_answers(void **state) {
    static const struct {
        const char *method, *path, *query;
        bool is_bad;
        int status;
        const char *text;
    } cases[] = {
        {"GET", "/healthz", "", true, 200, "ok"},
        {"GET", "/livez", "verbose", true, 200, "[+]ping ok\nlivez check passed\n"},
        {"GET", "/readyz", "", false, 200, "ok"},
        {"GET", "/readyz", "", true, 500,
         "[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n"},
        {"GET", "/readyz", "verbose=1&exclude=informer-sync&exclude=x&exclude=x", true, 200,
         "[+]ping ok\n[+]informer-sync excluded: ok\n"
         "warn: some health checks cannot be excluded: no matches for \"x\"\n"
         "readyz check passed\n"},
        {"GET", "/readyz/informer-sync", "", true, 500,
         "internal server error: not synchronized\n"},
        {"GET", "/readyz/ping", "", true, 200, "ok"},
        {"GET", "/healthz/informer-sync", "", true, 404, "404 page not found\n"},
        {"GET", "/", "", true, 404, "404 page not found\n"},
        {"GET", "*", "", true, 404, "404 page not found\n"},
        {"HEAD", "/healthz", "", true, 200, "ok"},
        {"POST", "/healthz", "", true, 405, "Method Not Allowed\n"},
        {"GET", "/metrics", "", true, 200, "figures 1\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
        const char *type;
        struct endpoint_opts opts = {.checks = {checks, 2, &cases[i].is_bad},
                                     .write_metrics = write_metrics};
        int status = endpoint_answer(&opts, str_of(cases[i].method), str_of(cases[i].path),
                                     str_of(cases[i].query), &type, &text);
        buf_add_char(&text, '\0');
        assert_string_equal(text.p, cases[i].text);
        assert_int_equal(status, cases[i].status);
    }
}

static void add_path(void *arg, struct str path) {
    buf_addf(arg, "%.*s ", STR_ARG(path));
}

static void test_paths(void **state) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    bool is_bad = false;
    (void)state;
    health_paths(&(struct health_checks){checks, 2, &is_bad}, add_path, &text);
    assert_true(str_is(buf_view(&text), "/healthz /healthz/ping /livez /livez/ping /readyz "
                                        "/readyz/ping /readyz/informer-sync "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
