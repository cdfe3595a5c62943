// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include "cases.h"
#include "codec/yml.h"

static void file_of_documents(void **state) {
    (void)state;
    struct arena a = {0};
    struct str rest = cases_file(&a, "test/yaml/write.test");
    struct test_case c;
    size_t count = 0;
    struct buf out = BUF_INIT(1 << 20);
    for (; cases_next(&rest, &c); count++, buf_clear(&out)) {
        struct json v, again;
        struct err err;
        assert_int_equal(json_parse(&a, c.input, NULL, &v, NULL), 0);
        yml_write(&out, &v);
        if (!str_eq(buf_view(&out), c.expected))
            fail_msg("case %.*s: %.*sgives\n%.*snot\n%.*s", STR_ARG(c.name), STR_ARG(c.input),
                     STR_ARG(buf_view(&out)), STR_ARG(c.expected));
        if (yml_parse(&a, buf_view(&out), &again, &err) < 0)
            fail_msg("case %.*s: does not read back: %s", STR_ARG(c.name), err.msg);
    }
    assert_true(count > 600);
    buf_release(&out);
    arena_release(&a);
}

static void what_does_not_fit_is_dropped(void **state) {
    (void)state;
    struct json v = json_of_str(STR("a string that is longer than the buffer"));
    struct buf out = BUF_INIT(10);
    yml_write(&out, &v);
    assert_true(out.full);
    buf_release(&out);
}

static void bytes_that_are_no_text(void **state) {
    (void)state;
    struct json v = json_of_str(STR("a\xFF"));
    struct buf out = BUF_INIT(100);
    yml_write(&out, &v);
    assert_true(str_is(buf_view(&out), "\"a\\uFFFD\"\n"));
    buf_release(&out);
}

static void depth_needs_no_stack(void **state) {
    (void)state;
    enum { DEPTH = 2000 };
    static struct json levels[DEPTH];
    for (size_t i = 0; i + 1 < DEPTH; i++)
        levels[i] = (struct json){.kind = JSON_ARRAY, .n = 1, .items = &levels[i + 1]};
    levels[DEPTH - 1] = json_of_i64(1);
    struct buf out = BUF_INIT(1 << 20);
    yml_write(&out, &levels[0]);
    assert_int_equal(out.n, (DEPTH - 1) * 2 + 2);
    buf_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_of_documents),
        cmocka_unit_test(what_does_not_fit_is_dropped),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(depth_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
