/* The Status of a failure. Status bodies are compared with upstream's in test/vectors; here is what
 * those lines do not show: odd bytes, objects without a name, and what is not about fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "registry/registry.h"

static struct api_object *object_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

static void expect_status(struct arena *a, struct registry_failure failure, struct str want) {
    struct buf text = BUF_INIT(1 << 16);
    struct json tree = registry_status(a, &failure);
    json_write(&text, &tree, NULL);
    if (!str_eq(buf_view(&text), want))
        fail_msg("want %.*s\n got %.*s", STR_ARG(want), STR_ARG(buf_view(&text)));
    buf_release(&text);
}

#define FAILURE "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

#define ERROR(err_type, err_field, err_body)                           \
    {                                                                  \
        .type = (err_type), .text = STR_INIT(err_field ": " err_body), \
        .field = STR_INIT(err_field), .body = STR_INIT(err_body)       \
    }

static void several_errors_stand_between_brackets(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                                     "\"metadata\":{\"name\":\"a\\\"b\"}}");
    struct arena a = {0};
    struct valid_error list[] = {
        ERROR(VALID_REQUIRED, "spec.selector", "Required value"),
        ERROR(VALID_INVALID, "spec[k]", "Invalid value: \"<v>\": must be 5")};
    struct valid_errs errs = {.a = &a, .v = list, .n = 2};
    expect_status(&a, registry_invalid(&a, o, &errs),
                  STR(FAILURE
                      "\"message\":\"Deployment.apps \\\"a\\\\\\\"b\\\" is invalid: "
                      "[spec.selector: Required value, spec[k]: Invalid value: "
                      "\\\"\\u003cv\\u003e\\\": must be 5]\",\"reason\":\"Invalid\",\"details\":{"
                      "\"name\":\"a\\\"b\",\"group\":\"apps\",\"kind\":\"Deployment\",\"causes\":[{"
                      "\"reason\":\"FieldValueRequired\",\"message\":\"Required value\",\"field\":"
                      "\"spec.selector\"},{\"reason\":\"FieldValueInvalid\",\"message\":\"Invalid "
                      "value: \\\"\\u003cv\\u003e\\\": must be 5\",\"field\":\"spec[k]\"}]},"
                      "\"code\":422}"));
    api_object_free(o);
    arena_release(&a);
}

static void an_object_without_a_name_has_none_in_the_details(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"v1\",\"kind\":\"Node\"}");
    struct arena a = {0};
    struct valid_error list[] = {ERROR(VALID_FORBIDDEN, "<nil>", "Forbidden: never")};
    struct valid_errs errs = {.a = &a, .v = list, .n = 1};
    expect_status(&a, registry_invalid(&a, o, &errs),
                  STR(FAILURE
                      "\"message\":\"Node \\\"\\\" is invalid: \\u003cnil\\u003e: "
                      "Forbidden: never\",\"reason\":\"Invalid\",\"details\":{\"kind\":\"Node\","
                      "\"causes\":[{\"reason\":\"FieldValueForbidden\",\"message\":\"Forbidden: "
                      "never\",\"field\":\"\\u003cnil\\u003e\"}]},\"code\":422}"));
    api_object_free(o);
    arena_release(&a);
}

static void nul_bytes_are_bytes(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"v1\",\"kind\":\"Node\"}");
    struct arena a = {0};
    struct valid_error list[] = {ERROR(VALID_REQUIRED, "a[x\0y].p\0q", "Required value")};
    struct valid_errs errs = {.a = &a, .v = list, .n = 1};
    struct registry_failure failure = registry_invalid(&a, o, &errs);
    assert_true(str_ends(failure.message, STR("is invalid: a[x\0y].p\0q: Required value")));
    api_object_free(o);
    arena_release(&a);
}

static void a_body_that_cannot_be_read_is_a_bad_request(void **state) {
    (void)state;
    struct arena a = {0};
    expect_status(&a, registry_bad_request(STR("no")),
                  STR(FAILURE "\"message\":\"no\",\"reason\":\"BadRequest\",\"code\":400}"));
    arena_release(&a);
}

static void an_object_that_is_there_already_is_named_by_its_resource(void **state) {
    (void)state;
    struct api_object *o = object_of("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
                                     "\"metadata\":{\"name\":\"j\"}}");
    struct arena a = {0};
    expect_status(&a, registry_already_exists(&a, o->kind, o->meta->name),
                  STR(FAILURE "\"message\":\"jobs.batch \\\"j\\\" already exists\",\"reason\":"
                              "\"AlreadyExists\",\"details\":{\"name\":\"j\",\"group\":\"batch\","
                              "\"kind\":\"jobs\"},\"code\":409}"));
    api_object_free(o);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_errors_stand_between_brackets),
        cmocka_unit_test(an_object_without_a_name_has_none_in_the_details),
        cmocka_unit_test(nul_bytes_are_bytes),
        cmocka_unit_test(a_body_that_cannot_be_read_is_a_bad_request),
        cmocka_unit_test(an_object_that_is_there_already_is_named_by_its_resource),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
