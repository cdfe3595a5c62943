/*
 * Arithmetic, order and conversions. Where an amount does not fit into 64 bits the results are
 * upstream's, and so are the steps that lead to them.
 *
 * Follows k8s.io/apimachinery pkg/api/resource, func (*Quantity) Add, func (*Quantity) Cmp,
 * func (*Quantity) RoundUp, func (*Quantity) ScaledValue.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "quantity/quantity_int.h"

enum { MILLI = -3, I64_POWERS = 19 };

static const int64_t powers[I64_POWERS] = {
    INT64_C(1),
    INT64_C(10),
    INT64_C(100),
    INT64_C(1000),
    INT64_C(10000),
    INT64_C(100000),
    INT64_C(1000000),
    INT64_C(10000000),
    INT64_C(100000000),
    INT64_C(1000000000),
    INT64_C(10000000000),
    INT64_C(100000000000),
    INT64_C(1000000000000),
    INT64_C(10000000000000),
    INT64_C(100000000000000),
    INT64_C(1000000000000000),
    INT64_C(10000000000000000),
    INT64_C(100000000000000000),
    INT64_C(1000000000000000000),
};

struct quantity quantity_copy(struct arena *a, const struct quantity *q) {
    struct quantity copy = *q;
    copy.text = arena_str(a, q->text);
    if (q->dec) {
        struct quantity_dec *dec = arena_copy(a, q->dec, sizeof *dec);
        dec->digits = arena_copy(a, dec->digits, dec->n);
        copy.dec = dec;
    }
    return copy;
}

struct quantity quantity_of_i64(int64_t value, enum quantity_format format) {
    return (struct quantity){.value = value, .format = format};
}

struct quantity quantity_of_milli(int64_t milli, enum quantity_format format) {
    return (struct quantity){.value = milli, .scale = MILLI, .format = format};
}

size_t quantity_digits(const struct quantity *q) {
    return q->dec ? q->dec->n : 0;
}

int quantity_sign(const struct quantity *q) {
    if (q->dec)
        return q->dec->n == 0 ? 0 : q->dec->negative ? -1 : 1;
    return (q->value > 0) - (q->value < 0);
}

/* a * 10^up against b, for up > 0. */
static int cmp_scaled(int64_t a, int64_t up, int64_t b) {
    __extension__ typedef __int128 i128;
    if (a == 0)
        return (0 > b) - (0 < b);
    if (up >= I64_POWERS)
        return a > 0 ? 1 : -1;
    i128 left = (i128)a * powers[up];
    return (left > b) - (left < b);
}

int quantity_cmp(const struct quantity *a, const struct quantity *b) {
    if (a->dec || b->dec) {
        char room_a[QUANTITY_I64_DIGITS], room_b[QUANTITY_I64_DIGITS];
        struct quantity_dec da = quantity__dec_of(a, room_a), db = quantity__dec_of(b, room_b);
        return quantity__dec_cmp(&da, &db);
    }
    int64_t up = (int64_t)a->scale - b->scale;
    if (up == 0)
        return (a->value > b->value) - (a->value < b->value);
    return up > 0 ? cmp_scaled(a->value, up, b->value) : -cmp_scaled(b->value, -up, a->value);
}

/* *out = base * 10^up. On overflow, false, and *out is what upstream leaves there: the low bits
 * where it multiplies in one step, else 0. A negative `up` changes nothing. */
static bool scale_up(int64_t base, int32_t up, int64_t *out) {
    const unsigned one_step = 1U << 1 | 1U << 2 | 1U << 3 | 1U << 6 | 1U << 9;
    *out = base;
    if (up <= 0 || base == 0)
        return true;
    if (up < I64_POWERS && !__builtin_mul_overflow(base, powers[up], out))
        return true;
    if (up >= I64_POWERS || !(one_step >> up & 1) || base == INT64_MIN)
        *out = 0;
    return false;
}

/* base / 10^down, rounded away from zero, for down > 0; *exact says whether nothing was lost. */
static int64_t scale_down(int64_t base, int64_t down, bool *exact) {
    int64_t quotient = down < I64_POWERS ? base / powers[down] : 0;
    *exact = down < I64_POWERS ? base % powers[down] == 0 : base == 0;
    if (*exact)
        return quotient;
    return base > 0 ? quotient + 1 : quotient - 1;
}

/* q += value * 10^scale in the short form; false, and q as it was, when that overflows. */
static bool add_short(struct quantity *q, int64_t value, int32_t scale) {
    if (value == 0)
        return true;
    int64_t mine = q->value, sum;
    if (mine != 0 && q->scale > scale &&
        !scale_up(mine, quantity__wrap((int64_t)q->scale - scale), &mine))
        return false;
    if (mine != 0 && q->scale < scale &&
        !scale_up(value, quantity__wrap((int64_t)scale - q->scale), &value))
        return false;
    if (__builtin_add_overflow(mine, value, &sum))
        return false;
    if (mine == 0 || q->scale > scale)
        q->scale = scale;
    q->value = sum;
    return true;
}

static int64_t negate(int64_t v) {
    return (int64_t)(0 - (uint64_t)v);
}

static int combine(struct arena *arena, const struct quantity *a, const struct quantity *b,
                   bool subtract, struct quantity *out) {
    struct quantity sum = {
        .value = a->value,
        .scale = a->scale,
        .format = quantity_sign(a) == 0 ? b->format : a->format,
    };
    if (a->dec || b->dec || !add_short(&sum, subtract ? negate(b->value) : b->value, b->scale)) {
        char room_a[QUANTITY_I64_DIGITS], room_b[QUANTITY_I64_DIGITS];
        struct quantity_dec da = quantity__dec_of(a, room_a), db = quantity__dec_of(b, room_b);
        db.negative = db.negative != (subtract && db.n);
        if (!quantity__dec_add(arena, &da, &db, &da))
            return -1;
        sum = quantity__of_dec(arena, &da, sum.format);
    }
    *out = sum;
    return 0;
}

