/*
 * Which objects keep their encoded bytes. All of them would double the memory of the store, so
 * there are two lists of those that do, and others give them up.
 *
 * Whoever watches wants an object right after it was written, so its bytes are made once for all,
 * by the disk's thread. They are given up seconds later: most of what is written, such as Leases,
 * is never asked for. What a reader has had made is often read again, and stays until others have
 * been read.
 */
#include <stdlib.h>
#include <string.h>

#include "api/bytes.h"
#include "base/limits.h"
#include "store/store_int.h"

/* How long what was written keeps its bytes: watchers are told of it at once. */
#define WRITTEN_KEPT_NS (5 * CLOCK_SECOND)

/* Memory is moved when half of it is not needed any more. */
static void close_gap(struct store__warm_list *l) {
    if (l->first < l->entries.n - l->first)
        return;
    l->entries.n -= l->first;
    if (l->entries.n)
        memmove(l->entries.v, l->entries.v + l->first, l->entries.n * sizeof l->entries.v[0]);
    l->first = 0;
    vec_shrink(&l->entries);
}

static void cool_oldest(struct store__warm_list *l) {
    struct store__warm_entry *e = &l->entries.v[l->first++];
    l->bytes -= e->counted;
    if (e->bytes)
        api_object_forget_these(e->object, e->bytes);
    else
        api_object_forget_bytes(e->object);
    api_object_unref(e->object);
    api_bytes_unref(e->bytes);
}

static void add(struct store__warm *w, struct store__warm_list *l, struct store__warm_entry entry,
                size_t most) {
    pthread_mutex_lock(&w->lock);
    vec_push(&l->entries, entry);
    l->bytes += entry.counted;
    while (l->bytes > most)
        cool_oldest(l);
    close_gap(l);
    pthread_mutex_unlock(&w->lock);
}

/* Of what nobody has encoded yet, the object with its likeness is the measure. */
static size_t encoded_bytes(const struct api_object *o) {
    size_t kept = api_object_kept_bytes(o);
    return kept ? kept : store__object_bytes(o) + store__object_bytes(o->base);
}

/* An object that is written again is held by nobody else soon, so its own memory counts, too. */
void store__warm_add(struct store__warm *w, const struct api_object *o, int64_t now) {
    add(w, &w->written,
        (struct store__warm_entry){.object = api_object_ref(o),
                                   .counted = store__object_bytes(o) + encoded_bytes(o),
                                   .until = now + WRITTEN_KEPT_NS},
        LIMIT_STORE_WRITTEN_BYTES);
}

void store_keep_bytes(struct store *s, const struct api_object *o, struct api_bytes *bytes) {
    add(&s->warm, &s->warm.read,
        (struct store__warm_entry){.object = api_object_ref(o),
                                   .bytes = api_bytes_ref(bytes),
                                   .counted = sizeof *bytes + bytes->n},
        LIMIT_STORE_READ_BYTES);
}

void store__warm_cool(struct store__warm *w, int64_t now) {
    struct store__warm_list *l = &w->written;
    pthread_mutex_lock(&w->lock);
    while (l->first < l->entries.n && l->entries.v[l->first].until <= now)
        cool_oldest(l);
    close_gap(l);
    pthread_mutex_unlock(&w->lock);
}

void store__warm_init(struct store__warm *w) {
    pthread_mutex_init(&w->lock, NULL);
}

static void release_list(struct store__warm_list *l) {
    while (l->first < l->entries.n)
        cool_oldest(l);
    vec_release(&l->entries);
}

void store__warm_release(struct store__warm *w) {
    release_list(&w->written);
    release_list(&w->read);
    pthread_mutex_destroy(&w->lock);
}
