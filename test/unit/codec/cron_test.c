/* When it is time next by cron schedules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/cron.h"
#include "codec/zone.h"

static int64_t moment(const char *text) {
    struct time_instant t;
    assert_int_equal(time_parse(str_of(text), &t, NULL), 0);
    return t.seconds;
}

static void check(const char *schedule, const char *after, int64_t want) {
    struct arena a = {0};
    struct cron cron;
    struct zone *zone = NULL;
    const char *fault = NULL;
    struct str error = cron_parse(&a, str_of(schedule), &cron);
    if (error.p)
        fail_msg("%s: %.*s", schedule, STR_ARG(error));
    if (cron.zone.n)
        assert_non_null(zone = zone_load(cron.zone, &fault));
    int64_t next = cron_next(&cron, zone, moment(after));
    struct buf shown = BUF_INIT(64);
    time_write(&shown, (struct time_instant){.seconds = next});
    if (next != want)
        fail_msg("%s after %s: %.*s", schedule, after, STR_ARG(buf_view(&shown)));
    buf_release(&shown);
    zone_free(zone);
    arena_release(&a);
}

static const struct {
    const char *schedule, *after, *next; /* NULL: never */
} rows[] = {
    {"*/15 * * * *", "2012-07-09T14:45:00Z", "2012-07-09T15:00:00Z"},
    {"*/15 * * * *", "2012-07-09T14:59:59Z", "2012-07-09T15:00:00Z"},
    {"20-35/15 * * * *", "2012-07-09T15:45:00Z", "2012-07-09T16:20:00Z"},
    {"*/15 * * * *", "2012-12-31T23:45:00Z", "2013-01-01T00:00:00Z"},
    {"0 0 */5 4,8,10 mon", "2026-04-02T00:00:00Z", "2026-04-06T00:00:00Z"},
    {"0 0 13 * FRI", "2026-02-01T00:00:00Z", "2026-02-06T00:00:00Z"},
    {"0 0 13 * ?", "2026-02-01T00:00:00Z", "2026-02-13T00:00:00Z"},
    {"0 0 1-31 * 5", "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"},
    {"0 0 29 2 *", "2016-03-01T00:00:00Z", "2020-02-29T00:00:00Z"},
    {"0 0 29 2 *", "2096-03-01T00:00:00Z", NULL},
    {"59 23 31 2 *", "2026-01-01T00:00:00Z", NULL},
    {", * * * *", "2026-01-01T00:00:00Z", NULL},
    {"0 0 , * 1", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z"},
    {"@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
    {"@monthly", "2026-01-01T00:00:01Z", "2026-02-01T00:00:00Z"},
    {"@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
    {"@midnight", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
    {"@hourly", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
    {"@every 1h30m10s", "2026-01-01T00:00:05Z", "2026-01-01T01:30:15Z"},
    {"@every 15ms", "2026-01-01T00:00:05Z", "2026-01-01T00:00:06Z"},
    /* Clocks go forward: an hour is left out; and back: it is there twice. */
    {"TZ=America/New_York 30 2 11 3 ?", "2012-03-11T05:00:00Z", "2013-03-11T06:30:00Z"},
    {"TZ=America/New_York 0 * * * ?", "2012-03-11T06:00:00Z", "2012-03-11T07:00:00Z"},
    {"TZ=America/New_York 0 1 * * ?", "2012-11-04T05:00:00Z", "2012-11-04T06:00:00Z"},
    {"CRON_TZ=Asia/Kathmandu 0 6 * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:15:00Z"},
    {"TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T03:00:00Z", "2018-11-05T02:00:00Z"},
};

static void it_is_time_when_upstream_says(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].schedule, rows[i].after, rows[i].next ? moment(rows[i].next) : CRON_NEVER);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_time_when_upstream_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
