/* Results that do not fit, as Go has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/wrap.h"

static void results_wrap_around(void **state) {
    (void)state;
    assert_true(wrap_add_i64(INT64_MAX, 1) == INT64_MIN);
    assert_true(wrap_add_i64(INT64_MIN, -1) == INT64_MAX);
    assert_true(wrap_sub_i64(INT64_MIN, 1) == INT64_MAX);
    assert_true(wrap_sub_i64(0, INT64_MIN) == INT64_MIN);
    assert_true(wrap_mul_i64(INT64_MAX, 2) == -2);
    assert_true(wrap_mul_i64(INT64_MIN, -1) == INT64_MIN);
    assert_true(wrap_div_i64(INT64_MIN, -1) == INT64_MIN);
}

static void results_that_fit_are_plain(void **state) {
    (void)state;
    assert_true(wrap_add_i64(-3, 5) == 2);
    assert_true(wrap_sub_i64(3, 5) == -2);
    assert_true(wrap_mul_i64(-3, 5) == -15);
    assert_true(wrap_div_i64(-7, 2) == -3);
    assert_true(wrap_div_i64(7, -1) == -7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_wrap_around),
        cmocka_unit_test(results_that_fit_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
