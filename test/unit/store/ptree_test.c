/* The persistent tree: against a sorted array, while older trees stay as they were. */
#include "kit.h"
#include "store/ptree_int.h"

enum { KEYS = 700, STEPS = 6000, KEPT = 8 };

static const struct api_object *objects[KEYS]; /* in the order of their keys */
static bool is_there[KEYS];

static int by_key(const void *a, const void *b) {
    const struct api_object *const *x = a, *const *y = b;
    return store__key_cmp(store__key_of(*x), store__key_of(*y));
}

static int make_objects(void **state) {
    (void)state;
    static const char *const namespaces[] = {"a", "a-b", "a.b", "ab", "b"};
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i * 7919 % 1000);
        objects[i] = api_publish(kit_object(CONFIG_MAPS, namespaces[i % 5], name, ""));
    }
    qsort(objects, KEYS, sizeof objects[0], by_key);
    return 0;
}

static int free_objects(void **state) {
    (void)state;
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(api_object_holders(objects[i]), 1);
        api_object_unref(objects[i]);
    }
    return 0;
}

/* A tree that is held, and what it held then. */
struct kept {
    struct store__node *tree;
    bool is_there[KEYS];
};

static void expect_same(const struct store__node *t, const bool *expected) {
    struct store_cursor c = {0};
    size_t count = 0;
    store__tree_seek(&c, t, store__key_parse(STR("")), false);
    for (int i = 0; i < KEYS; i++) {
        struct store__key key = store__key_of(objects[i]);
        assert_ptr_equal(store__tree_get(t, key), expected[i] ? objects[i] : NULL);
        assert_int_equal(store__tree_rank(t, key, false), count);
        count += expected[i];
        assert_int_equal(store__tree_rank(t, key, true), count);
        if (expected[i])
            assert_ptr_equal(store_cursor_next(&c), objects[i]);
    }
    assert_null(store_cursor_next(&c));
    assert_null(store_cursor_next(&c));
    assert_int_equal(t ? t->count : 0, count);
}

static struct store__node *step(struct store__node *t, uint64_t *seed, bool growing) {
    uint32_t i = kit_chance(seed, KEYS);
    const struct api_object *old = NULL;
    if (growing || !is_there[i] ? kit_chance(seed, 4) != 0 : kit_chance(seed, 4) == 0) {
        t = store__tree_put(t, objects[i], &old);
        assert_ptr_equal(old, is_there[i] ? objects[i] : NULL);
        is_there[i] = true;
    } else if (is_there[i]) {
        t = store__tree_del(t, store__key_of(objects[i]), &old);
        assert_ptr_equal(old, objects[i]);
        is_there[i] = false;
    }
    api_object_unref(old);
    return t;
}

static void it_is_a_sorted_array(void **state) {
    (void)state;
    static struct kept kept[KEPT];
    struct store__node *t = NULL;
    uint64_t seed = 1;
    for (int i = 0; i < STEPS; i++) {
        t = step(t, &seed, i / 1500 % 2 == 0);
        if (i % 97 == 0) {
            struct kept *k = &kept[kit_chance(&seed, KEPT)];
            expect_same(k->tree, k->is_there);
            store__tree_unref(k->tree);
            k->tree = store__tree_ref(t);
            memcpy(k->is_there, is_there, sizeof is_there);
        }
    }
    expect_same(t, is_there);
    store__tree_unref(t);
    for (int i = 0; i < KEPT; i++) {
        expect_same(kept[i].tree, kept[i].is_there);
        store__tree_unref(kept[i].tree);
    }
}

/* Down to nothing, from either end: nodes are joined, and the root goes as well. */
static void it_becomes_empty(void **state) {
    (void)state;
    for (int up = 0; up < 2; up++) {
        const struct api_object *old;
        struct store__node *t = NULL;
        for (int i = 0; i < KEYS; i++)
            t = store__tree_put(t, objects[i], &old);
        for (int i = 0; i < KEYS; i++) {
            const struct api_object *o = objects[up ? i : KEYS - 1 - i];
            t = store__tree_del(t, store__key_of(o), &old);
            api_object_unref(old);
            assert_int_equal(t ? t->count : 0, KEYS - 1 - i);
        }
        assert_null(t);
    }
}

/* As etcd orders the keys of upstream: '/' is behind '-' and '.'. */
static void keys_are_ordered_as_texts(void **state) {
    (void)state;
    static const struct {
        const char *a_namespace, *a, *b_namespace, *b;
        int order;
    } rows[] = {
        {"a", "z", "a-b", "a", 1},  {"a", "z", "a.b", "a", 1}, {"a", "z", "ab", "a", -1},
        {"a", "x", "a", "y", -1},   {"a", "x", "a", "x", 0},   {"", "x", "", "y", -1},
        {"a", "x", "a", "x1", -1},  {"a", "", "a", "x", -1},   {"", "a/x", "a", "x", 0},
        {"", "a/x", "a", "x0", -1}, {"b", "a", "a", "b", 1},   {"", "", "a", "", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct store__key a = store__key_make(str_of(rows[i].a_namespace), str_of(rows[i].a));
        struct store__key b = store__key_make(str_of(rows[i].b_namespace), str_of(rows[i].b));
        int order = store__key_cmp(a, b), reverse = store__key_cmp(b, a);
        assert_int_equal((order > 0) - (order < 0), rows[i].order);
        assert_int_equal((reverse > 0) - (reverse < 0), -rows[i].order);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_sorted_array),
        cmocka_unit_test(it_becomes_empty),
        cmocka_unit_test(keys_are_ordered_as_texts),
    };
    return cmocka_run_group_tests(tests, make_objects, free_objects);
}
