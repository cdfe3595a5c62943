/* Views: comparing, cutting, numbers and the hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct str absent = {0};

static void views_of_c_strings(void **state) {
    (void)state;
    assert_null(str_of(NULL).p);
    assert_int_equal(str_of(NULL).n, 0);
    assert_int_equal(str_of("").n, 0);
    assert_non_null(str_of("").p);
    assert_int_equal(str_of("abc").n, 3);
    assert_int_equal(STR("a\0b").n, 3);
    assert_true(str_is(STR("abc"), "abc"));
    assert_false(str_is(STR("abc"), "ab"));
    assert_true(str_is(absent, ""));
    assert_true(str_is(absent, NULL));
}

static const struct {
    struct str a, b;
    int order; /* sign */
} pairs[] = {
    {STR_INIT(""), STR_INIT(""), 0},
    {{NULL, 0}, STR_INIT(""), 0},
    {{NULL, 0}, STR_INIT("a"), -1},
    {STR_INIT("a"), STR_INIT("b"), -1},
    {STR_INIT("ab"), STR_INIT("a"), 1},
    {STR_INIT("a\0b"), STR_INIT("a\0c"), -1},
    {STR_INIT("a\0"), STR_INIT("a"), 1},
    {STR_INIT("\x7f"), STR_INIT("\x80"), -1}, /* bytes are unsigned */
    {STR_INIT("Z"), STR_INIT("a"), -1},
};

static int sign(int v) {
    return (v > 0) - (v < 0);
}

static void order_and_equality(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_int_equal(sign(str_cmp(pairs[i].a, pairs[i].b)), pairs[i].order);
        assert_int_equal(sign(str_cmp(pairs[i].b, pairs[i].a)), -pairs[i].order);
        assert_int_equal(str_eq(pairs[i].a, pairs[i].b), pairs[i].order == 0);
    }
    struct str sorted[] = {STR("c"), STR(""), STR("b"), STR("ab")};
    qsort(sorted, COUNT(sorted), sizeof *sorted, str_cmp_qsort);
    assert_true(str_is(sorted[0], "") && str_is(sorted[1], "ab") && str_is(sorted[2], "b") &&
                str_is(sorted[3], "c"));
}

static void starts_and_ends(void **state) {
    (void)state;
    struct str s = STR("node.kubernetes.io");
    assert_true(str_starts(s, STR("node.")) && str_starts(s, STR("")) && str_starts(s, s));
    assert_false(str_starts(s, STR("ode")) || str_starts(STR("no"), s));
    assert_true(str_ends(s, STR(".io")) && str_ends(s, STR("")) && str_ends(s, s));
    assert_false(str_ends(s, STR(".i")) || str_ends(STR("io"), s));
    assert_true(str_starts(absent, absent) && str_ends(absent, STR("")));
}

static const struct {
    size_t from, to;
    const char *want;
} subs[] = {
    {0, 6, "abcdef"}, {0, 99, "abcdef"}, {2, 4, "cd"},       {4, 2, ""},
    {6, 6, ""},       {99, 100, ""},     {5, SIZE_MAX, "f"},
};

static void sub_views(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(subs); i++)
        assert_true(str_is(str_sub(STR("abcdef"), subs[i].from, subs[i].to), subs[i].want));
    assert_null(str_sub(absent, 1, 2).p);
}

static void finding(void **state) {
    (void)state;
    assert_int_equal(str_find_char(STR("a=b=c"), '='), 1);
    assert_true(str_find_char(STR("abc"), '=') == STR_NONE);
    assert_true(str_find_char(absent, '=') == STR_NONE);
    assert_int_equal(str_find_char(STR("a\0b"), '\0'), 1);
    assert_int_equal(str_find(STR("aabab"), STR("ab")), 1);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find(absent, STR("")), 0);
    assert_true(str_find(STR("ab"), STR("abc")) == STR_NONE);
    assert_true(str_find(absent, STR("a")) == STR_NONE);
}

static const struct {
    struct str in, want;
} trims[] = {
    {STR_INIT(""), STR_INIT("")},
    {STR_INIT(" \t\n\v\f\r"), STR_INIT("")},
    {STR_INIT(" a b "), STR_INIT("a b")},
    {STR_INIT("\ra\n"), STR_INIT("a")},
    {STR_INIT("\x0e a\x08"), STR_INIT("\x0e a\x08")},
    {STR_INIT("\0a\0"), STR_INIT("\0a\0")},
};

static void trimming(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(trims); i++)
        assert_true(str_eq(str_trim(trims[i].in), trims[i].want));
    assert_null(str_trim(absent).p);
}

