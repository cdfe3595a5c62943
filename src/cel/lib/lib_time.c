/*
 * Parts of timestamps and durations.
 *
 * Follows github.com/google/cel-go common/types, func (Timestamp) Receive, func (Duration) Receive.
 */
#include "cel/kit/tz_int.h"

#include "codec/time.h"

/* The calendar of a timestamp in UTC or, with a second argument, in a time zone. */
static bool civil_of(struct cel_eval *ev, const struct cel_value *args, bool zoned,
                     struct time_civil *out, struct cel_value *error) {
    int64_t offset = 0;
    if (zoned && !cel__tz_offset(ev, cel_str(args[1]), args[0].i, &offset, error))
        return false;
    int64_t local;
    bool far = __builtin_add_overflow(args[0].i, offset, &local); /* billions of years away */
    *out = time_to_civil(far ? args[0].i : local);
    return true;
}

static int64_t day_number(const struct time_civil *c) {
    struct time_civil day = {c->year, c->month, c->day, 0, 0, 0};
    return time_of_civil(&day) / 86400;
}

static int64_t part_year(const struct time_civil *c) {
    return c->year;
}

static int64_t part_month(const struct time_civil *c) {
    return c->month - 1;
}

static int64_t part_day_of_year(const struct time_civil *c) {
    struct time_civil first = {c->year, 1, 1, 0, 0, 0};
    return day_number(c) - day_number(&first);
}

static int64_t part_day_of_month(const struct time_civil *c) {
    return c->day - 1;
}

static int64_t part_date(const struct time_civil *c) {
    return c->day;
}

static int64_t part_day_of_week(const struct time_civil *c) {
    int64_t day = (day_number(c) + 4) % 7; /* 1970 began on a Thursday */
    return day < 0 ? day + 7 : day;
}

static int64_t part_hours(const struct time_civil *c) {
    return c->hour;
}

static int64_t part_minutes(const struct time_civil *c) {
    return c->minute;
}

static int64_t part_seconds(const struct time_civil *c) {
    return c->second;
}

/* A getter without and with a time zone. */
#define GETTER(part)                                                                             \
    static struct cel_value get_##part(struct cel_eval *ev, const struct cel_value *args) {      \
        struct time_civil c;                                                                     \
        struct cel_value error;                                                                  \
        return civil_of(ev, args, false, &c, &error) ? cel_of_int(part_##part(&c)) : error;      \
    }                                                                                            \
    static struct cel_value get_##part##_in(struct cel_eval *ev, const struct cel_value *args) { \
        struct time_civil c;                                                                     \
        struct cel_value error;                                                                  \
        return civil_of(ev, args, true, &c, &error) ? cel_of_int(part_##part(&c)) : error;       \
    }

GETTER(year)
GETTER(month)
GETTER(day_of_year)
GETTER(day_of_month)
GETTER(date)
GETTER(day_of_week)
GETTER(hours)
GETTER(minutes)
GETTER(seconds)

static struct cel_value get_milliseconds(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].n / 1000000);
}

static struct cel_value get_milliseconds_in(struct cel_eval *ev, const struct cel_value *args) {
    int64_t offset;
    struct cel_value error;
    if (!cel__tz_offset(ev, cel_str(args[1]), args[0].i, &offset, &error))
        return error;
    return cel_of_int(args[0].n / 1000000);
}

static struct cel_value duration_hours(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].i / (3600 * INT64_C(1000000000)));
}

static struct cel_value duration_minutes(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].i / (60 * INT64_C(1000000000)));
}

static struct cel_value duration_seconds(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].i / 1000000000);
}

static struct cel_value duration_milliseconds(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].i / 1000000);
}

#define PART(name, id, tz, part, doc)                                               \
    {name, id, "timestamp.() -> int", get_##part, NULL, NULL, 0, doc ", in UTC"}, { \
        name, id tz, "timestamp.(string) -> int", get_##part##_in, NULL, NULL, 0,   \
            doc ", in a time zone"                                                  \
    }

static const struct cel_fn fns[] = {
    PART("getFullYear", "timestamp_to_year", "_with_tz", year, "year"),
    PART("getMonth", "timestamp_to_month", "_with_tz", month, "month from 0"),
    PART("getDayOfYear", "timestamp_to_day_of_year", "_with_tz", day_of_year,
         "day of the year from 0"),
    PART("getDayOfMonth", "timestamp_to_day_of_month", "_with_tz", day_of_month,
         "day of the month from 0"),
    PART("getDate", "timestamp_to_day_of_month_1_based", "_with_tz", date,
         "day of the month from 1"),
    PART("getDayOfWeek", "timestamp_to_day_of_week", "_with_tz", day_of_week,
         "day of the week, Sunday is 0"),
    PART("getHours", "timestamp_to_hours", "_with_tz", hours, "hour"),
    {"getHours", "duration_to_hours", "duration.() -> int", duration_hours, NULL, NULL, 0,
     "whole hours"},
    PART("getMinutes", "timestamp_to_minutes", "_with_tz", minutes, "minute"),
    {"getMinutes", "duration_to_minutes", "duration.() -> int", duration_minutes, NULL, NULL, 0,
     "whole minutes"},
    PART("getSeconds", "timestamp_to_seconds", "_tz", seconds, "second"),
    {"getSeconds", "duration_to_seconds", "duration.() -> int", duration_seconds, NULL, NULL, 0,
     "whole seconds"},
    PART("getMilliseconds", "timestamp_to_milliseconds", "_with_tz", milliseconds, "millisecond"),
    {"getMilliseconds", "duration_to_milliseconds", "duration.() -> int", duration_milliseconds,
     NULL, NULL, 0, "whole milliseconds, all of the duration"},
};

const struct cel_library cel__lib_time = {CEL_LIB_STD, fns, sizeof fns / sizeof *fns};
