/* What atoms mean: two readings as a number, one as a version, and why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern/intern.h"
#include "semver/semver.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define NOT_CANONICAL "must be a valid decimal integer in canonical form"
#define SYNTAX(q)     "strconv.ParseInt: parsing " q ": invalid syntax"
#define RANGE(q)      "strconv.ParseInt: parsing " q ": value out of range"

static const struct {
    struct str text;
    const char *decimal; /* why not; NULL = it is */
    const char *integer; /* likewise */
    int64_t number;
} numbers[] = {
    {STR_INIT("0"), NULL, NULL, 0},
    {STR_INIT("950"), NULL, NULL, 950},
    {STR_INIT("-5"), NULL, NULL, -5},
    {STR_INIT("9223372036854775807"), NULL, NULL, INT64_MAX},
    {STR_INIT("-9223372036854775808"), NULL, NULL, INT64_MIN},
    {STR_INIT("-0"), NOT_CANONICAL, NULL, 0},
    {STR_INIT("00"), NOT_CANONICAL, NULL, 0},
    {STR_INIT("0950"), NOT_CANONICAL, NULL, 950},
    {STR_INIT("-01"), NOT_CANONICAL, NULL, -1},
    {STR_INIT("+5"), NOT_CANONICAL, NULL, 5},
    {STR_INIT("+0"), NOT_CANONICAL, NULL, 0},
    {STR_INIT("0000000000000000000000000000007"), NOT_CANONICAL, NULL, 7},
    {STR_INIT(""), "must be non-empty", SYNTAX("\"\""), 0},
    {STR_INIT("-"), NOT_CANONICAL, SYNTAX("\"-\""), 0},
    {STR_INIT("+"), NOT_CANONICAL, SYNTAX("\"+\""), 0},
    {STR_INIT("--1"), NOT_CANONICAL, SYNTAX("\"--1\""), 0},
    {STR_INIT("+-1"), NOT_CANONICAL, SYNTAX("\"+-1\""), 0},
    {STR_INIT("1_000"), NOT_CANONICAL, SYNTAX("\"1_000\""), 0},
    {STR_INIT("0x1"), NOT_CANONICAL, SYNTAX("\"0x1\""), 0},
    {STR_INIT("95.5"), NOT_CANONICAL, SYNTAX("\"95.5\""), 0},
    {STR_INIT("1e3"), NOT_CANONICAL, SYNTAX("\"1e3\""), 0},
    {STR_INIT(" 1"), NOT_CANONICAL, SYNTAX("\" 1\""), 0},
    {STR_INIT("1\n"), NOT_CANONICAL, SYNTAX("\"1\\n\""), 0},
    {STR_INIT("1\0"), NOT_CANONICAL, SYNTAX("\"1\\x00\""), 0},
    {STR_INIT("1/"), NOT_CANONICAL, SYNTAX("\"1/\""), 0},
    {STR_INIT("1:"), NOT_CANONICAL, SYNTAX("\"1:\""), 0},
    {STR_INIT("high"), NOT_CANONICAL, SYNTAX("\"high\""), 0},
    {STR_INIT("\xd9\xa1"), NOT_CANONICAL, SYNTAX("\"\xd9\xa1\""), 0},
    {STR_INIT("9223372036854775808"), RANGE("\"9223372036854775808\""),
     RANGE("\"9223372036854775808\""), 0},
    {STR_INIT("-9223372036854775809"), RANGE("\"-9223372036854775809\""),
     RANGE("\"-9223372036854775809\""), 0},
    {STR_INIT("+9223372036854775808"), NOT_CANONICAL, RANGE("\"+9223372036854775808\""), 0},
    {STR_INIT("12345678901234567890"), RANGE("\"12345678901234567890\""),
     RANGE("\"12345678901234567890\""), 0},
    /* ParseInt stops reading where uint64 ends, not where int64 does */
    {STR_INIT("18446744073709551615x"), NOT_CANONICAL, SYNTAX("\"18446744073709551615x\""), 0},
    {STR_INIT("18446744073709551616x"), NOT_CANONICAL, RANGE("\"18446744073709551616x\""), 0},
};

static void assert_reading(bool is, int64_t value, int explained, const struct err *err,
                           const char *why_not, int64_t want) {
    assert_int_equal(is, why_not == NULL);
    assert_int_equal(explained, why_not ? -1 : 0);
    assert_true(value == (why_not ? 77 : want));
    assert_string_equal(err->msg, why_not ? why_not : "");
}

static void as_numbers(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    for (size_t round = 0; round < 2; round++) { /* the second finds it worked out */
        for (size_t i = 0; i < COUNT(numbers); i++) {
            struct atom *a = intern_get(in, numbers[i].text);
            struct err err = {0};
            int64_t value = 77;
            bool is = intern_decimal(a, &value);
            assert_reading(is, value, intern_explain_decimal(a, &err), &err, numbers[i].decimal,
                           numbers[i].number);
            err = (struct err){0};
            value = 77;
            is = intern_integer(a, &value);
            assert_reading(is, value, intern_explain_integer(a, &err), &err, numbers[i].integer,
                           numbers[i].number);
        }
    }
    intern_free(in);
}

