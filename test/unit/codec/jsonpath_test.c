/* Templates of test/jsonpath, each with the text that kubectl makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "codec/jsonpath.h"

/* What comes of a template: its output, or its error. */
static struct str outcome(struct arena *a, struct str template, const struct json *data) {
    struct jsonpath *path;
    struct err err = {0};
    struct buf out = BUF_INIT(1 << 20);
    int rc = jsonpath_parse(a, template, &path, &err);
    if (rc == 0)
        rc = jsonpath_write(path, data, a, &out, &err);
    struct str text = rc < 0 ? arena_printf(a, "error: %s", err.msg) : arena_str(a, buf_view(&out));
    buf_release(&out);
    return text;
}

/* A line is a template, an arrow, and its outcome as a JSON string. */
static void check_line(struct arena *a, struct str line, const struct json *data) {
    struct str arrow = STR(" => ");
    size_t at = str_find(line, arrow);
    struct json wanted;
    assert_int_not_equal(at, STR_NONE);
    assert_int_equal(json_parse(a, str_sub(line, at + arrow.n, line.n), NULL, &wanted, NULL), 0);
    struct str got = outcome(a, str_sub(line, 0, at), data);
    if (!str_eq(got, json_str(&wanted)))
        fail_msg("%.*s\ngot  %.*s\nwant %.*s", STR_ARG(str_sub(line, 0, at)), STR_ARG(got),
                 STR_ARG(json_str(&wanted)));
}

static void templates_give_what_kubectl_gives(void **state) {
    (void)state;
    struct arena a = {0};
    struct json data;
    struct str rest = cases_file(&a, "test/jsonpath/templates.txt"), line;
    assert_int_equal(json_parse(&a, cases_file(&a, "test/jsonpath/data.json"), NULL, &data, NULL),
                     0);
    size_t count = 0;
    while (rest.n) {
        str_cut(rest, '\n', &line, &rest);
        if (!line.n || line.p[0] == '#')
            continue;
        check_line(&a, line, &data);
        count++;
    }
    assert_true(count > 50);
    arena_release(&a);
}

static void expect_failure(struct buf *template, const char *text) {
    struct arena a = {0};
    struct json data = {.kind = JSON_OBJECT};
    struct str got = outcome(&a, buf_view(template), &data);
    assert_true(str_is(got, text));
    buf_release(template);
    arena_release(&a);
}

static void depth_is_bounded(void **state) {
    (void)state;
    struct buf ranges = BUF_INIT(1 << 20);
    for (int i = 0; i < 65; i++)
        buf_add(&ranges, STR("{range @}"));
    expect_failure(&ranges, "error: ranges go more than 64 deep");
}

static void values_are_found_one_by_one(void **state) {
    (void)state;
    struct arena a = {0};
    struct json data;
    struct jsonpath *path;
    struct jsonpath_found found;
    assert_int_equal(json_parse(&a, STR("{\"a\":[1,2,3]}"), NULL, &data, NULL), 0);
    assert_int_equal(jsonpath_parse(&a, STR("{.a[1:]}"), &path, NULL), 0);
    assert_int_equal(jsonpath_find(path, &data, &a, &found, NULL), 0);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.v[1]->i, 3);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_give_what_kubectl_gives),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(values_are_found_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
