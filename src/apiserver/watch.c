/*
 * A watch is a cursor: first over what is there, if the watcher wants that, then over the log. It
 * reads when it is asked to, so a watcher that is slow costs a position, and one that is too slow
 * to stay in the log is told so.
 *
 * Follows k8s.io/apiserver pkg/storage/cacher, func (*Cacher) Watch,
 * func (*cacheWatcher) convertToWatchEvent.
 */
#include <stdlib.h>

#include "apiserver/apiserver_int.h"

enum phase { PHASE_INITIAL, PHASE_BOOKMARK, PHASE_LIVE, PHASE_ENDED };

struct apiserver_watch {
    struct apiserver *s;
    struct arena arena; /* of the filter, the namespace and the last failure */
    uint32_t storage;
    struct apiserver__filter filter;
    struct str namespace; /* empty: all */
    enum phase phase;
    bool wants_bookmarks;
    bool marks_end;                  /* a bookmark stands behind the initial events */
    struct store_snapshot *snapshot; /* of the initial events, while they are told */
    struct store_cursor cursor;
    uint64_t position; /* all up to this revision was read from the log */
    uint64_t told;     /* the newest revision that the watcher knows of */
};

/* ---- beginning ---- */

/* Wants the watch to begin with what is there? */
static bool wants_initial(const struct apiserver_options *o, uint64_t revision) {
    return o->send_initial_events.set ? o->send_initial_events.v : revision == 0;
}

static struct registry_failure begin(struct apiserver_watch *w, const struct apiserver_request *r) {
    const struct apiserver_options *o = &r->options;
    struct store *store = w->s->opts.store;
    uint64_t revision;
    if (!apiserver__revision_read(o->resource_version, &revision))
        return (struct registry_failure){
            .code = ERR_UNTOLD,
            .message = apiserver__revision_invalid(r->arena, o->resource_version)};
    w->wants_bookmarks = o->allow_bookmarks;
    w->position = revision;
    w->phase = PHASE_LIVE;
    if (wants_initial(o, revision)) {
        w->snapshot = store_snapshot_take(store);
        w->position = store_snapshot_revision(w->snapshot);
        if (revision > w->position)
            return apiserver__too_large(r->arena, revision, w->position);
        w->phase = PHASE_INITIAL;
        w->marks_end = o->allow_bookmarks && o->send_initial_events.set;
        store_cursor_start(&w->cursor, w->snapshot, w->storage,
                           (struct store_range){.namespace = w->namespace});
    } else if (!revision)
        w->position = store_revision(store);
    return (struct registry_failure){.code = ERR_NONE};
}

struct apiserver_watch *apiserver_watch_new(struct apiserver *s, const struct apiserver_request *r,
                                            struct registry_failure *failure) {
    struct apiserver_watch *w = xcalloc(1, sizeof *w);
    w->s = s;
    w->storage = r->resource->storage;
    if (r->resource->kind->namespaced)
        w->namespace = arena_str(&w->arena, r->namespace);
    *failure = apiserver__filter_read(r, &w->arena, &w->filter);
    if (!failure->code)
        *failure = begin(w, r);
    if (!failure->code)
        return w;
    failure->message = arena_str(r->arena, failure->message);
    apiserver_watch_free(w);
    return NULL;
}

void apiserver_watch_free(struct apiserver_watch *w) {
    if (!w)
        return;
    store_snapshot_unref(w->snapshot);
    arena_release(&w->arena);
    free(w);
}

uint32_t apiserver_watch_storage(const struct apiserver_watch *w) {
    return w->storage;
}

/* ---- initial events ---- */

static size_t read_initial(struct apiserver_watch *w, struct apiserver_event *events, size_t most) {
    size_t n = 0;
    const struct api_object *o;
    while (n < most && (o = store_cursor_next(&w->cursor)))
        if (apiserver__filter_has(&w->filter, o))
            events[n++] =
                (struct apiserver_event){.type = APISERVER_ADDED, .object = api_object_ref(o)};
    if (n < most) {
        store_snapshot_unref(w->snapshot);
        w->snapshot = NULL;
        w->phase = w->marks_end ? PHASE_BOOKMARK : PHASE_LIVE;
    }
    return n;
}

