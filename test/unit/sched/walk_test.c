/* Random walks through the life of a scheduler, see walk.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "walk.h"

enum { WALKS = 100, RECORDS = 250 };

static void write_walk(uint64_t seed, uint8_t *bytes) {
    for (size_t i = 0; i < RECORDS * sizeof(struct walk_record); i++)
        bytes[i] = (uint8_t)walk_mix(seed << 32 | i);
}

static void what_is_remembered_is_what_a_new_scheduler_finds(void **state) {
    (void)state;
    static uint8_t bytes[RECORDS * sizeof(struct walk_record)];
    static struct walk w;
    struct walk_stats all = {0};
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        write_walk(seed, bytes);
        fprintf(stderr, "\rwalk %d", (int)seed);
        walk_all(&w, bytes, sizeof bytes);
        all.decisions += w.stats.decisions;
        all.placed += w.stats.placed;
        all.victims += w.stats.victims;
        all.comparisons += w.stats.comparisons;
        all.scored += w.stats.scored;
    }
    print_message("%zu decisions, %zu places, %zu victims; %zu comparisons, %zu of scores\n",
                  all.decisions, all.placed, all.victims, all.comparisons, all.scored);
    assert_true(all.decisions > 10 * WALKS && all.placed > 2 * WALKS && all.victims > WALKS / 10);
    assert_true(all.comparisons > 100 * WALKS && all.scored > 20 * WALKS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_what_a_new_scheduler_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
