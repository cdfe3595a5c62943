#include "base/utf8.h"

#include <string.h>

static bool is_tail(unsigned char c) {
    return (c & 0xC0) == 0x80;
}

uint32_t utf8_decode(struct str s, size_t *len) {
    const unsigned char *p = (const unsigned char *)s.p;
    *len = 1;
    if (p[0] < 0x80)
        return p[0];
    /* Lead byte -> sequence length, and the smallest code point that needs it. */
    size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (p[0] < 0xC2 || p[0] > 0xF4 || s.n < n)
        return UTF8_INVALID;
    uint32_t cp = p[0] & (0x7FU >> n);
    for (size_t i = 1; i < n; i++) {
        if (!is_tail(p[i]))
            return UTF8_INVALID;
        cp = cp << 6 | (p[i] & 0x3F);
    }
    if (cp < least[n] || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        return UTF8_INVALID;
    *len = n;
    return cp;
}

size_t utf8_valid_prefix(struct str s) {
    size_t at = 0;
    while (at < s.n) {
        uint64_t word;
        /* Manifests are nearly all ASCII: eight bytes at a time while no high bit is set. */
        while (s.n - at >= sizeof word) {
            memcpy(&word, s.p + at, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
            at += sizeof word;
        }
        if (at == s.n)
            break;
        size_t len;
        if (utf8_decode(str_sub(s, at, s.n), &len) == UTF8_INVALID)
            break;
        at += len;
    }
    return at;
}

size_t utf8_encode(uint32_t cp, char out[4]) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)(lead[n] | cp);
    return n;
}

size_t utf8_count(struct str s) {
    size_t count = 0, len;
    for (size_t at = 0; at < s.n; at += len, count++)
        (void)utf8_decode(str_sub(s, at, s.n), &len);
    return count;
}

/* Unicode's White_Space. */
static bool is_space(uint32_t cp) {
    if (cp < 0x80)
        return cp == ' ' || (cp >= '\t' && cp <= '\r');
    static const struct {
        uint32_t first, last;
    } wide[] = {{0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (cp >= wide[i].first && cp <= wide[i].last)
            return true;
    return false;
}

/* Length of the last character of s (s.n > 0) when it is white space, or 0. */
static size_t space_at_end(struct str s) {
    size_t n = 1, len;
    while (n < 4 && n < s.n && is_tail((unsigned char)s.p[s.n - n]))
        n++;
    uint32_t cp = utf8_decode(str_sub(s, s.n - n, s.n), &len);
    return len == n && is_space(cp) ? n : 0;
}

struct str utf8_trim_space(struct str s) {
    size_t len;
    while (s.n && is_space(utf8_decode(s, &len)))
        s = str_sub(s, len, s.n);
    while (s.n && (len = space_at_end(s)))
        s.n -= len;
    return s;
}
