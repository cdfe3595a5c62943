/*
 * Walks through the life of a scheduler, see walk.h. Inputs are lists of records, and are changed
 * record by record: a byte that comes or goes would make another walk of all that follows it.
 */

/* Only code of the scheduler is to be covered: what walks do themselves tells nothing. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#include "../unit/sched/walk.h"
#ifdef __clang__
#pragma clang attribute pop
#endif

enum { RECORD = sizeof(struct walk_record), MOST = 400 * RECORD };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

/* Of all walks, for print_stats, which is given nothing. */
static struct {
    size_t walks;
    struct walk_stats sum;
} all;

static void print_stats(void) {
    fprintf(stderr, "%zu steps, %zu decisions, %zu placed, %zu victims; %zu comparisons\n",
            all.sum.steps, all.sum.decisions, all.sum.placed, all.sum.victims, all.sum.comparisons);
}

static void add_stats(const struct walk_stats *more) {
    if (!all.walks++)
        atexit(print_stats);
    all.sum.steps += more->steps;
    all.sum.decisions += more->decisions;
    all.sum.placed += more->placed;
    all.sum.victims += more->victims;
    all.sum.comparisons += more->comparisons;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct walk *w = malloc(sizeof *w);
    walk_all(w, data, size < MOST ? size : MOST);
    add_stats(&w->stats);
    free(w);
    return 0;
}

/* ---- other walks ---- */

/* Chance, from a seed. */
static size_t draw(uint64_t *state, size_t n) {
    *state = walk_mix(*state);
    return (size_t)(*state >> 16) % n;
}

static void write_random(uint64_t *state, uint8_t *record) {
    for (size_t i = 0; i < RECORD; i++)
        record[i] = (uint8_t)draw(state, 256);
}

/* Makes room for n records at a place, or as many as fit; returns how many. */
static size_t insert(uint8_t *data, size_t *count, size_t most, size_t at, size_t n) {
    n = n < most - *count ? n : most - *count;
    memmove(data + (at + n) * RECORD, data + at * RECORD, (*count - at) * RECORD);
    *count += n;
    return n;
}

static void insert_random(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    size_t at = draw(state, *count + 1), n = 1 + draw(state, 16);
    n = insert(data, count, most, at, n);
    for (size_t i = 0; i < n; i++)
        write_random(state, data + (at + i) * RECORD);
}

static void change_byte(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    (void)most;
    data[draw(state, *count * RECORD)] = (uint8_t)draw(state, 256);
}

static void replace_record(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    (void)most;
    write_random(state, data + draw(state, *count) * RECORD);
}

static void erase(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    (void)most;
    size_t at = draw(state, *count), n = 1 + draw(state, 8);
    n = n < *count - at ? n : *count - at;
    memmove(data + at * RECORD, data + (at + n) * RECORD, (*count - at - n) * RECORD);
    *count -= n;
}

/* Something happens again later, or before. */
static void repeat(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    uint8_t records[8 * RECORD];
    size_t from = draw(state, *count), n = 1 + draw(state, 8);
    n = n < *count - from ? n : *count - from;
    memcpy(records, data + from * RECORD, n * RECORD);
    size_t at = draw(state, *count + 1);
    n = insert(data, count, most, at, n);
    memcpy(data + at * RECORD, records, n * RECORD);
}

/* Short walks meet nobody: they are led on by chance. */
static void lead_on(uint64_t *state, uint8_t *data, size_t *count, size_t most) {
    enum { SHORT = 100 };
    size_t n = *count < SHORT ? draw(state, most) : 0;
    for (; *count < n; ++*count)
        write_random(state, data + *count * RECORD);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    typedef void mutation(uint64_t * state, uint8_t * data, size_t * count, size_t most);
    static mutation *const mutations[] = {insert_random,  insert_random, change_byte, change_byte,
                                          replace_record, erase,         repeat};
    uint64_t state = seed;
    size_t count = size / RECORD, limit = (most < MOST ? most : MOST) / RECORD;
    count = count < limit ? count : limit;
    lead_on(&state, data, &count, limit);
    for (size_t n = 1 + draw(&state, 4); limit && n; n--) {
        size_t which = count ? draw(&state, sizeof mutations / sizeof *mutations) : 0;
        mutations[which](&state, data, &count, limit);
    }
    return count * RECORD;
}

/* The beginning of one walk and the end of another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed) {
    uint64_t state = seed;
    size_t limit = (most < MOST ? most : MOST) / RECORD, n = draw(&state, a_size / RECORD + 1);
    size_t from = draw(&state, b_size / RECORD + 1), rest = b_size / RECORD - from;
    n = n < limit ? n : limit;
    rest = rest < limit - n ? rest : limit - n;
    if (n)
        memcpy(out, a, n * RECORD);
    if (rest)
        memcpy(out + n * RECORD, b + from * RECORD, rest * RECORD);
    return (n + rest) * RECORD;
}
