/*
 * Doubles: from a literal to the nearest value, and to the shortest text that reads back, as Go's
 * strconv does it. Numbers with a fraction are rare in API objects, so this leans on the C library
 * for all but the simplest ones.
 *
 * Follows std encoding/json, func (floatEncoder) encode.
 * Follows std strconv, func ParseFloat, func AppendFloat.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "codec/json/json_int.h"

/* --- reading --- */

/* strtod that does not care which decimal point the program's locale has. */
static double to_double(const char *cstr) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double d = plain ? strtod_l(cstr, NULL, plain) : strtod(cstr, NULL);
    freelocale(plain);
    return d;
}

static double long_literal(struct str literal) {
    char *cstr = xmalloc(literal.n + 1);
    memcpy(cstr, literal.p, literal.n);
    cstr[literal.n] = '\0';
    double d = to_double(cstr);
    free(cstr);
    return d;
}

double json__literal_double(struct str literal) {
    char cstr[64];
    if (literal.n >= sizeof cstr)
        return long_literal(literal);
    memcpy(cstr, literal.p, literal.n);
    cstr[literal.n] = '\0';
    return to_double(cstr);
}

double json_double(const struct json *v) {
    switch (v->kind) {
    case JSON_INT:
        return (double)v->i;
    case JSON_UINT:
        return (double)v->u;
    case JSON_FLOAT:
        return json__literal_double(json_str(v));
    default:
        return 0;
    }
}

/* --- writing --- */

enum { MOST_DIGITS = 17 };

/* |d| = 0.DIGITS * 10^point */
struct decimal {
    char digits[MOST_DIGITS + 1];
    int n, point;
};

/* d rounded to n digits; printf puts the decimal point of the locale between them. */
static struct decimal round_to(double d, int n) {
    char text[MOST_DIGITS + 16];
    snprintf(text, sizeof text, "%.*e", n - 1, d);
    struct decimal out = {.point = 1};
    const char *p = text;
    for (; *p != 'e'; p++) {
        if (ascii_is_digit(*p))
            out.digits[out.n++] = *p;
    }
    out.point += (int)strtol(p + 1, NULL, 10);
    return out;
}

/* Without printf, which costs more than all the rest. */
static void add_exponent(struct buf *out, int exponent) {
    buf_add_char(out, exponent < 0 ? '-' : '+');
    buf_add_u64(out, (uint64_t)abs(exponent));
}

static double value_of(struct buf *text, const struct decimal *x) {
    buf_clear(text);
    buf_add(text, STR("0."));
    buf_add(text, (struct str){x->digits, (size_t)x->n});
    buf_add_char(text, 'e');
    add_exponent(text, x->point);
    return json__literal_double(buf_view(text));
}

/* The next decimal with as many digits. */
static struct decimal next_up(struct decimal x) {
    int i = x.n - 1;
    for (; i >= 0 && x.digits[i] == '9'; i--)
        x.digits[i] = '0';
    if (i >= 0) {
        x.digits[i]++;
        return x;
    }
    x.digits[0] = '1';
    x.point++;
    return x;
}

/*
 * The fewest digits that read back as d (positive). 15 of them tell all decimals of that length
 * apart, so a shorter form shows there as zeros at the end; but not where doubles lose precision
 * towards 0. Below a power of two doubles lie closer than above it: there the nearest decimal may
 * miss while the next one upwards hits.
 */
static struct decimal shortest(double d) {
    AUTO(buf_release) struct buf text = BUF_INIT(MOST_DIGITS + 16);
    struct decimal x = {0};
    for (int n = isnormal(d) ? 15 : 1; n <= MOST_DIGITS; n++) {
        x = round_to(d, n);
        if (value_of(&text, &x) == d)
            break;
        x = next_up(x);
        if (value_of(&text, &x) == d)
            break;
    }
    while (x.n > 1 && x.digits[x.n - 1] == '0')
        x.n--;
    return x;
}

static void add_exponential(struct buf *out, const struct decimal *x) {
    buf_add_char(out, x->digits[0]);
    if (x->n > 1)
        buf_add_char(out, '.');
    buf_add(out, (struct str){x->digits + 1, (size_t)x->n - 1});
    buf_add_char(out, 'e');
    add_exponent(out, x->point - 1);
}

static void add_positional(struct buf *out, const struct decimal *x) {
    int whole = x->point < 0 ? 0 : x->point < x->n ? x->point : x->n;
    buf_add(out, whole ? (struct str){x->digits, (size_t)whole} : STR("0"));
    if (x->point > x->n)
        buf_add_fill(out, '0', (size_t)(x->point - x->n));
    if (whole == x->n)
        return;
    buf_add_char(out, '.');
    if (x->point < 0)
        buf_add_fill(out, '0', (size_t)-x->point);
    buf_add(out, (struct str){x->digits + whole, (size_t)(x->n - whole)});
}

void json_write_double(struct buf *out, double d) {
    if (!isfinite(d))
        BUG("JSON has no number that is not finite");
    if (signbit(d))
        buf_add_char(out, '-');
    d = fabs(d);
    if (d < 0x1p53 && d == floor(d)) {
        buf_add_u64(out, (uint64_t)d);
        return;
    }
    struct decimal x = shortest(d);
    if (d < 1e-6 || d >= 1e21)
        add_exponential(out, &x);
    else
        add_positional(out, &x);
}
