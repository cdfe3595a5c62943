/* The progress line, on a clock that is moved by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/progress.h"
#include "world.h"

#define MS (CLOCK_SECOND / 1000)

static void long_work_is_shown_and_erased(void **state) {
    (void)state;
    struct world w;
    struct progress p;
    world_init(&w);
    w.ctx.err_is_tty = true;
    progress_init(&p, &w.ctx, 200000000);

    clock_manual_advance(&w.clock, 499 * MS);
    progress_update(&p, 1000000, 10);
    assert_string_equal(world_taken(&w, w.err), "");

    clock_manual_advance(&w.clock, 1 * MS);
    progress_update(&p, 50000000, 1234);
    assert_string_equal(world_taken(&w, w.err),
                        "\r\033[K50.0 MB of 200.0 MB (25 %), 1234 objects, 100.0 MB/s");

    clock_manual_advance(&w.clock, 99 * MS);
    progress_update(&p, 60000000, 1300);
    assert_string_equal(world_taken(&w, w.err), "");

    clock_manual_advance(&w.clock, 401 * MS);
    progress_update(&p, 90000000, 2000);
    assert_string_equal(world_taken(&w, w.err),
                        "\r\033[K90.0 MB of 200.0 MB (45 %), 2000 objects, 90.0 MB/s");

    progress_end(&p);
    assert_string_equal(world_taken(&w, w.err), "\r\033[K");
    progress_end(&p);
    assert_string_equal(world_taken(&w, w.err), "");
    world_release(&w);
}

static void counted_work_is_shown_in_things(void **state) {
    (void)state;
    struct world w;
    struct progress p;
    world_init(&w);
    w.ctx.err_is_tty = true;
    progress_init_count(&p, &w.ctx, 10000, "pods");
    clock_manual_advance(&w.clock, 500 * MS);
    progress_update(&p, 2500, 0);
    assert_string_equal(world_taken(&w, w.err), "\r\033[K2500 of 10000 pods (25 %), 5000 pods/s");
    progress_end(&p);
    progress_init_count(&p, &w.ctx, 0, "pods");
    clock_manual_advance(&w.clock, 500 * MS);
    (void)world_taken(&w, w.err);
    progress_update(&p, 0, 0);
    assert_string_equal(world_taken(&w, w.err), "\r\033[K0 pods, 0 pods/s");
    progress_end(&p);
    world_release(&w);
}

static void a_total_that_is_unknown_or_wrong_is_not_shown(void **state) {
    (void)state;
    for (uint64_t total = 0; total < 2; total++) {
        struct world w;
        struct progress p;
        world_init(&w);
        w.ctx.err_is_tty = true;
        progress_init(&p, &w.ctx, total);
        clock_manual_advance(&w.clock, CLOCK_SECOND);
        progress_update(&p, 1500000, 1);
        assert_string_equal(world_taken(&w, w.err), "\r\033[K1.5 MB, 1 objects, 1.5 MB/s");
        progress_end(&p);
        world_release(&w);
    }
}

static void nobody_watches_a_file(void **state) {
    (void)state;
    struct world w;
    struct progress p;
    world_init(&w);
    progress_init(&p, &w.ctx, 100);
    clock_manual_advance(&w.clock, 10 * CLOCK_SECOND);
    progress_update(&p, 50, 1);
    progress_end(&p);
    assert_string_equal(world_taken(&w, w.err), "");
    world_release(&w);
}

static void short_work_leaves_no_trace(void **state) {
    (void)state;
    struct world w;
    struct progress p;
    world_init(&w);
    w.ctx.err_is_tty = true;
    progress_init(&p, &w.ctx, 100);
    progress_update(&p, 100, 1);
    progress_end(&p);
    assert_string_equal(world_taken(&w, w.err), "");
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_work_is_shown_and_erased),
        cmocka_unit_test(counted_work_is_shown_in_things),
        cmocka_unit_test(a_total_that_is_unknown_or_wrong_is_not_shown),
        cmocka_unit_test(nobody_watches_a_file),
        cmocka_unit_test(short_work_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
