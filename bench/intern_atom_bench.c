/*
 * Atoms: nanoseconds to make one and to find one again, by the size of the set, and the bytes each
 * takes, as the set counts them and as malloc hands them out. Texts are like label values.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "intern/intern.h"

enum { TEXT = 40 };

static char *make_texts(size_t count) {
    char *texts = xmalloc(count * TEXT);
    for (size_t i = 0; i < count; i++)
        snprintf(texts + i * TEXT, TEXT, "node-%07zu-zone-%c", i * 7919 % count,
                 (char)('a' + i % 3));
    return texts;
}

static struct str text_at(const char *texts, size_t i) {
    return (struct str){texts + i * TEXT, sizeof "node-0000000-zone-a" - 1};
}

/* Processor time: others may be using the machine. */
static int64_t now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * CLOCK_SECOND + ts.tv_nsec;
}

static double since(int64_t start, size_t n) {
    return (double)(now() - start) / (double)n;
}

enum { LOOKUPS = 1000000, ROUNDS = 5 };

/* The texts to look for, in an order that no prefetcher guesses; `shorter` bytes are cut off. */
static struct str *make_lookups(const char *texts, size_t count, size_t shorter) {
    struct str *lookups = xmalloc(LOOKUPS * sizeof *lookups);
    for (size_t i = 0; i < LOOKUPS; i++) {
        lookups[i] = text_at(texts, (size_t)((uint64_t)i * UINT64_C(2654435761) % count));
        lookups[i].n -= shorter;
    }
    return lookups;
}

/* The best of a few rounds over the lookups. */
static double time_finds(struct intern *in, const char *texts, size_t count, size_t shorter) {
    struct str *lookups = make_lookups(texts, count, shorter);
    double best = 1e9;
    size_t found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = now();
        for (size_t i = 0; i < LOOKUPS; i++)
            found += intern_find(in, lookups[i]) != NULL;
        double ns = since(start, LOOKUPS);
        best = ns < best ? ns : best;
    }
    if (found != (shorter ? 0 : (size_t)LOOKUPS * ROUNDS))
        BUG("found what is not there, or not what is");
    free(lookups);
    return best;
}

static void run(size_t count) {
    char *texts = make_texts(count);
    size_t heap_before = mallinfo2().uordblks + mallinfo2().hblkhd;
    struct intern *in = intern_new(42);
    int64_t start = now();
    for (size_t i = 0; i < count; i++)
        intern_get(in, text_at(texts, i));
    double made = since(start, count);
    double hit = time_finds(in, texts, count, 0);
    double absent = time_finds(in, texts, count, 1);
    size_t heap = mallinfo2().uordblks + mallinfo2().hblkhd - heap_before;
    struct intern_stats s;
    intern_stats(in, &s);
    intern_sweep(in);
    start = now();
    intern_sweep(in);
    double swept = since(start, count);
    printf("%8zu atoms: make %6.1f ns  hit %6.1f ns  absent %6.1f ns  sweep %6.1f ns/atom  "
           "%5.1f bytes counted  %5.1f bytes of heap per atom\n",
           count, made, hit, absent, swept, (double)s.bytes / (double)s.atoms,
           (double)heap / (double)s.atoms);
    intern_free(in);
    free(texts);
}

static void run_values(void) {
    enum { COUNT = 100000 };
    struct intern *in = intern_new(42);
    char text[32];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "5.%u.0-%u-generic", i % 100, i);
        intern_get(in, str_of(text));
    }
    for (int round = 0; round < 2; round++) {
        int64_t start = now(), ignored = 0;
        size_t versions = 0;
        for (uint32_t id = 0; id < COUNT; id++)
            versions += intern_version(intern_at(in, id)) != NULL;
        double version = since(start, COUNT);
        start = now();
        for (uint32_t id = 0; id < COUNT; id++)
            versions += intern_decimal(intern_at(in, id), &ignored);
        printf("%s: version %6.1f ns  number %6.1f ns  (%zu versions)\n",
               round ? "asked again" : "asked first", version, since(start, COUNT), versions);
    }
    intern_free(in);
}

int main(void) {
    const size_t sizes[] = {1000, 10000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run(sizes[i]);
    run_values();
    return 0;
}
