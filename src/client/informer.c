/* Reflectors with their objects: watches that begin again, indexes, and who is told. */
#include "client/informer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "client/informer_int.h"

/* A watch that ended begins again so much later: doubled each time until something is told, and by
 * chance up to half as much again, so that not all clients come back at the same moment. */
#define FIRST_DELAY (CLOCK_SECOND / 20)
#define MOST_DELAY  (30 * CLOCK_SECOND)

/* Objects under one key of an index. */
struct bucket {
    VEC(const struct api_object *) objects;
    VEC(struct entry *) entries; /* of these */
    char key[];
};

/* An object that is there. */
struct entry {
    const struct api_object *object; /* held */
    bool was_told_again;             /* since the watch began anew */
    struct bucket *buckets[INFORMER_INDEXES];
    size_t places[INFORMER_INDEXES]; /* in these */
    char key[];                      /* namespace/name */
};

struct informer {
    struct informers *set;
    const struct api_kind *kind;
    struct client_watch *watch;
    struct net_timer again;
    int64_t delay; /* 0: the watch has told something since it began */
    uint64_t revision;
    bool has_synced;
    bool is_replacing;  /* the watch began anew: what it does not tell again is gone */
    struct map objects; /* struct entry by key */
    struct map indexes[INFORMER_INDEXES]; /* struct bucket by key */
    bool is_indexed[INFORMER_INDEXES];
    VEC(struct informer_handler) handlers;
    const struct api_object *(*slim)(const struct api_object *o); /* NULL: objects stay whole */
};

struct informers {
    struct client *client;
    const struct log *log;
    VEC(struct informer *) all;
    struct informers__follower *followers;
    struct net_deferred progress;
    uint64_t chance;
};

/* ---- keys ---- */

uint64_t client__revision_of(const struct api_object *o) {
    int64_t v;
    return o && o->meta && str_to_i64(o->meta->resource_version, &v) && v > 0 ? (uint64_t)v : 0;
}

enum { KEY_MOST = 512 }; /* names have 253 letters at most */

static struct str key_of(char to[KEY_MOST], struct str namespace, struct str name) {
    size_t n = namespace.n + 1 + name.n;
    assert(n <= KEY_MOST);
    if (namespace.n)
        memcpy(to, namespace.p, namespace.n);
    to[namespace.n] = '/';
    if (name.n)
        memcpy(to + namespace.n + 1, name.p, name.n);
    return (struct str){to, n};
}

static struct entry *find(const struct informer *i, struct str namespace, struct str name) {
    char key[KEY_MOST];
    return namespace.n + name.n < KEY_MOST ? map_get(&i->objects, key_of(key, namespace, name))
                                           : NULL;
}

static struct str index_key(enum informer_index index, const struct api_object *o) {
    const struct api_owner_reference *owner = NULL;
    switch (index) {
    case INFORMER_BY_NAMESPACE:
        return o->meta->namespace;
    case INFORMER_BY_CONTROLLER:
        owner = api_object_controller(o);
        return owner ? owner->uid : STR("");
    case INFORMER_BY_NODE:
        return api_object_is(o, API_T_pod) ? ((const struct api_pod *)o->body)->spec.node_name
                                           : STR("");
    case INFORMER_ALL:
    case INFORMER_INDEXES:
        break;
    }
    return STR("");
}

/* ---- indexes ---- */

static struct bucket *bucket_of(struct map *index, struct str key) {
    struct bucket *b = map_get(index, key);
    if (b)
        return b;
    b = xcalloc(1, sizeof *b + key.n + 1);
    if (key.n)
        memcpy(b->key, key.p, key.n);
    map_put(index, (struct str){b->key, key.n}, b);
    return b;
}

static void bucket_free(struct bucket *b) {
    vec_release(&b->objects);
    vec_release(&b->entries);
    free(b);
}

static void file_entry(struct informer *i, enum informer_index index, struct entry *e) {
    struct bucket *b = bucket_of(&i->indexes[index], index_key(index, e->object));
    e->buckets[index] = b;
    e->places[index] = b->objects.n;
    vec_push(&b->objects, e->object);
    vec_push(&b->entries, e);
}

