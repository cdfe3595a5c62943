/*
 * Cron schedules: what they say, and when it is time next.
 *
 * Follows github.com/robfig/cron/v3, func ParseStandard.
 */
#ifndef CODEC_CRON_H
#define CODEC_CRON_H

#include "base/arena.h"
#include "base/str.h"

struct zone;

enum { CRON_MINUTE, CRON_HOUR, CRON_DAY, CRON_MONTH, CRON_WEEKDAY, CRON_FIELDS };

struct cron_field {
    uint64_t values; /* a bit for each that is meant */
    bool is_any;     /* a * without a step stands in it */
};

struct cron {
    struct cron_field fields[CRON_FIELDS];
    int64_t every;   /* of @every: so many seconds, at least one; else 0 */
    struct str zone; /* of TZ= or CRON_TZ=; absent without one */
};

/* Reads a schedule; its zone borrows from the text. Absent when all is well, or what is wrong, in
 * the arena. */
struct str cron_parse(struct arena *a, struct str schedule, struct cron *out);

/* What is wrong with the name of a time zone, as Go says it, in the arena; absent when nothing is.
 * The names of the IANA database are known, whatever the machine has of it. */
struct str cron_zone_error(struct arena *a, struct str name);

/* Go's zero time, which comes when it is never time: 0001-01-01T00:00:00Z. */
#define CRON_NEVER INT64_C(-62135596800)

/* The first moment of the schedule behind a moment, both in seconds since the Unix epoch; or
 * CRON_NEVER, when there is none in five years. The calendar is that of the zone; NULL is UTC. */
int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after);

#endif
