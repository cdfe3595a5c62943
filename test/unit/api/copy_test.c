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

/* A copy by a likeness says what the object says, whatever the likeness is. */
static void check_likeness(struct arena *a, const struct api_object *o,
                           const struct api_object *like) {
    struct arena scratch = {0};
    size_t shared;
    struct json original = api_object_encode(o, a);
    struct str want = data_write(a, &original);
    struct api_object *copy = api_object_copy_like(o, like, &scratch, &shared);
    struct json again = api_object_encode(copy, a);
    struct str got = data_write(a, &again);
    if (!str_eq(want, got))
        fail_msg("want %s\n got %s", want.p, got.p);
    assert_ptr_equal(copy->base, like);
    assert_int_equal(arena_used(&copy->arena), copy->arena.bytes);
    api_object_free(copy);
    arena_release(&scratch);
}

static const struct api_object *decode(const struct json *tree) {
    struct api_object *o = NULL;
    return api_object_decode(tree, NULL, &o, NULL) < 0 ? NULL : api_publish(o);
}

static void check_line(struct arena *a, const struct json *line) {
    check_copy(a, json_get(line, STR("object")));
}

static const struct api_object *newest[API_TYPES];

/* Each object by itself and by the last one of its type. */
static void compare_line(struct arena *a, const struct json *line) {
    const struct api_object *o = decode(json_get(line, STR("object")));
    if (!o)
        return;
    check_likeness(a, o, o);
    if (newest[o->type->id])
        check_likeness(a, o, newest[o->type->id]);
    api_object_unref(newest[o->type->id]);
    newest[o->type->id] = o;
}

static void copies_by_likeness(void **state) {
    (void)state;
    data_each("test/api/objects.jsonl", 101, compare_line);
    for (size_t i = 0; i < API_TYPES; i++)
        api_object_unref(newest[i]);
}

/* Members that are like those of the other one are not the copy's. */
static void likeness_saves_memory(void **state) {
    (void)state;
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"labels\":"
        "{\"app\":\"web\"},\"managedFields\":[{\"fieldsV1\":{\"f:a\":{},\"f:b\":{\"f:c\":1.50}}}]},"
        "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1500m\"}}}]"
        "}}";
    struct arena a = {0}, scratch = {0};
    const struct api_object *o[2];
    for (int i = 0; i < 2; i++) {
        struct json tree;
        struct str pod = arena_printf(&a, text, i ? "web-2" : "web-1");
        assert_int_equal(json_parse(&a, pod, NULL, &tree, NULL), 0);
        o[i] = decode(&tree);
    }
    size_t shared;
    struct api_object *copy = api_object_copy_like(o[1], o[0], &scratch, &shared);
    const struct api_pod *pod = copy->body, *like = o[0]->body;
    assert_ptr_equal(pod->spec.containers.v, like->spec.containers.v);
    assert_ptr_equal(pod->metadata.labels.v, like->metadata.labels.v);
    assert_ptr_equal(pod->metadata.managed_fields.v, like->metadata.managed_fields.v);
    assert_true(str_is(pod->metadata.name, "web-2"));
    assert_true(shared > 500 && arena_used(&copy->arena) < sizeof *pod + 100);
    api_object_unref(o[0]);
    api_object_unref(o[1]);
    assert_true(str_is(pod->spec.containers.v[0].name, "c")); /* it holds the other one */
    api_object_free(copy);
    arena_release(&scratch);
    arena_release(&a);
}

/* Of managed fields that differ in one key, all others are shared. */
static void trees_are_shared_in_parts(void **state) {
    (void)state;
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"managedFields\":"
        "[{\"fieldsV1\":{\"f:conditions\":{\"k:1\":{\"f:type\":{},\"f:status\":[1,\"x\"]}},\"f:"
        "ips\":"
        "{\".\":{},\"k:{ip:%d}\":{\"f:ip\":{}}}}}]}}";
    struct arena a = {0}, scratch = {0};
    const struct api_object *o[2];
    for (int i = 0; i < 2; i++) {
        struct json tree;
        assert_int_equal(json_parse(&a, arena_printf(&a, text, i), NULL, &tree, NULL), 0);
        o[i] = decode(&tree);
    }
    size_t shared;
    struct api_object *copy = api_object_copy_like(o[1], o[0], &scratch, &shared);
    const struct json *own = &copy->meta->managed_fields.v[0].fields_v1;
    const struct json *other = &o[0]->meta->managed_fields.v[0].fields_v1;
    assert_true(own->members != other->members);
    assert_ptr_equal(own->members[0].value.members, other->members[0].value.members);
    assert_ptr_equal(own->members[1].key.p, other->members[1].key.p);
    assert_true(str_is(own->members[1].value.members[1].key, "k:{ip:1}"));
    struct api_bytes *bytes[] = {api_object_json_ref(api_publish(copy)), api_object_json_ref(o[1])};
    assert_true(str_eq(api_bytes_view(bytes[0]), api_bytes_view(bytes[1])));
    for (int i = 0; i < 2; i++) {
        api_bytes_unref(bytes[i]);
        api_object_unref(o[i]);
    }
    api_object_unref(copy);
    arena_release(&scratch);
    arena_release(&a);
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
        cmocka_unit_test(copies_stand_alone),        cmocka_unit_test(rare_members_are_copied),
        cmocka_unit_test(copies_by_likeness),        cmocka_unit_test(likeness_saves_memory),
        cmocka_unit_test(trees_are_shared_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
