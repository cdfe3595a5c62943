/* Precedence: a list in ascending order, every pair of it compared; and what counts as equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "semver/semver.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const ascending[] = {
    "0.0.0-0",
    "0.0.0",
    "0.0.1",
    "1.0.0--",
    "1.2.3-0",
    "1.2.3-1",
    "1.2.3-1.0",
    "1.2.3-1.a",
    "1.2.3-2",
    "1.2.3-10",
    "1.2.3-18446744073709551615",
    "1.2.3--",
    "1.2.3-0a",
    "1.2.3-10a",
    "1.2.3-1a",
    "1.2.3-A",
    "1.2.3-Z",
    "1.2.3-a",
    "1.2.3-a-b",
    "1.2.3-alpha",
    "1.2.3-alpha.1",
    "1.2.3-alpha.1.1",
    "1.2.3-alpha.beta",
    "1.2.3-beta",
    "1.2.3-beta.2",
    "1.2.3-beta.11",
    "1.2.3",
    "1.2.4-0",
    "1.2.4",
    "1.2.10",
    "1.3.0",
    "1.10.0",
    "2.0.0",
    "10.0.0",
    "18446744073709551615.0.0",
};

static const char *const equal[][2] = {
    {"1.2.3", "v1.2.3"},     {"1.2.3", "1.2.3+build"},       {"1.2.3+a", "1.2.3+b"},
    {"1", "01.00.0"},        {"1.2.3-rc.1", "1.2.3-rc.1+x"}, {"1.2.3-10", " 1.2.3-10\n"},
    {"0.0.0-0+1", "0.0.-0"},
};

static struct semver parse(struct arena *a, const char *text) {
    struct semver v;
    assert_int_equal(semver_parse_tolerant(a, str_of(text), &v, NULL), 0);
    return v;
}

static void orders_every_pair(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(ascending); i++) {
        for (size_t j = 0; j < COUNT(ascending); j++) {
            struct semver a = parse(&arena, ascending[i]), b = parse(&arena, ascending[j]);
            assert_int_equal(semver_cmp(&a, &b), (i > j) - (i < j));
        }
    }
    arena_release(&arena);
}

static void ignores_build_and_spelling(void **state) {
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(equal); i++) {
        struct semver a = parse(&arena, equal[i][0]), b = parse(&arena, equal[i][1]);
        assert_int_equal(semver_cmp(&a, &b), 0);
        assert_int_equal(semver_cmp(&b, &a), 0);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_every_pair),
        cmocka_unit_test(ignores_build_and_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
