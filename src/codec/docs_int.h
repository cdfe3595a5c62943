/*
 * Between the stream (docs.c) and its carriers (docs_json.c, docs_yml.c): the bytes that were read
 * and not used yet, and what a carrier must be able to do. docs.c owns the source, looks at the
 * first byte that is not white space, and opens a carrier over the source; a carrier finds the
 * bytes that were looked at already still in the window.
 */
#ifndef CODEC_DOCS_INT_H
#define CODEC_DOCS_INT_H

#include "codec/docs.h"

struct docs_source {
    docs_read_fn *read;
    void *ctx;
    char *p; /* the window: bytes [at, n) are read and not consumed */
    size_t at, n, cap;
    bool at_end;           /* the reader has nothing more */
    uint64_t taken;        /* bytes that came from the reader */
    uint32_t line, column; /* of the byte at `at`, 1-based, column in code points */
    uint32_t document;     /* number of the document being read; carriers count it up */
    bool keep_repeats;     /* repeated keys are no error */
    bool repeats;          /* there was one since the value began */
    /*
     * The JSON carrier failed on a document that may be YAML in flow style (or stand behind a
     * "---"), has handed out nothing of it, and has put the window back to its start. docs.c then
     * opens the YAML carrier on what is left; line, column and document say where that is.
     */
    bool maybe_yaml;
};

/* Reads more bytes behind the window: 1 = there are some, 0 = the reader is at its end, -1 = error.
 * Drops what is consumed, so p, at and n move; [at, n) keeps its content. */
int docs__fill(struct docs_source *s, struct err *err);

/* Consumes n bytes of the window and moves line and column over them. */
void docs__consume(struct docs_source *s, size_t n);

/*
 * Consumes blank lines, and stores how many blanks stand before the first byte that is none: they
 * stay in the window, because they mean something in YAML. 1 = there is such a byte, 0 = the stream
 * ends before one, -1 = error.
 */
int docs__skip_blank(struct docs_source *s, size_t *indent, struct err *err);

/* A docs_read_fn whose ctx is a source: first what is in the window, then the reader. For parsers
 * that pull bytes and count lines by themselves: line and column stay where they were. */
int64_t docs__pull(void *source, char *to, size_t n, struct err *err);

struct docs_carrier {
    /* A new carrier over s, which outlives it; nothing is read yet. */
    void *(*open)(struct docs_source *s);
    /* As docs_next: fills all of *out, and s->document goes up behind each document. After
     * DOCS_END or an error it is not called again. */
    int (*next)(void *self, struct arena *a, struct docs_item *out, struct err *err);
    /* Frees what open allocated. */
    void (*free)(void *self);
};

extern const struct docs_carrier docs__json; /* docs_json.c */
extern const struct docs_carrier docs__yml;  /* docs_yml.c */

#endif
