/*
 * Any text through parser, checker, validators and estimate: the same outcome each time, in memory
 * that the length of the text bounds; and the written form of what was checked has the same type,
 * estimate and complaints. As a pattern, a text that is called plain must compile.
 */
#include "cel_fuzz.h"

#include "cel/kit/pattern_int.h"

/* Bytes of a compile: a tree grows with its text, and macros repeat parts of it up to a limit. */
enum { BASE_BYTES = 32U << 20, BYTES_PER_BYTE = 4096 };

static bool same_check(struct arena *a, const struct cel_ast *x, const struct cel_ast *y) {
    struct cel_range rx = cel_estimate(x), ry = cel_estimate(y);
    return str_eq(cel_ast_type(x, a), cel_ast_type(y, a)) && rx.min == ry.min && rx.max == ry.max &&
           cel_ast_is_bool(x) == cel_ast_is_bool(y);
}

static void try_pattern(struct str text) {
    if (!cel__pattern_plain(text))
        return;
    AUTO(buf_release) struct buf error = BUF_INIT(4096);
    size_t steps = LIMIT_CEL_REGEX_STEPS;
    struct cel_regex *re = cel__regex_new(text, &steps, &error);
    CHECK(re);
    cel__regex_free(re);
}

FUZZ_SMALL_INPUTS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    struct arena a = {0};
    try_pattern(text);
    const struct cel_ast *first = cel_compile(fuzz_env(), &a, text, 0);
    CHECK(a.bytes <= BASE_BYTES + size * BYTES_PER_BYTE);
    const struct cel_ast *again = cel_compile(fuzz_env(), &a, text, 0);
    CHECK(same_issues(first, again));
    if (cel_ast_issues(first).n == 0) {
        CHECK(same_check(&a, first, again));
        CHECK(cel_estimate(first).min <= cel_estimate(first).max);
        struct str once = written(&a, first);
        const struct cel_ast *second = cel_compile(fuzz_env(), &a, once, 0);
        if (once.n <= MOST_CODE_POINTS) {
            CHECK(cel_ast_issues(second).n == 0);
            CHECK(same_check(&a, first, second));
        }
    }
    arena_release(&a);
    return 0;
}