static size_t read_end_of_initial(struct apiserver_watch *w, struct apiserver_event *events) {
    events[0] = (struct apiserver_event){
        .type = APISERVER_BOOKMARK, .revision = w->position, .ends_initial_events = true};
    w->told = w->position;
    w->phase = PHASE_LIVE;
    return 1;
}

/* ---- the log ---- */

static bool wants(const struct apiserver_watch *w, const struct api_object *o) {
    return o && (!w->namespace.n || str_eq(o->meta->namespace, w->namespace)) &&
           apiserver__filter_has(&w->filter, o);
}

/* What stops to match is gone for the watcher: it is shown as it was last, with the revision of the
 * change. */
static const struct api_object *with_revision(const struct api_object *o, uint64_t revision) {
    struct api_object *copy = api_object_derive(o);
    api_own_meta(copy)->resource_version =
        arena_printf(&copy->arena, "%llu", (unsigned long long)revision);
    return api_publish(copy);
}

/* False when the change is nothing to this watcher. */
static bool translate(const struct apiserver_watch *w, const struct store_event *e,
                      struct apiserver_event *out) {
    bool was = wants(w, e->previous), is = e->type != STORE_DELETED && wants(w, e->object);
    *out = (struct apiserver_event){0};
    if (is) {
        out->type = was ? APISERVER_MODIFIED : APISERVER_ADDED;
        out->object = api_object_ref(e->object);
    } else if (was) {
        out->type = APISERVER_DELETED;
        out->object = e->type == STORE_DELETED && wants(w, e->object)
                          ? api_object_ref(e->object)
                          : with_revision(e->previous, e->revision);
    }
    return is || was;
}

static size_t end(struct apiserver_watch *w, struct apiserver_event *events) {
    uint64_t floor = store_log_floor(w->s->opts.store, w->storage);
    w->phase = PHASE_ENDED;
    events[0] = (struct apiserver_event){
        .type = APISERVER_ERROR,
        .failure =
            apiserver__failure(&w->arena, ERR_EXPIRED, "too old resource version: %llu (%llu)",
                               (unsigned long long)w->position, (unsigned long long)floor)};
    return 1;
}

static size_t read_log(struct apiserver_watch *w, struct apiserver_event *events, size_t most) {
    enum { AT_ONCE = 64 };
    struct store_event found[AT_ONCE];
    size_t n = 0;
    while (n < most) {
        int room = most - n < AT_ONCE ? (int)(most - n) : AT_ONCE;
        int got = store_log_read(w->s->opts.store, w->storage, &w->position, found, room);
        if (got == STORE_EXPIRED)
            return n + end(w, &events[n]);
        for (int i = 0; i < got; i++)
            n += translate(w, &found[i], &events[n]);
        w->told = n ? found[got - 1].revision : w->told;
        store_events_release(found, got);
        if (got < room)
            break;
    }
    return n;
}

size_t apiserver_watch_read(struct apiserver_watch *w, struct apiserver_event *events,
                            size_t most) {
    size_t n = w->phase == PHASE_INITIAL ? read_initial(w, events, most) : 0;
    if (n < most && w->phase == PHASE_BOOKMARK)
        n += read_end_of_initial(w, &events[n]);
    if (n < most && w->phase == PHASE_LIVE)
        n += read_log(w, &events[n], most - n);
    return n;
}

bool apiserver_watch_bookmark(struct apiserver_watch *w, struct apiserver_event *out) {
    if (!w->wants_bookmarks || w->phase != PHASE_LIVE || w->told == w->position)
        return false;
    *out = (struct apiserver_event){.type = APISERVER_BOOKMARK, .revision = w->position};
    w->told = w->position;
    return true;
}

void apiserver_events_release(struct apiserver_event *events, size_t n) {
    for (size_t i = 0; i < n; i++)
        api_object_unref(events[i].object);
}
