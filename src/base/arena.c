#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"

#if ARENA_FENCED
#include <sanitizer/asan_interface.h>
enum { FENCE = 16 };
#define FORBID(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define ALLOW(p, n)  ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
enum { FENCE = 0 };
#define FORBID(p, n) ((void)(p), (void)(n))
#define ALLOW(p, n)  ((void)(p), (void)(n))
#endif

enum {
    FIRST_CHUNK = 4096,
    LARGEST_STEP = 1 << 20, /* chunks double up to here, so waste is bounded for large arenas */
    LEAST_STEP = 512,       /* of tight arenas, which grow by a quarter */
};

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* of data */
    _Alignas(16) char data[];
};

static void open_chunk(struct arena *a, struct arena_chunk *chunk) {
    a->cur = chunk->data;
    a->end = chunk->data + chunk->size;
    FORBID(chunk->data, chunk->size);
}

static void put_chunk(struct arena *a, size_t size) {
    struct arena_chunk *chunk = xmalloc(sizeof *chunk + size);
    a->tails += (size_t)(a->end - a->cur);
    chunk->size = size;
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->bytes += size;
    open_chunk(a, chunk);
}

static size_t next_size(const struct arena *a) {
    if (a->tight)
        return a->bytes / 4 > LEAST_STEP ? a->bytes / 4 : LEAST_STEP;
    return a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
}

static void add_chunk(struct arena *a, size_t least) {
    size_t size = next_size(a);
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    put_chunk(a, size < least ? least : size);
}

/* At least one unit: nothing at all has a place of its own, too. */
static size_t round_up(size_t n) {
    if (n > SIZE_MAX / 2)
        BUG("arena allocation of more than half the address space");
    return ((n ? n : 1) + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
}

void arena_reserve(struct arena *a, size_t n) {
    n = round_up(n) + FENCE;
    if ((size_t)(a->end - a->cur) < n)
        add_chunk(a, n);
}

void arena_start(struct arena *a, size_t n) {
    assert(!a->chunks);
    a->tight = true;
    put_chunk(a, round_up(n));
}

void *arena_alloc_slowly(struct arena *a, size_t n) {
    size_t need = round_up(n) + FENCE;
    if ((size_t)(a->end - a->cur) < need)
        add_chunk(a, need);
    void *p = a->cur;
    a->cur += need;
    ALLOW(p, n);
    return p;
}

void arena_take_back(struct arena *a, void *p) {
    bool is_in_chunk = (char *)p >= a->chunks->data && (char *)p < a->cur;
    if (is_in_chunk)
        a->cur = p;
    FORBID(a->cur, (size_t)(a->end - a->cur));
}

void *arena_calloc(struct arena *a, size_t count, size_t size) {
    size_t n = size_mul(count, size);
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_copy(struct arena *a, const void *p, size_t n) {
    return n ? memcpy(arena_alloc(a, n), p, n) : NULL;
}

struct str arena_str(struct arena *a, struct str s) {
    if (!s.p)
        return s;
    if (s.n == SIZE_MAX)
        BUG("a text that leaves no room for its end");
    char *p = arena_alloc(a, s.n + 1);
    memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    struct str text = arena_vprintf(a, fmt, args);
    va_end(args);
    return text;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list args) {
    size_t n = print_text(NULL, 0, fmt, args);
    char *p = arena_alloc(a, n + 1);
    print_text(p, n + 1, fmt, args);
    return (struct str){p, n};
}

bool arena_has(const struct arena *a, const void *p) {
    for (const struct arena_chunk *chunk = a->chunks; chunk; chunk = chunk->next)
        if ((uintptr_t)p - (uintptr_t)chunk->data < chunk->size)
            return true;
    return false;
}

/* FNV-1a by words: each step is a bijection, so a single changed word always shows. Nothing is ever
 * allocated behind the last whole word of a chunk. Fences are read as well, hence the attribute. */
__attribute__((noinline, no_sanitize("address"))) static uint64_t
add_to_checksum(uint64_t sum, const struct arena_chunk *chunk) {
    const uint64_t *words = (const void *)chunk->data;
    size_t n = chunk->size / sizeof *words;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ words[i]) * 1099511628211U;
    return sum;
}

uint64_t arena_checksum(const struct arena *a) {
    uint64_t sum = 14695981039346656037U;
    for (const struct arena_chunk *chunk = a->chunks; chunk; chunk = chunk->next)
        sum = add_to_checksum(sum, chunk);
    return sum;
}

static void free_chunks(struct arena_chunk *chunk) {
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        ALLOW(chunk->data, chunk->size);
        free(chunk);
        chunk = next;
    }
}

void arena_reset(struct arena *a) {
    struct arena_chunk *largest = NULL, **link = &a->chunks;
    for (struct arena_chunk **at = &a->chunks; *at; at = &(*at)->next) {
        if ((*at)->size <= LARGEST_STEP && (!largest || (*at)->size > largest->size)) {
            largest = *at;
            link = at;
        }
    }
    if (!largest) {
        arena_release(a);
        return;
    }
    *link = largest->next;
    free_chunks(a->chunks);
    largest->next = NULL;
    a->chunks = largest;
    a->bytes = largest->size;
    a->tails = 0;
    open_chunk(a, largest);
}

void arena_release(struct arena *a) {
    free_chunks(a->chunks);
    *a = (struct arena){0};
}
