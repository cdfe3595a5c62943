/* The heap: comes out in order, under pushes, removals and changed keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/heap.h"

enum { ITEMS = 300 };

struct item {
    int key, number; /* number breaks ties, so that the order is strict */
    struct heap_node node;
};

static bool item_before(const struct heap_node *a, const struct heap_node *b) {
    const struct item *x = heap_const_entry(a, struct item, node);
    const struct item *y = heap_const_entry(b, struct item, node);
    return x->key != y->key ? x->key < y->key : x->number < y->number;
}

static uint32_t next_draw(uint32_t *draw) {
    *draw = *draw * 1664525 + 1013904223;
    return *draw >> 16;
}

static void fill(struct heap *h, struct item *items, uint32_t *draw) {
    for (int i = 0; i < ITEMS; i++) {
        items[i] = (struct item){.key = (int)(next_draw(draw) % 50), .number = i};
        heap_push(h, &items[i].node);
    }
}

/* Pops all; returns how many came, having checked that none came too early. */
static size_t drain_in_order(struct heap *h) {
    size_t n = 0;
    const struct heap_node *last = NULL;
    for (struct heap_node *node; (node = heap_pop(h)); n++) {
        assert_int_equal(node->place, 0);
        assert_false(last && item_before(node, last));
        last = node;
    }
    return n;
}

static void empty(void **state) {
    (void)state;
    struct heap h = {.before = item_before};
    assert_null(heap_peek(&h));
    assert_null(heap_pop(&h));
    heap_release(&h);
}

static void comes_out_in_order(void **state) {
    (void)state;
    struct heap h = {.before = item_before};
    struct item items[ITEMS];
    uint32_t draw = 1;
    fill(&h, items, &draw);
    const struct heap_node *first = heap_peek(&h);
    for (int i = 0; i < ITEMS; i++)
        assert_false(item_before(&items[i].node, first));
    assert_int_equal(h.n, ITEMS);
    assert_int_equal(drain_in_order(&h), ITEMS);
    heap_release(&h);
}

static void any_element_can_be_removed(void **state) {
    (void)state;
    struct heap h = {.before = item_before};
    struct item items[ITEMS];
    uint32_t draw = 2;
    fill(&h, items, &draw);
    for (int i = 0; i < ITEMS; i += 3) {
        heap_remove(&h, &items[i].node);
        assert_int_equal(items[i].node.place, 0);
    }
    heap_push(&h, &items[0].node); /* and come back */
    assert_int_equal(drain_in_order(&h), ITEMS - ITEMS / 3 + 1);
    heap_release(&h);
}

static void changed_keys_find_their_place(void **state) {
    (void)state;
    struct heap h = {.before = item_before};
    struct item items[ITEMS];
    uint32_t draw = 3;
    fill(&h, items, &draw);
    for (int round = 0; round < 2000; round++) {
        struct item *item = &items[next_draw(&draw) % ITEMS];
        item->key = (int)(next_draw(&draw) % 50);
        heap_fix(&h, &item->node);
        for (size_t i = 1; i < h.n; i++)
            assert_false(item_before(h.v[i], h.v[(i - 1) / 2]));
        assert_ptr_equal(h.v[item->node.place - 1], &item->node);
    }
    assert_int_equal(drain_in_order(&h), ITEMS);
    heap_release(&h);
}

static void an_empty_heap_is_small(void **state) {
    (void)state;
    struct heap h = {.before = item_before};
    struct item items[ITEMS];
    uint32_t draw = 4;
    fill(&h, items, &draw);
    size_t most = h.cap;
    assert_int_equal(drain_in_order(&h), ITEMS);
    assert_true(h.cap <= most / 4);
    heap_release(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(comes_out_in_order),
        cmocka_unit_test(any_element_can_be_removed),
        cmocka_unit_test(changed_keys_find_their_place),
        cmocka_unit_test(an_empty_heap_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
