/* What a view answers to admission, and how it finds objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "registry/known.h"

static struct api_object *object_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

static void show(struct registry_known *v, const char *text) {
    const struct api_object *o = api_publish(object_of(text));
    registry_known_set(v, o);
    api_object_unref(o);
}

#define CLASS(name, value, by_default)                                                   \
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{" \
    "\"name\":\"" name "\"},\"value\":" #value ",\"globalDefault\":" #by_default "}"

static void expect_default(const struct registry_known *v, const char *name) {
    const struct api_priority_class *found =
        registry_view_default_priority_class(registry_known_view(v));
    assert_true(name ? found && str_is(found->metadata.name, name) : !found);
}

static void the_least_of_several_default_priorities_counts(void **state) {
    (void)state;
    struct registry_known *v = registry_known_new(STR(""));
    expect_default(v, NULL);
    show(v, CLASS("plain", 1, false));
    expect_default(v, NULL);
    show(v, CLASS("high", 9, true));
    show(v, CLASS("low", 5, true));
    show(v, CLASS("middle", 7, true));
    expect_default(v, "low");
    show(v, CLASS("low", 5, false));
    expect_default(v, "middle");
    registry_known_free(v);
}

#define STORAGE(name, made)                                                           \
    "{\"apiVersion\":\"storage.k8s.io/"                                               \
    "v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"" name                   \
    "\",\"creationTimestamp\":\"" made                                                \
    "\",\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}}," \
    "\"provisioner\":\"p\"}"

static void the_newest_of_several_default_storage_classes_counts(void **state) {
    (void)state;
    struct registry_known *v = registry_known_new(STR(""));
    assert_null(registry_view_default_storage_class(registry_known_view(v)));
    show(v, STORAGE("b", "2026-01-02T00:00:00Z"));
    show(v, STORAGE("c", "2026-01-01T00:00:00Z"));
    show(v, STORAGE("a", "2026-01-02T00:00:00Z"));
    assert_true(
        str_is(registry_view_default_storage_class(registry_known_view(v))->metadata.name, "a"));
    registry_known_free(v);
}

static void an_object_without_a_namespace_is_in_that_of_the_view(void **state) {
    (void)state;
    struct registry_known *v = registry_known_new(STR("mine"));
    struct api_object *pod =
        object_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}");
    show(v, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":"
            "\"mine\"}}");
    assert_non_null(registry_known_find(v, pod));
    assert_non_null(registry_view_get(registry_known_view(v), pod->kind, STR("mine"), STR("p")));
    assert_null(registry_view_get(registry_known_view(v), pod->kind, STR("default"), STR("p")));
    api_object_free(pod);
    registry_known_free(v);
}

static void only_a_closed_kind_is_known_to_be_complete(void **state) {
    (void)state;
    struct registry_known *v = registry_known_new(STR(""));
    assert_false(registry_view_is_closed(registry_known_view(v), API_T_namespace));
    registry_known_close(v, API_T_namespace);
    assert_true(registry_view_is_closed(registry_known_view(v), API_T_namespace));
    assert_false(registry_view_is_closed(registry_known_view(v), API_T_priority_class));
    registry_known_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_several_default_priorities_counts),
        cmocka_unit_test(the_newest_of_several_default_storage_classes_counts),
        cmocka_unit_test(an_object_without_a_namespace_is_in_that_of_the_view),
        cmocka_unit_test(only_a_closed_kind_is_known_to_be_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
