/*
 * The IANA time zones of the system's database, by name.
 *
 * A zone is read from its file when it is asked for and never changes; it may be shared between
 * threads. Texts are those of Go's time package.
 */
#ifndef CODEC_ZONE_H
#define CODEC_ZONE_H

#include "base/str.h"
#include "codec/time.h"

struct zone;

/* May there be a zone of this name? One that climbs out of the database is none; Go says "time:
 * invalid location name". */
bool zone_is_name(struct str name);

/* The zone of this name, for which zone_is_name holds. NULL when it cannot be read: *fault tells
 * why, or is NULL when there is no such zone, of which Go says "unknown time zone NAME". Free it
 * with zone_free, which accepts NULL. */
struct zone *zone_load(struct str name, const char **fault);
void zone_free(struct zone *z);

/* Seconds east of UTC at a moment, in seconds since the Unix epoch. NULL is UTC. */
int64_t zone_offset(const struct zone *z, int64_t seconds);

/* The same by a rule as the files of zones end in, such as EST5EDT,M3.2.0,M11.1.0; false when it
 * cannot be read. */
bool zone_rule_offset(struct str rule, int64_t seconds, int32_t *offset);

/* The calendar of a zone at a moment; and back, where a local time that a zone leaves out or has
 * twice is decided as Go does it. The day of the month may lie beyond its end. */
struct time_civil zone_to_civil(const struct zone *z, int64_t seconds);
int64_t zone_of_civil(const struct zone *z, const struct time_civil *c);

#endif
