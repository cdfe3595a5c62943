#include "base/vec.h"

#include "base/alloc.h"

enum { FIRST_CAPACITY = 8 };

void *vec_grow(void *v, size_t *cap, size_t need, size_t size) {
    if (need <= *cap)
        return v;
    size_t grown = *cap ? *cap * 2 : FIRST_CAPACITY;
    if (grown < need)
        grown = need;
    *cap = grown;
    return xrealloc(v, size_mul(grown, size));
}
