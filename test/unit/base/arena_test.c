/* Arenas: alignment, growth, reuse and the fences under AddressSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>

#include "../death.h"
#include "base/arena.h"

static void allocations_are_aligned_apart_and_never_null(void **state) {
    (void)state;
    struct arena a = {0};
    char *before = NULL;
    for (size_t n = 0; n < 3000; n++) {
        char *p = arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 8, 0);
        assert_ptr_not_equal(p, before);
        memset(p, 0xA5, n);
        before = p;
    }
    assert_true(a.bytes >= 3000 * 2999 / 2);
    arena_release(&a);
    assert_null(a.chunks);
    assert_int_equal(a.bytes, 0);
    arena_release(&a);
}

static void nothing_at_all_is_still_a_place(void **state) {
    (void)state;
    struct arena a = {0};
    assert_non_null(arena_alloc(&a, 0));
    assert_non_null(arena_array(&a, int, 0));
    arena_release(&a);
}

static void earlier_bytes_survive_growth(void **state) {
    (void)state;
    struct arena a = {0};
    uint32_t *numbers[5000];
    for (uint32_t i = 0; i < 5000; i++) {
        numbers[i] = arena_new(&a, uint32_t);
        assert_int_equal(*numbers[i], 0);
        *numbers[i] = i;
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(*numbers[i], i);
    arena_release(&a);
}

static void zeroed_after_reuse(void **state) {
    (void)state;
    struct arena a = {0};
    memset(arena_alloc(&a, 1000), 0xFF, 1000);
    arena_reset(&a);
    const unsigned char *p = arena_array(&a, unsigned char, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(p[i], 0);
    arena_release(&a);
}

static void reset_keeps_the_largest_chunk(void **state) {
    (void)state;
    struct arena a = {0};
    arena_reset(&a); /* of an empty arena: nothing to keep */
    assert_null(a.chunks);
    arena_alloc(&a, 100);
    arena_alloc(&a, 300000);
    arena_alloc(&a, 100);
    arena_alloc(&a, 900000);
    arena_alloc(&a, 2000000); /* larger than any that is kept */
    arena_alloc(&a, 700000);  /* a chunk in front of the largest */
    arena_reset(&a);
    size_t kept = a.bytes;
    assert_true(kept >= 900000 && kept <= 1 << 20);
    arena_alloc(&a, 800000);
    assert_int_equal(a.bytes, kept);
    arena_reset(&a);
    assert_int_equal(a.bytes, kept);
    arena_release(&a);
}

static void reset_gives_back_what_a_single_need_took(void **state) {
    (void)state;
    struct arena a = {0};
    arena_alloc(&a, 20000000);
    arena_reset(&a);
    assert_int_equal(a.bytes, 0);
    assert_null(a.chunks);
    arena_alloc(&a, 100);
    arena_release(&a);
}

static void chunks_double_up_to_a_step(void **state) {
    (void)state;
    struct arena a = {0};
    size_t before = 0, largest = 0;
    while (a.bytes < 8 << 20) {
        arena_alloc(&a, 64);
        if (a.bytes - before > largest)
            largest = a.bytes - before;
        before = a.bytes;
    }
    assert_int_equal(largest, 1 << 20);
    arena_release(&a);
}

static void a_start_is_as_small_as_asked(void **state) {
    (void)state;
    struct arena a = {0};
    arena_start(&a, 100);
    assert_int_equal(a.bytes, 104);
    char *first = arena_alloc(&a, 64);
    char *second = arena_alloc(&a, 200); /* takes a chunk of its own */
    memset(first, 1, 64);
    memset(second, 2, 200);
    assert_int_equal(first[63], 1);
    assert_true(a.bytes >= 304);
    arena_release(&a);
    assert_false(a.tight);
}

static void an_arena_that_was_started_grows_by_little(void **state) {
    (void)state;
    struct arena a = {0};
    size_t used = 0;
    arena_start(&a, 100);
    while (used < 3 << 20) {
        memset(arena_alloc(&a, 248), 1, 248);
        used += 248;
    }
    assert_true(a.bytes - used < used * 2 / 5); /* fences included */
    arena_release(&a);
}

static void the_newest_is_taken_back(void **state) {
    (void)state;
    struct arena a = {0};
    arena_start(&a, 400);
    arena_alloc(&a, 8);
    size_t used = arena_used(&a);
    char *outer = arena_alloc(&a, 80);
    arena_take_back(&a, arena_alloc(&a, 40));
    arena_take_back(&a, outer);
    assert_int_equal(arena_used(&a), used);
    assert_ptr_equal(arena_alloc(&a, 80), outer);
    arena_take_back(&a, arena_alloc(&a, 1000)); /* begins a chunk */
    arena_take_back(&a, outer);                 /* which is not the newest any more */
    assert_ptr_not_equal(arena_alloc(&a, 80), outer);
    arena_release(&a);
}

