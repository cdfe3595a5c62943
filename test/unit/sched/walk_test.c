/* Random walks through the life of a scheduler, see walk.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "walk.h"

enum { WALKS = 150, WALK_BYTES = 1500 };

static void what_is_remembered_is_what_a_new_scheduler_finds(void **state) {
    (void)state;
    static uint8_t bytes[WALK_BYTES];
    size_t decisions = 0, comparisons = 0, victims = 0, scored = 0, placed = 0;
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        struct walk w;
        walk_bytes(seed, bytes, WALK_BYTES);
        fprintf(stderr, "\rwalk %d", (int)seed);
        walk_all(&w, bytes, WALK_BYTES);
        decisions += w.decisions;
        comparisons += w.comparisons;
        victims += w.victims;
        scored += w.choices_of_nodes;
        placed += w.placed;
    }
    print_message("%zu decisions, %zu places, %zu victims; %zu comparisons, %zu of scores\n",
                  decisions, placed, victims, comparisons, scored);
    assert_true(decisions > 5 * WALKS && comparisons > 100 * WALKS && victims > WALKS / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_what_a_new_scheduler_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
