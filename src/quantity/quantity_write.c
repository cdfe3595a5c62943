/*
 * Quantity to text: as many digits in front of the suffix as it takes to have no fraction.
 *
 * Follows k8s.io/apimachinery pkg/api/resource, func (*Quantity) CanonicalizeBytes,
 * func (*Quantity) String.
 */
#include <string.h>

#include "base/limits.h"
#include "quantity/quantity_int.h"

struct str quantity_format_name(enum quantity_format format) {
    static const struct str names[] = {
        [QUANTITY_DECIMAL_EXPONENT] = STR_INIT("DecimalExponent"),
        [QUANTITY_BINARY_SI] = STR_INIT("BinarySI"),
        [QUANTITY_DECIMAL_SI] = STR_INIT("DecimalSI"),
    };
    return names[format];
}

static void write_decimal(struct buf *out, const struct quantity_dec *d,
                          enum quantity_format format) {
    static const char si[] = "num\0kMGTPE"; /* 10^-9 to 10^18 in steps of 10^3 */
    int32_t exponent = quantity__wrap(d->exp);
    int32_t pad = (exponent % 3 + 3) % 3;
    exponent = quantity__wrap((int64_t)exponent - pad);
    if (d->negative)
        buf_add_char(out, '-');
    buf_add(out, (struct str){d->digits, d->n});
    buf_add_fill(out, '0', (size_t)pad);
    if (exponent == 0)
        return;
    if (format == QUANTITY_DECIMAL_EXPONENT) {
        buf_add_char(out, 'e');
        buf_add_i64(out, exponent);
    } else if (exponent >= QUANTITY_NANO && exponent <= 18) {
        buf_add_char(out, si[(exponent - QUANTITY_NANO) / 3]);
    }
}

/* 10^10 is a multiple of 1024, so the last ten digits tell. */
static bool is_multiple_of_1024(const char *digits, size_t n) {
    uint64_t tail = 0;
    for (size_t i = n > 10 ? n - 10 : 0; i < n; i++)
        tail = tail * 10 + (uint64_t)(digits[i] - '0');
    return tail % 1024 == 0;
}

/* Divides a multiple of 1024 in place; returns the length of the quotient. */
static size_t divide_by_1024(char *digits, size_t n) {
    unsigned rest = 0;
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        rest = rest * 10 + (unsigned)(digits[i] - '0');
        if (length || rest >= 1024)
            digits[length++] = (char)('0' + rest / 1024);
        rest %= 1024;
    }
    return length;
}

/* d is a whole number of at most LIMIT_QUANTITY_DIGITS digits. */
static void write_binary(struct buf *out, const struct quantity_dec *d, bool divide) {
    static const char letters[] = "\0KMGTPE";
    char digits[LIMIT_QUANTITY_DIGITS];
    memcpy(digits, d->digits, d->n);
    memset(digits + d->n, '0', (size_t)d->exp);
    size_t n = (size_t)quantity__dec_top(d), times = 0;
    for (; divide && is_multiple_of_1024(digits, n); times++)
        n = divide_by_1024(digits, n);
    if (d->negative)
        buf_add_char(out, '-');
    buf_add(out, (struct str){digits, n});
    if (times >= 1 && times < sizeof letters - 1) {
        buf_add_char(out, letters[times]);
        buf_add_char(out, 'i');
    }
}

/* Binary suffixes stand only where they lose nothing and are of use. */
static bool suits_binary(const struct quantity_dec *d) {
    static const struct quantity_dec kibi = {.digits = "1024", .n = 4};
    return d->exp >= 0 && quantity__dec_cmp_abs(d, &kibi) >= 0 &&
           quantity__dec_top(d) <= LIMIT_QUANTITY_DIGITS;
}

void quantity_write_canonical(struct buf *out, const struct quantity *q) {
    char room[QUANTITY_I64_DIGITS];
    struct quantity_dec d = quantity__dec_of(q, room);
    bool binary = q->format == QUANTITY_BINARY_SI;
    if (d.n == 0)
        buf_add_char(out, '0');
    else if (binary && suits_binary(&d))
        /* Upstream's int64 form cannot negate its smallest value and prints it undivided. */
        write_binary(out, &d, q->dec || q->value != INT64_MIN);
    else
        write_decimal(out, &d, binary ? QUANTITY_DECIMAL_SI : q->format);
}

void quantity_write(struct buf *out, const struct quantity *q) {
    if (q->text.p)
        buf_add(out, q->text);
    else
        quantity_write_canonical(out, q);
}
