/*
 * When it is time next by a cron schedule.
 *
 * Follows github.com/robfig/cron/v3, func (*SpecSchedule) Next, func (ConstantDelaySchedule) Next.
 */
#include "codec/cron.h"
#include "codec/zone.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, YEARS_AHEAD = 5 };

struct search {
    const struct cron *c;
    const struct zone *z;
    int64_t t;
    bool has_moved; /* smaller parts of the time are at their beginning */
    int64_t last_year;
};

static struct time_civil now(const struct search *s) {
    return zone_to_civil(s->z, s->t);
}

static bool is_in(const struct search *s, int field, int64_t value) {
    return s->c->fields[field].values >> value & 1;
}

static int weekday_of(const struct time_civil *c) {
    struct time_civil day = {c->year, c->month, c->day, 0, 0, 0};
    int64_t days = time_of_civil(&day) / DAY;
    return (int)(((days + 4) % 7 + 7) % 7);
}

static bool is_day(const struct search *s) {
    struct time_civil c = now(s);
    bool in_month = is_in(s, CRON_DAY, c.day), in_week = is_in(s, CRON_WEEKDAY, weekday_of(&c));
    if (s->c->fields[CRON_DAY].is_any || s->c->fields[CRON_WEEKDAY].is_any)
        return in_month && in_week;
    return in_month || in_week;
}

/* Before it moves for the first time it goes to the beginning of the part that is moved, which may
 * be another hour where clocks are changed then. */
static struct time_civil begin(struct search *s, struct time_civil at) {
    if (!s->has_moved)
        s->t = zone_of_civil(s->z, &at);
    s->has_moved = true;
    return now(s);
}

/* Each of these moves to the first moment that fits; false: a larger part has changed, and all
 * begins anew. */

static bool find_month(struct search *s) {
    for (struct time_civil c = now(s); !is_in(s, CRON_MONTH, c.month); c = now(s)) {
        c = begin(s, (struct time_civil){c.year, c.month, 1, 0, 0, 0});
        c.year += c.month == 12;
        c.month = c.month % 12 + 1;
        s->t = zone_of_civil(s->z, &c);
        if (now(s).month == 1)
            return false;
    }
    return true;
}

/* Where clocks were changed at midnight, the day begins at another hour. */
static void to_midnight(struct search *s) {
    int hour = now(s).hour;
    s->t += hour > 12 ? (24 - hour) * HOUR : -hour * HOUR;
}

static bool find_day(struct search *s) {
    while (!is_day(s)) {
        struct time_civil c = now(s);
        c = begin(s, (struct time_civil){c.year, c.month, c.day, 0, 0, 0});
        c.day++;
        s->t = zone_of_civil(s->z, &c);
        to_midnight(s);
        if (now(s).day == 1)
            return false;
    }
    return true;
}

static bool find_hour(struct search *s) {
    for (struct time_civil c = now(s); !is_in(s, CRON_HOUR, c.hour); c = now(s)) {
        begin(s, (struct time_civil){c.year, c.month, c.day, c.hour, 0, 0});
        s->t += HOUR;
        if (now(s).hour == 0)
            return false;
    }
    return true;
}

static int64_t floor_minute(int64_t t) {
    return t - (t % MINUTE + MINUTE) % MINUTE;
}

static bool find_minute(struct search *s) {
    while (!is_in(s, CRON_MINUTE, now(s).minute)) {
        if (!s->has_moved)
            s->t = floor_minute(s->t);
        s->has_moved = true;
        s->t += MINUTE;
        if (now(s).minute == 0)
            return false;
    }
    return true;
}

static bool find_second(struct search *s) {
    while (now(s).second != 0) {
        s->has_moved = true;
        s->t++;
        if (now(s).second == 0)
            return false;
    }
    return true;
}

/* A field without values ("," in a schedule) is never met. */
static bool is_possible(const struct cron *c) {
    const struct cron_field *f = c->fields;
    for (int i = 0; i < CRON_FIELDS; i++)
        if (!f[i].values && i != CRON_DAY && i != CRON_WEEKDAY)
            return false;
    return f[CRON_DAY].values || f[CRON_WEEKDAY].values;
}

int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after) {
    if (c->every)
        return after + c->every;
    struct search s = {.c = c, .z = z, .t = after + 1};
    s.last_year = now(&s).year + YEARS_AHEAD;
    while (is_possible(c) && now(&s).year <= s.last_year)
        if (find_month(&s) && find_day(&s) && find_hour(&s) && find_minute(&s) && find_second(&s))
            return s.t;
    return CRON_NEVER;
}
