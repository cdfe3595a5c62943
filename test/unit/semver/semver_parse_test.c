/* Texts read strictly and tolerantly; the answers were given by upstream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "semver/semver.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define SAME     NULL

typedef int parse_fn(struct arena *a, struct str text, struct semver *out, struct err *err);

/* The version as it is written again, or '!' and the error. */
static const struct {
    struct str text;
    const char *strict, *tolerant; /* SAME: as strict */
} texts[] = {
    {STR_INIT(""), "!Version string empty", "!strconv.ParseUint: parsing \"\": invalid syntax"},
    {STR_INIT("1"), "!No Major.Minor.Patch elements found", "1.0.0"},
    {STR_INIT("1.2"), "!No Major.Minor.Patch elements found", "1.2.0"},
    {STR_INIT("1.2.3"), "1.2.3", SAME},
    {STR_INIT("v1.2.3"), "!Invalid character(s) found in major number \"v1\"", "1.2.3"},
    {STR_INIT("V1.2.3"), "!Invalid character(s) found in major number \"V1\"",
     "!Invalid character(s) found in major number \"0V1\""},
    {STR_INIT("vv1.2.3"), "!Invalid character(s) found in major number \"vv1\"",
     "!Invalid character(s) found in major number \"0v1\""},
    {STR_INIT(" 1.2.3 "), "!Invalid character(s) found in major number \" 1\"", "1.2.3"},
    {STR_INIT("\u3000v1.2.3\u2028"), "!Invalid character(s) found in major number \"\\u3000v1\"",
     "1.2.3"},
    {STR_INIT("v 1.2.3"), "!Invalid character(s) found in major number \"v 1\"",
     "!Invalid character(s) found in major number \"0 1\""},
    {STR_INIT("01.02.03"), "!Major number must not contain leading zeroes \"01\"", "1.2.3"},
    {STR_INIT("000"), "!No Major.Minor.Patch elements found", "0.0.0"},
    {STR_INIT("000.00.0000"), "!Major number must not contain leading zeroes \"000\"", "0.0.0"},
    {STR_INIT("1.2.3-alpha"), "1.2.3-alpha", SAME},
    {STR_INIT("1.2.3-alpha.1+build.01"), "1.2.3-alpha.1+build.01", SAME},
    {STR_INIT("1.2.3+b"), "1.2.3+b", SAME},
    {STR_INIT("1.2.3-0"), "1.2.3-0", SAME},
    {STR_INIT("1.2.3-01"), "!Numeric PreRelease version must not contain leading zeroes \"01\"",
     SAME},
    {STR_INIT("1.2.3-0a"), "1.2.3-0a", SAME},
    {STR_INIT("1.2.3-a_b"), "!Invalid character(s) found in prerelease \"a_b\"", SAME},
    {STR_INIT("1.2.3-"), "!Prerelease is empty", SAME},
    {STR_INIT("1.2.3+"), "!Build meta data is empty", SAME},
    {STR_INIT("1.2.3-a..b"), "!Prerelease is empty", SAME},
    {STR_INIT("1.2.3+a..b"), "!Build meta data is empty", SAME},
    {STR_INIT("1.2.3-a+"), "!Build meta data is empty", SAME},
    {STR_INIT("1.2.3-+b"), "!Prerelease is empty", SAME},
    {STR_INIT("1.2.3+a-b"), "1.2.3+a-b", SAME},
    {STR_INIT("1.2.3+a+b"), "!Invalid character(s) found in build meta data \"a+b\"", SAME},
    {STR_INIT("1.2.3-a-b"), "1.2.3-a-b", SAME},
    {STR_INIT("1.2.3--"), "1.2.3--", SAME},
    {STR_INIT("1.2-rc"), "!No Major.Minor.Patch elements found",
     "!Short version cannot contain PreRelease/Build meta data"},
    {STR_INIT("1-alpha"), "!No Major.Minor.Patch elements found",
     "!Short version cannot contain PreRelease/Build meta data"},
    {STR_INIT("1+b"), "!No Major.Minor.Patch elements found",
     "!Short version cannot contain PreRelease/Build meta data"},
    {STR_INIT("1-a.2"), "!No Major.Minor.Patch elements found",
     "!Invalid character(s) found in major number \"1-a\""},
    {STR_INIT("1.-2"), "!No Major.Minor.Patch elements found",
     "!Short version cannot contain PreRelease/Build meta data"},
    {STR_INIT("1.2.-rc1"), "!strconv.ParseUint: parsing \"\": invalid syntax", "1.2.0-rc1"},
    {STR_INIT("1.2.00-rc1"), "!Patch number must not contain leading zeroes \"00\"", "1.2.0-rc1"},
    {STR_INIT("1.2.x"), "!Invalid character(s) found in patch number \"x\"", SAME},
    {STR_INIT("1.2.xy"), "!Invalid character(s) found in patch number \"xy\"",
     "!Invalid character(s) found in patch number \"0xy\""},
    {STR_INIT("1.2.3.4"), "!Invalid character(s) found in patch number \"3.4\"", SAME},
    {STR_INIT(".."), "!strconv.ParseUint: parsing \"\": invalid syntax", SAME},
    {STR_INIT("1..3"), "!strconv.ParseUint: parsing \"\": invalid syntax", SAME},
    {STR_INIT(".2.3"), "!strconv.ParseUint: parsing \"\": invalid syntax", SAME},
    {STR_INIT("1.2."), "!strconv.ParseUint: parsing \"\": invalid syntax", SAME},
    {STR_INIT("v"), "!No Major.Minor.Patch elements found",
     "!strconv.ParseUint: parsing \"\": invalid syntax"},
    {STR_INIT("."), "!No Major.Minor.Patch elements found",
     "!strconv.ParseUint: parsing \"\": invalid syntax"},
    {STR_INIT("high"), "!No Major.Minor.Patch elements found",
     "!Invalid character(s) found in major number \"0high\""},
    {STR_INIT("containerd://2.1.4"),
     "!Invalid character(s) found in major number \"containerd://2\"",
     "!Invalid character(s) found in major number \"0containerd://2\""},
    {STR_INIT("-1.2.3"), "!Invalid character(s) found in major number \"-1\"",
     "!Invalid character(s) found in major number \"0-1\""},
    {STR_INIT("1.-2.3"), "!Invalid character(s) found in minor number \"-2\"",
     "!Invalid character(s) found in minor number \"0-2\""},
    {STR_INIT("1.2.-3"), "!strconv.ParseUint: parsing \"\": invalid syntax", "1.2.0-3"},
    {STR_INIT(
         "18446744073709551615.18446744073709551615.18446744073709551615-18446744073709551615"),
     "18446744073709551615.18446744073709551615.18446744073709551615-18446744073709551615", SAME},
    {STR_INIT("18446744073709551616.0.0"),
     "!strconv.ParseUint: parsing \"18446744073709551616\": value out of range", SAME},
    {STR_INIT("0.99999999999999999999999.0"),
     "!strconv.ParseUint: parsing \"99999999999999999999999\": value out of range", SAME},
    {STR_INIT("0.0.18446744073709551616"),
     "!strconv.ParseUint: parsing \"18446744073709551616\": value out of range", SAME},
    {STR_INIT("0.0.0-18446744073709551616"),
     "!strconv.ParseUint: parsing \"18446744073709551616\": value out of range", SAME},
    {STR_INIT("0.0.0-18446744073709551616a"), "0.0.0-18446744073709551616a", SAME},
    {STR_INIT("0.0.0+18446744073709551616"), "0.0.0+18446744073709551616", SAME},
    {STR_INIT("5.15.0-91-generic"), "5.15.0-91-generic", SAME},
    {STR_INIT("4.18.0-477.10.1.el8_8.x86_64"),
     "!Invalid character(s) found in prerelease \"el8_8\"", SAME},
    {STR_INIT("1.2.3-é"), "!Invalid character(s) found in prerelease \"é\"", SAME},
    {STR_INIT("1.2.3-\xff"), "!Invalid character(s) found in prerelease \"\\xff\"", SAME},
    {STR_INIT("1.\0.3"), "!Invalid character(s) found in minor number \"\\x00\"", SAME},
    {STR_INIT("\u2028.1.2"), "!Invalid character(s) found in major number \"\\u2028\"",
     "!strconv.ParseUint: parsing \"\": invalid syntax"},
    {STR_INIT("1.2.3+😀"), "!Invalid character(s) found in build meta data \"😀\"", SAME},
    {STR_INIT("a\"b.1.2"), "!Invalid character(s) found in major number \"a\\\"b\"",
     "!Invalid character(s) found in major number \"0a\\\"b\""},
    {STR_INIT("1.2.3-rc.1 "), "!Invalid character(s) found in prerelease \"1 \"", "1.2.3-rc.1"},
    {STR_INIT("٣.1.2"), "!Invalid character(s) found in major number \"٣\"",
     "!Invalid character(s) found in major number \"0٣\""},
};

