/*
 * From a carrier to everybody: batches that are durable become the newest snapshot and events of
 * the log, under one lock, so that whoever has read all events has a state to compare with.
 */
#include <stdlib.h>

#include "store/store_int.h"

/* ---- ends of batches ---- */

/* Has the core call `done`. */
static void hand_back(struct store *s, struct store__queue *batches) {
    pthread_mutex_lock(&s->lock);
    store__queue_move(&s->ended, batches);
    bool post = s->opts.post && !s->posted && !s->carrier->at_once;
    s->posted |= post;
    pthread_mutex_unlock(&s->lock);
    if (post)
        s->opts.post(s->opts.post_ctx, store__call_done, s);
}

void store__fail(struct store *s, struct store__queue *batches, const struct err *err,
                 bool for_good) {
    pthread_mutex_lock(&s->lock);
    for (struct store__batch *b = batches->first; b; b = b->next) {
        b->err = *err;
        s->stats.failed_batches++;
    }
    if (for_good)
        s->refusal = *err;
    pthread_mutex_unlock(&s->lock);
    hand_back(s, batches);
}

int store_writable(struct store *s, struct err *err) {
    pthread_mutex_lock(&s->lock);
    struct err refusal = s->refusal;
    pthread_mutex_unlock(&s->lock);
    if (refusal.code == ERR_NONE)
        return 0;
    *err = refusal;
    return -1;
}

/* ---- the log ---- */

/* Entries that were taken out of the log, to be given back without the lock. */
struct dropped {
    VEC(struct store__entry) entries;
};

static bool is_old(const struct store__history *h, int64_t age, int64_t now) {
    const struct store__entry *oldest = store__history_oldest(h);
    return oldest && now - oldest->time >= age;
}

static void drop_oldest(struct store *s, uint32_t resource, struct dropped *out) {
    struct store__history *h = &s->histories[resource];
    size_t before = h->bytes;
    struct store__entry e = store__history_pop(h);
    s->log_bytes -= before - h->bytes;
    vec_push(&out->entries, e);
    if (!s->carrier->forget)
        return;
    const struct api_object *previous = e.event.previous;
    const struct store__forgotten event = {
        .resource = resource,
        .type = e.event.type,
        .revision = e.event.revision,
        .previous = previous ? store__revision_of(previous) : 0,
    };
    s->carrier->forget(s->carrier, &event);
}

/* The resource whose log takes most memory. */
static uint32_t largest_log(const struct store *s) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < s->opts.n; i++)
        if (s->histories[i].bytes > s->histories[largest].bytes)
            largest = i;
    return largest;
}

/* Is there too much in the logs, where the largest one begins with this age? */
static bool is_too_much(const struct store *s, uint32_t largest, int64_t now) {
    if (s->log_bytes > LIMIT_STORE_LOG_BYTES)
        return true;
    return s->log_bytes > STORE_LOG_USUAL_BYTES &&
           is_old(&s->histories[largest], STORE_LOG_LEAST_NS, now);
}

/* Takes up to `most` events out that need not be there any more. */
static void trim(struct store *s, int64_t now, size_t most, struct dropped *out) {
    for (uint32_t i = 0; i < s->opts.n; i++) {
        struct store__history *h = &s->histories[i];
        while (out->entries.n < most &&
               (h->n > LIMIT_STORE_LOG_EVENTS || is_old(h, STORE_LOG_KEPT_NS, now)))
            drop_oldest(s, i, out);
    }
    for (uint32_t i; out->entries.n < most && is_too_much(s, i = largest_log(s), now);)
        drop_oldest(s, i, out);
}

static void dropped_release(struct dropped *d) {
    for (size_t i = 0; i < d->entries.n; i++) {
        store_events_release(&d->entries.v[i].event, 1);
        store__tree_unref(d->entries.v[i].tree);
    }
    vec_release(&d->entries);
}

void store__trim_all(struct store *s, int64_t now, size_t most) {
    struct dropped dropped = {0};
    pthread_mutex_lock(&s->lock);
    trim(s, now, most, &dropped);
    pthread_mutex_unlock(&s->lock);
    dropped_release(&dropped);
}

int64_t store__next_trim(const struct store *s) {
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < s->opts.n; i++) {
        const struct store__entry *oldest = store__history_oldest(&s->histories[i]);
        if (oldest && oldest->time + STORE_LOG_KEPT_NS < next)
            next = oldest->time + STORE_LOG_KEPT_NS;
    }
    return next;
}

static void add_event(struct store *s, uint32_t resource, const struct store_event *event,
                      int64_t time) {
    struct store__history *h = &s->histories[resource];
    size_t before = h->bytes;
    store__history_add(h, event, time);
    s->log_bytes += h->bytes - before;
}

/* Counts what an event adds to the objects, and takes from them. */
static void count_objects(struct store *s, const struct store_event *event) {
    if (event->type != STORE_DELETED) {
        s->stats.objects++;
        s->stats.object_bytes += store__object_bytes(event->object);
    }
    s->stats.objects -= event->previous != NULL;
    s->stats.object_bytes -= store__object_bytes(event->previous);
}

/* ---- durable batches ---- */

