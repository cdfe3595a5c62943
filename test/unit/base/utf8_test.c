/* UTF-8: every code point there and back, and every kind of bad sequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static size_t expected_length(uint32_t cp) {
    return cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
}

static void every_code_point_there_and_back(void **state) {
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        char bytes[4];
        size_t n = utf8_encode(cp, bytes), len;
        assert_int_equal(n, expected_length(cp));
        uint32_t back = utf8_decode((struct str){bytes, n}, &len);
        if (cp >= 0xD800 && cp <= 0xDFFF) {
            assert_true(back == UTF8_INVALID && len == 1);
            continue;
        }
        assert_true(back == cp && len == n);
        if (n > 1) /* one byte short is not a character */
            assert_true(utf8_decode((struct str){bytes, n - 1}, &len) == UTF8_INVALID && len == 1);
    }
}

static const struct {
    struct str in;
    size_t valid, count;
} texts[] = {
    {STR_INIT(""), 0, 0},
    {{NULL, 0}, 0, 0},
    {STR_INIT("a\0b"), 3, 3},
    {STR_INIT("plain ascii, longer than a word"), 31, 31},
    {STR_INIT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2"), 9, 3},
    {STR_INIT("12345678\xc3\xa9"), 10, 9},
    {STR_INIT("1234567\xc3\xa9"), 9, 8},
    {STR_INIT("12345678\xff"), 8, 9},
    {STR_INIT("\x80"), 0, 1},             /* a tail alone */
    {STR_INIT("\xc0\x80"), 0, 2},         /* overlong NUL */
    {STR_INIT("\xc1\xbf"), 0, 2},         /* overlong 0x7F */
    {STR_INIT("\xe0\x80\x80"), 0, 3},     /* overlong */
    {STR_INIT("\xe0\x9f\xbf"), 0, 3},     /* overlong 0x7FF */
    {STR_INIT("\xf0\x8f\xbf\xbf"), 0, 4}, /* overlong 0xFFFF */
    {STR_INIT("\xed\xa0\x80"), 0, 3},     /* surrogate */
    {STR_INIT("\xed\x9f\xbf"), 3, 1},     /* just below */
    {STR_INIT("\xee\x80\x80"), 3, 1},     /* just above */
    {STR_INIT("\xf4\x8f\xbf\xbf"), 4, 1}, /* U+10FFFF */
    {STR_INIT("\xf4\x90\x80\x80"), 0, 4}, /* one more */
    {STR_INIT("\xf5\x80\x80\x80"), 0, 4},
    {STR_INIT("\xfe\xff"), 0, 2},
    {STR_INIT("a\xe2\x82"), 1, 3},     /* cut short */
    {STR_INIT("a\xe2\x28\xa1"), 1, 4}, /* a head where a tail belongs */
    {STR_INIT("\xf0\x9f\x9a\x28"), 0, 4},
};

static void prefixes_and_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(utf8_valid_prefix(texts[i].in), texts[i].valid);
        assert_int_equal(utf8_count(texts[i].in), texts[i].count);
    }
}

/* A bad byte at every place of a text that is read a word at a time. */
static void a_bad_byte_is_found_anywhere(void **state) {
    (void)state;
    for (size_t n = 1; n < 40; n++) {
        for (size_t bad = 0; bad < n; bad++) {
            char text[40];
            memset(text, 'a', n);
            text[bad] = (char)0x80;
            assert_int_equal(utf8_valid_prefix((struct str){text, n}), bad);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_there_and_back),
        cmocka_unit_test(prefixes_and_counts),
        cmocka_unit_test(a_bad_byte_is_found_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
