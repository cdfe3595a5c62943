/* Patches: their limits, that nothing is changed that was lent, and that lists cost no square. What
 * each directive and operation does is in test/vectors/sample/patch.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/patch.h"
#include "base/limits.h"

static struct json parse(struct arena *a, const char *text) {
    struct json v;
    struct err err;
    if (json_parse(a, str_of(text), NULL, &v, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return v;
}

static struct api_patch_failure patch_json(struct arena *a, struct json stored, struct json patch,
                                           struct json *out) {
    struct api_patched patched = {0};
    struct api_patch_failure failure =
        api_patch_json(a, &stored, &(struct api_patch_body){.tree = &patch}, &patched);
    *out = patched.tree;
    return failure;
}

static struct api_patch_failure patch_pod(struct arena *a, struct json stored, struct json patch,
                                          struct json *out) {
    const struct api_kind *pod = api_kind_find(STR("v1"), STR("Pod"));
    struct api_patched patched = {0};
    struct api_patch_failure failure = api_patch_strategic(
        a, pod->type, &stored, &(struct api_patch_body){.tree = &patch}, &patched);
    *out = patched.tree;
    return failure;
}

static struct json operations(struct arena *a, uint32_t n, const char *text) {
    struct json list = {.kind = JSON_ARRAY}, op = parse(a, text);
    for (uint32_t i = 0; i < n; i++)
        json_append(a, &list, op);
    return list;
}

static void test_operations(void **state) {
    (void)state;
    struct arena a = {0};
    struct json out;
    const char *op = "{\"op\":\"add\",\"path\":\"/l/0\",\"value\":1}";
    struct json stored = parse(&a, "{\"l\":[]}");
    assert_int_equal(patch_json(&a, stored, operations(&a, LIMIT_PATCH_OPERATIONS, op), &out).code,
                     ERR_NONE);
    assert_int_equal(json_get(&out, STR("l"))->n, LIMIT_PATCH_OPERATIONS);
    struct api_patch_failure failure =
        patch_json(&a, stored, operations(&a, LIMIT_PATCH_OPERATIONS + 1, op), &out);
    assert_int_equal(failure.code, ERR_TOO_LARGE);
    assert_string_equal(failure.message.p, "Request entity too large: The allowed maximum "
                                           "operations in a JSON patch is 10000, got 10001");
    arena_release(&a);
}

/* A text of n bytes in quotes is copied: just as many as may be, and one more. */
static struct api_patch_failure copy_text(struct arena *a, size_t n) {
    struct json stored = {.kind = JSON_OBJECT}, out;
    char *text = arena_alloc(a, n);
    memset(text, 'x', n);
    json_add(a, &stored, STR("a"), json_of_str((struct str){text, n}));
    return patch_json(a, stored, parse(a, "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]"),
                      &out);
}

static void test_copies(void **state) {
    (void)state;
    struct arena a = {0};
    assert_int_equal(copy_text(&a, LIMIT_PATCH_COPY_BYTES - 2).code, ERR_NONE);
    struct api_patch_failure failure = copy_text(&a, LIMIT_PATCH_COPY_BYTES - 1);
    assert_int_equal(failure.code, ERR_UNPROCESSABLE);
    assert_string_equal(failure.cause.p,
                        "Unable to complete the copy, the accumulated size "
                        "increase of copy is 3145729, exceeding the limit 3145728");
    arena_release(&a);
}

/* The text of a failure shows the item that has no key. */
static struct api_patch_failure show_item(struct arena *a, size_t n) {
    struct json item = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    struct json patch = parse(a, "{\"spec\":{}}"), out;
    char *text = arena_alloc(a, n);
    memset(text, 'x', n);
    json_add(a, &item, STR("image"), json_of_str((struct str){text, n}));
    json_append(a, &list, item);
    struct json spec = {.kind = JSON_OBJECT};
    json_add(a, &spec, STR("containers"), list);
    patch.members[0].value = spec;
    return patch_pod(a, parse(a, "{\"spec\":{\"containers\":[]}}"), patch, &out);
}

static void test_texts(void **state) {
    (void)state;
    struct arena a = {0};
    struct str around = STR("map: map[image:] does not contain declared merge key: name");
    struct api_patch_failure failure = show_item(&a, LIMIT_PATCH_ERROR_BYTES - around.n);
    assert_int_equal(failure.message.n, LIMIT_PATCH_ERROR_BYTES);
    failure = show_item(&a, LIMIT_PATCH_ERROR_BYTES - around.n + 1);
    assert_string_equal(failure.message.p,
                        "the patch cannot be applied, and the text that says why is too long");
    arena_release(&a);
}

