/* The set of atoms: sameness, counting, sweeping, ids, and memory that stays flat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern/intern.h"
#include "semver/semver.h"

static struct atom *get_number(struct intern *in, unsigned n) {
    char text[32];
    snprintf(text, sizeof text, "value-%u", n);
    return intern_get(in, str_of(text));
}

static struct intern_stats stats(const struct intern *in) {
    struct intern_stats s;
    intern_stats(in, &s);
    return s;
}

static void equal_texts_are_one_atom(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    char here[] = "zone", there[] = "zone";
    struct atom *a = intern_get(in, str_of(here));
    assert_ptr_equal(a, intern_get(in, str_of(there)));
    assert_ptr_equal(a, intern_find(in, STR("zone")));
    here[0] = 'X'; /* the text was copied */
    assert_true(str_is(intern_text(a), "zone"));
    assert_int_equal(intern_text(a).p[4], '\0');
    assert_ptr_not_equal(a, intern_get(in, STR("zone\0")));
    assert_ptr_not_equal(a, intern_get(in, STR("Zone")));
    assert_null(intern_find(in, STR("zon")));
    assert_int_equal(stats(in).atoms, 3);
    intern_free(in);
    intern_free(NULL);
}

static void the_empty_text_is_an_atom(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    struct atom *a = intern_get(in, STR(""));
    assert_ptr_equal(a, intern_get(in, (struct str){0}));
    assert_int_equal(intern_text(a).n, 0);
    assert_int_equal(stats(in).atoms, 1);
    intern_free(in);
}

static void ids_are_dense_and_lead_back(void **state) {
    (void)state;
    struct intern *in = intern_new(7);
    assert_int_equal(intern_id_bound(in), 0);
    assert_null(intern_at(in, 0));
    for (unsigned i = 0; i < 1000; i++) {
        struct atom *a = get_number(in, i);
        assert_int_equal(a->id, i);
        assert_int_equal(intern_id_bound(in), i + 1);
    }
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(get_number(in, i)->id, i);
        assert_ptr_equal(intern_at(in, i), get_number(in, i));
    }
    assert_null(intern_at(in, 1000));
    assert_null(intern_at(in, UINT32_MAX));
    intern_free(in);
}

static void what_was_handed_out_outlives_one_sweep(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    intern_get(in, STR("a"));
    assert_int_equal(intern_sweep(in), 0);
    assert_non_null(intern_at(in, 0));
    assert_int_equal(intern_sweep(in), 1);
    assert_null(intern_at(in, 0));
    intern_get(in, STR("a"));
    intern_sweep(in);
    assert_non_null(intern_find(in, STR("a"))); /* finding hands out, too */
    assert_int_equal(intern_sweep(in), 0);
    assert_int_equal(intern_sweep(in), 1);
    assert_null(intern_find(in, STR("a")));
    assert_int_equal(stats(in).made, 2);
    assert_int_equal(stats(in).freed, 2);
    intern_free(in);
}

static void what_is_held_stays(void **state) {
    (void)state;
    struct intern *in = intern_new(1);
    struct atom *a = intern_ref(intern_get(in, STR("a")));
    intern_ref(a);
    for (int i = 0; i < 5; i++)
        assert_int_equal(intern_sweep(in), 0);
    assert_int_equal(stats(in).held, 1);
    intern_unref(a);
    intern_sweep(in);
    intern_sweep(in);
    assert_ptr_equal(intern_at(in, 0), a);
    intern_unref(a);
    assert_int_equal(stats(in).held, 0);
    assert_int_equal(intern_sweep(in), 1);
    intern_unref(NULL);
    intern_free(in);
}

static void freed_ids_are_used_again_smallest_first(void **state) {
    (void)state;
    struct intern *in = intern_new(3);
    struct atom *held[100];
    for (unsigned i = 0; i < 100; i++)
        held[i] = intern_ref(get_number(in, i));
    for (unsigned i = 0; i < 100; i++)
        if (i == 10 || i == 50 || i > 90)
            intern_unref(held[i]);
    intern_sweep(in);
    assert_int_equal(intern_sweep(in), 11);
    assert_int_equal(intern_id_bound(in), 91);
    assert_int_equal(intern_get(in, STR("x"))->id, 10);
    assert_int_equal(intern_get(in, STR("y"))->id, 50);
    assert_int_equal(intern_get(in, STR("z"))->id, 91);
    assert_true(str_is(intern_text(intern_at(in, 10)), "x"));
    for (unsigned i = 0; i < 90; i++)
        if (i != 10 && i != 50)
            assert_ptr_equal(get_number(in, i), held[i]);
    intern_free(in);
}