/* The state behind all batches. */
static struct store_snapshot *state_behind(const struct store *s,
                                           const struct store__queue *batches) {
    struct store_snapshot *snap = store__snapshot_next(s->newest, s->newest->revision);
    for (const struct store__batch *b = batches->first; b; b = b->next) {
        for (size_t i = 0; i < b->roots.n; i++) {
            struct store__node **tree = &snap->trees[b->roots.v[i].resource];
            store__tree_unref(*tree);
            *tree = store__tree_ref(b->roots.v[i].tree);
        }
        if (b->writes.n || b->moves)
            snap->revision = b->revision;
    }
    return snap;
}

/* Returns how many events there are. */
static size_t add_events(struct store *s, const struct store__queue *batches, int64_t *now) {
    size_t added = 0;
    for (const struct store__batch *b = batches->first; b; b = b->next) {
        for (size_t i = 0; i < b->writes.n; i++) {
            const struct store__write *w = &b->writes.v[i];
            store__event_ref(&w->event);
            add_event(s, w->resource, &w->event, w->time);
            count_objects(s, &w->event);
            *now = w->time;
        }
        for (size_t i = 0; i < b->roots.n; i++)
            store__history_offer(&s->histories[b->roots.v[i].resource], b->roots.v[i].tree);
        added += b->writes.n;
        s->stats.batches++;
        s->stats.writes += b->writes.n;
    }
    return added;
}

static void tell_subscribers(struct store *s, const struct store__queue *batches,
                             uint64_t revision) {
    struct store_news news = {.revision = revision};
    for (const struct store__batch *b = batches->first; b; b = b->next)
        for (size_t i = 0; i < sizeof news.resources / sizeof news.resources[0]; i++)
            news.resources[i] |= b->touched[i];
    pthread_mutex_lock(&s->subscribing);
    for (size_t i = 0; i < s->subscribers.n; i++)
        s->subscribers.v[i].fn(s->subscribers.v[i].ctx, &news);
    pthread_mutex_unlock(&s->subscribing);
}

void store__publish(struct store *s, struct store__queue *batches) {
    enum { TRIM_LEAST = 1024 }; /* events let go of at once: some 50 us under the lock */
    struct dropped dropped = {0};
    int64_t now = 0;
    struct store_snapshot *before = s->newest, *after = state_behind(s, batches);
    pthread_mutex_lock(&s->lock);
    s->newest = after;
    size_t added = add_events(s, batches, &now);
    if (added)
        trim(s, now, TRIM_LEAST + 2 * added, &dropped);
    pthread_mutex_unlock(&s->lock);
    store_snapshot_unref(before);
    dropped_release(&dropped);
    for (const struct store__batch *b = batches->first; b; b = b->next)
        for (size_t i = 0; i < b->writes.n; i++)
            store__warm_add(&s->warm, b->writes.v[i].event.object, now);
    if (added)
        tell_subscribers(s, batches, after->revision);
    hand_back(s, batches);
}

/* ---- figures ---- */

void store__note_commit(struct store *s, int64_t ns, uint64_t bytes) {
    int bucket = 0;
    while (bucket < STORE_COMMIT_BUCKETS - 1 && ns >= STORE_COMMIT_FIRST_NS << bucket)
        bucket++;
    pthread_mutex_lock(&s->lock);
    s->stats.commits++;
    s->stats.commit_ns += (uint64_t)ns;
    s->stats.commit_buckets[bucket]++;
    if ((uint64_t)ns > s->stats.commit_most_ns)
        s->stats.commit_most_ns = (uint64_t)ns;
    s->stats.value_bytes += bytes;
    pthread_mutex_unlock(&s->lock);
}

void store_stats_read(struct store *s, struct store_stats *out) {
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    out->revision = s->newest->revision;
    out->log_bytes = s->log_bytes;
    out->refuses = s->refusal.code != ERR_NONE;
    for (uint32_t i = 0; i < s->opts.n; i++) {
        const struct store__entry *oldest = store__history_oldest(&s->histories[i]);
        out->log_events += s->histories[i].n;
        if (oldest && (!out->log_oldest || oldest->time < out->log_oldest))
            out->log_oldest = oldest->time;
    }
    pthread_mutex_unlock(&s->lock);
    if (s->carrier->measure)
        s->carrier->measure(s->carrier, out);
}

/* ---- loading ---- */

void store__load(struct store *s, uint32_t resource, const struct store_event *event, int64_t time,
                 bool in_log) {
    struct store__node **tree = &s->working[resource];
    const struct api_object *previous;
    if (event->type == STORE_DELETED)
        *tree = store__tree_del(*tree, store__key_of(event->object), &previous);
    else
        *tree = store__tree_put(*tree, event->object, &previous);
    if (event->type != STORE_DELETED && s->opts.resources[resource].ttl_ns)
        store__expiry_add(s, resource, event->object, event->revision, time);
    struct store_event whole = *event;
    whole.previous = previous;
    count_objects(s, &whole);
    if (!in_log) {
        store_events_release(&whole, 1);
        return;
    }
    add_event(s, resource, &whole, time);
    store__history_offer(&s->histories[resource], *tree);
}

void store__load_end(struct store *s, uint64_t revision) {
    s->given = revision;
    s->newest->revision = revision;
    for (uint32_t i = 0; i < s->opts.n; i++) {
        s->newest->trees[i] = store__tree_ref(s->working[i]);
        if (!s->histories[i].floor)
            s->histories[i].floor = revision;
    }
}
