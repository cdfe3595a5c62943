/* Distances between words, and which names are offered for a mistyped one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/spelling.h"

static void distances(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t want;
    } table[] = {
        {"", "", 0},
        {"a", "", 1},
        {"", "abc", 3},
        {"kitten", "sitting", SIZE_MAX},
        {"dep", "Deployment", 7},
        {"convert", "convert", 0},
        {"CONVERT", "convert", 0},
        {"converr", "convert", 1},
        {"cnovert", "convert", 2},
        {"flaw", "lawn", 2},
        {"abcdef", "azced", SIZE_MAX},
        {"xabc", "abcdefg", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct str a = str_of(table[i].a), b = str_of(table[i].b);
        assert_true(suggest_distance(a, b) == table[i].want);
        assert_true(suggest_distance(b, a) == table[i].want);
    }
    struct str longest = STR("0123456789012345678901234567890123456789");
    struct str too_long = STR("01234567890123456789012345678901234567890");
    assert_int_equal(suggest_distance(longest, longest), 0);
    assert_true(suggest_distance(longest, too_long) == SIZE_MAX);
    assert_true(suggest_distance(too_long, STR("a")) == SIZE_MAX);
}

static void check(const char *typed, const char *want) {
    static const char *const names[] = {"convert", "completion", "version", "help", "v", NULL};
    struct suggest s = {.typed = str_of(typed)};
    for (size_t i = 0; names[i]; i++)
        suggest_offer(&s, names[i]);
    struct err err;
    err_set(&err, ERR_USAGE, "no %s", typed);
    assert_int_equal(suggest_fail(&s, "--", &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    if (strcmp(err.msg + 3 + strlen(typed), want) != 0)
        fail_msg("'%s': got '%s'", typed, err.msg);
    assert_int_equal(suggest_fail(&s, "--", NULL), -1);
}

static void words_are_found_inside_of_names(void **state) {
    (void)state;
    static const struct {
        const char *typed;
        bool offered;
    } table[] = {
        {"TolerationSemver", true},   {"SemverOperators", true},
        {"tolerationSemver", true},   {"TolerationSemverOps", false},
        {"SemverToleration", false},  {"Semver", false},
        {"TolerationAffinity", true}, {"", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct suggest s = {.typed = str_of(table[i].typed)};
        suggest_offer_words(&s, "TolerationAffinitySemverOperators");
        if ((s.n == 1) != table[i].offered)
            fail_msg("'%s'", table[i].typed);
    }
}

static void names_near_the_typed_one_are_offered(void **state) {
    (void)state;
    check("converr", "\n\nDid you mean this?\n\t--convert\n");
    check("CON", "\n\nDid you mean this?\n\t--convert\n");
    check("co", "\n\nDid you mean this?\n\t--convert\n\t--completion\n");
    check("frobnicate", "");
    check("x", "");
    check("", "");
}

static void no_more_than_fit_are_kept(void **state) {
    (void)state;
    struct suggest s = {.typed = STR("a")};
    for (int i = 0; i < 2 * SUGGEST_MOST; i++)
        suggest_offer(&s, "alpha");
    assert_int_equal(s.n, SUGGEST_MOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(words_are_found_inside_of_names),
        cmocka_unit_test(names_near_the_typed_one_are_offered),
        cmocka_unit_test(no_more_than_fit_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
