#include "base/vec.h"

#include "base/alloc.h"

enum {
    FIRST_CAPACITY = 8,
    LEAST_HALVED = 32, /* smaller vectors are not worth it */
};

void *vec_grow(void *v, size_t *cap, size_t need, size_t size) {
    if (need <= *cap)
        return v;
    size_t grown = *cap ? *cap * 2 : FIRST_CAPACITY;
    if (grown < need)
        grown = need;
    *cap = grown;
    return xrealloc(v, size_mul(grown, size));
}

void *vec_halve(void *v, size_t *cap, size_t used, size_t size) {
    if (*cap < LEAST_HALVED || used >= *cap / 4)
        return v;
    *cap /= 2;
    return xrealloc(v, size_mul(*cap, size));
}
