#include "base/buf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/print.h"

enum { FIRST_CAPACITY = 256 };

void buf_release(struct buf *b) {
    free(b->p);
    *b = BUF_INIT(b->max);
}

void buf_clear(struct buf *b) {
    b->n = 0;
    b->full = false;
}

struct str buf_view(const struct buf *b) {
    return (struct str){b->p, b->n};
}

char *buf_grow(struct buf *b, size_t n) {
    if (n > b->max - b->n) {
        b->full = true;
        return NULL;
    }
    size_t cap = b->cap ? b->cap * 2 : FIRST_CAPACITY;
    if (cap < b->n + n)
        cap = b->n + n;
    if (cap > b->max)
        cap = b->max;
    b->p = xrealloc(b->p, cap + 1); /* print_text writes a NUL behind what counts */
    b->cap = cap;
    return b->p + b->n;
}

void buf_add(struct buf *b, struct str s) {
    if (s.n == 0)
        return;
    char *room = buf_room(b, s.n);
    if (!room)
        return;
    memcpy(room, s.p, s.n);
    b->n += s.n;
}

void buf_add_char(struct buf *b, char c) {
    char *room = buf_room(b, 1);
    if (!room)
        return;
    *room = c;
    b->n++;
}

void buf_add_hex(struct buf *b, const void *p, size_t n) {
    const unsigned char *bytes = p;
    for (size_t i = 0; i < n; i++) {
        char digits[] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
        buf_add(b, (struct str){digits, sizeof digits});
    }
}

void buf_add_fill(struct buf *b, char c, size_t n) {
    char *room = n ? buf_room(b, n) : NULL;
    if (!room)
        return;
    memset(room, c, n);
    b->n += n;
}

void buf_add_u64(struct buf *b, uint64_t v) {
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    buf_add(b, (struct str){digits + at, sizeof digits - at});
}

void buf_add_i64(struct buf *b, int64_t v) {
    if (v < 0)
        buf_add_char(b, '-');
    buf_add_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list args) {
    size_t n = print_text(NULL, 0, fmt, args);
    char *room = n ? buf_room(b, n) : NULL;
    if (room) {
        print_text(room, n + 1, fmt, args);
        b->n += n;
    }
}

void buf_addf(struct buf *b, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_vaddf(b, fmt, args);
    va_end(args);
}
