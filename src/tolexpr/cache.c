/*
 * A cache bounded by bytes, not by entries: a program of a plain expression takes some hundred
 * bytes, the errors of a bad one may take a megabyte. Entries are counted, so one that was evicted
 * lives on for as long as a compiled toleration needs it.
 */
#include "tolexpr/tolexpr_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- entries ---- */

static size_t size_of(const struct tolexpr__entry *e) {
    size_t program = e->program ? cel_program_bytes(e->program) : 0;
    return sizeof *e + e->expression.n + e->text.n + program;
}

static struct str copy_to(char *at, struct str s) {
    if (s.n)
        memcpy(at, s.p, s.n);
    return (struct str){at, s.n};
}

struct tolexpr__entry *tolexpr__entry_new(struct str expression, enum valid_cel_fault fault,
                                          struct str text, struct cel_program *program) {
    struct tolexpr__entry *e = xcalloc(1, sizeof *e + expression.n + text.n);
    e->refs = 1;
    e->fault = fault;
    e->program = program;
    e->expression = copy_to(e->bytes, expression);
    e->text = copy_to(e->bytes + expression.n, text);
    return e;
}

void tolexpr__entry_unref(struct tolexpr__entry *e) {
    assert(e->refs > 0);
    if (--e->refs > 0)
        return;
    cel_program_free(e->program);
    free(e);
}

/* ---- order of use ---- */

static void unlink_entry(struct tolexpr__cache *c, struct tolexpr__entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct tolexpr__cache *c, struct tolexpr__entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

/* Counts an entry, or counts it off. */
static void count(struct tolexpr__cache *c, const struct tolexpr__entry *e, int sign) {
    int64_t bytes = sign * (int64_t)size_of(e);
    c->bytes += (size_t)bytes;
    c->stats[e->env].bytes += (uint64_t)bytes;
    c->stats[e->env].entries += (uint64_t)(int64_t)sign;
}

static void drop(struct tolexpr__cache *c, struct tolexpr__entry *e) {
    unlink_entry(c, e);
    map_del(&c->by_expression[e->env], e->expression);
    count(c, e, -1);
    tolexpr__entry_unref(e);
}

/* ---- the cache ---- */

void tolexpr__cache_init(struct tolexpr__cache *c, size_t limit, uint64_t seed) {
    *c = (struct tolexpr__cache){.limit = limit};
    for (size_t i = 0; i < TOLEXPR__ENVS; i++)
        c->by_expression[i] = MAP_INIT(seed);
}

void tolexpr__cache_release(struct tolexpr__cache *c) {
    while (c->oldest)
        drop(c, c->oldest);
    for (size_t i = 0; i < TOLEXPR__ENVS; i++)
        map_release(&c->by_expression[i]);
}

struct tolexpr__entry *tolexpr__cache_find(struct tolexpr__cache *c, enum tolexpr__env env,
                                           struct str expression) {
    struct tolexpr__entry *e = map_get(&c->by_expression[env], expression);
    if (!e) {
        c->stats[env].misses++;
        return NULL;
    }
    c->stats[env].hits++;
    unlink_entry(c, e);
    link_newest(c, e);
    return e;
}

void tolexpr__cache_add(struct tolexpr__cache *c, enum tolexpr__env env, struct tolexpr__entry *e) {
    e->env = env;
    void *before = map_put(&c->by_expression[env], e->expression, e);
    assert(!before);
    (void)before;
    link_newest(c, e);
    count(c, e, 1);
    while (c->bytes > c->limit && c->oldest != e) {
        c->stats[c->oldest->env].evictions++;
        drop(c, c->oldest);
    }
}