static void integers_may_be_asked_for_first(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    struct atom *a = intern_get(in, STR("007"));
    int64_t value = 77;
    assert_true(intern_integer(a, &value));
    assert_true(value == 7);
    assert_false(intern_decimal(a, &value));
    intern_free(in);
}

static const struct {
    const char *text;
    const char *version; /* written out; NULL = none */
    const char *why_not;
} versions[] = {
    {"1.2.3", "1.2.3", NULL},
    {" v1.2 ", "1.2.0", NULL},
    {"01.002", "1.2.0", NULL},
    {"5.15.0-91-generic", "5.15.0-91-generic", NULL},
    {"5.10.0-1021.aws", "5.10.0-1021.aws", NULL},
    {"1.2.3-rc.1.x-y.20+build.7", "1.2.3-rc.1.x-y.20+build.7", NULL},
    {"1.2.3+k3s1", "1.2.3+k3s1", NULL},
    {"high", NULL, "Invalid character(s) found in major number \"0high\""},
    {"1.2-rc1", NULL, "Short version cannot contain PreRelease/Build meta data"},
    {"1.2.3-a_b", NULL, "Invalid character(s) found in prerelease \"a_b\""},
    {"", NULL, "strconv.ParseUint: parsing \"\": invalid syntax"},
};

static void as_versions(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    for (size_t i = 0; i < COUNT(versions); i++) {
        struct atom *a = intern_get(in, str_of(versions[i].text));
        const struct semver *v = intern_version(a);
        struct err err = {0};
        assert_int_equal(v != NULL, versions[i].version != NULL);
        assert_int_equal(intern_explain_version(a, &err), v ? 0 : -1);
        assert_string_equal(err.msg, v ? "" : versions[i].why_not);
        assert_ptr_equal(intern_version(a), v); /* worked out once */
        uint64_t word = 77;
        assert_int_equal(intern_version_word(a, &word), v != NULL);
        assert_true(word == (v ? semver_key_of(v).words[0] : 77));
        struct buf text = BUF_INIT(1000);
        if (v)
            semver_write(&text, v);
        assert_true(str_is(buf_view(&text), versions[i].version));
        buf_release(&text);
    }
    intern_free(in);
}

static int order_of(struct intern *in, const char *x, const char *y) {
    struct atom *a = intern_get(in, str_of(x)), *b = intern_get(in, str_of(y));
    assert_true(intern_version(a) && intern_version(b));
    return intern_version_cmp(a, b, 0);
}

/* Decided by the first words of keys, by the second ones, by the versions. */
static void versions_compare(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    assert_int_equal(order_of(in, "1.2.3", "v1.2.3+x"), 0);
    assert_int_equal(order_of(in, "1.2.3", "1.2.3-rc.1"), 1);
    assert_int_equal(order_of(in, "1.9.0", "1.10.0"), -1);
    assert_int_equal(order_of(in, "5.15.0-91-generic", "5.15.0-91-generic+x"), 0);
    assert_int_equal(order_of(in, "5.15.0-91-generic", "5.15.0-91-general"), 1);
    assert_int_equal(order_of(in, "5.15.0-91-generic", "5.15.0-91-generic.1"), -1);
    assert_int_equal(order_of(in, "1.2.3-alphabetical-order", "1.2.3-alphabetical-order"), 0);
    assert_int_equal(order_of(in, "1.2.3-alphabetical-order", "1.2.3-alphabetical-order.1"), -1);
    intern_free(in);
}

/* The version must not lean on the buffer that the text came from, nor on another atom. */
static void versions_stand_on_their_own(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    char *text = malloc(64);
    strcpy(text, "1.2.3-alpha.5+b");
    struct atom *a = intern_ref(intern_get(in, str_of(text)));
    const struct semver *v = intern_version(a);
    memset(text, 'x', 64);
    free(text);
    for (unsigned i = 0; i < 5000; i++) {
        char other[32];
        snprintf(other, sizeof other, "1.2.%u-beta", i);
        assert_true(semver_cmp(intern_version(intern_get(in, str_of(other))), v) != 0);
        if (i % 1000 == 0)
            intern_sweep(in);
    }
    struct buf out = BUF_INIT(100);
    semver_write(&out, v);
    assert_true(str_is(buf_view(&out), "1.2.3-alpha.5+b"));
    buf_release(&out);
    intern_free(in);
}

static void memory_counts_versions(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    struct atom *a = intern_get(in, STR("1.2.3-alpha.5+b"));
    struct intern_stats before, after;
    intern_stats(in, &before);
    intern_version(a);
    intern_stats(in, &after);
    size_t texts = strlen("alpha") + strlen("b");
    assert_int_equal(after.bytes - before.bytes, sizeof(struct semver_key) + sizeof(struct semver) +
                                                     2 * sizeof(struct semver_id) + texts);
    intern_free(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_numbers),
        cmocka_unit_test(integers_may_be_asked_for_first),
        cmocka_unit_test(as_versions),
        cmocka_unit_test(versions_compare),
        cmocka_unit_test(versions_stand_on_their_own),
        cmocka_unit_test(memory_counts_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
