/*
 * Reads a data file of tests: sections "=== name", an input, a line "===>", and what is expected.
 */
#ifndef TEST_CODEC_CASES_H
#define TEST_CODEC_CASES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

struct test_case {
    struct str name, input, expected;
};

/* The whole file in the arena; ends the test program when it cannot be read. */
static inline struct str cases_file(struct arena *a, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "cannot open %s (run from the root of the repository)\n", path);
        exit(1);
    }
    size_t cap = 1 << 20;
    char *p = arena_alloc(a, cap);
    size_t n = fread(p, 1, cap, f);
    fclose(f);
    return (struct str){p, n};
}

/* Takes the next section off *rest; false when there is none. */
static inline bool cases_next(struct str *rest, struct test_case *out) {
    size_t start = str_find(*rest, STR("=== "));
    if (start == STR_NONE)
        return false;
    struct str s = str_sub(*rest, start + 4, rest->n);
    str_cut(s, '\n', &out->name, &s);
    size_t arrow = str_find(s, STR("===>\n"));
    if (arrow == STR_NONE)
        return false;
    out->input = str_sub(s, 0, arrow);
    s = str_sub(s, arrow + 5, s.n);
    size_t end = str_starts(s, STR("=== ")) ? 0 : str_find(s, STR("\n=== "));
    if (end == STR_NONE)
        end = s.n;
    else if (end || s.p[0] == '\n')
        end++;
    out->expected = str_sub(s, 0, end);
    *rest = str_sub(s, end, s.n);
    return true;
}

#endif
