/*
 * How long plug-ins take in one attempt, by the stopwatch of the scheduler. Nobody measures when it
 * has none, and where only questions are asked (sched_examine): then cy->times is NULL.
 */
#ifndef SCHED_TIMES_INT_H
#define SCHED_TIMES_INT_H

#include "base/clock.h"
#include "sched/plugin_int.h"

struct sched__times {
    struct sched__time {
        int64_t ns; /* of all calls together */
        bool called;
        enum sched_code code; /* of PreFilter and PreScore; filters have theirs in the verdicts */
    } v[SCHED_POINT_COUNT][SCHED_PLUGIN_COUNT];
};

/* Nanoseconds; only differences matter. */
static inline int64_t sched__stopwatch_read(const struct sched *s) {
    return clock_mono(s->stopwatch);
}

/* Forgets the attempt before, and measures this one if there is a stopwatch. */
void sched__times_start(struct sched__cycle *cy);

/* Nanoseconds of all plug-ins at a point so far; 0 if nobody measures. */
int64_t sched__times_sum(const struct sched__cycle *cy, enum sched_point point);

/* For sched__time_stop. */
void sched__times_add(struct sched__cycle *cy, enum sched_point point, enum sched_plugin plugin,
                      int64_t start);

/* Around each call of a plug-in: what the first returns is the second one's `start`. */
static inline int64_t sched__time_start(const struct sched__cycle *cy) {
    return cy->times ? sched__stopwatch_read(cy->s) : 0;
}
static inline void sched__time_stop(struct sched__cycle *cy, enum sched_point point,
                                    enum sched_plugin plugin, int64_t start) {
    if (cy->times)
        sched__times_add(cy, point, plugin, start);
}

/* What PreScore of the plug-in says, measured; true if it has none. */
bool sched__ask_pre_score(struct sched__cycle *cy, enum sched_plugin p);

/* A decision was made: what was measured becomes metrics. */
void sched__times_tell(const struct sched__cycle *cy);

#endif
