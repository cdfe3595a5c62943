/* JSON for people, as Go indents it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "server/indent.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct {
    const char *compact, *pretty;
} rows[] = {
    {"{}", "{}"},
    {"[]\n", "[]"},
    {"3", "3"},
    {"{\"a\":1}\n", "{\n  \"a\": 1\n}"},
    {"{\"a\":{},\"b\":[]}", "{\n  \"a\": {},\n  \"b\": []\n}"},
    {"[1,[2,{\"x\":null}]]", "[\n  1,\n  [\n    2,\n    {\n      \"x\": null\n    }\n  ]\n]"},
    {"{\"a\":\"{,:}\\\"[\"}", "{\n  \"a\": \"{,:}\\\"[\"\n}"},
    {"\"open", "\"open"},
    {"]]", "\n]\n]"},
};

static void texts_are_indented(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = BUF_INIT(SIZE_MAX);
        server_indent(&out, str_of(rows[i].compact));
        if (!str_is(buf_view(&out), rows[i].pretty))
            fail_msg("%s: %.*s", rows[i].compact, STR_ARG(buf_view(&out)));
        buf_release(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_indented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