int quantity_add(struct arena *arena, const struct quantity *a, const struct quantity *b,
                 struct quantity *out, struct err *err) {
    if (combine(arena, a, b, false, out) < 0)
        return err_set(err, ERR_TOO_LARGE, "sum of quantities has more than %d digits",
                       LIMIT_QUANTITY_DIGITS);
    return 0;
}

int quantity_sub(struct arena *arena, const struct quantity *a, const struct quantity *b,
                 struct quantity *out, struct err *err) {
    if (combine(arena, a, b, true, out) < 0)
        return err_set(err, ERR_TOO_LARGE, "difference of quantities has more than %d digits",
                       LIMIT_QUANTITY_DIGITS);
    return 0;
}

bool quantity_round_up(struct arena *a, struct quantity *q, int32_t scale) {
    bool exact;
    if (q->dec) {
        struct quantity_dec d = *q->dec;
        exact = quantity__dec_round_up(a, &d, -scale);
        *q = quantity__of_dec(a, &d, q->format);
        return exact;
    }
    if (q->scale >= scale)
        return true;
    int64_t value = scale_down(q->value, (int64_t)scale - q->scale, &exact);
    *q = (struct quantity){.value = value, .scale = scale, .format = q->format};
    return exact;
}

/* The low bits of an unscaled value, with its sign, as big.Int's Int64(). */
static int64_t low_bits(const struct quantity_dec *d) {
    int64_t low = (int64_t)quantity__dec_low64(d, 0);
    return d->negative ? negate(low) : low;
}

static bool unscaled_is_below_max(const struct quantity_dec *d) {
    struct quantity_dec unscaled = *d;
    unscaled.exp += d->scale;
    return quantity__dec_cmp(&unscaled, &quantity__dec_max_i64) < 0;
}

/* unscaled / 10^down for down > 0, rounded up by upstream's two ways of dividing: the first
 * truncates and works on the low bits, the second floors. */
static int64_t divide_unscaled(const struct quantity_dec *d, int64_t down) {
    if (down < I64_POWERS && unscaled_is_below_max(d)) {
        int64_t low = low_bits(d);
        return low / powers[down] + (low % powers[down] != 0);
    }
    uint64_t quotient = quantity__dec_low64(d, down);
    bool exact = d->n == 0 || d->exp + d->scale >= down;
    return (int64_t)(d->negative ? 0 - quotient : quotient + !exact);
}

static int64_t scaled_value_of_dec(const struct quantity_dec *d, int32_t scale) {
    int64_t down = (int64_t)d->scale + scale;
    if (down == 0)
        return low_bits(d);
    if (down > 0)
        return divide_unscaled(d, down);
    /* A float that is too large becomes the smallest int64 on upstream's machines. */
    int64_t factor = -down < I64_POWERS ? powers[-down] : INT64_MIN;
    return (int64_t)((uint64_t)low_bits(d) * (uint64_t)factor);
}

int64_t quantity_scaled_value(const struct quantity *q, int32_t scale) {
    if (q->dec)
        return scaled_value_of_dec(q->dec, scale);
    int64_t value;
    bool exact;
    if (q->scale < scale)
        return scale_down(q->value, (int64_t)scale - q->scale, &exact);
    scale_up(q->value, quantity__wrap((int64_t)q->scale - scale), &value);
    return value;
}

int64_t quantity_value(const struct quantity *q) {
    return quantity_scaled_value(q, 0);
}

int64_t quantity_milli_value(const struct quantity *q) {
    return quantity_scaled_value(q, MILLI);
}

bool quantity_to_i64(const struct quantity *q, int64_t *out) {
    int64_t value;
    if (q->dec || q->scale < 0 || !scale_up(q->value, q->scale, &value))
        return false;
    *out = value;
    return true;
}

/* 10^n as Go's math.Pow10: one table step times another, so not always the nearest double. */
static double pow10_as_go(int64_t n) {
    static const double units[32] = {1e00, 1e01, 1e02, 1e03, 1e04, 1e05, 1e06, 1e07,
                                     1e08, 1e09, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23,
                                     1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
    static const double up[10] = {1e00, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
    static const double down[11] = {1e-00,  1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                    1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
    if (n > DBL_MAX_10_EXP)
        return (double)INFINITY;
    if (n < -323)
        return 0;
    return n >= 0 ? up[n / 32] * units[n % 32] : down[-n / 32] / units[-n % 32];
}

/* The double nearest to the unscaled value. */
static double unscaled_to_double(const struct quantity_dec *d) {
    char text[DBL_MAX_10_EXP + 32];
    int64_t zeros = d->exp + d->scale;
    double magnitude = (double)INFINITY;
    if (d->n == 0)
        return 0;
    if ((int64_t)d->n + zeros <= DBL_MAX_10_EXP + 1) {
        snprintf(text, sizeof text, "%.*se%d", (int)d->n, d->digits, (int)zeros);
        magnitude = strtod(text, NULL);
    }
    return d->negative ? -magnitude : magnitude;
}

double quantity_to_double(const struct quantity *q) {
    double base = q->dec ? unscaled_to_double(q->dec) : (double)q->value;
    int64_t exponent = q->dec ? -(int64_t)q->dec->scale : q->scale;
    return exponent == 0 ? base : base * pow10_as_go(exponent);
}
