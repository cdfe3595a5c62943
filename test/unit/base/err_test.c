/* Errors: texts, wrapping, cutting at a character boundary, and the table of codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"

static void setting(void **state) {
    (void)state;
    struct err e = {.line = 9};
    assert_int_equal(err_set(&e, ERR_NOT_FOUND, "no pod '%s'", "a"), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(e.msg, "no pod 'a'");
    assert_int_equal(e.line, 0);
    assert_int_equal(err_set_at(&e, ERR_INVALID, 3, 7, "bad %d", 1), -1);
    assert_true(e.code == ERR_INVALID && e.line == 3 && e.column == 7);
    assert_string_equal(e.msg, "bad 1");
}

static void wrapping(void **state) {
    (void)state;
    struct err e;
    err_set_at(&e, ERR_IO, 1, 2, "disk full");
    assert_int_equal(err_wrap(&e, "write '%s'", "f"), -1);
    assert_int_equal(err_wrap(&e, "save"), -1);
    assert_string_equal(e.msg, "save: write 'f': disk full");
    assert_true(e.code == ERR_IO && e.line == 1 && e.column == 2);
}

static void nobody_has_to_listen(void **state) {
    (void)state;
    assert_int_equal(err_set(NULL, ERR_IO, "x"), -1);
    assert_int_equal(err_set_at(NULL, ERR_IO, 1, 1, "x"), -1);
    assert_int_equal(err_wrap(NULL, "x"), -1);
}

static void assert_cut(const struct err *e) {
    struct str s = str_of(e->msg);
    assert_true(s.n < ERR_TEXT && s.n >= ERR_TEXT - 5);
    assert_true(str_ends(s, STR("...")));
    assert_int_equal(utf8_valid_prefix(s), s.n);
}

/* A run of the character behind 0 to 4 bytes, so that every cut through it comes up. */
static void long_texts_are_cut_between_characters(void **state) {
    (void)state;
    const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\xa2"};
    for (size_t c = 0; c < 4; c++) {
        char text[ERR_TEXT * 5] = "";
        while (strlen(text) < ERR_TEXT * 2)
            strcat(text, characters[c]);
        for (int shift = 0; shift < 5; shift++) {
            struct err e;
            err_set(&e, ERR_INVALID, "%.*s%s", shift, "aaaaa", text);
            assert_cut(&e);
            err_wrap(&e, "context");
            assert_cut(&e);
            assert_true(str_starts(str_of(e.msg), STR("context: ")));
            err_set(&e, ERR_INVALID, "short");
            err_wrap(&e, "%.*s%s", shift, "aaaaa", text);
            assert_cut(&e);
        }
    }
}

static void the_longest_text_is_not_cut(void **state) {
    (void)state;
    struct err e;
    err_set(&e, ERR_INVALID, "%*d", ERR_TEXT - 1, 1);
    assert_int_equal(strlen(e.msg), ERR_TEXT - 1);
    assert_int_equal(e.msg[ERR_TEXT - 2], '1');
    err_set(&e, ERR_INVALID, "%*d", ERR_TEXT, 1);
    assert_cut(&e);
}

static const struct {
    enum err_code code;
    int status;
    const char *reason;
} codes[] = {
    {ERR_NONE, 200, ""},
    {ERR_INVALID, 400, "BadRequest"},
    {ERR_UNPROCESSABLE, 422, "Invalid"},
    {ERR_NOT_FOUND, 404, "NotFound"},
    {ERR_EXISTS, 409, "AlreadyExists"},
    {ERR_CONFLICT, 409, "Conflict"},
    {ERR_TOO_MANY, 429, "TooManyRequests"},
    {ERR_GONE, 410, "Gone"},
    {ERR_INTERNAL, 500, "InternalError"},
};

static void codes_have_a_status_and_a_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(err_http_status(codes[i].code), codes[i].status);
        assert_string_equal(err_reason(codes[i].code), codes[i].reason);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(the_longest_text_is_not_cut),
        cmocka_unit_test(codes_have_a_status_and_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
