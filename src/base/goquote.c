/*
 * Texts as Go's %q shows them.
 *
 * Follows std strconv, func Quote, func IsPrint.
 */
#include "base/goquote.h"

#include <string.h>

#include "base/goquote_table.h"
#include "base/utf8.h"

#define PLANE(number) [number] = {plane_##number, sizeof plane_##number / sizeof plane_##number[0]}

static const struct {
    const uint16_t *bounds;
    size_t n;
} planes[17] = {PLANE(0), PLANE(1), PLANE(2), PLANE(3), PLANE(14)};

bool goquote_is_print(uint32_t cp) {
    if (cp > 0x10FFFF)
        return false;
    const uint16_t *bounds = planes[cp >> 16].bounds;
    size_t lo = 0, hi = planes[cp >> 16].n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (bounds[mid] <= (cp & 0xFFFF))
            lo = mid + 1;
        else
            hi = mid;
    }
    /* lo bounds are at or below cp; after an odd number of them a run is open. */
    return lo % 2 == 1;
}

static void write_escape(struct buf *out, uint32_t cp) {
    static const char named[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    const char *hit = cp && cp < ' ' ? strchr(named, (int)cp) : NULL;
    if (hit)
        buf_addf(out, "\\%c", letters[hit - named]);
    else if (cp < ' ' || cp == 0x7F)
        buf_addf(out, "\\x%02x", cp);
    else
        buf_addf(out, cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
}

/* How many bytes at the start of s stand for themselves: printable ASCII but quote and backslash.
 */
static size_t count_plain(struct str s) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7F && s.p[n] != '"' && s.p[n] != '\\')
        n++;
    return n;
}

/* Writes the first character, which does not; gives its length. */
static size_t write_odd(struct buf *out, struct str s) {
    size_t len;
    uint32_t cp = utf8_decode(s, &len);
    if (cp == UTF8_INVALID)
        buf_addf(out, "\\x%02x", (unsigned char)s.p[0]);
    else if (cp == '"' || cp == '\\')
        buf_addf(out, "\\%c", (char)cp);
    else if (goquote_is_print(cp))
        buf_add(out, str_sub(s, 0, len));
    else
        write_escape(out, cp);
    return len;
}

void goquote_write(struct buf *out, struct str s) {
    buf_add_char(out, '"');
    while (s.n) {
        size_t plain = count_plain(s);
        buf_add(out, str_sub(s, 0, plain));
        s = str_sub(s, plain, s.n);
        if (s.n)
            s = str_sub(s, write_odd(out, s), s.n);
    }
    buf_add_char(out, '"');
}
