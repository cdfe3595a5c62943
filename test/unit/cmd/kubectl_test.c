/* kubectl's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/report/kubectl.h"

static void expect(const struct registry_failure *f, const char *want) {
    struct buf text = BUF_INIT(1 << 16);
    kubectl_write_failure(&text, f, STR("f.yaml"));
    if (!str_is(buf_view(&text), want))
        fail_msg("want %s\n got %.*s", want, STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static void one_error_stands_in_a_line_and_more_in_lines(void **state) {
    (void)state;
    struct valid_error list[] = {{.text = STR_INIT("spec.selector: Required value")},
                                 {.text = STR_INIT("spec[k]: Invalid value: \"<v>\": must be 5")}};
    struct valid_errs errs = {.v = list, .n = 1};
    struct registry_failure f = {.code = ERR_UNPROCESSABLE,
                                 .group = STR("apps"),
                                 .kind = STR("Deployment"),
                                 .name = STR("a\"b"),
                                 .causes = &errs};
    expect(&f, "The Deployment \"a\\\"b\" is invalid: spec.selector: Required value");
    errs.n = 2;
    expect(&f, "The Deployment \"a\\\"b\" is invalid: \n* spec.selector: Required value\n"
               "* spec[k]: Invalid value: \"<v>\": must be 5");
}

static void what_is_not_about_fields_has_a_reason(void **state) {
    (void)state;
    struct registry_failure f = {.code = ERR_FORBIDDEN, .message = STR("no")};
    expect(&f, "Error from server (Forbidden): error when creating \"f.yaml\": no");
}

static void expect_name(const char *version, const char *kind, const char *name, const char *want) {
    struct buf text = BUF_INIT(1 << 16);
    kubectl_write_name(&text, str_of(version), str_of(kind), str_of(name));
    assert_true(str_is(buf_view(&text), want));
    buf_release(&text);
}

static void names_have_kind_and_group(void **state) {
    (void)state;
    expect_name("v1", "Pod", "web", "pod/web");
    expect_name("apps/v1", "Deployment", "web", "deployment.apps/web");
    expect_name("", "", "", "/<unknown>");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_error_stands_in_a_line_and_more_in_lines),
        cmocka_unit_test(what_is_not_about_fields_has_a_reason),
        cmocka_unit_test(names_have_kind_and_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
