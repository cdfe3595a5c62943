/* Series in a table that one thread writes: others walk along the list of all of them. */
#include "server/observe/counts_int.h"

#include <stdlib.h>

#include "base/alloc.h"

const double server__duration_bounds[SERVER__DURATIONS] = {
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,  1.25, 1.5, 2,
    3,     4,     5,    6,   8,   10,  15,  20,  30, 45,   60,
};
const double server__size_bounds[SERVER__SIZES] = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
const double server__event_bounds[SERVER__EVENTS] = {1024,  2048,  4096,  8192,
                                                     16384, 32768, 65536, 131072};

/* ---- counters of one writer ---- */

static void bump(_Atomic uint64_t *counter, uint64_t delta) {
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + delta, memory_order_relaxed);
}

/* The first bucket whose bound is not below the value; n: none is. */
static size_t bucket_of(const double *bounds, size_t n, double value) {
    size_t i = 0;
    while (i < n && value > bounds[i])
        i++;
    return i;
}

/* ---- the table ---- */

struct server_counts *server_counts_new(void) {
    return xcalloc(1, sizeof(struct server_counts));
}

void server_counts_free(struct server_counts *c) {
    if (!c)
        return;
    for (struct server_series *s = c->series, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    for (struct server_watch_series *s = c->watches, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(c);
}

static size_t mix(size_t h, const void *p) {
    return (h ^ (uintptr_t)p) * UINT64_C(0x9e3779b97f4a7c15);
}

static size_t slot_of(const struct server_labels *l) {
    size_t h = mix(mix(mix(mix(l->is_dry_run, l->resource.p), l->group.p), l->verb), l->scope);
    h = mix(mix(h, l->version.p), l->subresource.p);
    return h >> 32 & (SERVER__SLOTS - 1);
}

/* The same memory: labels come from tables. */
static bool are_same(const struct server_labels *a, const struct server_labels *b) {
    return a->resource.p == b->resource.p && a->subresource.p == b->subresource.p &&
           a->verb == b->verb && a->scope == b->scope && a->group.p == b->group.p &&
           a->version.p == b->version.p && a->is_dry_run == b->is_dry_run;
}

struct server_series *server_counts_series(struct server_counts *c, const struct server_labels *l) {
    struct server_series **slot = &c->slots[slot_of(l)];
    for (struct server_series *s = *slot; s; s = s->chain)
        if (are_same(&s->labels, l))
            return s;
    struct server_series *s = xcalloc(1, sizeof *s);
    s->labels = *l;
    s->chain = *slot;
    *slot = s;
    s->next = c->series;
    atomic_store_explicit(&c->series, s, memory_order_release);
    return s;
}

struct server_watch_series *server_counts_watch(struct server_counts *c,
                                                const struct server_labels *l) {
    for (struct server_watch_series *s = c->watches; s; s = s->next)
        if (s->labels.resource.p == l->resource.p && s->labels.group.p == l->group.p &&
            s->labels.version.p == l->version.p)
            return s;
    struct server_watch_series *s = xcalloc(1, sizeof *s);
    s->labels = *l;
    s->next = c->watches;
    atomic_store_explicit(&c->watches, s, memory_order_release);
    return s;
}

/* ---- counting ---- */

static void count_code(struct server_series *s, int code) {
    for (size_t i = 0; i < SERVER__CODES; i++) {
        int known = atomic_load_explicit(&s->codes[i].code, memory_order_relaxed);
        if (known && known != code)
            continue;
        bump(&s->codes[i].count, 1);
        atomic_store_explicit(&s->codes[i].code, code, memory_order_release);
        return;
    }
}

void server_series_answer(struct server_series *s, int code, int64_t ns) {
    double seconds = (double)ns / 1e9;
    count_code(s, code);
    bump(&s->durations[bucket_of(server__duration_bounds, SERVER__DURATIONS, seconds)], 1);
    bump(&s->duration_ns, (uint64_t)(ns > 0 ? ns : 0));
}

void server_series_size(struct server_series *s, size_t bytes) {
    bump(&s->sizes[bucket_of(server__size_bounds, SERVER__SIZES, (double)bytes)], 1);
    bump(&s->size_bytes, bytes);
}

void server_series_long(struct server_series *s, int delta) {
    bump(&s->long_now, (uint64_t)(int64_t)delta);
}

void server_watch_series_event(struct server_watch_series *s, size_t bytes) {
    bump(&s->sizes[bucket_of(server__event_bounds, SERVER__EVENTS, (double)bytes)], 1);
    bump(&s->size_bytes, bytes);
}

void server_counts_tally(struct server_counts *c, enum server_tally which) {
    bump(&c->tallies[which], 1);
}

uint64_t server_counts_sum(struct server_counts *const *counts, size_t n, enum server_tally which) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += atomic_load_explicit(&counts[i]->tallies[which], memory_order_relaxed);
    return sum;
}