/* The last one takes its place. */
static void unfile_entry(struct informer *i, enum informer_index index, struct entry *e) {
    struct bucket *b = e->buckets[index];
    size_t place = e->places[index], last = b->objects.n - 1;
    b->objects.v[place] = b->objects.v[last];
    b->entries.v[place] = b->entries.v[last];
    b->entries.v[place]->places[index] = place;
    b->objects.n = b->entries.n = last;
    if (last)
        return;
    map_del(&i->indexes[index], str_of(b->key));
    bucket_free(b);
}

/* The entry has another object now. */
static void refile_entry(struct informer *i, enum informer_index index, struct entry *e) {
    struct bucket *b = e->buckets[index];
    if (str_is(index_key(index, e->object), b->key)) {
        b->objects.v[e->places[index]] = e->object;
        return;
    }
    unfile_entry(i, index, e);
    file_entry(i, index, e);
}

static void each_index(struct informer *i, struct entry *e,
                       void (*change)(struct informer *i, enum informer_index index,
                                      struct entry *e)) {
    for (int index = 0; index < INFORMER_INDEXES; index++)
        if (i->is_indexed[index])
            change(i, (enum informer_index)index, e);
}

static void make_index(struct informer *i, enum informer_index index) {
    size_t at = 0;
    i->is_indexed[index] = true;
    for (struct map_entry *m; (m = map_next(&i->objects, &at));)
        file_entry(i, index, m->value);
}

/* ---- changes ---- */

static void tell_set(struct informer *i, const struct api_object *old,
                     const struct api_object *new) {
    for (size_t k = 0; k < i->handlers.n; k++)
        if (i->handlers.v[k].set)
            i->handlers.v[k].set(i->handlers.v[k].arg, old, new);
}

static void tell_deleted(struct informer *i, const struct api_object *last) {
    for (size_t k = 0; k < i->handlers.n; k++)
        if (i->handlers.v[k].deleted)
            i->handlers.v[k].deleted(i->handlers.v[k].arg, last);
}

static void add(struct informer *i, const struct api_object *o) {
    char room[KEY_MOST];
    struct str key = key_of(room, o->meta->namespace, o->meta->name);
    struct entry *e = xcalloc(1, sizeof *e + key.n);
    memcpy(e->key, key.p, key.n);
    e->object = api_object_ref(o);
    e->was_told_again = true;
    map_put(&i->objects, (struct str){e->key, key.n}, e);
    each_index(i, e, file_entry);
    tell_set(i, NULL, o);
}

/* `last` is what is told: the state with the revision of the deletion, if that is known. */
static void drop(struct informer *i, struct entry *e, const struct api_object *last) {
    char room[KEY_MOST];
    const struct api_object *object = e->object;
    each_index(i, e, unfile_entry);
    map_del(&i->objects, key_of(room, object->meta->namespace, object->meta->name));
    free(e);
    tell_deleted(i, last);
    api_object_unref(object);
}

static void replace(struct informer *i, struct entry *e, const struct api_object *o) {
    const struct api_object *old = e->object;
    e->object = api_object_ref(o);
    each_index(i, e, refile_entry);
    tell_set(i, old, o);
    api_object_unref(old);
}

static void keep(struct informer *i, struct entry *e, const struct api_object *o) {
    if (e && !str_eq(e->object->meta->uid, o->meta->uid)) {
        drop(i, e, e->object);
        e = NULL;
    }
    if (e)
        replace(i, e, o);
    else
        add(i, o);
}

/* What was told in this state, or a later one, is not told again. */
static void set(struct informer *i, const struct api_object *o) {
    struct entry *e = find(i, o->meta->namespace, o->meta->name);
    if (e)
        e->was_told_again = true;
    if (e && client__revision_of(e->object) >= client__revision_of(o))
        return;
    const struct api_object *kept = i->slim ? i->slim(o) : api_object_ref(o);
    keep(i, e, kept);
    api_object_unref(kept);
}

static void delete (struct informer *i, const struct api_object *last) {
    struct entry *e = find(i, last->meta->namespace, last->meta->name);
    if (e && client__revision_of(e->object) <= client__revision_of(last))
        drop(i, e, last);
}

