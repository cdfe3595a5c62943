/*
 * A copy must be all its own: every object of test/api/objects.jsonl is copied, forgotten, and then
 * its copy encoded, which AddressSanitizer watches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/object.h"

static struct str write_json(struct arena *a, const struct json *v) {
    struct buf b = BUF_INIT(1 << 24);
    json_write(&b, v, NULL);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static void check_copy(struct arena *a, const struct json *tree) {
    struct api_object *o = NULL;
    struct err err = {0};
    if (api_object_decode(tree, NULL, &o, &err) < 0)
        return;
    const struct api_type *type = o->type;
    struct json original = api_struct_encode(a, type, o->body);
    struct str want = write_json(a, &original);
    void *copy = arena_alloc(a, type->size);
    api_struct_copy(a, type, o->body, copy);
    struct api_object *whole = api_object_copy(o);
    api_object_unref(o);
    struct json third = api_object_encode(whole, a);
    assert_true(str_eq(want, write_json(a, &third)));
    assert_true(whole->names->kind.n > 0 && whole->refs == 1);
    api_object_unref(whole);
    struct json again = api_struct_encode(a, type, copy);
    struct str got = write_json(a, &again);
    if (!str_eq(want, got))
        fail_msg("want %s\n got %s", want.p, got.p);
}

static void copies_stand_alone(void **state) {
    (void)state;
    FILE *f = fopen("test/api/objects.jsonl", "r");
    assert_non_null(f);
    char *text = NULL;
    size_t cap = 0, lines = 0;
    struct arena a = {0};
    for (ssize_t n; (n = getline(&text, &cap, f)) > 0; lines++) {
        struct json line;
        assert_int_equal(json_parse(&a, (struct str){text, (size_t)n}, NULL, &line, NULL), 0);
        check_copy(&a, json_get(&line, STR("object")));
        arena_reset(&a);
    }
    assert_true(lines > 100);
    arena_release(&a);
    free(text);
    fclose(f);
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
