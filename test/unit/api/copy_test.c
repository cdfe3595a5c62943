/*
 * A copy must be all its own: every object of test/api/objects.jsonl is copied, forgotten, and then
 * its copy encoded, which AddressSanitizer watches.
 */
#include "../data.h"
#include "api/object.h"

static void check_copy(struct arena *a, const struct json *tree) {
    struct api_object *o = NULL;
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        return;
    const struct api_type *type = o->type;
    struct json original = api_struct_encode(a, type, o->body);
    struct str want = data_write(a, &original);
    void *copy = arena_alloc(a, type->size);
    api_struct_copy(a, type, o->body, copy);
    struct api_object *whole = api_object_copy(o);
    api_object_free(o);
    struct json third = api_object_encode(whole, a);
    assert_true(str_eq(want, data_write(a, &third)));
    assert_true(whole->names->kind.n > 0 && !api_object_holders(whole));
    api_object_free(whole);
    struct json again = api_struct_encode(a, type, copy);
    struct str got = data_write(a, &again);
    if (!str_eq(want, got))
        fail_msg("want %s\n got %s", want.p, got.p);
}

static void check_line(struct arena *a, const struct json *line) {
    check_copy(a, json_get(line, STR("object")));
}

static void copies_stand_alone(void **state) {
    (void)state;
    data_each("test/api/objects.jsonl", 101, check_line);
}

/* What the generated objects do not have: members that the schema does not know, numbers of many
 * digits, quantities outside of maps, lists of numbers. */
static void rare_members_are_copied(void **state) {
    (void)state;
    static const struct str objects[] = {
        STR_INIT("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"bogus\":{\"a\":[1,null]},"
                 "\"metadata\":{\"labels\":{},\"finalizers\":[]},\"status\":{"
                 "\"capacity\":{\"cpu\":\"12345678901234567890123456789\"}}}"),
        STR_INIT("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"volumes\":[{\"name\":"
                 "\"v\",\"emptyDir\":{\"sizeLimit\":\"1.5Gi\"}}],\"containers\":[{\"env\":[{"
                 "\"valueFrom\":{\"resourceFieldRef\":{\"divisor\":\"1e-3\"}}}]}]}}"),
        STR_INIT("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"spec\":{\"podFailurePolicy\":{"
                 "\"rules\":[{\"onExitCodes\":{\"values\":[1,2,3]}}]}}}"),
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        struct json tree;
        assert_int_equal(json_parse(&a, objects[i], NULL, &tree, NULL), 0);
        check_copy(&a, &tree);
    }
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_stand_alone),
        cmocka_unit_test(rare_members_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
