/*
 * Arithmetic of Go's int64: a result that does not fit wraps around, where C leaves everything
 * open. For sums that upstream does not check either, so that verdicts on them are the same;
 * everything else uses plain operators, and the sanitizer sees what leaves its type.
 */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stdint.h>

static inline int64_t wrap_add_i64(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub_i64(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul_i64(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* b must not be 0. The one quotient that does not fit is that of the least number and -1. */
static inline int64_t wrap_div_i64(int64_t a, int64_t b) {
    return b == -1 ? wrap_sub_i64(0, a) : a / b;
}

#endif
