/*
 * When it is time for a CronJob.
 *
 * Follows k8s.io/kubernetes pkg/controller/cronjob, func mostRecentScheduleTime,
 * func nextScheduleTime, func nextScheduleTimeDuration.
 */
#include "codec/zone.h"
#include "manager/batch/cronjob_int.h"

/* More missed times than these are told about. */
enum { MANY = 100 };

struct recent {
    int64_t earliest; /* what is counted from */
    bool has_time;
    int64_t time;   /* the last one up to now */
    int64_t missed; /* how many there were, roughly */
    const char *fault;
};

static int64_t next(const struct cronjob__clock *c, int64_t after) {
    return cron_next(&c->cron, c->zone, after);
}

static int64_t earliest(const struct cronjob__clock *c, int64_t now, bool with_deadline) {
    int64_t from = c->last.set ? c->last.sec : c->created, least;
    if (!with_deadline || !c->deadline.set || __builtin_sub_overflow(now, c->deadline.v, &least))
        return from;
    return least > from ? least : from;
}

/* The last time up to now. Where times are regular it is found at once; else it is looked for from
 * two steps before now, the steps being as long as the first one. */
static void find_last(const struct cronjob__clock *c, int64_t first, int64_t step, int64_t now,
                      struct recent *out) {
    out->missed = (now - first) / step + 1;
    int64_t t = next(c, first + (out->missed - 2) * step);
    for (; t <= now && t != CRON_NEVER; t = next(c, t)) {
        out->has_time = true;
        out->time = t;
    }
}

static struct recent find_recent(const struct cronjob__clock *c, int64_t now, bool with_deadline) {
    struct recent out = {.earliest = earliest(c, now, with_deadline)};
    int64_t first = next(c, out.earliest), second = next(c, first);
    if (now < first)
        return out;
    if (now < second) {
        out.has_time = true;
        out.time = first;
    } else if (second - first < 1)
        out.fault = "time difference between two schedules is less than 1 second";
    else
        find_last(c, first, second - first, now, &out);
    return out;
}

struct cronjob__due cronjob__is_due(const struct cronjob__clock *c, int64_t now) {
    struct recent r = find_recent(c, now, true);
    return (struct cronjob__due){
        .is_due = r.has_time,
        .at = r.time,
        .has_missed_many = r.has_time && r.missed > MANY,
        .fault = r.fault,
    };
}

int64_t cronjob__next(const struct cronjob__clock *c, int64_t now) {
    struct recent r = find_recent(c, now, false);
    if (r.has_time)
        return next(c, r.time);
    return next(c, r.fault || r.missed ? now : r.earliest);
}
