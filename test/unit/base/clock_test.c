/* Clocks: the system's moves by itself, the fake one only by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdbool.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"

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

/* Does the clock show a time between those that the system tells before and after? */
static bool tells_the_time(void) {
    int64_t before = (int64_t)time(NULL);
    int64_t wall = clock_wall(&clock_system);
    int64_t after = (int64_t)time(NULL);
    return wall >= (before - 1) * CLOCK_SECOND && wall <= (after + 1) * CLOCK_SECOND;
}

/* The system's time may be set between two looks at it, but not always. */
static void the_system_clock_tells_the_time(void **state) {
    (void)state;
    int64_t mono = clock_mono(&clock_system);
    bool agrees = false;
    for (int i = 0; i < 10 && !agrees; i++)
        agrees = tells_the_time();
    assert_true(agrees);
    assert_true(mono > 0 && clock_mono(&clock_system) >= mono);
}

static void the_fast_clock_is_ahead(void **state) {
    (void)state;
    struct clock_fast f;
    clock_fast_init(&f, LIMIT_CLUSTER_SPEED);
    const struct clock *c = &f.clock;
    int64_t wall = clock_wall(c), mono = clock_mono(c);
    assert_true(wall >= f.wall_ns && mono >= f.mono_ns);
    for (int i = 0; i < 1000000 && clock_mono(c) - mono < CLOCK_SECOND; i++)
        ;
    int64_t system = clock_mono(&clock_system) - f.mono_ns;
    assert_true(clock_mono(c) - f.mono_ns >= system * LIMIT_CLUSTER_SPEED);
    assert_true(clock_wall(c) - wall >= CLOCK_SECOND / 2);
    /* A second of it is over in a millisecond. */
    assert_int_equal(clock_wait(c, CLOCK_SECOND), CLOCK_SECOND / LIMIT_CLUSTER_SPEED);
    assert_int_equal(clock_wait(&clock_system, 7), 7);
}

/* A thousand times as fast, the year 2252 comes after some weeks. */
static void the_fast_clock_comes_to_stand_still(void **state) {
    (void)state;
    struct clock_fast f;
    clock_fast_init(&f, LIMIT_CLUSTER_SPEED);
    const struct clock *c = &f.clock;
    f.wall_ns = CLOCK_LAST - 1;
    assert_true(clock_wall(c) >= CLOCK_LAST - 1 && clock_wall(c) <= CLOCK_LAST);
    f.wall_ns = clock_wall(&clock_system);
    f.mono_ns -= CLOCK_LAST / LIMIT_CLUSTER_SPEED;
    assert_true(clock_wall(c) == CLOCK_LAST); /* the sum would be too much */
    assert_true(clock_mono(c) > 0 && clock_mono(c) <= CLOCK_LAST);
    f.mono_ns -= CLOCK_LAST / LIMIT_CLUSTER_SPEED;
    assert_true(clock_wall(c) == CLOCK_LAST); /* the product, too */
    assert_true(clock_mono(c) == CLOCK_LAST);
}

static void what_is_too_far_away_is_the_last_moment(void **state) {
    (void)state;
    assert_true(clock_after(5, 7) == 12);
    assert_true(clock_after(5, -7) == -2);
    assert_true(clock_after(5, INT64_MAX - 5) == INT64_MAX);
    assert_true(clock_after(6, INT64_MAX - 5) == INT64_MAX);
    assert_true(clock_until(12, 5) == 7);
    assert_true(clock_until(5, 12) == -7);
    assert_true(clock_until(INT64_MAX, -1) == INT64_MAX);
    assert_true(clock_until(-2, INT64_MAX) == INT64_MIN);
    assert_true(clock_seconds(3) == 3 * CLOCK_SECOND);
    assert_true(clock_seconds(INT64_MAX / 2 + 1) == INT64_MAX);
    assert_true(clock_seconds(INT64_MIN) == INT64_MIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fake_clock_stands_still),
        cmocka_unit_test(the_system_clock_tells_the_time),
        cmocka_unit_test(the_fast_clock_is_ahead),
        cmocka_unit_test(the_fast_clock_comes_to_stand_still),
        cmocka_unit_test(what_is_too_far_away_is_the_last_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
