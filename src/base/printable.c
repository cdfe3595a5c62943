#include "base/printable.h"

#include "base/utf8.h"

/* Code points that are not shown as they are, beside control characters: the marks, embeddings,
 * overrides and isolates of bidirectional text, and what ends a line in Unicode. */
static const struct range {
    uint32_t from, to;
} hidden[] = {
    {0x7F, 0x9F}, {0x61C, 0x61C}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069},
};

static bool is_hidden(uint32_t cp) {
    if (cp < ' ')
        return true;
    for (size_t i = 0; cp >= hidden[0].from && i < sizeof hidden / sizeof *hidden; i++)
        if (cp >= hidden[i].from && cp <= hidden[i].to)
            return true;
    return false;
}

/* The next character, of *len bytes, is shown as \xNN (4), as \uNNNN (6), or as it is (0). */
static size_t escape_size(struct str text, size_t *len, uint32_t *cp) {
    *cp = utf8_decode(text, len);
    if (*cp == UTF8_INVALID) {
        *cp = (unsigned char)text.p[0];
        return 4;
    }
    if (!is_hidden(*cp))
        return 0;
    return *len == 1 ? 4 : 6;
}

static void add(struct buf *out, struct str text, bool lines) {
    size_t len, start = 0;
    uint32_t cp;
    for (size_t i = 0; i < text.n; i += len) {
        size_t escape = escape_size(str_sub(text, i, text.n), &len, &cp);
        if (!escape || (lines && (cp == '\n' || cp == '\t')))
            continue;
        buf_add(out, str_sub(text, start, i));
        buf_addf(out, escape == 4 ? "\\x%02x" : "\\u%04x", cp);
        start = i + len;
    }
    buf_add(out, str_sub(text, start, text.n));
}

void printable_add(struct buf *out, struct str text) {
    add(out, text, false);
}

void printable_add_lines(struct buf *out, struct str text) {
    add(out, text, true);
}

size_t printable_size(struct str text) {
    size_t n = 0, len;
    uint32_t cp;
    for (size_t i = 0; i < text.n; i += len) {
        size_t escape = escape_size(str_sub(text, i, text.n), &len, &cp);
        n += escape ? escape : len;
    }
    return n;
}
