/*
 * Moments and durations as Kubernetes writes them: RFC 3339 (metav1.Time and MicroTime) and Go's
 * durations ("1h30m0s", metav1.Duration). No time zones of the system are involved: the calendar
 * is the proleptic Gregorian one, in UTC. Error texts are those of Go's time package.
 */
#ifndef CODEC_TIME_H
#define CODEC_TIME_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* A moment: seconds since 1970-01-01T00:00:00Z, and 0 <= nanos < 10^9 behind them. */
struct time_instant {
    int64_t seconds;
    int32_t nanos;
};

/* A moment on the calendar, in UTC. */
struct time_civil {
    int64_t year;   /* 0 is 1 BC */
    int month, day; /* from 1 */
    int hour, minute, second;
};

/* Calendar to seconds since the epoch; the fields must be in range. */
int64_t time_of_civil(const struct time_civil *c);

/* Seconds since the epoch to calendar. */
struct time_civil time_to_civil(int64_t seconds);

/* Reads metav1.Time: RFC 3339 with or without a fraction. -1 with Go's text, which quotes the
 * whole input, appended to *why; why may be NULL. */
int time_parse(struct str text, struct time_instant *out, struct buf *why);

/* Reads metav1.MicroTime: RFC 3339 with exactly six digits of fraction. */
int time_parse_micro(struct str text, struct time_instant *out, struct buf *why);

/* Is text one of the YAML 1.1 timestamps that go-yaml knows? Those are printed in quotes. */
bool time_is_yaml_timestamp(struct str text);

/* Appends t as metav1.Time prints it, in whole seconds: 2006-01-02T15:04:05Z. */
void time_write(struct buf *out, struct time_instant t);

/* Appends t as metav1.MicroTime prints it: 2006-01-02T15:04:05.000000Z. */
void time_write_micro(struct buf *out, struct time_instant t);

/* Reads a Go duration ("1.5h", "-3m2s", "100ms", "0") in nanoseconds. -1 with Go's text in err. */
int time_parse_duration(struct str text, int64_t *out, struct err *err);

/* Appends nanoseconds as Go prints a duration: "1h30m0s", "1.5s", "100ms", "0s". */
void time_write_duration(struct buf *out, int64_t ns);

#endif
