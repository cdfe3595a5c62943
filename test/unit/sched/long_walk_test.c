/*
 * One long life: a scheduler is told of objects whose names, labels, taints, images, resources,
 * selectors, classes and volumes are never the same for long. It must stay as small as what is
 * there, and know what a new one knows (walk.h).
 *
 * WALK_STEPS=1000000 in the environment walks further; it prints a line for each tenth.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "walk.h"

#if defined(__SANITIZE_ADDRESS__)
/* As <sanitizer/allocator_interface.h> has it, which not every compiler brings along. */
size_t __sanitizer_get_current_allocated_bytes(void);

static size_t allocated(void) {
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif

/* It takes a while until as much has gone as sweeps wait for. */
enum { WARM_UP = 16000, STEPS = 16000, TENTHS = 10, STRIDE = 250, PERIOD = 100, SAMPLE = 50 };

/* Sizes sway with what is there at the time, so those of many moments are compared. */
struct size {
    size_t sum, samples, most;
};

static void sample(struct size *size) {
    size_t now = allocated();
    size->sum += now;
    size->samples++;
    size->most = now > size->most ? now : size->most;
}

static size_t mean(const struct size *size) {
    return size->sum / size->samples;
}

static struct walk_record draw(uint64_t step) {
    uint64_t bits = walk_mix(step);
    return (struct walk_record){(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                                (uint8_t)(bits >> 24)};
}

static struct size walk_tenth(struct walk *w, size_t steps) {
    struct size size = {0};
    for (size_t i = 0; i < steps; i++) {
        walk_step(w, draw(w->stats.steps + 1));
        if (w->stats.steps % SAMPLE == 0)
            sample(&size);
    }
    print_message("%8zu steps: %zu bytes, %zu at most\n", w->stats.steps, mean(&size), size.most);
    return size;
}

static size_t steps_of(const char *text) {
    unsigned long steps = text ? strtoul(text, NULL, 10) : 0;
    return steps > STEPS ? steps : STEPS;
}

static void a_long_life_leaves_nothing_behind(void **state) {
    (void)state;
    static struct walk w;
    struct size sizes[TENTHS];
    size_t steps = steps_of(getenv("WALK_STEPS"));
    walk_start(&w, (struct walk_record){.a = 1, .b = 2, .c = 3});
    w.stride = STRIDE;
    w.period = PERIOD;
    walk_tenth(&w, WARM_UP);
    for (size_t i = 0; i < TENTHS; i++)
        sizes[i] = walk_tenth(&w, steps / TENTHS);
    print_message("%zu decisions, %zu places, %zu victims; %zu comparisons\n", w.stats.decisions,
                  w.stats.placed, w.stats.victims, w.stats.comparisons);
    walk_compare(&w);
    walk_end(&w);
    for (size_t i = 1; i < TENTHS; i++)
        assert_in_range(mean(&sizes[i]), 0, mean(&sizes[0]) + mean(&sizes[0]) / 5);
    assert_true(w.stats.placed > steps / 100 && w.stats.victims > steps / 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_life_leaves_nothing_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
