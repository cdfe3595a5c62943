/* Sets of names: the same answers with few names, with many, and at the border between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "valid/valid_int.h"

static struct str name_of(struct arena *a, size_t i) {
    return arena_printf(a, "name-%zu", i);
}

static void names_are_seen_once(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 15, 16, 17, 18, 100};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct arena a = {0};
        struct seen seen;
        seen_init(&seen);
        for (size_t i = 0; i < counts[c]; i++) {
            assert_null(seen_get(&seen, name_of(&a, i)));
            assert_true(seen_add(&seen, name_of(&a, i)));
            assert_false(seen_add(&seen, name_of(&a, i)));
        }
        assert_int_equal(seen.n, counts[c]);
        for (size_t i = 0; i < counts[c]; i++)
            assert_non_null(seen_get(&seen, name_of(&a, i)));
        assert_null(seen_get(&seen, name_of(&a, counts[c])));
        seen_release(&seen);
        assert_null(seen_get(&seen, name_of(&a, 0)));
        arena_release(&a);
    }
}

static void the_first_value_stays(void **state) {
    (void)state;
    struct arena a = {0};
    struct seen seen;
    seen_init(&seen);
    int values[40];
    for (size_t i = 0; i < 40; i++)
        assert_true(seen_put(&seen, name_of(&a, i), &values[i]));
    for (size_t i = 0; i < 40; i++) {
        assert_false(seen_put(&seen, name_of(&a, i), &seen));
        assert_ptr_equal(seen_get(&seen, name_of(&a, i)), &values[i]);
    }
    seen_release(&seen);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_seen_once),
        cmocka_unit_test(the_first_value_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