static void expect(parse_fn *parse, struct str text, const char *want) {
    struct arena a = {0};
    struct semver v = {.major = 42};
    struct err err = {0};
    struct buf got = BUF_INIT(LIMIT_OBJECT_BYTES);
    int rc = parse(&a, text, &v, &err);
    if (rc < 0)
        buf_addf(&got, "!%s", err.msg);
    else
        semver_write(&got, &v);
    buf_add_char(&got, '\0');
    assert_string_equal(got.p, want);
    assert_int_equal(rc, want[0] == '!' ? -1 : 0);
    assert_int_equal(err.code, rc < 0 ? ERR_INVALID : ERR_NONE);
    if (rc < 0) {
        assert_int_equal(v.major, 42);
        assert_int_equal(a.bytes, 0);
        assert_int_equal(parse(&a, text, &v, NULL), -1);
    }
    buf_release(&got);
    arena_release(&a);
}

static void reads_strictly_as_upstream(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        expect(semver_parse, texts[i].text, texts[i].strict);
}

static void reads_tolerantly_as_upstream(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        expect(semver_parse_tolerant, texts[i].text,
               texts[i].tolerant ? texts[i].tolerant : texts[i].strict);
}

/* White space sends a text to the careful reader, which agrees with the one for proper texts. */
static void reads_carefully_as_upstream(void **state) {
    (void)state;
    struct buf spaced = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < COUNT(texts); i++) {
        buf_clear(&spaced);
        buf_add_char(&spaced, ' ');
        buf_add(&spaced, texts[i].text);
        expect(semver_parse_tolerant, buf_view(&spaced),
               texts[i].tolerant ? texts[i].tolerant : texts[i].strict);
    }
    buf_release(&spaced);
}

