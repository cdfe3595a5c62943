/*
 * The one door to the heap. Out of memory ends the program with a message: every size that comes
 * from outside is checked against base/limits.h before it gets here.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* n bytes, uninitialised. Never NULL. Free with free(). */
__attribute__((returns_nonnull)) void *xmalloc(size_t n);

/* count * size bytes, zeroed; the product is checked. Never NULL. Free with free(). */
__attribute__((returns_nonnull)) void *xcalloc(size_t count, size_t size);

/* As realloc; p may be NULL. Never NULL. */
__attribute__((returns_nonnull)) void *xrealloc(void *p, size_t n);

/* a * b, or the end of the program when the product does not fit. */
size_t size_mul(size_t a, size_t b);

/* Something only a bug can cause happened: prints where, and aborts, in release builds too. */
#define BUG(what) bug_abort(__FILE__, __LINE__, what)
_Noreturn void bug_abort(const char *file, int line, const char *what);

/* Runs release(&var) when var goes out of scope: AUTO(buf_release) struct buf b = {0}; */
#define AUTO(release) __attribute__((cleanup(release)))

#endif
