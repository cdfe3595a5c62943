/* The ordered hash map: against a plain array as the model, and its promises about order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

enum { KEYS = 500 };

static char key_bytes[KEYS][16];
static int values[KEYS];

static struct str key(int i) {
    return str_of(key_bytes[i]);
}

static int make_keys(void **state) {
    (void)state;
    for (int i = 0; i < KEYS; i++)
        snprintf(key_bytes[i], sizeof *key_bytes, "key-%d", i);
    return 0;
}

static void putting_and_getting(void **state) {
    (void)state;
    struct map m = MAP_INIT(1);
    assert_null(map_get(&m, STR("a")));
    assert_null(map_del(&m, STR("a")));
    assert_null(map_put(&m, STR("a"), &values[1]));
    assert_ptr_equal(map_get(&m, STR("a")), &values[1]);
    assert_ptr_equal(map_put(&m, STR("a"), &values[2]), &values[1]);
    assert_ptr_equal(map_get(&m, STR("a")), &values[2]);
    assert_int_equal(m.live, 1);
    assert_null(map_get(&m, STR("b")));
    assert_ptr_equal(map_del(&m, STR("a")), &values[2]);
    assert_null(map_get(&m, STR("a")));
    assert_int_equal(m.live, 0);
    map_release(&m);
    assert_int_equal(m.seed, 1);
    map_release(&m);
}

static void absent_and_empty_are_one_key(void **state) {
    (void)state;
    struct map m = MAP_INIT(1);
    assert_null(map_put(&m, (struct str){0}, &values[3]));
    assert_ptr_equal(map_get(&m, STR("")), &values[3]);
    size_t at = 0;
    assert_non_null(map_next(&m, &at));
    assert_ptr_equal(map_del(&m, STR("")), &values[3]);
    map_release(&m);
}

/* Random puts and deletes; after each the map says what the model says. */
static void agrees_with_a_model(void **state) {
    (void)state;
    struct map m = MAP_INIT(42);
    int *model[KEYS] = {0};
    size_t live = 0;
    uint64_t draw = 1;
    for (int step = 0; step < 60000; step++) {
        draw = draw * UINT64_C(6364136223846793005) + 1442695040888963407;
        int i = (int)(draw >> 33) % KEYS;
        int *value = &values[(draw >> 20) % KEYS];
        bool del = draw >> 63 || (step / 10000) % 2; /* every other phase only shrinks */
        void *old = del ? map_del(&m, key(i)) : map_put(&m, key(i), value);
        assert_ptr_equal(old, model[i]);
        live += (size_t)(!del - (old != NULL));
        model[i] = del ? NULL : value;
        assert_int_equal(m.live, live);
    }
    for (int i = 0; i < KEYS; i++)
        assert_ptr_equal(map_get(&m, key(i)), model[i]);
    map_release(&m);
}

/* Appends the keys in the map's order. */
static void list(const struct map *m, char *out) {
    size_t at = 0;
    *out = '\0';
    for (struct map_entry *e; (e = map_next(m, &at));)
        out += sprintf(out, "%.*s ", STR_ARG(e->key));
}

static void order_is_by_insertion_whatever_the_seed(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct map m = MAP_INIT(seed);
        char order[KEYS * 16];
        for (int i = 4; i >= 0; i--)
            map_put(&m, key(i), &values[i]);
        map_put(&m, key(3), &values[0]); /* keeps its place */
        map_del(&m, key(2));
        list(&m, order);
        assert_string_equal(order, "key-4 key-3 key-1 key-0 ");
        map_put(&m, key(2), &values[2]); /* comes back at the end */
        list(&m, order);
        assert_string_equal(order, "key-4 key-3 key-1 key-0 key-2 ");
        map_release(&m);
    }
}

static void order_survives_growth(void **state) {
    (void)state;
    struct map m = MAP_INIT(7);
    for (int i = 0; i < KEYS; i++) {
        map_put(&m, key(i), &values[i]);
        if (i % 3 == 0)
            map_del(&m, key(i));
    }
    size_t at = 0;
    for (int i = 0; i < KEYS; i++) {
        if (i % 3 == 0)
            continue;
        struct map_entry *e = map_next(&m, &at);
        assert_non_null(e);
        assert_true(str_eq(e->key, key(i)));
        assert_ptr_equal(e->value, &values[i]);
    }
    assert_null(map_next(&m, &at));
    map_release(&m);
}

/* What a peak took is given back as soon as something comes, in the same order as before. */
static void a_map_shrinks(void **state) {
    (void)state;
    struct map m = MAP_INIT(7);
    for (int i = 0; i < KEYS; i++)
        map_put(&m, key(i), &values[i]);
    size_t most = m.slot_count;
    for (int i = 0; i < KEYS - 3; i++)
        map_del(&m, key(i));
    map_put(&m, key(1), &values[1]);
    assert_true(m.slot_count <= most / 16);
    char order[KEYS * 16];
    list(&m, order);
    assert_string_equal(order, "key-497 key-498 key-499 key-1 ");
    assert_ptr_equal(map_get(&m, key(498)), &values[498]);
    assert_null(map_get(&m, key(3)));
    map_release(&m);
}

static void the_entry_at_hand_may_be_removed(void **state) {
    (void)state;
    struct map m = MAP_INIT(7);
    for (int i = 0; i < KEYS; i++)
        map_put(&m, key(i), &values[i]);
    size_t at = 0, seen = 0;
    for (struct map_entry *e; (e = map_next(&m, &at)); seen++)
        assert_non_null(map_del(&m, e->key));
    assert_int_equal(seen, KEYS);
    assert_int_equal(m.live, 0);
    map_release(&m);
}

static void turnover_does_not_grow_the_map(void **state) {
    (void)state;
    struct map m = MAP_INIT(9);
    for (int i = 0; i < 100000; i++) {
        map_put(&m, key(i % KEYS), &values[0]);
        if (i >= 10)
            map_del(&m, key((i - 10) % KEYS));
    }
    assert_true(m.slot_count <= 64);
    map_release(&m);
}

static void values_may_be_constants(void **state) {
    static const int one = 1, two = 2;
    (void)state;
    struct map m = MAP_INIT(1);
    size_t at = 0;
    assert_null(map_get_const(&m, STR("a")));
    assert_null(map_put_const(&m, STR("a"), &one));
    assert_ptr_equal(map_put_const(&m, STR("a"), &two), &one);
    assert_ptr_equal(map_get_const(&m, STR("a")), &two);
    assert_ptr_equal(map_next(&m, &at)->const_value, &two);
    assert_ptr_equal(map_del_const(&m, STR("a")), &two);
    assert_null(map_del_const(&m, STR("a")));
    map_release(&m);
}

static void seeds_differ(void **state) {
    (void)state;
    uint64_t a = map_random_seed(), b = map_random_seed();
    assert_true(a != b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(putting_and_getting),
        cmocka_unit_test(absent_and_empty_are_one_key),
        cmocka_unit_test(agrees_with_a_model),
        cmocka_unit_test(order_is_by_insertion_whatever_the_seed),
        cmocka_unit_test(order_survives_growth),
        cmocka_unit_test(a_map_shrinks),
        cmocka_unit_test(the_entry_at_hand_may_be_removed),
        cmocka_unit_test(turnover_does_not_grow_the_map),
        cmocka_unit_test(values_may_be_constants),
        cmocka_unit_test(seeds_differ),
    };
    return cmocka_run_group_tests(tests, make_keys, NULL);
}
