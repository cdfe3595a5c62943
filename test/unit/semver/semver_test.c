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
    "1.2.3-alphabet",
    "1.2.3-alphabetical-order",
    "1.2.3-alphabetical-order.0",
    "1.2.3-alphabetical-order.1",
    "1.2.3-alphabetical-orders",
    "1.2.3-beta",
    "1.2.3-beta.2",
    "1.2.3-beta.11",
    "1.2.3",
    "1.2.4-0",
    "1.2.4",
    "1.2.10",
    "1.2.15",
    "1.2.16",
    "1.2.255",
    "1.2.256",
    "1.2.65535",
    "1.2.65536",
    "1.2.4294967295",
    "1.2.4294967296",
    "1.2.18446744073709551614",
    "1.2.18446744073709551615-0",
    "1.2.18446744073709551615-0.0",
    "1.2.18446744073709551615",
    "1.3.0",
    "1.10.0",
    "2.0.0",
    "10.0.0",
    "18446744073709551615.0.0",
    "18446744073709551615.0.1-0",
    "18446744073709551615.0.1",
    "18446744073709551615.1.0",
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

/* Words of two keys that are equal and have more behind them; -1 if a word is out of order. */
static int count_undecided(const char *less, const char *greater) {
    struct arena arena = {0};
    struct semver a = parse(&arena, less), b = parse(&arena, greater);
    struct semver_key x = semver_key_of(&a), y = semver_key_of(&b);
    arena_release(&arena);
    int i = 0;
    while (i < SEMVER_KEY_WORDS && x.words[i] == y.words[i] && x.words[i] & SEMVER_KEY_MORE)
        i++;
    return i == SEMVER_KEY_WORDS || x.words[i] < y.words[i] ? i : -1;
}

/* What keys say is true, and they say it of nearly all pairs. */
static void keys_are_in_order(void **state) {
    (void)state;
    size_t by_undecided[SEMVER_KEY_WORDS + 1] = {0};
    for (size_t i = 0; i < COUNT(ascending); i++) {
        for (size_t j = 0; j < i; j++) {
            int n = count_undecided(ascending[j], ascending[i]);
            if (n < 0)
                fail_msg("%s, %s", ascending[j], ascending[i]);
            by_undecided[n]++;
        }
    }
    /* five that begin with "alphabet", four and four with the largest number */
    assert_int_equal(by_undecided[1] + by_undecided[2], 10 + 6 + 6);
    /* of them the three that begin with "alphabetical-order" */
    assert_int_equal(by_undecided[2], 3);
}

static void common_versions_have_short_keys(void **state) {
    static const struct {
        const char *version;
        int words;
    } rows[] = {
        {"v1.30.4", 1},
        {"550.54.15", 1},
        {"1.31.0-rc.1", 1},
        {"5.15.0-91", 1},
        {"2.0.0-beta.2", 1},
        {"6.1.119-129.201", 1},
        {"5.15.0-91-gen", 1},
        {"5.15.0-91-generic", 2},
        {"1.30.4-gke.1348000", 2},
        {"v1.30.4-eks-a737599", 2},
        {"18446744073709551615.0.0", 2},
        {"1.2.3-alphabetical-order", 3},
        {"18446744073709551615.18446744073709551615.0", 3},
    };
    (void)state;
    struct arena arena = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct semver v = parse(&arena, rows[i].version);
        struct semver_key key = semver_key_of(&v);
        int words = 1;
        while (words <= SEMVER_KEY_WORDS && key.words[words - 1] & SEMVER_KEY_MORE)
            words++;
        if (words != rows[i].words)
            fail_msg("%s: %d", rows[i].version, words);
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
        struct semver_key x = semver_key_of(&a), y = semver_key_of(&b);
        assert_memory_equal(&x, &y, sizeof x);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_every_pair),
        cmocka_unit_test(keys_are_in_order),
        cmocka_unit_test(common_versions_have_short_keys),
        cmocka_unit_test(ignores_build_and_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
