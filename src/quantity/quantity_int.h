/*
 * Inside the quantity module: decimals of any length, the second form of a quantity.
 *
 * The value is ±digits * 10^exp, without zeros at either end of the digits, so a large exponent
 * costs nothing. Upstream's inf.Dec holds the same value as an integer (the "unscaled") at a
 * scale; the scale is kept beside the value because upstream's conversions show through it.
 */
#ifndef QUANTITY_QUANTITY_INT_H
#define QUANTITY_QUANTITY_INT_H

#include "quantity/quantity.h"

struct quantity_dec {
    const char *digits; /* n of '0'..'9', most significant first; none for the value 0 */
    size_t n;
    int64_t exp;
    int32_t scale; /* unscaled = digits * 10^(exp + scale); exp + scale >= 0 unless zero */
    bool negative;
};

enum {
    QUANTITY_I64_DIGITS = 19,  /* of the largest magnitude of an int64 */
    QUANTITY_POW2_DIGITS = 19, /* that multiplying by 2^60 can add */
    QUANTITY_NANO = -9,        /* the finest scale of a quantity */
};

/* INT64_MAX, upstream's largest amount for binary suffixes. */
extern const struct quantity_dec quantity__dec_max_i64;

/* Takes the zeros off both ends. */
void quantity__dec_trim(struct quantity_dec *d);

/* value * 10^scale; room holds the digits. */
struct quantity_dec quantity__dec_of_i64(int64_t value, int32_t scale,
                                         char room[QUANTITY_I64_DIGITS]);

/* The amount of either form; room as above. */
struct quantity_dec quantity__dec_of(const struct quantity *q, char room[QUANTITY_I64_DIGITS]);

/* The place above the highest digit: |d| < 10^top. */
int64_t quantity__dec_top(const struct quantity_dec *d);

/* Order of the magnitudes, and of the values: -1, 0, 1. */
int quantity__dec_cmp_abs(const struct quantity_dec *a, const struct quantity_dec *b);
int quantity__dec_cmp(const struct quantity_dec *a, const struct quantity_dec *b);

/* a + b, digits in the arena; false when they would be more than LIMIT_QUANTITY_DIGITS. */
bool quantity__dec_add(struct arena *arena, const struct quantity_dec *a,
                       const struct quantity_dec *b, struct quantity_dec *out);

/* d * 2^power (power <= 60) in place. `digits` is d's own digits, writable, with
 * QUANTITY_POW2_DIGITS spare bytes before them. */
void quantity__dec_shift_left(struct quantity_dec *d, char *digits, unsigned power);

/* Rounds away from zero to this inf.Dec scale, which becomes d's; copies digits to the arena when
 * it must change them. True when nothing was lost. */
bool quantity__dec_round_up(struct arena *a, struct quantity_dec *d, int32_t scale);

/* The low 64 bits of the unscaled value of |d| after its last `drop` decimal digits are cut off. */
uint64_t quantity__dec_low64(const struct quantity_dec *d, int64_t drop);

/* A quantity in the long form, with a copy of *d in the arena. */
struct quantity quantity__of_dec(struct arena *a, const struct quantity_dec *d,
                                 enum quantity_format format);

/* 32-bit arithmetic that wraps around, as Go's int32. */
static inline int32_t quantity__wrap(int64_t v) {
    return (int32_t)(uint32_t)(uint64_t)v;
}

#endif
