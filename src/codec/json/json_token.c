/*
 * The rarer tokens: strings with escapes, and numbers that are not plain integers. The parser's
 * loop hands them over as soon as it sees that they are not of the common kind.
 *
 * Follows std encoding/json, func unquoteBytes, func getu4, func isValidNumber.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "codec/json/json_int.h"
#include "codec/json/json_scan.h"

static const char *text_end(const struct json__run *run) {
    return run->text.p + run->text.n;
}

/* --- strings --- */

/* What stands for the letter behind a backslash; 0 = none, 'u' is treated apart. */
static const char short_escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Checks the escape at p, which is a backslash, and gives the place behind it. */
static const char *skip_escape(struct json__run *run, const char *p) {
    const char *end = text_end(run);
    p++;
    if (p < end && short_escapes[(unsigned char)*p])
        return p + 1;
    if (p == end || *p != 'u')
        return json__unexpected(run, JSON_FAULT_ESCAPE, p);
    p++;
    for (int i = 0; i < 4; i++, p++) {
        if (p == end || ascii_hex_value(*p) < 0)
            return json__unexpected(run, JSON_FAULT_HEX, p);
    }
    return p;
}

/* The closing quote, given the first byte that is not plain; all escapes on the way are well
 * formed. */
static const char *find_quote(struct json__run *run, const char *p) {
    const char *end = text_end(run);
    while (p < end && *p != '"') {
        if (*p != '\\')
            return json__fault(run, JSON_FAULT_STRING, p);
        if (!(p = skip_escape(run, p)))
            return NULL;
        p = json__scan_string(p, end);
    }
    return p < end ? p : json__fault(run, JSON_FAULT_END, p);
}

#ifdef JSON_SCAN_SSE2
static unsigned mask_of(__m128i v, char c) {
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

/* Likewise 16 bytes at a time and without a look at the escapes; NULL = not sure. Backslashes
 * in a row, as in JSON within JSON within JSON, are left to the careful way. */
static const char *guess_quote(const char *p, const char *end) {
    unsigned escaped = 0; /* bit 0: the byte before this block was a backslash */
    for (; end - p >= 16; p += 16, escaped >>= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned slashes = mask_of(v, '\\');
        escaped |= slashes << 1;
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
        unsigned unsure = (slashes & escaped) | (unsigned)_mm_movemask_epi8(control);
        unsigned quotes = mask_of(v, '"') & ~escaped & 0xFFFF;
        if (quotes)
            return unsure & (quotes - 1) & ~quotes ? NULL : p + __builtin_ctz(quotes);
        if (unsure)
            return NULL;
    }
    return NULL;
}
#else
static const char *guess_quote(const char *p, const char *end) {
    (void)p, (void)end;
    return NULL;
}
#endif

#define NO_UNIT UINT32_MAX

/* The code unit of the \u at p, or NO_UNIT when it is none or does not end before the quote. */
static uint32_t code_unit(const char *p, const char *quote) {
    if (quote - p < 6 || p[0] != '\\' || p[1] != 'u')
        return NO_UNIT;
    int v = 0;
    for (int i = 2; i < 6; i++) {
        int digit = ascii_hex_value(p[i]);
        if (digit < 0)
            return NO_UNIT;
        v = v << 4 | digit;
    }
    return (uint32_t)v;
}

/* Decodes the escape at p and gives the place behind it; NULL when it is malformed, or one half of
 * a pair of surrogates. */
static const char *decode_escape(const char *p, const char *quote, char **to) {
    char plain = short_escapes[(unsigned char)p[1]];
    if (plain) {
        *(*to)++ = plain;
        return p + 2;
    }
    uint32_t cp = code_unit(p, quote);
    if (cp == NO_UNIT)
        return NULL;
    p += 6;
    if (cp >= 0xD800 && cp <= 0xDFFF) {
        uint32_t low = code_unit(p, quote);
        if (cp >= 0xDC00 || low < 0xDC00 || low > 0xDFFF)
            return NULL;
        cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *to += utf8_encode(cp, *to);
    return p;
}

/* Copies up to the next backslash, or to the quote. */
static const char *copy_segment(const char *p, const char *quote, char **to) {
    char *w = *to;
#ifdef JSON_SCAN_SSE2
    for (; quote - p >= 16; p += 16, w += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        _mm_storeu_si128((__m128i *)(void *)w, v);
        int slashes = _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        if (slashes) {
            *to = w + __builtin_ctz((unsigned)slashes);
            return p + __builtin_ctz((unsigned)slashes);
        }
    }
#endif
    while (p < quote && *p != '\\')
        *w++ = *p++;
    *to = w;
    return p;
}

const char *json__unescape(struct json__run *run, const char *from, const char *stop,
                           struct str *out) {
    const char *quote = guess_quote(stop, text_end(run));
    if (!quote && !(quote = find_quote(run, stop)))
        return NULL;
    struct str raw = {from, (size_t)(quote - from)};
    /* Never longer than the literal: no escape is shorter than its UTF-8. */
    char *copy = arena_alloc(run->arena, sizeof from + raw.n);
    memcpy(copy, &from, sizeof from);
    char *to = copy += sizeof from;
    for (const char *p = from; (p = copy_segment(p, quote, &to)) < quote;) {
        const char *next = decode_escape(p, quote, &to);
        if (!next)
            return find_quote(run, stop) ? json__fault(run, JSON_FAULT_SURROGATE, p) : NULL;
        p = next;
    }
    size_t good = utf8_valid_prefix(raw);
    if (good < raw.n)
        return json__fault(run, JSON_FAULT_UTF8, from + good);
    *out = (struct str){copy, (size_t)(to - copy)};
    return quote + 1;
}

/* --- numbers --- */

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && (unsigned char)(*p - '0') < 10)
        p++;
    return p;
}

