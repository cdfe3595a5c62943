/*
 * Which objects keep their encoded bytes. Whoever watches wants them right after the write, so they
 * are made once for all, by the disk's thread, and what was read once is often read again. All of
 * them would double the memory of the store, so the objects that were written or read last have
 * theirs, and others give them up.
 */
#include <stdlib.h>
#include <string.h>

#include "api/bytes.h"
#include "store/store_int.h"

/* Memory is moved when half of it is not needed any more. */
static void close_gap(struct store__warm *w) {
    if (w->first < w->entries.n - w->first)
        return;
    w->entries.n -= w->first;
    if (w->entries.n)
        memmove(w->entries.v, w->entries.v + w->first, w->entries.n * sizeof w->entries.v[0]);
    w->first = 0;
    vec_shrink(&w->entries);
}

static void cool_oldest(struct store__warm *w) {
    struct store__warm_entry *e = &w->entries.v[w->first++];
    w->bytes -= e->counted;
    if (e->bytes)
        api_object_forget_these(e->object, e->bytes);
    else
        api_object_forget_bytes(e->object);
    api_object_unref(e->object);
    api_bytes_unref(e->bytes);
}

static void add(struct store__warm *w, struct store__warm_entry entry) {
    pthread_mutex_lock(&w->lock);
    vec_push(&w->entries, entry);
    w->bytes += entry.counted;
    while (w->bytes > LIMIT_STORE_WARM_BYTES)
        cool_oldest(w);
    close_gap(w);
    pthread_mutex_unlock(&w->lock);
}

/* Of what nobody has encoded yet, the object with its likeness is the measure. */
static size_t encoded_bytes(const struct api_object *o) {
    size_t kept = api_object_kept_bytes(o);
    return kept ? kept : store__object_bytes(o) + store__object_bytes(o->base);
}

/* An object that is written again is held by nobody else soon, so its own memory counts, too. */
void store__warm_add(struct store__warm *w, const struct api_object *o) {
    add(w, (struct store__warm_entry){.object = api_object_ref(o),
                                      .counted = store__object_bytes(o) + encoded_bytes(o)});
}

void store_keep_bytes(struct store *s, const struct api_object *o, struct api_bytes *bytes) {
    add(&s->warm, (struct store__warm_entry){.object = api_object_ref(o),
                                             .bytes = api_bytes_ref(bytes),
                                             .counted = sizeof *bytes + bytes->n});
}

void store__warm_init(struct store__warm *w) {
    pthread_mutex_init(&w->lock, NULL);
}

void store__warm_release(struct store__warm *w) {
    while (w->first < w->entries.n)
        cool_oldest(w);
    vec_release(&w->entries);
    pthread_mutex_destroy(&w->lock);
}
