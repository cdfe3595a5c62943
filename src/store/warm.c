/*
 * Which objects keep their encoded bytes. Whoever watches wants them right after the write, so they
 * are made once for all, by the disk's thread. Later they would only double the memory of an
 * object, so the objects that were written last have theirs, and older ones give them up.
 */
#include <stdlib.h>
#include <string.h>

#include "store/store_int.h"

/* Memory is moved when half of it is not needed any more. */
static void close_gap(struct store__warm *w) {
    if (w->first < w->objects.n - w->first)
        return;
    w->objects.n -= w->first;
    if (w->objects.n)
        memmove(w->objects.v, w->objects.v + w->first, w->objects.n * sizeof w->objects.v[0]);
    w->first = 0;
    vec_shrink(&w->objects);
}

/* What the encoded bytes are about as long as. */
static size_t bytes_of(const struct api_object *o) {
    return store__object_bytes(o) + store__object_bytes(o->base);
}

static void cool_oldest(struct store__warm *w) {
    const struct api_object *o = w->objects.v[w->first++];
    w->bytes -= bytes_of(o);
    api_object_forget_bytes(o);
    api_object_unref(o);
}

void store__warm_add(struct store__warm *w, const struct api_object *o) {
    vec_push(&w->objects, api_object_ref(o));
    w->bytes += bytes_of(o);
    while (w->bytes > LIMIT_STORE_WARM_BYTES)
        cool_oldest(w);
    close_gap(w);
}

void store__warm_release(struct store__warm *w) {
    while (w->first < w->objects.n)
        cool_oldest(w);
    vec_release(&w->objects);
}