/* One digit or more, or the fault. */
static const char *need_digits(struct json__run *run, const char *p, enum json_fault fault) {
    const char *stop = skip_digits(p, text_end(run));
    return stop > p ? stop : json__unexpected(run, fault, p);
}

/* Fraction and exponent, both optional; what may not follow a number is the caller's business. */
static const char *skip_fraction(struct json__run *run, const char *p) {
    const char *end = text_end(run);
    if (p < end && *p == '.' && !(p = need_digits(run, p + 1, JSON_FAULT_POINT)))
        return NULL;
    if (p == end || (*p | 0x20) != 'e')
        return p;
    p++;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    return need_digits(run, p, JSON_FAULT_EXPONENT);
}

static bool fits_integer(struct str digits, bool negative, struct json *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(digits.p[i] - '0'), &value))
            return false;
    }
    if (value > (uint64_t)INT64_MAX + negative) {
        *out = (struct json){.kind = JSON_UINT, .u = value};
        return !negative;
    }
    *out = (struct json){.kind = JSON_INT, .i = (int64_t)(negative ? 0 - value : value)};
    return true;
}

/* Can a literal of this form be too large for a double? Without an exponent it takes 309 digits. */
static bool is_finite(struct str literal) {
    if (literal.n < 300 && str_find_char(literal, 'e') == STR_NONE &&
        str_find_char(literal, 'E') == STR_NONE)
        return true;
    return __builtin_isfinite(json__literal_double(literal));
}

const char *json__number(struct json__run *run, const char *from, const char *stop,
                         struct json *out) {
    bool negative = *from == '-';
    const char *digits = from + negative, *end = text_end(run);
    if (stop == digits)
        return json__unexpected(run, JSON_FAULT_NUMBER, digits);
    if (*digits == '0')
        stop = digits + 1; /* whatever follows is not part of the number */
    const char *p = skip_fraction(run, stop);
    if (!p)
        return NULL;
    if (p == end && !run->last)
        return json__fault(run, JSON_FAULT_END, p);
    if (p == stop && fits_integer((struct str){digits, (size_t)(p - digits)}, negative, out))
        return p;
    struct str literal = {from, (size_t)(p - from)};
    if (!is_finite(literal)) {
        run->fault_of = literal;
        return json__fault(run, JSON_FAULT_RANGE, from);
    }
    *out = (struct json){.kind = JSON_FLOAT, .n = (uint32_t)literal.n, .s = from};
    return p;
}
