/* What the outside sees of a verdict. Status bodies are compared with upstream's in test/valid;
 * here is what those lines do not show: kubectl's words, odd bytes, and lists of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "valid/valid_int.h"

static struct api_object *object_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

static void expect_kubectl(const struct api_object *o, const struct valid_errs *errs,
                           const char *want) {
    struct buf text = BUF_INIT(1 << 16);
    valid_write_kubectl(&text, o, errs);
    if (!str_is(buf_view(&text), want))
        fail_msg("want %s\n got %.*s", want, STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static void expect_json(struct json tree, struct str want) {
    struct buf text = BUF_INIT(1 << 16);
    json_write(&text, &tree, NULL);
    if (!str_eq(buf_view(&text), want))
        fail_msg("want %.*s\n got %.*s", STR_ARG(want), STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static void kubectl_says_one_error_in_a_line_and_more_in_lines(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                                     "\"metadata\":{\"name\":\"a\\\"b\"}}");
    struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid v = {.errs = &errs};
    valid__required(&v, AT(AT(NULL, "spec"), "selector"), NO_DETAIL);
    expect_kubectl(o, &errs, "The Deployment \"a\\\"b\" is invalid: spec.selector: Required value");
    valid__invalid(&v, AT_KEY(AT(NULL, "spec"), STR("k")), VALUE_Q(STR("<v>")), "must be %d", 5);
    expect_kubectl(o, &errs,
                   "The Deployment \"a\\\"b\" is invalid: \n* spec.selector: Required value\n"
                   "* spec[k]: Invalid value: \"<v>\": must be 5");
    expect_json(valid_status(&a, o, &errs),
                STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                    "\"Failure\",\"message\":\"Deployment.apps \\\"a\\\\\\\"b\\\" is invalid: "
                    "[spec.selector: Required value, spec[k]: Invalid value: "
                    "\\\"\\u003cv\\u003e\\\": must be 5]\",\"reason\":\"Invalid\",\"details\":{"
                    "\"name\":\"a\\\"b\",\"group\":\"apps\",\"kind\":\"Deployment\",\"causes\":[{"
                    "\"reason\":\"FieldValueRequired\",\"message\":\"Required value\",\"field\":"
                    "\"spec.selector\"},{\"reason\":\"FieldValueInvalid\",\"message\":\"Invalid "
                    "value: \\\"\\u003cv\\u003e\\\": must be 5\",\"field\":\"spec[k]\"}]},\"code\":"
                    "422}"));
    api_object_unref(o);
    arena_release(&a);
}

static void an_object_without_a_name_has_none_in_the_details(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"v1\",\"kind\":\"Node\"}");
    struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    valid__forbidden(&(struct valid){.errs = &errs}, NULL, "never");
    expect_json(valid_status(&a, o, &errs),
                STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                    "\"Failure\",\"message\":\"Node \\\"\\\" is invalid: \\u003cnil\\u003e: "
                    "Forbidden: never\",\"reason\":\"Invalid\",\"details\":{\"kind\":\"Node\","
                    "\"causes\":[{\"reason\":\"FieldValueForbidden\",\"message\":\"Forbidden: "
                    "never\",\"field\":\"\\u003cnil\\u003e\"}]},\"code\":422}"));
    api_object_unref(o);
    arena_release(&a);
}

static void nul_bytes_are_bytes(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"v1\",\"kind\":\"Node\"}");
    struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid v = {.errs = &errs};
    valid__required(&v, AT_DOTTED(AT_KEY(AT(NULL, "a"), STR("x\0y")), STR("p\0q")), NO_DETAIL);
    valid__required(&v, AT_DOTTED(AT_KEY(AT(NULL, "a"), STR("x\0z")), STR("")), NO_DETAIL);
    assert_true(str_eq(errs.v[0].field, STR("a[x\0y].p\0q")));
    assert_true(str_eq(errs.v[1].field, STR("a[x\0z][]")));
    assert_int_equal(errs.n, 2);
    struct json status = valid_status(&a, o, &errs);
    assert_true(str_ends(json_str(json_get(&status, STR("message"))),
                         STR("[a[x\0y].p\0q: Required value, a[x\0z][]: Required value]")));
    api_object_unref(o);
    arena_release(&a);
}

static void a_body_that_cannot_be_read_is_a_bad_request(void **state) {
    (void)state;
    struct arena a = {0};
    expect_json(valid_bad_request(&a, STR("no")),
                STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                    "\"Failure\",\"message\":\"no\",\"reason\":\"BadRequest\",\"code\":400}"));
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kubectl_says_one_error_in_a_line_and_more_in_lines),
        cmocka_unit_test(an_object_without_a_name_has_none_in_the_details),
        cmocka_unit_test(nul_bytes_are_bytes),
        cmocka_unit_test(a_body_that_cannot_be_read_is_a_bad_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
