/* What texts from outside look like when people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/printable.h"

static const struct {
    const char *text, *line, *lines; /* lines NULL: as line */
} rows[] = {
    {"", "", NULL},
    {"plain text", "plain text", NULL},
    {"a\nb\tc", "a\\x0ab\\x09c", "a\nb\tc"},
    {"\x1b[31m\x7f\r", "\\x1b[31m\\x7f\\x0d", NULL},
    {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", NULL},
    {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0", NULL},
    {"\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\u061c\xd8\x9d", NULL},
    {"\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", "\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90",
     NULL},
    {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
     "\xe2\x80\xa7\\u2028\\u2029\\u202a\\u202e\xe2\x80\xaf", NULL},
    {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa",
     NULL},
    {"\x9b"
     "1m\xff\xe2\x80",
     "\\x9b"
     "1m\\xff\\xe2\\x80",
     NULL},
};

static void what_is_not_seen_is_escaped(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf line = BUF_INIT(1000), lines = BUF_INIT(1000);
        struct str text = str_of(rows[i].text);
        printable_add(&line, text);
        printable_add_lines(&lines, text);
        assert_true(str_is(buf_view(&line), rows[i].line));
        assert_true(str_is(buf_view(&lines), rows[i].lines ? rows[i].lines : rows[i].line));
        assert_int_equal(printable_size(text), line.n);
    }
}

static void a_nul_is_a_character(void **state) {
    (void)state;
    AUTO(buf_release) struct buf line = BUF_INIT(1000);
    printable_add(&line, (struct str){"a\0b", 3});
    assert_true(str_is(buf_view(&line), "a\\x00b"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_seen_is_escaped),
        cmocka_unit_test(a_nul_is_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
