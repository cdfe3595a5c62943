/* What time does to a store: objects that expire, as events do an hour after they were last
 * written, and states of the past. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/store_int.h"

void store__expiry_add(struct store *s, uint32_t resource, const struct api_object *o,
                       uint64_t revision, int64_t written) {
    struct store__expiries *list = &s->expiries[resource];
    struct str namespace = o->meta->namespace, name = o->meta->name;
    struct store__expiry *e = xmalloc(sizeof *e + namespace.n + name.n);
    *e = (struct store__expiry){.when = written + s->opts.resources[resource].ttl_ns,
                                .revision = revision,
                                .namespace_bytes = namespace.n,
                                .name_bytes = name.n};
    memcpy(e->text, namespace.p, namespace.n);
    memcpy(e->text + namespace.n, name.p, name.n);
    if (!list->first)
        list->end = &list->first;
    *list->end = e;
    list->end = &e->next;
}

/* Is the object in the tree what it was when its time was set? Then it is returned. */
static const struct api_object *find(const struct store__node *tree,
                                     const struct store__expiry *e) {
    struct str namespace = {e->text, e->namespace_bytes};
    struct str name = {e->text + e->namespace_bytes, e->name_bytes};
    const struct api_object *o = store__tree_get(tree, store__key_make(namespace, name));
    return o && store__revision_of(o) == e->revision ? o : NULL;
}

static void unlink_expiry(struct store__expiries *list, struct store__expiry **at) {
    struct store__expiry *e = *at;
    *at = e->next;
    if (!*at)
        list->end = at;
    free(e);
}

/* An entry stays until its object is gone for good: the deletion may fail. */
static size_t expire_resource(struct store *s, uint32_t resource, int64_t now, size_t most,
                              const struct store_snapshot *durable) {
    struct store__expiries *list = &s->expiries[resource];
    size_t deleted = 0, seen = 0;
    for (struct store__expiry **at = &list->first; *at && (*at)->when <= now && seen < most;
         seen++) {
        const struct api_object *o = find(s->working[resource], *at);
        if (o) {
            store_delete(s, resource, api_object_derive(o));
            deleted++;
        }
        if (o || find(durable->trees[resource], *at))
            at = &(*at)->next;
        else
            unlink_expiry(list, at);
    }
    return deleted;
}

size_t store_expire(struct store *s, int64_t now) {
    enum { TRIM_MOST = 4096 };
    size_t deleted = 0;
    struct store_snapshot *durable = store_snapshot_take(s);
    for (uint32_t i = 0; i < s->opts.n && deleted < LIMIT_STORE_EXPIRE; i++)
        deleted += expire_resource(s, i, now, LIMIT_STORE_EXPIRE - deleted, durable);
    store_snapshot_unref(durable);
    store__trim_all(s, now, TRIM_MOST);
    store__warm_cool(&s->warm, now);
    return deleted;
}

int64_t store_next_expiry(struct store *s) {
    pthread_mutex_lock(&s->lock);
    int64_t next = store__next_trim(s);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < s->opts.n; i++)
        if (s->expiries[i].first && s->expiries[i].first->when < next)
            next = s->expiries[i].first->when;
    return next;
}

bool store_age(struct store *s, int64_t now) {
    if (s->age_at && now < s->age_at)
        return false;
    bool moves = s->age_at != 0; /* not at the first time */
    pthread_mutex_lock(&s->lock);
    s->past = s->aged;
    pthread_mutex_unlock(&s->lock);
    if (moves) {
        store__open_batch(s)->moves = true;
        s->given++;
    }
    s->age_at = now + STORE_LOG_KEPT_NS;
    s->aged = s->given;
    return moves;
}

void store__expiries_release(struct store *s) {
    for (size_t i = 0; i < s->opts.n; i++)
        while (s->expiries[i].first)
            unlink_expiry(&s->expiries[i], &s->expiries[i].first);
    free(s->expiries);
}
