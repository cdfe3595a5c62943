/* What is said of a pod that fits nowhere: counts, order, and the end of very long texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "sched/plugin_int.h"

static void counts_come_first_and_entries_are_sorted_as_texts(void **state) {
    (void)state;
    struct arena a = {0};
    struct sched__tallied t = {.counts = MAP_INIT(1)};
    sched__tallied_add(&t, STR("Insufficient cpu"), 2);
    sched__tallied_add(&t, STR("Too many pods"), 9);
    sched__tallied_add(&t, STR("Too many pods"), 1);
    struct str text = sched__tallied_write(&t, 12, &a);
    assert_true(str_is(text, "0/12 nodes are available: 10 Too many pods, 2 Insufficient cpu."));
    arena_release(&a);
}

static void no_text_is_longer_than_LIMIT_MESSAGE_BYTES(void **state) {
    (void)state;
    struct arena a = {0};
    struct sched__tallied t = {.counts = MAP_INIT(1)};
    enum { REASON_BYTES = 256 };
    for (unsigned i = 0; i < 2 * LIMIT_MESSAGE_BYTES / REASON_BYTES; i++)
        sched__tallied_add(&t, arena_printf(&a, "Insufficient example.com/%0*u", REASON_BYTES, i),
                           1);
    assert_int_equal(sched__tallied_write(&t, 5, &a).n, LIMIT_MESSAGE_BYTES);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_come_first_and_entries_are_sorted_as_texts),
        cmocka_unit_test(no_text_is_longer_than_LIMIT_MESSAGE_BYTES),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
