/*
 * Cron schedules from anywhere: each time lies behind the one before, in what the fields ask for,
 * and there is none between the two.
 */
#include <stdlib.h>

#include "check.h"
#include "codec/cron.h"
#include "codec/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 8 };

static bool has(const struct cron *c, int field, int64_t value) {
    return c->fields[field].values >> value & 1;
}

/* Does the minute fit, in UTC? */
static bool fits(const struct cron *c, int64_t seconds) {
    struct time_civil t = time_to_civil(seconds);
    int64_t days = seconds / 86400;
    bool day = has(c, CRON_DAY, t.day), weekday = has(c, CRON_WEEKDAY, ((days + 4) % 7 + 7) % 7);
    bool any = c->fields[CRON_DAY].is_any || c->fields[CRON_WEEKDAY].is_any;
    return has(c, CRON_MINUTE, t.minute) && has(c, CRON_HOUR, t.hour) &&
           has(c, CRON_MONTH, t.month) && (any ? day && weekday : day || weekday);
}

/* Looks at no more than a day's minutes between the two. */
static void check_gap(const struct cron *c, int64_t from, int64_t to) {
    int64_t first = from - from % 60 + 60, last = to - first > 86400 ? first + 86400 : to;
    for (int64_t t = first; t < last; t += 60)
        CHECK(!fits(c, t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct cron cron;
    if (size < 4 || size > 200)
        return 0;
    int64_t t = (int64_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
    struct str error = cron_parse(&a, (struct str){(const char *)data + 4, size - 4}, &cron);
    for (int i = 0; !error.p && i < STEPS; i++) {
        int64_t next = cron_next(&cron, NULL, t);
        if (next == CRON_NEVER)
            break;
        CHECK(next > t);
        if (cron.every) {
            CHECK(next - t == cron.every);
        } else {
            CHECK(next % 60 == 0 && fits(&cron, next));
            check_gap(&cron, t, next);
        }
        t = next;
        if (t > INT64_C(1) << 40)
            break;
    }
    arena_release(&a);
    return 0;
}
