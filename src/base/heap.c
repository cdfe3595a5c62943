#include "base/heap.h"

#include <assert.h>

#include "base/vec.h"

static void put(struct heap *h, size_t at, struct heap_node *node) {
    h->v[at] = node;
    node->place = at + 1;
}

/* Moves the element at `at` towards the root while it comes before its parent. */
static void sift_up(struct heap *h, size_t at) {
    struct heap_node *node = h->v[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!h->before(node, h->v[parent]))
            break;
        put(h, at, h->v[parent]);
        at = parent;
    }
    put(h, at, node);
}

/* Moves the element at `at` towards the leaves while a child comes before it. */
static void sift_down(struct heap *h, size_t at) {
    struct heap_node *node = h->v[at];
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && h->before(h->v[child + 1], h->v[child]))
            child++;
        if (!h->before(h->v[child], node))
            break;
        put(h, at, h->v[child]);
    }
    put(h, at, node);
}

void heap_release(struct heap *h) {
    vec_release(h);
}

void heap_push(struct heap *h, struct heap_node *node) {
    assert(node->place == 0);
    vec_push(h, node);
    sift_up(h, h->n - 1);
}

struct heap_node *heap_peek(const struct heap *h) {
    return h->n ? h->v[0] : NULL;
}

struct heap_node *heap_pop(struct heap *h) {
    struct heap_node *first = heap_peek(h);
    if (first)
        heap_remove(h, first);
    return first;
}

void heap_remove(struct heap *h, struct heap_node *node) {
    size_t at = node->place - 1;
    assert(at < h->n && h->v[at] == node);
    struct heap_node *last = h->v[--h->n];
    node->place = 0;
    vec_shrink(h);
    if (last == node)
        return;
    put(h, at, last);
    heap_fix(h, last);
}

void heap_fix(struct heap *h, struct heap_node *node) {
    sift_down(h, node->place - 1);
    sift_up(h, node->place - 1);
}