static const struct {
    const char *in;
    bool found;
    const char *head, *rest;
} cuts[] = {
    {"a=b=c", true, "a", "b=c"}, {"=", true, "", ""},   {"a", false, "a", ""},
    {"", false, "", ""},         {"a=", true, "a", ""},
};

static void cutting(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cuts); i++) {
        struct str head, rest;
        assert_int_equal(str_cut(str_of(cuts[i].in), '=', &head, &rest), cuts[i].found);
        assert_true(str_is(head, cuts[i].head) && str_is(rest, cuts[i].rest));
        struct str self = str_of(cuts[i].in); /* rest may be the string itself */
        str_cut(self, '=', &head, &self);
        assert_true(str_is(head, cuts[i].head) && str_is(self, cuts[i].rest));
    }
}

static const struct {
    struct str in;
    bool ok;
    int64_t want;
} numbers[] = {
    {STR_INIT("0"), true, 0},
    {STR_INIT("-1"), true, -1},
    {STR_INIT("42"), true, 42},
    {STR_INIT("9223372036854775807"), true, INT64_MAX},
    {STR_INIT("-9223372036854775808"), true, INT64_MIN},
    {STR_INIT("9223372036854775808"), false, 0},
    {STR_INIT("-9223372036854775809"), false, 0},
    {STR_INIT("92233720368547758070"), false, 0},
    {STR_INIT(""), false, 0},
    {STR_INIT("-"), false, 0},
    {STR_INIT("--1"), false, 0},
    {STR_INIT("+1"), false, 0},
    {STR_INIT("01"), false, 0},
    {STR_INIT("-01"), false, 0},
    {STR_INIT("00"), false, 0},
    {STR_INIT("1 "), false, 0},
    {STR_INIT(" 1"), false, 0},
    {STR_INIT("1_0"), false, 0},
    {STR_INIT("0x1"), false, 0},
    {STR_INIT("1\0"), false, 0},
    {STR_INIT("1/"), false, 0},
    {STR_INIT("1:"), false, 0},
    {STR_INIT("\xd9\xa1"), false, 0}, /* a digit, but not an ASCII one */
    {{NULL, 0}, false, 0},
};

static void strict_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        int64_t v = 77;
        assert_int_equal(str_to_i64(numbers[i].in, &v), numbers[i].ok);
        assert_true(v == (numbers[i].ok ? numbers[i].want : 77));
    }
}

/* Every prefix of a buffer, so every tail length of the hash; equal bytes at another address. */
static void hash_depends_on_bytes_length_and_seed(void **state) {
    (void)state;
    char a[80], b[81];
    for (size_t i = 0; i < sizeof a; i++)
        a[i] = (char)(i * 7);
    memcpy(b + 1, a, sizeof a);
    uint64_t seen[sizeof a + 1];
    for (size_t n = 0; n <= sizeof a; n++) {
        uint64_t h = str_hash((struct str){a, n}, 1);
        assert_true(h == str_hash((struct str){b + 1, n}, 1));
        assert_true(h != str_hash((struct str){a, n}, 2));
        for (size_t i = 0; i < n; i++)
            assert_true(seen[i] != h);
        seen[n] = h;
    }
    assert_true(str_hash(absent, 5) == str_hash(STR(""), 5));
}

/* One flipped bit anywhere must reach the low bits, which choose the slot. */
static void hash_spreads_every_bit(void **state) {
    (void)state;
    char bytes[40] = "kubernetes.io/hostname=node-0000-zone-a";
    struct str s = {bytes, sizeof bytes};
    uint64_t before = str_hash(s, 99);
    unsigned same_low_bits = 0;
    for (size_t bit = 0; bit < sizeof bytes * CHAR_BIT; bit++) {
        bytes[bit / CHAR_BIT] = (char)(bytes[bit / CHAR_BIT] ^ (1 << bit % CHAR_BIT));
        uint64_t after = str_hash(s, 99);
        bytes[bit / CHAR_BIT] = (char)(bytes[bit / CHAR_BIT] ^ (1 << bit % CHAR_BIT));
        assert_true(after != before);
        same_low_bits += (after & 0xFFF) == (before & 0xFFF);
    }
    assert_true(same_low_bits <= 2); /* 320 draws of one in 4096 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_of_c_strings),
        cmocka_unit_test(order_and_equality),
        cmocka_unit_test(starts_and_ends),
        cmocka_unit_test(sub_views),
        cmocka_unit_test(finding),
        cmocka_unit_test(trimming),
        cmocka_unit_test(cutting),
        cmocka_unit_test(strict_numbers),
        cmocka_unit_test(hash_depends_on_bytes_length_and_seed),
        cmocka_unit_test(hash_spreads_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
