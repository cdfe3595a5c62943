/*
 * A growing byte buffer that is born with a maximum.
 *
 * Appending never fails at the call: what would pass the maximum sets `full` and is dropped, so a
 * writer appends freely and asks once, at the end, whether everything fitted.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>

#include "base/str.h"

struct buf {
    char *p;
    size_t n, cap, max;
    bool full; /* something was dropped */
};

/* An empty buffer for at most max bytes; it allocates when first written to. */
#define BUF_INIT(most) ((struct buf){.max = (most)})

/* Frees the bytes; the buffer is empty and keeps its maximum. */
void buf_release(struct buf *b);

/* Empties the buffer and clears `full`; the memory stays for reuse. */
void buf_clear(struct buf *b);

/* The bytes written so far; valid until the next append. */
struct str buf_view(const struct buf *b);

/* buf_room for a buffer that must grow for it. */
char *buf_grow(struct buf *b, size_t n);

/*
 * Room for n more bytes behind b->p + b->n, for callers that fill it themselves and then add to
 * b->n. NULL, with `full` set, when that would pass the maximum.
 */
static inline char *buf_room(struct buf *b, size_t n) {
    return n <= b->cap - b->n ? b->p + b->n : buf_grow(b, n);
}

void buf_add(struct buf *b, struct str s);                /* appends s */
void buf_add_char(struct buf *b, char c);                 /* appends one byte */
void buf_add_hex(struct buf *b, const void *p, size_t n); /* appends two digits for each byte */
void buf_add_fill(struct buf *b, char c, size_t n);       /* appends n times c */
void buf_add_i64(struct buf *b, int64_t v);               /* appends v in decimal */
void buf_add_u64(struct buf *b, uint64_t v);              /* appends v in decimal */

/* printf at the end of the buffer, by print_text. */
__attribute__((format(printf, 2, 3))) void buf_addf(struct buf *b, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void buf_vaddf(struct buf *b, const char *fmt, va_list args);

#endif
