/*
 * Does what is done for n items cost no more than n of them? Processor time of this thread is
 * compared, for n and for four times as many: other work of the machine does not count.
 */
#ifndef TEST_UNIT_COST_H
#define TEST_UNIT_COST_H

#include <stddef.h>
#include <time.h>

/* Prepares n items and does what is to be measured between cost_begin and cost_end. */
struct cost {
    double begun, taken;
};

static inline double cost__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void cost_begin(struct cost *c) {
    c->begun = cost__now();
}

static inline void cost_end(struct cost *c) {
    c->taken += cost__now() - c->begun;
}

typedef void cost_fn(struct cost *c, size_t n);

static inline double cost__least(cost_fn *fn, size_t n) {
    double least = 0;
    for (int i = 0; i < 3; i++) {
        struct cost c = {0};
        fn(&c, n);
        least = i == 0 || c.taken < least ? c.taken : least;
    }
    return least;
}

/* How many times as long four times as many take: 4 if the work grows with them, 16 if it grows
 * with their square. A tenth of a millisecond is not counted. */
static inline double cost_growth(cost_fn *fn, size_t n) {
    return (cost__least(fn, 4 * n) + 1e-4) / (cost__least(fn, n) + 1e-4);
}

/* More than this is not in proportion any more, whatever caches do. */
#define COST_MOST_GROWTH 9.0

#endif
