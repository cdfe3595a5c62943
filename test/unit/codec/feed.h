/* A reader for streams of documents: it delivers a text in pieces. */
#ifndef TEST_CODEC_FEED_H
#define TEST_CODEC_FEED_H

#include <string.h>

#include "codec/docs.h"

struct feed {
    struct str text; /* what is left of it */
    size_t piece;    /* at most so many bytes at a time */
    bool fails;      /* at the end of the text */
};

/* The docs_read_fn of a struct feed. */
static inline int64_t feed_read(void *ctx, char *to, size_t n, struct err *err) {
    struct feed *f = ctx;
    if (f->text.n == 0 && f->fails)
        return err_set(err, ERR_IO, "disk on fire");
    if (n > f->piece)
        n = f->piece;
    if (n > f->text.n)
        n = f->text.n;
    if (n)
        memcpy(to, f->text.p, n);
    f->text = str_sub(f->text, n, f->text.n);
    return (int64_t)n;
}

#endif
