/*
 * Arenas: memory that dies together.
 *
 * An arena serves one purpose (a document, a compile, an evaluation, a request) and is reset or
 * released when the purpose is over; nothing in it is freed singly. Under AddressSanitizer every
 * allocation is fenced, so an overrun inside an arena is found as it would be on the heap.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_FENCED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_FENCED 1
#endif
#endif
#ifndef ARENA_FENCED
#define ARENA_FENCED 0
#endif

enum { ARENA_ALIGN = 8 };

struct arena_chunk;

struct arena {
    char *cur, *end;            /* the free part of the newest chunk */
    struct arena_chunk *chunks; /* newest first */
    size_t bytes;               /* size of all chunks */
    size_t tails;               /* of these: at the ends of chunks that are done with, unused */
    bool tight;                 /* grows by little */
};

/* An empty arena owns no memory: `struct arena a = {0};` needs no call. */

/* What arena_alloc does when there is no room left, or fences are needed. */
void *arena_alloc_slowly(struct arena *a, size_t n);

/* n bytes aligned to 8, uninitialised, never NULL; they live until reset or release. */
static inline void *arena_alloc(struct arena *a, size_t n) {
    size_t room = (size_t)(a->end - a->cur) & ~(size_t)(ARENA_ALIGN - 1);
    if (ARENA_FENCED || n - 1 >= room) /* no bytes at all have a place of their own, too */
        return arena_alloc_slowly(a, n);
    void *p = a->cur;
    a->cur += (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    return p;
}

/* count * size bytes, zeroed; the product is checked. */
void *arena_calloc(struct arena *a, size_t count, size_t size);

/* One zeroed T, or an array of n of them. */
#define arena_new(a, T)      ((T *)arena_calloc((a), 1, sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_calloc((a), (n), sizeof(T)))

/* A copy of s in the arena, with a NUL behind it; the absent view stays absent. */
struct str arena_str(struct arena *a, struct str s);

/* A copy of n bytes at p; n == 0 gives NULL. */
void *arena_copy(struct arena *a, const void *p, size_t n);

/* printf into the arena, by print_text; a NUL stands behind the text. */
__attribute__((format(printf, 2, 3))) struct str arena_printf(struct arena *a, const char *fmt,
                                                              ...);
__attribute__((format(printf, 2, 0))) struct str arena_vprintf(struct arena *a, const char *fmt,
                                                               va_list args);

/* Gives back the newest allocation, or the newest but for those that were given back. It is used
 * again unless a new chunk was begun meanwhile. */
void arena_take_back(struct arena *a, void *p);

/* Makes sure that the next n bytes come from one chunk, so that a caller who can guess its need
 * pays for one allocation. */
void arena_reserve(struct arena *a, size_t n);

/* Gives an arena that owns nothing a first chunk of n bytes, and lets it grow by little: for small
 * things that are kept for long, whose usual chunks would be mostly air. */
void arena_start(struct arena *a, size_t n);

/* How many bytes were asked for, with what aligns them: a copy of all that is there needs no more.
 */
static inline size_t arena_used(const struct arena *a) {
    return a->bytes - a->tails - (size_t)(a->end - a->cur);
}

/* Does p lie in the arena? Takes a time of O(chunks). */
bool arena_has(const struct arena *a, const void *p);

/* A number that is another one if any byte of the arena's chunks is: for checks that nobody wrote
 * to what is there. It reads what was never written, too. */
uint64_t arena_checksum(const struct arena *a);

/* Forgets everything but keeps the largest chunk for the next round, unless it is one of those few
 * that a single need has made larger than 1 MiB. */
void arena_reset(struct arena *a);

/* Gives everything back; the arena is empty and usable again. */
void arena_release(struct arena *a);

#endif