/* Each round puts what is there into something new, one level deeper. */
static void test_depth(void **state) {
    (void)state;
    struct arena a = {0};
    struct json list = {.kind = JSON_ARRAY}, out;
    struct json round = parse(&a, "[{\"op\":\"add\",\"path\":\"/n\",\"value\":{}},"
                                  "{\"op\":\"move\",\"from\":\"/c\",\"path\":\"/n/c\"},"
                                  "{\"op\":\"move\",\"from\":\"/n\",\"path\":\"/c\"}]");
    for (uint32_t i = 0; i < 3 * (LIMIT_JSON_DEPTH - 1); i++)
        json_append(&a, &list, round.items[i % 3]);
    struct json stored = parse(&a, "{\"c\":1}");
    assert_int_equal(patch_json(&a, stored, list, &out).code, ERR_NONE);
    for (uint32_t i = 0; i < 3; i++)
        json_append(&a, &list, round.items[i]);
    assert_int_equal(patch_json(&a, stored, list, &out).code, ERR_UNPROCESSABLE);
    arena_release(&a);
}

/* Containers by name, n of them; the patch has them in the opposite order. */
static struct json containers(struct arena *a, uint32_t n, bool backwards) {
    struct json list = {.kind = JSON_ARRAY}, spec = {.kind = JSON_OBJECT},
                object = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < n; i++) {
        struct json item = {.kind = JSON_OBJECT};
        struct str name = arena_printf(a, "c%u", backwards ? n - 1 - i : i);
        json_add(a, &item, STR("name"), json_of_str(name));
        json_append(a, &list, item);
    }
    json_add(a, &spec, STR("containers"), list);
    json_add(a, &object, STR("spec"), spec);
    return object;
}

/* Quadratic work would take minutes. */
static void test_long_lists(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct arena a = {0};
    struct json out, forth = containers(&a, MANY, false), back = containers(&a, MANY, true);
    assert_int_equal(patch_pod(&a, forth, back, &out).code, ERR_NONE);
    assert_true(json_equal(&out, &back));
    struct json *spec = &back.members[0].value;
    json_add(&a, spec, STR("$setElementOrder/containers"), spec->members[0].value);
    assert_int_equal(patch_pod(&a, forth, back, &out).code, ERR_NONE);
    assert_int_equal(json_get(json_get(&out, STR("spec")), STR("containers"))->n, MANY);
    arena_release(&a);
}

static void test_what_is_lent_stays(void **state) {
    (void)state;
    static const char *const patches[] = {
        "{\"metadata\":{\"labels\":{\"a\":null,\"b\":{\"c\":null,\"$patch\":\"x\"}}},\"spec\":"
        "null}",
        "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"b\"},{\"name\":\"a\"}],"
        "\"containers\":[{\"name\":\"b\",\"image\":\"n\",\"env\":[{\"name\":\"x\",\"value\":null}]}"
        ","
        "{\"name\":\"c\",\"$patch\":\"delete\"}]}}",
        "{\"spec\":{\"$retainKeys\":[\"hostname\"],\"hostname\":\"x\"}}"};
    const char *stored_text = "{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"containers\":"
                              "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}}";
    struct arena a = {0};
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        struct json stored = parse(&a, stored_text), patch = parse(&a, patches[i]), out;
        struct json stored_before = json_clone(&a, &stored), before = json_clone(&a, &patch);
        struct api_patched patched;
        patch_pod(&a, stored, patch, &out);
        api_patch_merge(&a, &stored, &(struct api_patch_body){.tree = &patch}, &patched);
        assert_true(json_equal(&stored, &stored_before));
        assert_true(json_equal(&patch, &before));
    }
    arena_release(&a);
}

static void test_kinds_without_rows(void **state) {
    (void)state;
    struct arena a = {0};
    struct json stored = parse(&a, "{}");
    struct api_patched patched;
    struct api_patch_failure failure =
        api_patch_strategic(&a, NULL, &stored, &(struct api_patch_body){.tree = &stored}, &patched);
    assert_int_equal(failure.code, ERR_INVALID);
    assert_string_equal(failure.message.p, "strategic merge patch format is not supported");
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_what_is_lent_stays),
        cmocka_unit_test(test_kinds_without_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
