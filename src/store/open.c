/* A store from opening to closing, and the small questions to it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/db_int.h"
#include "store/offline.h"

static struct store *store_new(const struct store_opts *opts) {
    struct store *s = xcalloc(1, sizeof *s);
    s->opts = *opts;
    s->working = xcalloc(opts->n, sizeof *s->working);
    s->expiries = xcalloc(opts->n, sizeof *s->expiries);
    s->histories = xcalloc(opts->n, sizeof *s->histories);
    s->newest = store__snapshot_new((uint32_t)opts->n, STORE__FIRST_REVISION);
    store__queue_init(&s->ended);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->subscribing, NULL);
    store__warm_init(&s->warm);
    return s;
}

static void store_free(struct store *s) {
    for (size_t i = 0; i < s->opts.n; i++) {
        store__tree_unref(s->working[i]);
        store__history_release(&s->histories[i]);
    }
    store__expiries_release(s);
    store__warm_release(&s->warm);
    store__likenesses_release(s);
    store_snapshot_unref(s->newest);
    for (size_t i = 0; i < s->unknown.n; i++)
        free(s->unknown.v[i].name);
    vec_release(&s->unknown);
    vec_release(&s->subscribers);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->subscribing);
    free(s->working);
    free(s->histories);
    free(s);
}

/* Opens the file and reads it; the carrier has it from then on. */
static int open_disk(struct store *s, enum store__db_mode mode, uint64_t revision,
                     struct err *err) {
    struct store__db *db;
    struct store__mover *mover;
    if (store__db_open(s->opts.directory, mode, revision, &db, err) < 0)
        return -1;
    if (store__db_prepare_writes(db, err) < 0 ||
        store__db_add_resources(db, s->opts.resources, s->opts.n, err) < 0 ||
        store__db_load(db, s, err) < 0 || store__mover_new(db, &mover, err) < 0) {
        store__db_close(db);
        return -1;
    }
    s->carrier = store__disk_carrier(s, db, mover);
    store__trim_all(s, clock_wall(s->opts.clock), SIZE_MAX);
    return 0;
}

static int open_store(const struct store_opts *opts, enum store__db_mode mode, uint64_t revision,
                      struct store **out, struct err *err) {
    if (opts->n > LIMIT_STORE_RESOURCES)
        return err_set(err, ERR_INVALID, "a store of %zu resources; at most %d", opts->n,
                       LIMIT_STORE_RESOURCES);
    struct store *s = store_new(opts);
    if (!opts->directory) {
        s->carrier = store__memory_carrier(s);
    } else if (open_disk(s, mode, revision, err) < 0) {
        store_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

int store_open(const struct store_opts *opts, struct store **out, struct err *err) {
    return open_store(opts, STORE__DB_SERVE, STORE__FIRST_REVISION, out, err);
}

int store_restore_open(const struct store_opts *opts, uint64_t above, struct store **out,
                       struct err *err) {
    return open_store(opts, STORE__DB_NEW, above, out, err);
}

void store_close(struct store *s) {
    if (!s)
        return;
    store_flush(s);
    s->carrier->close(s->carrier);
    store__drop_open(s);
    store_free(s);
}

int store_resource_find(const struct store *s, struct str name) {
    for (size_t i = 0; i < s->opts.n; i++)
        if (str_is(name, s->opts.resources[i].name))
            return (int)i;
    return -1;
}

const char *store_unknown_resource(const struct store *s, size_t i, uint64_t *records) {
    if (i >= s->unknown.n)
        return NULL;
    *records = s->unknown.v[i].records;
    return s->unknown.v[i].name;
}

/* ---- the log ---- */

uint64_t store_revision(struct store *s) {
    pthread_mutex_lock(&s->lock);
    uint64_t revision = s->newest->revision;
    pthread_mutex_unlock(&s->lock);
    return revision;
}

uint64_t store_log_floor(struct store *s, uint32_t resource) {
    assert(resource < s->opts.n);
    pthread_mutex_lock(&s->lock);
    uint64_t floor = s->histories[resource].floor;
    pthread_mutex_unlock(&s->lock);
    return floor;
}

static int read_locked(struct store *s, uint32_t resource, uint64_t *position,
                       struct store_event *events, int most) {
    const struct store__history *h = &s->histories[resource];
    if (*position >= s->newest->revision)
        return 0;
    if (*position < h->floor)
        return STORE_EXPIRED;
    bool all;
    int n = store__history_read(h, *position, events, most, &all);
    *position = all ? s->newest->revision : events[n - 1].revision;
    return n;
}

int store_log_read(struct store *s, uint32_t resource, uint64_t *position,
                   struct store_event *events, int most) {
    assert(resource < s->opts.n && most > 0);
    pthread_mutex_lock(&s->lock);
    int n = read_locked(s, resource, position, events, most);
    pthread_mutex_unlock(&s->lock);
    return n;
}

void store_subscribe(struct store *s, store_news_fn *fn, void *ctx) {
    pthread_mutex_lock(&s->subscribing);
    vec_push(&s->subscribers, (struct store__subscriber){fn, ctx});
    pthread_mutex_unlock(&s->subscribing);
}

void store_unsubscribe(struct store *s, store_news_fn *fn, void *ctx) {
    pthread_mutex_lock(&s->subscribing);
    for (size_t i = 0; i < s->subscribers.n; i++) {
        if (s->subscribers.v[i].fn != fn || s->subscribers.v[i].ctx != ctx)
            continue;
        s->subscribers.v[i] = s->subscribers.v[--s->subscribers.n];
        break;
    }
    pthread_mutex_unlock(&s->subscribing);
}
