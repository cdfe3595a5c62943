/* Arithmetic on decimals of any length, digit by digit: rare, short, and easy to check. */
#include <string.h>

#include "base/limits.h"
#include "quantity/quantity_int.h"

const struct quantity_dec quantity__dec_max_i64 = {.digits = "9223372036854775807", .n = 19};

void quantity__dec_trim(struct quantity_dec *d) {
    while (d->n && d->digits[0] == '0') {
        d->digits++;
        d->n--;
    }
    while (d->n && d->digits[d->n - 1] == '0') {
        d->n--;
        d->exp++;
    }
    if (d->n == 0) {
        d->negative = false;
        d->exp = 0;
    }
}

/* Writes v right-aligned before end and returns where it begins; 0 takes no digit. */
static char *put_digits(char *end, uint64_t v) {
    for (; v; v /= 10)
        *--end = (char)('0' + v % 10);
    return end;
}

struct quantity_dec quantity__dec_of_i64(int64_t value, int32_t scale,
                                         char room[QUANTITY_I64_DIGITS]) {
    char *end = room + QUANTITY_I64_DIGITS;
    char *digits = put_digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    struct quantity_dec d = {
        .digits = digits,
        .n = (size_t)(end - digits),
        .exp = scale,
        .scale = -scale,
        .negative = value < 0,
    };
    quantity__dec_trim(&d);
    return d;
}

struct quantity_dec quantity__dec_of(const struct quantity *q, char room[QUANTITY_I64_DIGITS]) {
    return q->dec ? *q->dec : quantity__dec_of_i64(q->value, q->scale, room);
}

int64_t quantity__dec_top(const struct quantity_dec *d) {
    return d->exp + (int64_t)d->n;
}

static int order(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

int quantity__dec_cmp_abs(const struct quantity_dec *a, const struct quantity_dec *b) {
    if (a->n == 0 || b->n == 0)
        return (a->n != 0) - (b->n != 0);
    int tops = order(quantity__dec_top(a), quantity__dec_top(b));
    if (tops != 0)
        return tops;
    return order(str_cmp((struct str){a->digits, a->n}, (struct str){b->digits, b->n}), 0);
}

static int sign(const struct quantity_dec *d) {
    return d->n == 0 ? 0 : d->negative ? -1 : 1;
}

int quantity__dec_cmp(const struct quantity_dec *a, const struct quantity_dec *b) {
    int signs = order(sign(a), sign(b));
    if (signs != 0)
        return signs;
    return a->negative ? quantity__dec_cmp_abs(b, a) : quantity__dec_cmp_abs(a, b);
}

/* The digit of d that stands for 10^place. */
static int digit_at(const struct quantity_dec *d, int64_t place) {
    int64_t from_left = quantity__dec_top(d) - 1 - place;
    return from_left >= 0 && from_left < (int64_t)d->n ? d->digits[from_left] - '0' : 0;
}

/* The lowest place of a and b that holds a digit; one of them is not zero. */
static int64_t lowest_place(const struct quantity_dec *a, const struct quantity_dec *b) {
    if (a->n == 0 || b->n == 0)
        return a->n ? a->exp : b->exp;
    return a->exp < b->exp ? a->exp : b->exp;
}

/* |large| + |small| or |large| - |small| for the places [low, top), written to digits. */
static void add_digits(char *digits, const struct quantity_dec *large,
                       const struct quantity_dec *small, int64_t low, int64_t top) {
    int factor = large->negative == small->negative ? 1 : -1, carry = 0;
    for (int64_t place = low; place < top; place++) {
        int t = digit_at(large, place) + factor * digit_at(small, place) + carry;
        carry = t < 0 ? -1 : t > 9;
        digits[top - 1 - place] = (char)('0' + t - 10 * carry);
    }
}

bool quantity__dec_add(struct arena *arena, const struct quantity_dec *a,
                       const struct quantity_dec *b, struct quantity_dec *out) {
    struct quantity_dec sum = {.scale = a->scale > b->scale ? a->scale : b->scale};
    if (a->n == 0 && b->n == 0) {
        *out = sum;
        return true;
    }
    const struct quantity_dec *large = quantity__dec_cmp_abs(a, b) >= 0 ? a : b;
    const struct quantity_dec *small = large == a ? b : a;
    int64_t low = lowest_place(a, b), top = quantity__dec_top(large) + 1;
    if (top + sum.scale > LIMIT_QUANTITY_DIGITS)
        return false;
    sum.n = (size_t)(top - low);
    char *digits = arena_alloc(arena, sum.n);
    add_digits(digits, large, small, low, top);
    sum.digits = digits;
    sum.exp = low;
    sum.negative = large->negative;
    quantity__dec_trim(&sum);
    *out = sum;
    return true;
}

void quantity__dec_shift_left(struct quantity_dec *d, char *digits, unsigned power) {
    uint64_t carry = 0;
    for (size_t i = d->n; i-- > 0;) {
        uint64_t t = ((uint64_t)(digits[i] - '0') << power) + carry;
        digits[i] = (char)('0' + t % 10);
        carry = t / 10;
    }
    char *first = put_digits(digits, carry);
    d->digits = first;
    d->n += (size_t)(digits - first);
}

/* Adds one in the last place of the n digits; there is a leading '0' that takes the carry. */
static void increment(char *digits, size_t n) {
    while (digits[--n] == '9')
        digits[n] = '0';
    digits[n]++;
}

bool quantity__dec_round_up(struct arena *a, struct quantity_dec *d, int32_t scale) {
    d->scale = scale;
    int64_t lost = -(int64_t)scale - d->exp;
    if (d->n == 0 || lost <= 0)
        return true;
    /* The last digit is never 0, so whatever is cut off rounds up. */
    size_t kept = lost < (int64_t)d->n ? d->n - (size_t)lost : 0;
    char *digits = arena_alloc(a, kept + 1);
    digits[0] = '0';
    memcpy(digits + 1, d->digits, kept);
    increment(digits, kept + 1);
    d->digits = digits;
    d->n = kept + 1;
    d->exp = -(int64_t)scale;
    quantity__dec_trim(d);
    return false;
}

uint64_t quantity__dec_low64(const struct quantity_dec *d, int64_t drop) {
    int64_t zeros = d->exp + d->scale - drop;
    int64_t n = zeros < 0 ? (int64_t)d->n + zeros : (int64_t)d->n;
    uint64_t low = 0;
    for (int64_t i = 0; i < n; i++)
        low = low * 10 + (uint64_t)(d->digits[i] - '0');
    /* 2^64 divides 10^64: behind so many zeros the low bits are 0. */
    for (int64_t i = 0; i < zeros && low; i++)
        low *= 10;
    return low;
}

struct quantity quantity__of_dec(struct arena *a, const struct quantity_dec *d,
                                 enum quantity_format format) {
    return (struct quantity){.dec = arena_copy(a, d, sizeof *d), .format = format};
}