static void normalizes_as_cel(void **state) {
    (void)state;
    static const struct {
        struct str text;
        const char *want;
    } cases[] = {
        {STR_INIT("v01.2"), "1.2.0"},
        {STR_INIT(" 1.2.3"), "!Invalid character(s) found in major number \"0 1\""},
        {STR_INIT("1.2.3 "), "!Invalid character(s) found in patch number \"3 \""},
        {STR_INIT("1-rc"), "!short version cannot contain PreRelease/Build meta data"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(semver_parse_normalized, cases[i].text, cases[i].want);
}

static void keeps_nothing_of_the_text(void **state) {
    (void)state;
    char text[] = "1.2.3-rc.7.x+b.01";
    struct arena a = {0};
    struct semver v;
    assert_int_equal(semver_parse(&a, str_of(text), &v, NULL), 0);
    memset(text, '?', sizeof text);
    struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    semver_write(&out, &v);
    assert_true(str_is(buf_view(&out), "1.2.3-rc.7.x+b.01"));
    assert_int_equal(v.pre_count, 3);
    assert_true(!v.pre[1].text && v.pre[1].number == 7);
    buf_release(&out);
    arena_release(&a);
}

static void needs_no_memory_for_plain_versions(void **state) {
    (void)state;
    struct arena a = {0};
    struct semver v;
    assert_int_equal(semver_parse_tolerant(&a, STR("v1.30.4"), &v, NULL), 0);
    assert_int_equal(a.bytes, 0);
}

/* A megabyte of anything is read once, and the text of its error is cut. */
static void takes_texts_of_any_length(void **state) {
    (void)state;
    enum { LONG = 1 << 20 };
    struct arena a = {0};
    struct semver v;
    struct err err;
    char *text = arena_alloc(&a, LONG);
    memset(text, 'x', LONG);
    assert_int_equal(semver_parse_tolerant(&a, (struct str){text, LONG}, &v, &err), -1);
    assert_int_equal(strlen(err.msg), ERR_TEXT - 1);
    assert_true(str_ends(str_of(err.msg), STR("xxx...")));
    memcpy(text, "1.2.3-", 6);
    for (size_t i = 7; i < LONG; i += 2)
        text[i] = '.';
    text[LONG - 1] = '0';
    assert_int_equal(semver_parse(&a, (struct str){text, LONG}, &v, &err), 0);
    assert_int_equal(v.pre_count, (LONG - 6) / 2);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_strictly_as_upstream),
        cmocka_unit_test(reads_tolerantly_as_upstream),
        cmocka_unit_test(reads_carefully_as_upstream),
        cmocka_unit_test(normalizes_as_cel),
        cmocka_unit_test(keeps_nothing_of_the_text),
        cmocka_unit_test(needs_no_memory_for_plain_versions),
        cmocka_unit_test(takes_texts_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