/* ---- all that was there has been told ---- */

static void drop_forgotten(struct informer *i) {
    size_t at = 0;
    for (struct map_entry *m; (m = map_next(&i->objects, &at));) {
        struct entry *e = m->value;
        if (!e->was_told_again)
            drop(i, e, e->object);
    }
}

static void sync(struct informer *i) {
    bool was_synced = i->has_synced;
    if (i->is_replacing)
        drop_forgotten(i);
    i->is_replacing = false;
    i->has_synced = true;
    for (size_t k = 0; !was_synced && k < i->handlers.n; k++)
        if (i->handlers.v[k].synced)
            i->handlers.v[k].synced(i->handlers.v[k].arg);
}

/* ---- the watch ---- */

static void see(struct informer *i, uint64_t revision) {
    i->revision = revision > i->revision ? revision : i->revision;
    i->delay = 0;
    net_loop_defer(client_loop(i->set->client), &i->set->progress);
}

/* xorshift: how much later a watch begins again matters to nobody. */
static int64_t draw_below(struct informers *set, int64_t most) {
    set->chance ^= set->chance << 13;
    set->chance ^= set->chance >> 7;
    set->chance ^= set->chance << 17;
    return (int64_t)(set->chance % (uint64_t)most);
}

static void begin_later(struct informer *i, const struct client_event *e) {
    struct net_loop *loop = client_loop(i->set->client);
    bool is_lost = e->code == ERR_EXPIRED || e->code == ERR_GONE || !i->has_synced;
    i->is_replacing |= is_lost;
    if (e->code && !i->has_synced && !i->delay) /* whoever waits for it should know why, once */
        log_warn(i->set->log, "failed to watch, trying again",
                 LOG_STR("kind", str_of(i->kind->kind)), LOG_STR("err", e->message));
    i->delay = !i->delay ? FIRST_DELAY : i->delay * 2 < MOST_DELAY ? i->delay * 2 : MOST_DELAY;
    if (e->code && !is_lost)
        log_info(i->set->log, 2, "watch ended", LOG_STR("kind", str_of(i->kind->kind)),
                 LOG_STR("err", e->message));
    net_timer_start(loop, &i->again,
                    net_loop_now(loop) + i->delay + draw_below(i->set, i->delay / 2 + 1));
}

static void on_event(void *arg, const struct client_event *e) {
    struct informer *i = arg;
    switch (e->type) {
    case CLIENT_ADDED:
    case CLIENT_MODIFIED:
        set(i, e->object);
        see(i, i->is_replacing || !i->has_synced ? 0 : client__revision_of(e->object));
        break;
    case CLIENT_DELETED:
        delete (i, e->object);
        see(i, client__revision_of(e->object));
        break;
    case CLIENT_BOOKMARK:
        if (e->ends_initial_events)
            sync(i);
        see(i, e->revision);
        break;
    case CLIENT_ENDED:
        begin_later(i, e);
        break;
    }
}

static void forget_what_was_told(struct informer *i) {
    size_t at = 0;
    for (struct map_entry *m; (m = map_next(&i->objects, &at));)
        ((struct entry *)m->value)->was_told_again = false;
}

static void begin(void *arg) {
    struct informer *i = arg;
    AUTO(buf_release) struct buf text = BUF_INIT(24);
    struct client_selection selection = {0};
    if (i->watch)
        client_watch_stop(i->watch);
    if (i->is_replacing)
        forget_what_was_told(i);
    else if (i->has_synced)
        buf_addf(&text, "%llu", (unsigned long long)i->revision);
    selection.resource_version = buf_view(&text);
    i->watch = client_watch_start(i->set->client, i->kind, &selection, on_event, i);
}

/* ---- a set ---- */

static void tell_progress(void *arg) {
    struct informers *set = arg;
    for (struct informers__follower *f = set->followers, *next; f; f = next) {
        next = f->next;
        f->fn(f->arg);
    }
}

void informers__follow(struct informers *set, struct informers__follower *f) {
    f->next = set->followers;
    f->link = &set->followers;
    if (f->next)
        f->next->link = &f->next;
    set->followers = f;
}

