#include <stdlib.h>

void *xmalloc(size_t n) {
    return malloc(n);
}
