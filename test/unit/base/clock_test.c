/* Clocks: the system's moves by itself, the fake one only by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <time.h>

#include "base/clock.h"

static void the_fake_clock_stands_still(void **state) {
    (void)state;
    struct clock_manual f;
    clock_manual_init(&f, 1700000000 * CLOCK_SECOND);
    const struct clock *c = &f.clock;
    assert_true(clock_wall(c) == 1700000000 * CLOCK_SECOND);
    assert_true(clock_mono(c) == 0);
    clock_manual_advance(&f, 3 * CLOCK_SECOND + 7);
    assert_true(clock_wall(c) == 1700000003 * CLOCK_SECOND + 7);
    assert_true(clock_mono(c) == 3 * CLOCK_SECOND + 7);
    clock_manual_advance(&f, 0);
    assert_true(clock_mono(c) == 3 * CLOCK_SECOND + 7);
}

static void the_system_clock_tells_the_time(void **state) {
    (void)state;
    int64_t before = (int64_t)time(NULL), mono = clock_mono(&clock_system);
    int64_t wall = clock_wall(&clock_system);
    int64_t after = (int64_t)time(NULL);
    assert_true(wall >= (before - 1) * CLOCK_SECOND && wall <= (after + 1) * CLOCK_SECOND);
    assert_true(mono > 0 && clock_mono(&clock_system) >= mono);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fake_clock_stands_still),
        cmocka_unit_test(the_system_clock_tells_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
