/*
 * The values of literals: numbers with Go's limits, strings and bytes with their escapes.
 *
 * Follows github.com/google/cel-go parser, func unescape, func unescapeChar,
 * func (*parser) VisitInt, func (*parser) VisitUint.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cel/syntax/lex_int.h"

/* Digits in base 10, or in base 16 behind 0x; false on overflow. */
static bool read_digits(struct str text, uint64_t *out) {
    unsigned base = 10;
    size_t i = 0;
    if (str_starts(text, STR("0x"))) {
        base = 16;
        i = 2;
    }
    uint64_t v = 0;
    for (; i < text.n; i++)
        if (__builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, (uint64_t)ascii_hex_value(text.p[i]), &v))
            return false;
    *out = v;
    return true;
}

static bool read_int(struct str text, bool negative, struct cel_value *out) {
    uint64_t v;
    if (!read_digits(text, &v) || v > (uint64_t)INT64_MAX + negative)
        return false;
    *out = cel_of_int(negative ? (int64_t)(0 - v) : (int64_t)v);
    return true;
}

bool cel__parse_double(struct str text, double *out) {
    char small[64];
    char *copy = text.n < sizeof small ? small : xmalloc(text.n + 1);
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    double d = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    if (isinf(d))
        return false;
    *out = d;
    return true;
}

static bool read_double(struct str text, bool negative, struct cel_value *out) {
    double d;
    if (!cel__parse_double(text, &d))
        return false;
    *out = cel_of_double(negative ? -d : d);
    return true;
}

/* The contents between the quotes of a literal, and whether it is raw. */
static struct str strip_quotes(struct str text, bool *raw) {
    *raw = text.p[0] == 'r' || text.p[0] == 'R';
    text = str_sub(text, *raw, text.n);
    size_t quotes = text.n >= 6 && text.p[1] == text.p[0] && text.p[2] == text.p[0] ? 3 : 1;
    return str_sub(text, quotes, text.n - quotes);
}

/* Decodes the digits of an escape; *p moves behind them. */
static uint32_t read_escape_digits(const char **p, size_t n, unsigned base) {
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v * base + (uint32_t)ascii_hex_value(*(*p)++);
    return v;
}

struct unescape {
    const char *p, *end;
    char *out;
    bool bytes;
    const char *why;
};

static void put_code_point(struct unescape *u, uint32_t v) {
    if (v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF))
        u->why = "invalid unicode code point";
    else
        u->out += utf8_encode(v, u->out);
}

/* One escape sequence, which the lexer has found well formed. */
static void unescape_one(struct unescape *u) {
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    char c = *++u->p;
    const char *simple = strchr(from, c);
    if (c == 'x' || c == 'X' || (c >= '0' && c <= '3')) {
        bool octal = c <= '3';
        u->p += !octal;
        uint32_t v = read_escape_digits(&u->p, octal ? 3 : 2, octal ? 8 : 16);
        if (u->bytes)
            *u->out++ = (char)v;
        else
            put_code_point(u, v);
    } else if (c == 'u' || c == 'U') {
        u->p++;
        uint32_t v = read_escape_digits(&u->p, c == 'u' ? 4 : 8, 16);
        if (u->bytes)
            u->why = "unable to unescape string";
        else
            put_code_point(u, v);
    } else {
        *u->out++ = simple ? to[simple - from] : c;
        u->p++;
    }
}

/* CR LF and CR become LF, escapes their characters. */
static bool read_string(struct arena *a, struct str text, struct cel_value *out, const char **why) {
    bool bytes = out->kind == CEL_BYTES, raw;
    struct str in = strip_quotes(str_sub(text, bytes, text.n), &raw);
    char *start = arena_alloc(a, in.n + 4);
    struct unescape u = {.p = in.p, .end = in.p + in.n, .out = start, .bytes = bytes};
    while (u.p < u.end && !u.why) {
        if (*u.p == '\\' && !raw) {
            unescape_one(&u);
        } else if (*u.p == '\r') {
            u.p += u.p + 1 < u.end && u.p[1] == '\n' ? 2 : 1;
            *u.out++ = '\n';
        } else {
            *u.out++ = *u.p++;
        }
    }
    out->s = start;
    out->n = (uint32_t)(u.out - start);
    *why = u.why;
    return !u.why;
}

bool cel__literal(struct arena *a, const struct cel_token *t, bool negative, struct cel_value *out,
                  const char **why) {
    uint64_t u;
    switch (t->kind) {
    case CEL_TOK_INT:
        *why = "invalid int literal";
        return read_int(t->text, negative, out);
    case CEL_TOK_UINT:
        *why = "invalid uint literal";
        if (!read_digits(str_sub(t->text, 0, t->text.n - 1), &u))
            return false;
        *out = cel_of_uint(u);
        return true;
    case CEL_TOK_FLOAT:
        *why = "invalid double literal";
        return read_double(t->text, negative, out);
    case CEL_TOK_STRING:
    case CEL_TOK_BYTES:
        out->kind = t->kind == CEL_TOK_BYTES ? CEL_BYTES : CEL_STRING;
        return read_string(a, t->text, out, why);
    case CEL_TOK_NULL:
        *out = cel_of_null();
        return true;
    default:
        *out = cel_of_bool(t->kind == CEL_TOK_TRUE);
        return true;
    }
}
