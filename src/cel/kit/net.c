/*
 * IP addresses: read as Go's net/netip reads them, printed as RFC 5952 wants it.
 *
 * Follows std net/netip, func ParseAddr, func ParsePrefix, func (Addr) String.
 */
#include "cel/kit/net_int.h"

#include <string.h>

#include "base/ascii.h"
#include "base/goquote.h"

struct reader {
    struct str in;
    struct buf *why;
};

/* An error, at a place when `at` is not empty. */
static bool fail(const struct reader *r, const char *text, struct str at) {
    buf_add(r->why, STR("ParseAddr("));
    goquote_write(r->why, r->in);
    buf_addf(r->why, "): %s", text);
    if (at.n > 0) {
        buf_add(r->why, STR(" (at "));
        goquote_write(r->why, at);
        buf_add_char(r->why, ')');
    }
    return false;
}

static bool read_v4(const struct reader *r, struct str s, uint8_t fields[4]) {
    unsigned value = 0, pos = 0, digits = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (ascii_is_digit(c)) {
            if (digits == 1 && value == 0)
                return fail(r, "IPv4 field has octet with leading zero", STR(""));
            value = value * 10 + (unsigned)(c - '0');
            digits++;
            if (value > 255)
                return fail(r, "IPv4 field has value >255", STR(""));
        } else if (c == '.') {
            if (i == 0 || i == s.n - 1 || s.p[i - 1] == '.')
                return fail(r, "IPv4 field must have at least one digit", str_sub(s, i, s.n));
            if (pos == 3)
                return fail(r, "IPv4 address too long", STR(""));
            fields[pos++] = (uint8_t)value;
            value = digits = 0;
        } else {
            return fail(r, "unexpected character", str_sub(s, i, s.n));
        }
    }
    if (pos < 3)
        return fail(r, "IPv4 address too short", STR(""));
    fields[3] = (uint8_t)value;
    return true;
}

/* The digits of one group at the start of s; their number in *n. */
static bool read_group(const struct reader *r, struct str s, uint32_t *value, size_t *n) {
    *value = 0;
    for (*n = 0; *n < s.n; ++*n) {
        int digit = ascii_hex_value(s.p[*n]);
        if (digit < 0)
            break;
        *value = *value << 4 | (uint32_t)digit;
        if (*n > 3)
            return fail(r, "each group must have 4 or less digits", s);
    }
    if (*n == 0)
        return fail(r, "each colon-separated field must have at least one digit", s);
    return true;
}

/* The address as far as it is read: bytes, and where :: stood. */
struct v6 {
    uint8_t bytes[16];
    size_t n;
    int ellipsis; /* -1: none */
};

/* Behind a group: a colon and more, perhaps ::. */
static bool read_colon(const struct reader *r, struct str *s, struct v6 *v) {
    if (s->p[0] != ':')
        return fail(r, "unexpected character, want colon", *s);
    if (s->n == 1)
        return fail(r, "colon must be followed by more characters", *s);
    *s = str_sub(*s, 1, s->n);
    if (s->p[0] != ':')
        return true;
    if (v->ellipsis >= 0)
        return fail(r, "multiple :: in address", *s);
    v->ellipsis = (int)v->n;
    *s = str_sub(*s, 1, s->n);
    return true;
}

static bool read_embedded(const struct reader *r, struct str *s, struct v6 *v) {
    if (v->ellipsis < 0 && v->n != 12)
        return fail(r, "embedded IPv4 address must replace the final 2 fields of the address", *s);
    if (v->n + 4 > 16)
        return fail(r, "too many hex fields to fit an embedded IPv4 at the end of the address", *s);
    if (!read_v4(r, *s, v->bytes + v->n))
        return false;
    v->n += 4;
    *s = STR("");
    return true;
}

static bool read_groups(const struct reader *r, struct str *s, struct v6 *v) {
    while (v->n < 16) {
        uint32_t value;
        size_t digits;
        if (!read_group(r, *s, &value, &digits))
            return false;
        if (digits < s->n && s->p[digits] == '.')
            return read_embedded(r, s, v);
        v->bytes[v->n++] = (uint8_t)(value >> 8);
        v->bytes[v->n++] = (uint8_t)value;
        *s = str_sub(*s, digits, s->n);
        if (s->n > 0 && !read_colon(r, s, v))
            return false;
        if (s->n == 0)
            return true;
    }
    return true;
}

/* Zeros for the ::, if there is one. */
static bool expand(const struct reader *r, struct v6 *v) {
    if (v->n == 16) {
        if (v->ellipsis >= 0)
            return fail(r, "the :: must expand to at least one field of zeros", STR(""));
        return true;
    }
    if (v->ellipsis < 0)
        return fail(r, "address string too short", STR(""));
    size_t at = (size_t)v->ellipsis, missing = 16 - v->n;
    memmove(v->bytes + at + missing, v->bytes + at, v->n - at);
    memset(v->bytes + at, 0, missing);
    return true;
}

static bool read_v6(const struct reader *r, struct cel_ip *out, bool *zone) {
    struct str s = r->in, rest;
    struct v6 v = {.ellipsis = -1};
    *zone = str_cut(s, '%', &s, &rest);
    if (*zone && rest.n == 0)
        return fail(r, "zone must be a non-empty string", STR(""));
    if (str_starts(s, STR("::"))) {
        v.ellipsis = 0;
        s = str_sub(s, 2, s.n);
    }
    if ((s.n > 0 || v.ellipsis < 0) && !read_groups(r, &s, &v))
        return false;
    if (s.n > 0)
        return fail(r, "trailing garbage after address", s);
    if (!expand(r, &v))
        return false;
    out->n = 16;
    memcpy(out->bytes, v.bytes, 16);
    return true;
}

bool cel__parse_addr(struct str text, struct cel_ip *out, bool *zone, struct buf *why) {
    struct reader r = {text, why};
    *zone = false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.') {
            out->n = 4;
            return read_v4(&r, text, out->bytes);
        }
        if (text.p[i] == ':')
            return read_v6(&r, out, zone);
        if (text.p[i] == '%')
            return fail(&r, "missing IPv6 address", STR(""));
    }
    return fail(&r, "unable to parse IP", STR(""));
}

bool cel__is_4in6(const struct cel_ip *ip) {
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    return ip->n == 16 && memcmp(ip->bytes, prefix, sizeof prefix) == 0;
}

/* ---- text ---- */

/* The longest run of at least two zero groups; the first of several. */
static void longest_zeros(const uint8_t *bytes, unsigned *start, unsigned *end) {
    *start = *end = 8;
    for (unsigned i = 0; i < 8; i++) {
        unsigned k = i;
        while (k < 8 && bytes[2 * k] == 0 && bytes[2 * k + 1] == 0)
            k++;
        if (k - i >= 2 && k - i > *end - *start) {
            *start = i;
            *end = k;
        }
        if (k > i)
            i = k;
    }
}

void cel__ip_write(struct buf *out, const struct cel_ip *ip) {
    const uint8_t *b = ip->bytes;
    if (ip->n == 4) {
        buf_addf(out, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        return;
    }
    unsigned start, end;
    longest_zeros(b, &start, &end);
    for (unsigned i = 0; i < 8; i++) {
        if (i == start) {
            buf_add(out, STR("::"));
            i = end;
            if (i >= 8)
                return;
        } else if (i > 0) {
            buf_add_char(out, ':');
        }
        buf_addf(out, "%x", (unsigned)b[2 * i] << 8 | b[2 * i + 1]);
    }
}
