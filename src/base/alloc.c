#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void die_out_of_memory(size_t n) {
    fprintf(stderr, "berth: out of memory (%zu bytes)\n", n);
    abort();
}

void *xmalloc(size_t n) {
    void *p = malloc(n ? n : 1);
    if (!p)
        die_out_of_memory(n);
    return p;
}

void *xcalloc(size_t count, size_t size) {
    size_t n = size_mul(count, size);
    void *p = calloc(n ? n : 1, 1);
    if (!p)
        die_out_of_memory(n);
    return p;
}

void *xrealloc(void *p, size_t n) {
    void *q = realloc(p, n ? n : 1);
    if (!q)
        die_out_of_memory(n);
    return q;
}

size_t size_mul(size_t a, size_t b) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        die_out_of_memory(SIZE_MAX);
    return product;
}

void bug_abort(const char *file, int line, const char *what) {
    fprintf(stderr, "berth: bug at %s:%d: %s\n", file, line, what);
    abort();
}
