/* The door to the heap: zero sizes, zeroed memory, and how the program ends when there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "../death.h"
#include "base/alloc.h"

/* Sanitizers' own allocators answer an impossible size with NULL then, as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void zero_bytes_are_a_place(void **state) {
    (void)state;
    void *p = xmalloc(0), *q = xcalloc(0, 8), *r = xrealloc(NULL, 0);
    assert_true(p && q && r);
    r = xrealloc(r, 0);
    assert_non_null(r);
    free(p);
    free(q);
    free(r);
}

static void calloc_zeroes_and_realloc_keeps(void **state) {
    (void)state;
    unsigned char *p = xcalloc(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(p[i], 0);
    memset(p, 7, 300);
    p = xrealloc(p, 100000);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(p[i], 7);
    free(p);
}

static void products(void **state) {
    (void)state;
    assert_int_equal(size_mul(0, SIZE_MAX), 0);
    assert_int_equal(size_mul(1 << 16, 1 << 15), (size_t)1 << 31);
    assert_true(size_mul(SIZE_MAX, 1) == SIZE_MAX);
}

static volatile size_t impossible = SIZE_MAX / 2 - 4096;

static void malloc_impossible(void *arg) {
    (void)arg;
    free(xmalloc(impossible));
}

static void calloc_impossible(void *arg) {
    (void)arg;
    free(xcalloc(impossible, 1));
}

static void calloc_overflow(void *arg) {
    (void)arg;
    free(xcalloc(impossible, 16));
}

static void realloc_impossible(void *arg) {
    (void)arg;
    free(xrealloc(NULL, impossible));
}

static void mul_overflow(void *arg) {
    (void)arg;
    size_mul(impossible, 3);
}

static void report_bug(void *arg) {
    (void)arg;
    BUG("the sky fell");
}

static const struct {
    void (*f)(void *);
    const char *said;
} deaths[] = {
    {malloc_impossible, "berth: out of memory (9223372036854771711 bytes)"},
    {calloc_impossible, "berth: out of memory (9223372036854771711 bytes)"},
    {calloc_overflow, "berth: out of memory (18446744073709551615 bytes)"},
    {realloc_impossible, "berth: out of memory (9223372036854771711 bytes)"},
    {mul_overflow, "berth: out of memory (18446744073709551615 bytes)"},
    {report_bug, "alloc_test.c"},
    {report_bug, ": the sky fell\n"},
};

static void the_end_has_a_message(void **state) {
    (void)state;
    char said[4096];
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        bool aborted = death_aborts(deaths[i].f, NULL, said, sizeof said);
        if (!aborted || !strstr(said, deaths[i].said))
            fail_msg("row %zu: '%s' lacks '%s'", i, said, deaths[i].said);
    }
}

static void count_up(int **p) {
    ++**p;
}

static void auto_runs_at_the_end_of_the_scope(void **state) {
    (void)state;
    int runs = 0;
    {
        AUTO(count_up) int *p = &runs;
        assert_int_equal(*p, 0);
    }
    assert_int_equal(runs, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_a_place),
        cmocka_unit_test(calloc_zeroes_and_realloc_keeps),
        cmocka_unit_test(products),
        cmocka_unit_test(the_end_has_a_message),
        cmocka_unit_test(auto_runs_at_the_end_of_the_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
