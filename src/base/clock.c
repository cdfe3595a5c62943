#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec;
}

static int64_t system_wall(const struct clock *self) {
    (void)self;
    return read_clock(CLOCK_REALTIME);
}

static int64_t system_mono(const struct clock *self) {
    (void)self;
    return read_clock(CLOCK_MONOTONIC);
}

const struct clock clock_system = {system_wall, system_mono, NULL};

int64_t clock_wall(const struct clock *c) {
    return c->wall(c);
}

int64_t clock_mono(const struct clock *c) {
    return c->mono(c);
}

int64_t clock_wait(const struct clock *c, int64_t ns) {
    return c->wait ? c->wait(c, ns) : ns;
}

int64_t clock_after(int64_t now, int64_t ns) {
    int64_t at;
    return __builtin_add_overflow(now, ns, &at) ? INT64_MAX : at;
}

int64_t clock_until(int64_t at, int64_t now) {
    int64_t ns;
    if (__builtin_sub_overflow(at, now, &ns))
        return at < now ? INT64_MIN : INT64_MAX;
    return ns;
}

int64_t clock_seconds(int64_t seconds) {
    int64_t ns;
    if (__builtin_mul_overflow(seconds, CLOCK_SECOND, &ns))
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

/* The clock is the first member of the manual one, so a pointer to one is a pointer to the other.
 */
static int64_t manual_wall(const struct clock *self) {
    return ((const struct clock_manual *)(const void *)self)->wall_ns;
}

static int64_t manual_mono(const struct clock *self) {
    return ((const struct clock_manual *)(const void *)self)->mono_ns;
}

void clock_manual_init(struct clock_manual *m, int64_t wall_ns) {
    *m = (struct clock_manual){.clock = {manual_wall, manual_mono, NULL}, .wall_ns = wall_ns};
}

void clock_manual_advance(struct clock_manual *m, int64_t ns) {
    m->wall_ns += ns;
    m->mono_ns += ns;
}

/* Likewise. */
static const struct clock_fast *fast_of(const struct clock *self) {
    return (const struct clock_fast *)(const void *)self;
}

/* The monotonic clock alone counts, so that both times stay together. */
static int64_t ahead(const struct clock_fast *f, int64_t start) {
    int64_t at;
    if (__builtin_mul_overflow(read_clock(CLOCK_MONOTONIC) - f->mono_ns, f->speed, &at) ||
        __builtin_add_overflow(start, at, &at) || at > CLOCK_LAST)
        return CLOCK_LAST;
    return at;
}

static int64_t fast_wall(const struct clock *self) {
    return ahead(fast_of(self), fast_of(self)->wall_ns);
}

static int64_t fast_mono(const struct clock *self) {
    return ahead(fast_of(self), fast_of(self)->mono_ns);
}

static int64_t fast_wait(const struct clock *self, int64_t ns) {
    return ns / fast_of(self)->speed;
}

void clock_fast_init(struct clock_fast *f, int64_t speed) {
    *f = (struct clock_fast){.clock = {fast_wall, fast_mono, fast_wait},
                             .speed = speed,
                             .wall_ns = read_clock(CLOCK_REALTIME),
                             .mono_ns = read_clock(CLOCK_MONOTONIC)};
}
