#include <stdlib.h>

/* malloc( in a comment, and xmalloc( below, are fine */
void *f(size_t n) {
    return malloc(n);
}

char *g(const char *s) {
    return strdup(s); // TODO: use an arena
}

int h(void) {
    return system("true") + (setjmp(env) ? 1 : 0);
}
