/*
 * A binary heap of elements that know their own place, so that any of them can be moved or removed
 * in O(log n): timers, back-off queues, the active queue.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Embedded in the element; zeroed when the element is in no heap. */
struct heap_node {
    size_t place; /* index in the heap plus one; 0 = not in a heap */
};

struct heap {
    struct heap_node **v;
    size_t n, cap;
    /* Does a come out before b? Must be a strict order. */
    bool (*before)(const struct heap_node *a, const struct heap_node *b);
};

/* The element that embeds a node as `member`; of a const node, a const one. */
#define heap_entry(node, T, member) ((T *)(void *)((char *)(node)-offsetof(T, member)))
#define heap_const_entry(node, T, member) \
    ((const T *)(const void *)((const char *)(node)-offsetof(T, member)))

/* Frees the heap's own memory; the elements are the caller's. */
void heap_release(struct heap *h);

/* Adds an element that is in no heap; it is stored, not copied. */
void heap_push(struct heap *h, struct heap_node *node);

/* The first element, or NULL; heap_pop also removes it. */
struct heap_node *heap_peek(const struct heap *h);
struct heap_node *heap_pop(struct heap *h);

/* Removes an element that is in this heap. */
void heap_remove(struct heap *h, struct heap_node *node);

/* Restores the order after the key of an element in this heap has changed. */
void heap_fix(struct heap *h, struct heap_node *node);

#endif
