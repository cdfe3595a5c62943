/* For tests whose cases are lines of JSON in test/sched. */
#ifndef TEST_SCHED_LINES_H
#define TEST_SCHED_LINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/arena.h"
#include "codec/json.h"

static inline struct str read_file(struct arena *a, const char *path) {
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = arena_alloc(a, MOST);
    size_t n = fread(p, 1, MOST, f);
    assert_true(n < MOST);
    fclose(f);
    return (struct str){p, n};
}

/* Runs each line of the file; returns how many there are. */
static inline size_t run_lines(const char *path,
                               void (*run)(struct arena *a, const struct json *)) {
    struct arena a = {0};
    struct str rest = read_file(&a, path), line;
    size_t count = 0;
    for (; rest.n; count++) {
        struct json c;
        struct err err;
        str_cut(rest, '\n', &line, &rest);
        if (json_parse(&a, line, NULL, &c, &err) < 0)
            fail_msg("%s:%zu: %s", path, count + 1, err.msg);
        run(&a, &c);
    }
    arena_release(&a);
    return count;
}

#endif