/* Random traffic against an array that knows which texts must still be there. */
static void agrees_with_a_model(void **state) {
    (void)state;
    enum { TEXTS = 3000, STEPS = 200000 };
    struct intern *in = intern_new(11);
    static struct atom *held[TEXTS];
    uint64_t draw = 5;
    memset(held, 0, sizeof held);
    for (int step = 0; step < STEPS; step++) {
        draw = draw * UINT64_C(6364136223846793005) + 1442695040888963407;
        unsigned i = (unsigned)(draw >> 33) % TEXTS;
        struct atom *a = get_number(in, i);
        if (held[i])
            assert_ptr_equal(a, held[i]);
        assert_ptr_equal(intern_at(in, a->id), a);
        if (held[i] && draw >> 62) {
            intern_unref(a);
            held[i] = NULL;
        } else if (!held[i]) {
            held[i] = intern_ref(a);
        }
        if (step % 777 == 0)
            intern_sweep(in);
    }
    size_t count = 0;
    for (unsigned i = 0; i < TEXTS; i++)
        count += held[i] != NULL;
    assert_int_equal(stats(in).held, count);
    intern_sweep(in);
    intern_sweep(in);
    assert_int_equal(stats(in).atoms, count);
    intern_free(in);
}

/* A server that meets a million values, each once, beside a few hundred that stay. */
static void a_million_values_do_not_stay(void **state) {
    (void)state;
    struct intern *in = intern_new(13);
    struct atom *held[500];
    for (unsigned i = 0; i < 500; i++)
        held[i] = intern_ref(get_number(in, 2000000 + i));
    struct intern_stats early = {0}, late = {0};
    size_t sweeps = 0;
    uint32_t largest_id = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        struct atom *a = get_number(in, i);
        intern_version(a);
        largest_id = a->id > largest_id ? a->id : largest_id;
        if (!intern_wants_sweep(in))
            continue;
        sweeps++;
        struct intern_stats before = stats(in);
        intern_sweep(in);
        if (i < 10000 && before.bytes > early.bytes)
            early = before;
        if (i > 900000 && before.bytes > late.bytes)
            late = before;
    }
    assert_int_equal(stats(in).made, 1000500);
    assert_true(sweeps > 100 && sweeps < 1000);
    assert_true(early.bytes > 0 && late.bytes <= early.bytes + early.bytes / 8);
    assert_true(late.bytes < 400000);
    assert_true(largest_id < 5000);
    for (unsigned i = 0; i < 500; i++)
        assert_ptr_equal(get_number(in, 2000000 + i), held[i]);
    intern_free(in);
}

static void a_peak_gives_its_memory_back(void **state) {
    (void)state;
    struct intern *in = intern_new(17);
    size_t small = stats(in).bytes;
    for (unsigned i = 0; i < 200000; i++)
        get_number(in, i);
    size_t peak = stats(in).bytes;
    assert_true(peak > 200000 * 40);
    intern_sweep(in);
    assert_int_equal(intern_sweep(in), 200000);
    assert_int_equal(stats(in).bytes, small);
    assert_int_equal(intern_id_bound(in), 0);
    assert_int_equal(get_number(in, 1)->id, 0);
    intern_free(in);
}

/* All of what a sweep walks over is paid for by atoms made since the last one. */
static void sweeps_become_rarer_as_the_set_grows(void **state) {
    (void)state;
    struct intern *in = intern_new(19);
    uint64_t walked = 0;
    for (unsigned i = 0; i < 300000; i++) {
        intern_ref(get_number(in, i));
        if (intern_wants_sweep(in)) {
            walked += intern_id_bound(in);
            intern_sweep(in);
        }
    }
    assert_true(walked > 0 && walked < 3 * 300000);
    intern_free(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one_atom),
        cmocka_unit_test(the_empty_text_is_an_atom),
        cmocka_unit_test(ids_are_dense_and_lead_back),
        cmocka_unit_test(what_was_handed_out_outlives_one_sweep),
        cmocka_unit_test(what_is_held_stays),
        cmocka_unit_test(freed_ids_are_used_again_smallest_first),
        cmocka_unit_test(agrees_with_a_model),
        cmocka_unit_test(a_million_values_do_not_stay),
        cmocka_unit_test(a_peak_gives_its_memory_back),
        cmocka_unit_test(sweeps_become_rarer_as_the_set_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
