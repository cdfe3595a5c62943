/* A write to the status through the registry: what is kept of the stored object, and the failure.
 * The rules are compared with upstream's in test/vectors. */
#include "../data.h"
#include "registry/registry.h"

static struct api_object *object_of(struct arena *a, const char *text) {
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

#define NAMESPACE(version, spec, phase)                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"x\"," \
    "\"resourceVersion\":\"" version "\",\"uid\":\"u\"},\"spec\":{" spec "},"     \
    "\"status\":{\"phase\":\"" phase "\"}}"

static struct registry_failure write_status(struct arena *a, struct api_object *o,
                                            struct api_object *old) {
    struct feature_set gates = data_newest_gates();
    struct registry registry = {.gates = &gates};
    struct registry_request request = {.namespace = STR("")};
    return registry_update_status(&registry, &request, a, o, old);
}

static void the_spec_and_the_version_are_the_stored_ones(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_object *old = object_of(&a, NAMESPACE("7", "\"finalizers\":[\"k\"]", "Active"));
    struct api_object *o = object_of(&a, NAMESPACE("5", "", "Active"));
    assert_int_equal(write_status(&a, o, old).code, ERR_NONE);
    const struct api_namespace *ns = o->body;
    assert_int_equal(ns->spec.finalizers.n, 1);
    assert_true(str_is(o->meta->resource_version, "7"));
    api_object_free(o);
    api_object_free(old);
    arena_release(&a);
}

static void what_is_wrong_is_a_failure(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_object *old = object_of(&a, NAMESPACE("7", "", "Active"));
    struct api_object *o = object_of(&a, NAMESPACE("7", "", "Terminating"));
    struct registry_failure failure = write_status(&a, o, old);
    assert_int_equal(failure.code, ERR_UNPROCESSABLE);
    assert_int_equal(failure.causes->n, 1);
    api_object_free(o);
    api_object_free(old);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_spec_and_the_version_are_the_stored_ones),
        cmocka_unit_test(what_is_wrong_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
