/* Runs the rows of test/time/vectors.test of one kind: "what|input|result". */
#ifndef TEST_CODEC_VECTORS_H
#define TEST_CODEC_VECTORS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cases.h"

typedef int vectors_fn(struct arena *a, struct str input, struct buf *out, struct err *err);

/* Replaces each \xNN by its byte. */
static inline struct str vectors_unescape(struct arena *a, struct str s) {
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool escape = s.p[i] == '\\';
        char hex[3] = {escape ? s.p[i + 2] : '0', escape ? s.p[i + 3] : '0', '\0'};
        p[n++] = escape ? (char)strtol(hex, NULL, 16) : s.p[i];
        i += escape ? 3 : 0;
    }
    return (struct str){p, n};
}

static inline size_t vectors_run(const char *what, vectors_fn *run) {
    struct arena a = {0};
    struct str rest = cases_file(&a, "test/time/vectors.test"), line, kind, input;
    struct buf out = BUF_INIT(1 << 16);
    size_t count = 0;
    while (str_cut(rest, '\n', &line, &rest)) {
        if (!str_cut(line, '|', &kind, &line) || !str_is(kind, what))
            continue;
        str_cut(line, '|', &input, &line);
        struct str want = vectors_unescape(&a, line);
        struct err err = {0};
        buf_clear(&out);
        if (run(&a, vectors_unescape(&a, input), &out, &err) < 0)
            buf_addf(&out, "error %s", err.msg);
        if (!str_eq(buf_view(&out), want))
            fail_msg("%s '%.*s' gives\n%.*s\nnot\n%.*s", what, STR_ARG(input),
                     STR_ARG(buf_view(&out)), STR_ARG(want));
        count++;
    }
    buf_release(&out);
    arena_release(&a);
    return count;
}

#endif
