/* Snapshots: trees of all resources that are held together. */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/store_int.h"

struct store_snapshot *store__snapshot_new(uint32_t n, uint64_t revision) {
    struct store_snapshot *snap = xcalloc(1, sizeof *snap + n * sizeof snap->trees[0]);
    snap->refs = 1;
    snap->n = n;
    snap->revision = revision;
    return snap;
}

struct store_snapshot *store__snapshot_next(const struct store_snapshot *snap, uint64_t revision) {
    struct store_snapshot *next = store__snapshot_new(snap->n, revision);
    for (uint32_t i = 0; i < snap->n; i++)
        next->trees[i] = store__tree_ref(snap->trees[i]);
    return next;
}

struct store_snapshot *store_snapshot_ref(struct store_snapshot *snap) {
    __atomic_fetch_add(&snap->refs, 1, __ATOMIC_RELAXED);
    return snap;
}

void store_snapshot_unref(struct store_snapshot *snap) {
    if (!snap || __atomic_fetch_sub(&snap->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    for (uint32_t i = 0; i < snap->n; i++)
        store__tree_unref(snap->trees[i]);
    free(snap);
}

uint64_t store_snapshot_revision(const struct store_snapshot *snap) {
    return snap->revision;
}

struct store_snapshot *store_snapshot_take(struct store *s) {
    pthread_mutex_lock(&s->lock);
    struct store_snapshot *snap = store_snapshot_ref(s->newest);
    pthread_mutex_unlock(&s->lock);
    return snap;
}

struct store_snapshot *store_snapshot_at(struct store *s, uint32_t resource, uint64_t revision) {
    struct store__past past;
    assert(resource < s->opts.n);
    pthread_mutex_lock(&s->lock);
    const struct store__history *h = &s->histories[resource];
    bool there = revision >= h->floor && revision >= s->past && revision <= s->newest->revision;
    if (there)
        store__history_past(h, revision, s->newest->trees[resource], &past);
    pthread_mutex_unlock(&s->lock);
    if (!there)
        return NULL;
    struct store_snapshot *snap = store__snapshot_new((uint32_t)s->opts.n, revision);
    snap->trees[resource] = store__past_restore(&past);
    return snap;
}

/* ---- reading ---- */

static struct store__node *tree_of(const struct store_snapshot *snap, uint32_t resource) {
    assert(resource < snap->n);
    return snap->trees[resource];
}

const struct api_object *store_snapshot_get(const struct store_snapshot *snap, uint32_t resource,
                                            struct str namespace, struct str name) {
    return store__tree_get(tree_of(snap, resource), store__key_make(namespace, name));
}

/* Where the range begins; *behind: after what is there. */
static struct store__key range_start(struct store_range range, bool *behind) {
    struct store__key start = store__key_make(range.namespace, STR(""));
    struct store__key after = store__key_parse(range.after);
    *behind = range.after.n && store__key_cmp(after, start) >= 0;
    return *behind ? after : start;
}

size_t store_snapshot_count(const struct store_snapshot *snap, uint32_t resource,
                            struct store_range range) {
    const struct store__node *t = tree_of(snap, resource);
    if (!t)
        return 0;
    bool behind;
    struct store__key start = range_start(range, &behind);
    struct store__key end = {range.namespace, STR(""), '/' + 1};
    size_t before = store__tree_rank(t, start, behind);
    size_t until = range.namespace.n ? store__tree_rank(t, end, false) : t->count;
    return until > before ? until - before : 0;
}

void store_cursor_start(struct store_cursor *c, const struct store_snapshot *snap,
                        uint32_t resource, struct store_range range) {
    bool behind;
    struct store__key start = range_start(range, &behind);
    c->namespace = range.namespace;
    store__tree_seek(c, tree_of(snap, resource), start, behind);
}

void store_cursor_start_newest(struct store_cursor *c, const struct store *s, uint32_t resource,
                               struct store_range range) {
    bool behind;
    struct store__key start = range_start(range, &behind);
    c->namespace = range.namespace;
    store__tree_seek(c, s->working[resource], start, behind);
}
