/* Files of tokens: CSV as Go reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/token.h"
#include "base/limits.h"

static struct auth_token_file *parse(const char *text) {
    struct err err = {0};
    struct auth_token_file *f = auth_token_file_parse(str_of(text), STR("tokens.csv"), &err);
    if (!f)
        fail_msg("%s", err.msg);
    return f;
}

static void users_are_found_by_their_tokens(void **state) {
    (void)state;
    struct auth_token_file *f = parse("t1,joe,1\n"
                                      "\n"
                                      "\"t,2\",\"j\"\"im\",2,\"dev,ops\"\r\n"
                                      "t3,ann,3,one\n"
                                      ",nobody,4\n"
                                      "t1,jane,5,\n"
                                      "\"t\n4\",eve,6,x,more");
    const struct auth_user *user = auth_token_file_find(f, STR("t1"));
    assert_true(str_is(user->name, "jane") && str_is(user->uid, "5"));
    assert_true(user->groups.n == 1 && user->groups.v[0].n == 0);
    user = auth_token_file_find(f, STR("t,2"));
    assert_true(str_is(user->name, "j\"im") && user->groups.n == 2);
    assert_true(str_is(user->groups.v[1], "ops"));
    assert_true(str_is(auth_token_file_find(f, STR("t3"))->groups.v[0], "one"));
    assert_non_null(auth_token_file_find(f, STR("t\n4")));
    assert_null(auth_token_file_find(f, STR("")));
    assert_null(auth_token_file_find(f, STR("t")));
    assert_null(auth_token_file_find(f, STR("t12")));
    auth_token_file_free(f);
}

static void empty_files_know_nobody(void **state) {
    (void)state;
    struct auth_token_file *f = parse("");
    assert_null(auth_token_file_find(f, STR("")));
    auth_token_file_free(f);
    auth_token_file_free(NULL);
}

static void odd_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } odd[] = {
        {"a,b\n", "token file 'tokens.csv' must have at least 3 columns (token, user name, user "
                  "uid), found 2"},
        {"a,b,c\nd\"e,f,g\n", "parse error on line 2, column 2: bare \" in non-quoted-field"},
        {"\"a\"b,c,d\n", "parse error on line 1, column 3: extraneous or missing \" in "
                         "quoted-field"},
        {"a,\"b\n", "parse error on line 1, column"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct err err = {0};
        assert_null(auth_token_file_parse(str_of(odd[i].text), STR("tokens.csv"), &err));
        if (!str_starts(str_of(err.msg), str_of(odd[i].why)))
            fail_msg("%s", err.msg);
    }
}

static void expect_limit(const char *line, size_t times, bool fits) {
    struct err err = {0};
    struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < times; i++)
        buf_add(&text, str_of(line));
    struct auth_token_file *f = auth_token_file_parse(buf_view(&text), STR("tokens.csv"), &err);
    assert_int_equal(f != NULL, fits);
    if (!fits)
        assert_int_equal(err.code, ERR_TOO_LARGE);
    auth_token_file_free(f);
    buf_release(&text);
}

static void files_are_bounded(void **state) {
    (void)state;
    expect_limit("t,u,1\n", LIMIT_AUTH_FILE_TOKENS, true);
    expect_limit("t,u,1\n", LIMIT_AUTH_FILE_TOKENS + 1, false);
    expect_limit("\n", LIMIT_AUTH_FILE_BYTES, true);
    expect_limit("\n", LIMIT_AUTH_FILE_BYTES + 1, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_are_found_by_their_tokens),
        cmocka_unit_test(empty_files_know_nobody),
        cmocka_unit_test(odd_files_are_refused),
        cmocka_unit_test(files_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
