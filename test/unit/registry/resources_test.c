/* The table of resources: what it promises by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "registry/registry.h"

static void every_kind_with_a_path_has_a_row(void **state) {
    (void)state;
    for (const struct api_kind *k = api_kinds; k->kind; k++) {
        const struct registry_resource *r = registry_resource_of(k);
        assert_true(k->plural[0] ? r && r->kind == k : !r);
    }
    assert_null(registry_resource_of(NULL));
}

static void subresources_of_a_pod_end_with_a_row_without_a_name(void **state) {
    (void)state;
    const struct api_kind *pod = api_kind_find(STR("v1"), STR("Pod"));
    size_t n = 0;
    for (const struct registry_subresource *s = registry_resource_of(pod)->subresources; s->name;
         s++)
        n++;
    assert_int_equal(n, 10);
}

static void what_can_only_be_posted_cannot_be_read(void **state) {
    (void)state;
    const struct registry_resource *r =
        registry_resource_of(api_kind_find(STR("v1"), STR("Binding")));
    assert_int_equal(r->verbs, 1u << REGISTRY_VERB_CREATE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_with_a_path_has_a_row),
        cmocka_unit_test(subresources_of_a_pod_end_with_a_row_without_a_name),
        cmocka_unit_test(what_can_only_be_posted_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
