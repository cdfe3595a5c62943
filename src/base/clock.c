#include "base/clock.h"

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

const struct clock clock_system = {system_wall, system_mono};

int64_t clock_wall(const struct clock *c) {
    return c->wall(c);
}

int64_t clock_mono(const struct clock *c) {
    return c->mono(c);
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
    *m = (struct clock_manual){.clock = {manual_wall, manual_mono}, .wall_ns = wall_ns};
}

void clock_manual_advance(struct clock_manual *m, int64_t ns) {
    m->wall_ns += ns;
    m->mono_ns += ns;
}
