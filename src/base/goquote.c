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

void goquote_write(struct buf *out, struct str s) {
    buf_add_char(out, '"');
    for (size_t at = 0, len; at < s.n; at += len) {
        uint32_t cp = utf8_decode(str_sub(s, at, s.n), &len);
        if (cp == UTF8_INVALID)
            buf_addf(out, "\\x%02x", (unsigned char)s.p[at]);
        else if (cp == '"' || cp == '\\')
            buf_addf(out, "\\%c", (char)cp);
        else if (goquote_is_print(cp))
            buf_add(out, str_sub(s, at, at + len));
        else
            write_escape(out, cp);
    }
    buf_add_char(out, '"');
}
