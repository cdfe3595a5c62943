/*
 * Time as a dependency: the core never asks the operating system, it asks the clock it was given.
 * A server gives it the system's clock, a simulation and a test one that stands still until told.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

struct clock {
    /* Nanoseconds since the Unix epoch; may jump when the system's time is set. */
    int64_t (*wall)(const struct clock *self);
    /* Nanoseconds since some fixed moment; never goes back. For durations and timers. */
    int64_t (*mono)(const struct clock *self);
    /* How long somebody has to wait, by the system's clock, for so many nanoseconds of this one to
     * pass; NULL: as long. */
    int64_t (*wait)(const struct clock *self, int64_t ns);
};

#define CLOCK_SECOND INT64_C(1000000000)

/* Where a clock that is fast comes to stand still, in the year 2252: ten years before the last
 * moment there is, so that what is added to a time is still one. */
#define CLOCK_LAST (INT64_MAX - INT64_C(3650) * 86400 * CLOCK_SECOND)

int64_t clock_wall(const struct clock *c);             /* c's wall time */
int64_t clock_mono(const struct clock *c);             /* c's monotonic time */
int64_t clock_wait(const struct clock *c, int64_t ns); /* how long so much of it takes */

/* The moment so long after `now`; the last one there is when that is too far away. */
int64_t clock_after(int64_t now, int64_t ns);

/* How long it is from `now` to a moment, negative when that is over; the nearest that can be told.
 */
int64_t clock_until(int64_t at, int64_t now);

/* So many seconds in nanoseconds; the most there are when they are too many, or too few. */
int64_t clock_seconds(int64_t seconds);

/* The operating system's clock. */
extern const struct clock clock_system;

/* A clock that is moved by hand. Use &manual.clock wherever a clock is asked for. */
struct clock_manual {
    struct clock clock;
    int64_t wall_ns, mono_ns;
};

/* Starts a hand-moved clock at this wall time; its monotonic time starts at 0. */
void clock_manual_init(struct clock_manual *m, int64_t wall_ns);

/* Moves both times forward. */
void clock_manual_advance(struct clock_manual *m, int64_t ns);

/* A clock that runs faster than the system's. Use &fast.clock wherever a clock is asked for. */
struct clock_fast {
    struct clock clock;
    int64_t speed;
    int64_t wall_ns, mono_ns; /* of the system, at its start */
};

/* Starts a clock at the system's time that runs `speed` times as fast from now on; at least 1. It
 * stands still when it has come to CLOCK_LAST. */
void clock_fast_init(struct clock_fast *f, int64_t speed);

#endif