static void a_reserve_is_one_chunk(void **state) {
    (void)state;
    struct arena a = {0};
    arena_reserve(&a, 50000);
    size_t bytes = a.bytes;
    const char *first = arena_alloc(&a, 25000);
    arena_reserve(&a, 20000); /* is there already */
    const char *second = arena_alloc(&a, 20000);
    assert_int_equal(a.bytes, bytes);
    assert_true(second > first && second < first + 50000);
    arena_release(&a);
}

static void copies(void **state) {
    (void)state;
    struct arena a = {0};
    struct str s = arena_str(&a, STR("a\0b"));
    assert_true(str_eq(s, STR("a\0b")));
    assert_int_equal(s.p[3], '\0');
    assert_null(arena_str(&a, (struct str){0}).p);
    s = arena_str(&a, STR(""));
    assert_non_null(s.p);
    assert_int_equal(s.p[0], '\0');
    const int v[] = {1, 2, 3};
    int *copy = arena_copy(&a, v, sizeof v);
    assert_ptr_not_equal(copy, v);
    assert_memory_equal(copy, v, sizeof v);
    assert_null(arena_copy(&a, v, 0));
    arena_release(&a);
}

static void printing(void **state) {
    (void)state;
    struct arena a = {0};
    assert_true(str_is(arena_printf(&a, "%s-%d", "node", 7), "node-7"));
    assert_true(str_is(arena_printf(&a, "%s", ""), ""));
    struct str wide = arena_printf(&a, "%*d", 9000, 1);
    assert_int_equal(wide.n, 9000);
    assert_int_equal(wide.p[8999], '1');
    assert_int_equal(wide.p[9000], '\0');
    arena_release(&a);
}

static void ask_for_too_much(void *arg) {
    (void)arg;
    struct arena a = {0};
    arena_alloc(&a, SIZE_MAX / 2 + 1);
}

static void overflow_the_product(void *arg) {
    (void)arg;
    struct arena a = {0};
    arena_calloc(&a, SIZE_MAX / 2, 3);
}

static void absurd_sizes_end_the_program(void **state) {
    (void)state;
    char said[256];
    assert_true(death_aborts(ask_for_too_much, NULL, said, sizeof said));
    assert_non_null(strstr(said, "half the address space"));
    assert_true(death_aborts(overflow_the_product, NULL, said, sizeof said));
    assert_non_null(strstr(said, "out of memory"));
}

/* In the first chunk and in later ones, in the first byte of something and in its last. */
static void a_checksum_tells_of_every_byte(void **state) {
    (void)state;
    struct arena a = {0};
    uint64_t empty = arena_checksum(&a);
    arena_start(&a, 100);
    for (int i = 0; i < 40; i++) {
        char *p = arena_calloc(&a, 1, 37);
        uint64_t before = arena_checksum(&a);
        for (size_t at = 0; at < 37; at += 36) {
            p[at] = 1;
            assert_true(arena_checksum(&a) != before);
            p[at] = 0;
            assert_true(arena_checksum(&a) == before);
        }
    }
    arena_release(&a);
    assert_true(arena_checksum(&a) == empty);
}

/* What is used does not count the ends of chunks, so that a second arena of that size is filled. */
static void used_bytes_are_those_asked_for(void **state) {
    (void)state;
    struct arena a = {0}, b = {0};
    assert_int_equal(arena_used(&a), 0);
    arena_start(&a, 100);
    for (size_t n = 1; n < 200; n += 7)
        arena_alloc(&a, n);
    assert_true(arena_used(&a) < a.bytes);
    arena_start(&b, arena_used(&a));
    for (size_t n = 1; n < 200; n += 7)
        arena_alloc(&b, n);
    assert_int_equal(b.bytes, arena_used(&a));
    assert_int_equal(arena_used(&b), arena_used(&a));
    arena_reset(&a);
    assert_int_equal(arena_used(&a), 0);
    arena_release(&a);
    arena_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_bytes_are_those_asked_for),
        cmocka_unit_test(allocations_are_aligned_apart_and_never_null),
        cmocka_unit_test(nothing_at_all_is_still_a_place),
        cmocka_unit_test(earlier_bytes_survive_growth),
        cmocka_unit_test(zeroed_after_reuse),
        cmocka_unit_test(reset_keeps_the_largest_chunk),
        cmocka_unit_test(reset_gives_back_what_a_single_need_took),
        cmocka_unit_test(chunks_double_up_to_a_step),
        cmocka_unit_test(a_start_is_as_small_as_asked),
        cmocka_unit_test(an_arena_that_was_started_grows_by_little),
        cmocka_unit_test(the_newest_is_taken_back),
        cmocka_unit_test(a_reserve_is_one_chunk),
        cmocka_unit_test(copies),
        cmocka_unit_test(printing),
        cmocka_unit_test(a_checksum_tells_of_every_byte),
        cmocka_unit_test(absurd_sizes_end_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