void informers__unfollow(struct informers__follower *f) {
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
}

struct informers *informers_new(struct client *client, const struct log *log) {
    struct informers *set = xcalloc(1, sizeof *set);
    set->client = client;
    set->log = log;
    set->progress = (struct net_deferred){.fn = tell_progress, .arg = set};
    set->chance = map_random_seed() | 1;
    return set;
}

struct informer *informers__find(const struct informers *set, const struct api_kind *kind) {
    for (size_t k = 0; k < set->all.n; k++)
        if (set->all.v[k]->kind == kind)
            return set->all.v[k];
    return NULL;
}

struct informer *informers_of(struct informers *set, const struct api_kind *kind) {
    struct informer *i = informers__find(set, kind);
    if (i)
        return i;
    i = xcalloc(1, sizeof *i);
    *i = (struct informer){.set = set,
                           .kind = kind,
                           .again = {.fn = begin, .arg = i},
                           .objects = MAP_INIT(map_random_seed())};
    for (int index = 0; index < INFORMER_INDEXES; index++)
        i->indexes[index] = MAP_INIT(map_random_seed());
    vec_push(&set->all, i);
    begin(i);
    return i;
}

void informer_slim(struct informer *i,
                   const struct api_object *(*slim)(const struct api_object *)) {
    assert(!i->objects.live);
    i->slim = slim;
}

bool informers_have_synced(const struct informers *set) {
    for (size_t k = 0; k < set->all.n; k++)
        if (!set->all.v[k]->has_synced)
            return false;
    return true;
}

void informers_renew(struct informers *set) {
    for (size_t k = 0; k < set->all.n; k++) {
        struct informer *i = set->all.v[k];
        if (!i->delay)
            continue;
        assert(!i->handlers.n);
        net_timer_stop(client_loop(set->client), &i->again);
        i->has_synced = false;
        i->is_replacing = true;
        begin(i);
    }
}

static void informer_free(struct informer *i) {
    size_t at = 0;
    net_timer_stop(client_loop(i->set->client), &i->again);
    client_watch_stop(i->watch);
    for (struct map_entry *m; (m = map_next(&i->objects, &at));) {
        api_object_unref(((struct entry *)m->value)->object);
        free(m->value);
    }
    map_release(&i->objects);
    for (int index = 0; index < INFORMER_INDEXES; index++) {
        at = 0;
        for (struct map_entry *m; (m = map_next(&i->indexes[index], &at));)
            bucket_free(m->value);
        map_release(&i->indexes[index]);
    }
    vec_release(&i->handlers);
    free(i);
}

void informers_free(struct informers *set) {
    if (!set)
        return;
    net_loop_undefer(client_loop(set->client), &set->progress);
    for (size_t k = 0; k < set->all.n; k++)
        informer_free(set->all.v[k]);
    vec_release(&set->all);
    free(set);
}

/* ---- for whoever is interested ---- */

void informer_listen(struct informer *i, const struct informer_handler *handler) {
    size_t at = 0;
    vec_push(&i->handlers, *handler);
    for (struct map_entry *m; handler->set && (m = map_next(&i->objects, &at));)
        handler->set(handler->arg, NULL, ((struct entry *)m->value)->object);
    if (i->has_synced && handler->synced)
        handler->synced(handler->arg);
}

bool informer_has_synced(const struct informer *i) {
    return i->has_synced;
}

uint64_t informer_revision(const struct informer *i) {
    return i->revision;
}

const struct api_object *informer_get(const struct informer *i, struct str namespace,
                                      struct str name) {
    const struct entry *e = find(i, namespace, name);
    return e ? e->object : NULL;
}

size_t informer_count(const struct informer *i) {
    return i->objects.live;
}

const struct api_object *const *informer_find(struct informer *i, enum informer_index index,
                                              struct str key, size_t *n) {
    if (!i->is_indexed[index])
        make_index(i, index);
    const struct bucket *b = map_get(&i->indexes[index], key);
    *n = b ? b->objects.n : 0;
    return b ? b->objects.v : NULL;
}
