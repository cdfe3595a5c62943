/*
 * Deletion: what the lines of test/vectors, which are upstream's, do not show. When an update ends
 * an object that is being deleted, and that texts may have any bytes.
 */
#include "../data.h"
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

#define POD(meta) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" meta "}}"
#define NAMESPACE(spec) \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{" GOING "}" spec "}"
#define GOING "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define HELD  "\"finalizers\":[\"example.com/a\"]"

static const struct row {
    const char *old, *now;
    bool ends;
} rows[] = {
    {POD(GOING "," HELD), POD(GOING), true},
    {POD(GOING "," HELD), POD(GOING "," HELD), false},
    {POD(HELD), POD(""), false},
    {POD(GOING "," HELD ",\"deletionGracePeriodSeconds\":0"), POD(GOING), true},
    {POD(GOING "," HELD ",\"deletionGracePeriodSeconds\":30"), POD(GOING), false},
    {NAMESPACE(""), NAMESPACE(""), true},
    {NAMESPACE(""), NAMESPACE(",\"spec\":{\"finalizers\":[\"kubernetes\"]}"), false},
};

static void an_update_ends_what_nothing_holds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct api_object *old = object_of(rows[i].old), *now = object_of(rows[i].now);
        if (registry_update_ends(now, old) != rows[i].ends)
            fail_msg("row %zu", i);
        api_object_free(old);
        api_object_free(now);
    }
}

static void conditions_are_bytes(void **state) {
    (void)state;
    struct arena a = {0};
    struct registry registry = {0};
    struct registry_request request = {.now = {.sec = 1, .set = true}};
    struct api_preconditions conditions = {.uid = STR("a\0b")};
    struct api_delete_options options = {.preconditions = &conditions};
    struct api_object *o = object_of(POD("\"name\":\"x\",\"uid\":\"a\""));
    enum registry_deletion out;
    struct registry_failure f = registry_delete(&registry, &request, &a, &options, o, &out);
    assert_int_equal(f.code, ERR_CONFLICT);
    assert_true(str_eq(f.message,
                       STR("Operation cannot be fulfilled on Pod \"x\": the UID in the "
                           "precondition (a\0b) does not match the UID in record (a). The object "
                           "might have been deleted and then recreated")));
    api_object_free(o);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_ends_what_nothing_holds),
        cmocka_unit_test(conditions_are_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
