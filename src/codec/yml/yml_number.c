/*
 * Numbers in YAML as go-yaml reads and prints them: what Go's strconv takes with a base of 0, plus
 * a few forms of its own.
 *
 * Follows go.yaml.in/yaml/v2, func resolve.
 * Follows std strconv, func ParseInt, func ParseFloat.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "codec/yml/yml_int.h"

/* --- reading --- */

static unsigned digit_value(char c) {
    if (ascii_is_digit(c))
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10 : 99;
}

/* Takes the base prefix off: 0b, 0o and 0x need a digit behind them, a mere 0 does not. */
static unsigned take_base(struct str *s) {
    if (!s->n || s->p[0] != '0')
        return 10;
    char mark = s->n >= 3 ? (char)(s->p[1] | 0x20) : '\0';
    unsigned base = mark == 'b' ? 2 : mark == 'x' ? 16 : 8;
    *s = str_sub(*s, mark == 'b' || mark == 'o' || mark == 'x' ? 2 : 1, s->n);
    return base;
}

static bool read_digits(struct str s, unsigned base, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = digit_value(s.p[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* An integer with a sign; base 0 means that a prefix tells. Unsigned ones may pass int64. */
static bool read_int(struct str s, unsigned base, struct yml_number *out) {
    bool sign = s.n && (s.p[0] == '-' || s.p[0] == '+'), negative = sign && s.p[0] == '-';
    s = str_sub(s, sign, s.n);
    uint64_t value;
    if (!s.n)
        return false;
    if (!base)
        base = take_base(&s);
    if (!read_digits(s, base, &value))
        return false;
    if (value <= (uint64_t)INT64_MAX + negative) {
        *out = (struct yml_number){.kind = YML_INT, .i = (int64_t)(negative ? 0 - value : value)};
        return true;
    }
    *out = (struct yml_number){.kind = YML_UINT, .u = value};
    return !sign;
}

static size_t count_digits(struct str s, size_t at) {
    size_t n = 0;
    while (at + n < s.n && ascii_is_digit(s.p[at + n]))
        n++;
    return n;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(struct str s) {
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+');
    size_t whole = count_digits(s, at), fraction = 0;
    at += whole;
    if (at < s.n && s.p[at] == '.') {
        fraction = count_digits(s, ++at);
        at += fraction;
    }
    if (!whole && !fraction)
        return false;
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        at++;
        at += at < s.n && (s.p[at] == '-' || s.p[at] == '+');
        size_t exponent = count_digits(s, at);
        if (!exponent)
            return false;
        at += exponent;
    }
    return at == s.n;
}

/* s is NUL-terminated. Too small is 0, too large is no number. */
static bool read_float(struct str s, struct yml_number *out) {
    if (!looks_like_float(s))
        return false;
    *out = (struct yml_number){.kind = YML_FLOAT, .d = strtod(s.p, NULL)};
    return !isinf(out->d);
}

/* Numbers that start with a point take underscores only between digits; others take them anywhere,
 * for they are dropped first. */
static bool underscores_fit(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '_' &&
            (i == 0 || i + 1 == s.n || !ascii_is_digit(s.p[i - 1]) || !ascii_is_digit(s.p[i + 1])))
            return false;
    return true;
}

/* Only these can stand in a number; everything else need not be copied to find out. */
static bool may_be_number(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (digit_value(c) > 15 && c != '_' && c != '.' && c != '-' && c != '+' &&
            (c | 0x20) != 'x' && (c | 0x20) != 'o')
            return false;
    }
    return true;
}

/* The text without underscores, and with a NUL behind it that does not count. */
static struct str strip_underscores(struct buf *plain, struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            buf_add_char(plain, s.p[i]);
    buf_add_char(plain, '\0');
    return str_sub(buf_view(plain), 0, plain->n - 1);
}

bool yml__number_read(struct str s, struct yml_number *out) {
    if (str_to_i64(s, &out->i)) {
        out->kind = YML_INT;
        return true;
    }
    if (!may_be_number(s))
        return false;
    AUTO(buf_release) struct buf plain = BUF_INIT(s.n + 1);
    struct str t = strip_underscores(&plain, s);
    if (s.p[0] == '.')
        return underscores_fit(s) && read_float(t, out);
    if (read_int(t, 0, out) || read_float(t, out))
        return true;
    /* "0b-1": go-yaml tries the digits behind the prefix once more, with a sign. */
    return str_starts(t, STR("0b")) && read_int(str_sub(t, 2, t.n), 2, out) && out->kind == YML_INT;
}

/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
bool yml__is_base_60(struct str s) {
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+'), groups = 0;
    if (at == s.n || !ascii_is_digit(s.p[at]))
        return false;
    while (at < s.n && (ascii_is_digit(s.p[at]) || s.p[at] == '_'))
        at++;
    for (; at + 1 < s.n && s.p[at] == ':' && ascii_is_digit(s.p[at + 1]); groups++) {
        size_t n = count_digits(s, at + 1);
        if (n > 2 || (n == 2 && s.p[at + 1] > '5'))
            return false;
        at += 1 + n;
    }
    if (at < s.n && s.p[at] == '.')
        for (at++; at < s.n && (ascii_is_digit(s.p[at]) || s.p[at] == '_');)
            at++;
    return groups && at == s.n;
}

/* --- to JSON --- */

/* As the JSON that Go prints for it would be read: 1e3 prints as 1000, an integer. */
static struct json json_of_float(struct arena *a, double d) {
    AUTO(buf_release) struct buf literal = BUF_INIT(64);
    json_write_double(&literal, d);
    struct str s = buf_view(&literal);
    struct yml_number m;
    if (read_int(s, 10, &m))
        return m.kind == YML_INT ? json_of_i64(m.i) : (struct json){.kind = JSON_UINT, .u = m.u};
    return (struct json){.kind = JSON_FLOAT, .n = (uint32_t)s.n, .s = arena_copy(a, s.p, s.n)};
}

struct json yml__number_value(struct arena *a, const struct yml_number *n) {
    if (n->kind == YML_FLOAT)
        return json_of_float(a, n->d);
    return n->kind == YML_INT ? json_of_i64(n->i) : (struct json){.kind = JSON_UINT, .u = n->u};
}

/* --- printing --- */

/* The digits of a number without zeros at both ends, and where its point stands among them. */
struct decimal {
    bool negative;
    char digits[32];
    int n, point;
};

/* Reads what printf or json_write_double made of a finite number. */
static struct decimal decimal_of(struct str s) {
    struct decimal d = {.negative = s.p[0] == '-'};
    bool behind_point = false;
    size_t at = d.negative;
    for (; at < s.n && s.p[at] != 'e'; at++) {
        if (s.p[at] == '.') {
            behind_point = true;
            continue;
        }
        if (s.p[at] == '0' && d.n == 0) {
            d.point -= behind_point;
            continue;
        }
        if (d.n < (int)sizeof d.digits)
            d.digits[d.n++] = s.p[at];
        d.point += !behind_point;
    }
    while (d.n && d.digits[d.n - 1] == '0')
        d.n--;
    struct yml_number exponent = {0};
    if (at < s.n && read_int(str_sub(s, at + 1, s.n), 10, &exponent))
        d.point += (int)exponent.i;
    if (!d.n)
        d.point = 1;
    return d;
}

/* As Go's 'g' format with the shortest digits: an exponent below -4 and from 6 up. */
static void write_g(struct buf *out, const struct decimal *d) {
    int exponent = d->point - 1;
    if (d->negative)
        buf_add_char(out, '-');
    struct str digits = {d->digits, (size_t)d->n};
    if (!d->n) {
        buf_add_char(out, '0');
    } else if (exponent < -4 || exponent >= 6) {
        buf_add(out, str_sub(digits, 0, 1));
        if (d->n > 1)
            buf_add_char(out, '.');
        buf_add(out, str_sub(digits, 1, digits.n));
        buf_add(out, exponent < 0 ? STR("e-") : STR("e+"));
        if (abs(exponent) < 10)
            buf_add_char(out, '0');
        buf_add_u64(out, (uint64_t)abs(exponent));
    } else if (d->point <= 0) {
        buf_add(out, STR("0."));
        buf_add_fill(out, '0', (size_t)-d->point);
        buf_add(out, digits);
    } else {
        size_t whole = (size_t)d->point;
        buf_add(out, str_sub(digits, 0, whole));
        if (whole > digits.n)
            buf_add_fill(out, '0', whole - digits.n);
        if (whole < digits.n)
            buf_add_char(out, '.');
        buf_add(out, str_sub(digits, whole, digits.n));
    }
}

void yml__number_write_key(struct buf *out, double d) {
    float f = (float)d;
    if (!isfinite(f)) {
        buf_add(out, isnan(f) ? STR(".nan") : f > 0 ? STR(".inf") : STR("-.inf"));
        return;
    }
    char text[32];
    for (int digits = 0; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, (double)f);
        if (strtof(text, NULL) == f)
            break;
    }
    struct decimal decimal = decimal_of(str_of(text));
    write_g(out, &decimal);
}

void yml__number_write(struct buf *out, const struct yml_number *n) {
    if (n->kind == YML_INT) {
        buf_add_i64(out, n->i);
    } else if (n->kind == YML_UINT) {
        buf_add_u64(out, n->u);
    } else {
        AUTO(buf_release) struct buf shortest = BUF_INIT(64);
        json_write_double(&shortest, n->d);
        struct decimal d = decimal_of(buf_view(&shortest));
        write_g(out, &d);
    }
}
