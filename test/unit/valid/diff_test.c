/* The diff in the error of an update: it is there, and left out for structs beyond the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "valid/valid_int.h"

/* A pod spec with so many tolerations, of which the last has this key. */
static struct api_pod_spec spec_of(struct arena *a, size_t n, const char *last) {
    struct api_pod_spec spec = {0};
    spec.tolerations.v = arena_array(a, struct api_toleration, n);
    spec.tolerations.n = n;
    for (size_t i = 0; i < n; i++)
        spec.tolerations.v[i].key = arena_printf(a, "k%zu", i);
    spec.tolerations.v[n - 1].key = str_of(last);
    return spec;
}

static struct str diff_of(struct arena *a, size_t tolerations) {
    struct api_pod_spec old = spec_of(a, tolerations, "a"), now = spec_of(a, tolerations, "b");
    return valid__diff(a, API_T_pod_spec, &old, &now);
}

static void a_diff_follows_upon_a_line_break(void **state) {
    (void)state;
    struct arena a = {0};
    struct str diff = diff_of(&a, 2);
    assert_true(str_starts(diff, STR("\n@@ -")));
    assert_true(str_find(diff, STR("-   \"Key\": \"a\",\n+   \"Key\": \"b\",\n")) != STR_NONE);
    arena_release(&a);
}

/* A toleration takes more than 100 and less than 1,000 bytes, as a tree and as a text. */
static void a_struct_that_is_too_long_has_none(void **state) {
    (void)state;
    struct arena a = {0};
    assert_true(diff_of(&a, LIMIT_DIFF_BYTES / 1000).n > 0);
    assert_int_equal(diff_of(&a, LIMIT_DIFF_BYTES / 100).n, 0);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diff_follows_upon_a_line_break),
        cmocka_unit_test(a_struct_that_is_too_long_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
