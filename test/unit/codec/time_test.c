// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include "codec/time.h"
#include "vectors.h"

static void write_time(struct buf *out, struct time_instant t) {
    buf_addf(out, "%lld %d ", (long long)t.seconds, t.nanos);
    time_write(out, t);
    buf_add_char(out, ' ');
    time_write_micro(out, t);
}

static int run_time(struct arena *a, struct str in, struct buf *out, struct err *err) {
    (void)a;
    AUTO(buf_release) struct buf why = BUF_INIT(ERR_TEXT);
    struct time_instant t;
    if (time_parse(in, &t, &why) < 0)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_view(&why)));
    write_time(out, t);
    return 0;
}

static int run_micro(struct arena *a, struct str in, struct buf *out, struct err *err) {
    (void)a;
    AUTO(buf_release) struct buf why = BUF_INIT(ERR_TEXT);
    struct time_instant t;
    if (time_parse_micro(in, &t, &why) < 0)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_view(&why)));
    write_time(out, t);
    return 0;
}

static int run_duration(struct arena *a, struct str in, struct buf *out, struct err *err) {
    (void)a;
    int64_t ns;
    if (time_parse_duration(in, &ns, err) < 0)
        return -1;
    buf_addf(out, "%lld ", (long long)ns);
    time_write_duration(out, ns);
    return 0;
}

static void times(void **state) {
    (void)state;
    assert_true(vectors_run("time", run_time) > 40);
}

static void micro_times(void **state) {
    (void)state;
    assert_true(vectors_run("micro", run_micro) > 40);
}

static void durations(void **state) {
    (void)state;
    assert_true(vectors_run("dur", run_duration) > 40);
}

static void calendar_round_trip(void **state) {
    (void)state;
    static const int64_t first = -62167219200, last = 253402300799; /* years 0000 and 9999 */
    for (int64_t t = first; t <= last; t += 86400 * 13 + 3607) {
        struct time_civil c = time_to_civil(t);
        assert_true(c.year >= 0 && c.year <= 9999 && c.month >= 1 && c.month <= 12);
        assert_int_equal(time_of_civil(&c), t);
    }
    struct time_civil c = time_to_civil(first);
    assert_true(c.year == 0 && c.month == 1 && c.day == 1 && c.hour == 0);
    c = time_to_civil(last);
    assert_true(c.year == 9999 && c.month == 12 && c.day == 31 && c.second == 59);
}

static void yaml_timestamps(void **state) {
    (void)state;
    static const char *const good[] = {"2001-01-01",           "2001-1-1",
                                       "2001-01-01T00:00:00Z", "2001-1-1t1:2:3.5+01:00",
                                       "2001-01-01 00:00:00",  "2001-01-01   1:2:3.123456789123"};
    static const char *const bad[] = {
        "2001",    "2001-",       "2001-13-01",           "2001-02-29",
        "200-1-1", "20010-1-1",   "2001-01-01T00:00:00",  "x",
        "",        "2001-01-01x", "2001-01-01 00:00:00Z", "2001/1/1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(time_is_yaml_timestamp(str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(time_is_yaml_timestamp(str_of(bad[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),           cmocka_unit_test(micro_times),
        cmocka_unit_test(durations),       cmocka_unit_test(calendar_round_trip),
        cmocka_unit_test(yaml_timestamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
