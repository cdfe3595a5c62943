/*
 * Resource quantities ("500m", "1.5Gi", "2e3"), exactly as k8s.io/apimachinery's resource.Quantity
 * reads, orders, adds, rounds and prints them, oddities included.
 *
 * A quantity is a small value: an int64 times a power of ten, which compares and adds without
 * memory. What does not fit (19 digits and more, a binary suffix behind a fraction or from Pi up)
 * has a decimal of any length in the arena of the call that made it; upstream holds the same values
 * in an inf.Dec, and some results depend on which of the two forms a quantity has.
 *
 * Everything takes time linear in the digits that are there, whatever the exponent: upstream writes
 * 1e100000000 out and needs minutes. Only a sum or difference can be too long to write down; see
 * LIMIT_QUANTITY_DIGITS.
 */
#ifndef QUANTITY_QUANTITY_H
#define QUANTITY_QUANTITY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum quantity_format {
    QUANTITY_DECIMAL_EXPONENT, /* 12e6 */
    QUANTITY_BINARY_SI,        /* 12Mi */
    QUANTITY_DECIMAL_SI,       /* 12M */
};

struct quantity_dec;

/* All zero is the quantity 0. */
struct quantity {
    int64_t value;                  /* the amount is value * 10^scale ... */
    const struct quantity_dec *dec; /* ... or this one when it is not NULL; lives in the arena */
    struct str text;                /* what was parsed, where upstream keeps it; else absent */
    int32_t scale;
    enum quantity_format format;
};

/*
 * ParseQuantity. Fails with upstream's text (pattern, suffix or numeric part); err may be NULL.
 * text is borrowed for as long as *out is used. Small amounts take nothing from the arena.
 */
int quantity_parse(struct arena *a, struct str text, struct quantity *out, struct err *err);

/* The same quantity with everything it refers to in the arena. */
struct quantity quantity_copy(struct arena *a, const struct quantity *q);

/* NewQuantity and NewMilliQuantity. */
struct quantity quantity_of_i64(int64_t value, enum quantity_format format);
struct quantity quantity_of_milli(int64_t milli, enum quantity_format format);

/* "DecimalExponent", "BinarySI", "DecimalSI". */
struct str quantity_format_name(enum quantity_format format);

/* Appends the quantity as upstream's String(): the parsed text where it was kept, else the
 * canonical one. */
void quantity_write(struct buf *out, const struct quantity *q);

/* Appends the canonical text, recomputed. A decimal suffix that does not exist (10^21) is left
 * out, as upstream does. */
void quantity_write_canonical(struct buf *out, const struct quantity *q);

/* Digits of an amount in its long form, all of which comparing looks at; 0: it is short. */
size_t quantity_digits(const struct quantity *q);

/* -1, 0, 1. */
int quantity_sign(const struct quantity *q);

/* Exact order of the amounts: -1, 0, 1. Formats do not count; equal quantities give 0. */
int quantity_cmp(const struct quantity *a, const struct quantity *b);

/*
 * *out = a + b, or a - b. Keeps a's format unless a is zero, then takes b's. out may be a or b.
 * Fails when the result would be longer than LIMIT_QUANTITY_DIGITS; *out is then as it was.
 */
int quantity_add(struct arena *arena, const struct quantity *a, const struct quantity *b,
                 struct quantity *out, struct err *err);
int quantity_sub(struct arena *arena, const struct quantity *a, const struct quantity *b,
                 struct quantity *out, struct err *err);

/* RoundUp: away from zero to a multiple of 10^scale (scale >= -9). False when digits were lost. */
bool quantity_round_up(struct arena *a, struct quantity *q, int32_t scale);

/*
 * Value, MilliValue and ScaledValue: the amount in units of 1, 10^-3 or 10^scale as an int64,
 * rounded up. An amount that does not fit gives whatever upstream's 64-bit arithmetic leaves: 0, or
 * low bits.
 */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli_value(const struct quantity *q);
int64_t quantity_scaled_value(const struct quantity *q, int32_t scale);

/* AsInt64, CEL's isInteger and asInteger: false when the amount has decimal places, does not fit,
 * or has the long form (then even when it is integral); *out is then untouched. */
bool quantity_to_i64(const struct quantity *q, int64_t *out);

/* AsApproximateFloat64, rounded as upstream rounds; may be an infinity, or NaN for 0e400. */
double quantity_to_double(const struct quantity *q);

#endif
