/*
 * A growing array of any type: `VEC(struct foo) foos = {0};`, elements at foos.v[0 .. foos.n).
 * The macros evaluate their vector argument more than once.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#define VEC(T)         \
    struct {           \
        T *v;          \
        size_t n, cap; \
    }

/* Appends one element. */
#define vec_push(vec, ...)                                                       \
    ((vec)->v = vec_grow((vec)->v, &(vec)->cap, (vec)->n + 1, sizeof *(vec)->v), \
     (void)((vec)->v[(vec)->n++] = (__VA_ARGS__)))

/* Makes room for `count` more elements. */
#define vec_reserve(vec, count) \
    ((vec)->v = vec_grow((vec)->v, &(vec)->cap, (vec)->n + (count), sizeof *(vec)->v))

/* Gives back half of the memory if most of it is unused: for vectors that live long, when elements
 * were taken out of them. Costs a constant time for each of these. */
#define vec_shrink(vec) ((vec)->v = vec_halve((vec)->v, &(vec)->cap, (vec)->n, sizeof *(vec)->v))

/* Forgets the elements, keeps the memory. */
#define vec_clear(vec) ((void)((vec)->n = 0))

/* Frees the memory; the vector is empty and usable again. */
#define vec_release(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

/* For the macros above: v with room for `need` elements of `size` bytes; *cap is updated. */
void *vec_grow(void *v, size_t *cap, size_t need, size_t size);

/* The same: v, with room for half as many if less than a quarter is used. */
void *vec_halve(void *v, size_t *cap, size_t used, size_t size);

#endif
