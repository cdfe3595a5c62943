/*
 * Pods that wait for ConfigMaps and Secrets: where these are looked up, and who is looked at again
 * when one of them comes.
 *
 * Follows k8s.io/kubernetes pkg/util/goroutinemap/exponentialbackoff, func (*ExponentialBackoff)
 * Update.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/pod_sources_int.h"

/* A kubelet tries again after half a second, and then ever later up to this. */
#define FIRST_TRY (CLOCK_SECOND / 2)
#define LAST_TRY  (122 * CLOCK_SECOND)

static const enum api_type_id types[NODES__SOURCES] = {
    [NODES__CONFIG_MAP] = API_T_config_map, [NODES__SECRET] = API_T_secret};

/* A pod in the list of those that wait for a thing. */
struct wait {
    struct nodes__pod *pod;
    struct awaited *what;
    struct wait *next, **link;
};

/* A thing that is waited for. */
struct awaited {
    struct wait *first;
    size_t key_bytes;
    char key[]; /* kind/namespace/name */
};

/* A pod that waits, if only for its own object to change. */
struct nodes__held {
    struct wait *waits;
    size_t n;
    uint64_t told;          /* hash of what was said; 0: nothing */
    int64_t tell_at, delay; /* when it is said again, and how long that was put off */
};

/* ---- lists ---- */

static struct str key_of(struct arena *a, enum nodes__source source, struct str namespace,
                         struct str name) {
    return arena_printf(a, "%d/%.*s/%.*s", (int)source, STR_ARG(namespace), STR_ARG(name));
}

static struct awaited *awaited_of(struct nodes *n, struct str key) {
    struct awaited *what = map_get(&n->awaited, key);
    if (what)
        return what;
    what = xcalloc(1, sizeof *what + key.n);
    memcpy(what->key, key.p, key.n);
    what->key_bytes = key.n;
    map_put(&n->awaited, (struct str){what->key, key.n}, what);
    return what;
}

static void join(struct wait *w, struct nodes__pod *pod, struct awaited *what) {
    *w = (struct wait){pod, what, what->first, &what->first};
    if (w->next)
        w->next->link = &w->next;
    what->first = w;
}

static void leave(struct nodes *n, struct wait *w) {
    struct awaited *what = w->what;
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
    if (what->first)
        return;
    map_del(&n->awaited, (struct str){what->key, what->key_bytes});
    free(what);
}

static void leave_all(struct nodes *n, struct nodes__held *held) {
    for (size_t i = 0; i < held->n; i++)
        leave(n, &held->waits[i]);
    free(held->waits);
    held->waits = NULL;
    held->n = 0;
}

void nodes__await(struct nodes *n, struct nodes__pod *pod, const struct nodes__sources *sources,
                  bool is_held) {
    AUTO(arena_release) struct arena a = {0};
    if (pod->held)
        leave_all(n, pod->held);
    if (!sources->n && !is_held) {
        free(pod->held);
        pod->held = NULL;
        return;
    }
    if (!pod->held)
        pod->held = xcalloc(1, sizeof *pod->held);
    if (sources->n)
        pod->held->waits = xcalloc(sources->n, sizeof *pod->held->waits);
    pod->held->n = sources->n;
    for (size_t i = 0; i < sources->n; i++) {
        struct str key = key_of(&a, sources->lacking[i].source, pod->object->meta->namespace,
                                sources->lacking[i].name);
        join(&pod->held->waits[i], pod, awaited_of(n, key));
    }
}

bool nodes__is_time_to_tell(struct nodes *n, struct nodes__pod *pod, uint64_t what,
                            int64_t *again) {
    struct nodes__held *held = pod->held;
    int64_t now = net_loop_now(n->loop);
    bool is_new = held->told != what;
    if (is_new)
        held->delay = 0;
    else if (now < held->tell_at) {
        *again = held->tell_at - now;
        return false;
    }
    held->told = what;
    held->delay = !held->delay                 ? FIRST_TRY
                  : held->delay * 2 < LAST_TRY ? held->delay * 2
                                               : LAST_TRY;
    held->tell_at = now + held->delay;
    *again = held->delay;
    return true;
}

/* ---- the things ---- */

static void wake(struct nodes *n, const struct awaited *what) {
    for (const struct wait *w = what->first; w; w = w->next)
        nodes__look_after(n, w->pod->node, w->pod->object);
}

static void source_set(void *arg, const struct api_object *old, const struct api_object *object) {
    AUTO(arena_release) struct arena a = {0};
    struct nodes *n = arg;
    (void)old;
    if (!n->awaited.live)
        return;
    enum nodes__source source =
        api_object_is(object, API_T_secret) ? NODES__SECRET : NODES__CONFIG_MAP;
    const struct awaited *what =
        map_get(&n->awaited, key_of(&a, source, object->meta->namespace, object->meta->name));
    if (what)
        wake(n, what);
}

/* Now it is known what is not there. */
static void sources_synced(void *arg) {
    struct nodes *n = arg;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&n->awaited, &at));)
        wake(n, e->value);
}

/* All that is asked of them: which there are, and with which keys. */
static const struct api_object *slim(const struct api_object *o) {
    struct api_object *out = api_object_new(o->kind);
    struct api_object_meta *meta = api_own_meta(out);
    void *body = api_own_body(out);
    meta->name = o->meta->name;
    meta->namespace = o->meta->namespace;
    meta->uid = o->meta->uid;
    meta->resource_version = o->meta->resource_version;
    struct labels *keys[] = {NULL, NULL};
    if (api_object_is(o, API_T_secret)) {
        struct api_secret *secret = body;
        secret->data = ((const struct api_secret *)o->body)->data;
        keys[0] = &secret->data;
    } else {
        struct api_config_map *map = body;
        map->data = ((const struct api_config_map *)o->body)->data;
        map->binary_data = ((const struct api_config_map *)o->body)->binary_data;
        keys[0] = &map->data;
        keys[1] = &map->binary_data;
    }
    for (size_t k = 0; k < 2 && keys[k]; k++) {
        struct labels all = *keys[k];
        *keys[k] = (struct labels){arena_array(&out->arena, struct label, all.n), all.n};
        for (size_t i = 0; i < all.n; i++)
            keys[k]->v[i] = (struct label){all.v[i].key, STR("")};
    }
    struct api_object *copy = api_object_copy(out); /* with texts of its own */
    api_object_free(out);
    return api_publish(copy);
}

/* Pods that refer to none have none watched. A kubelet by itself has a set of its own, so that
 * pods without them do not wait when they may not be read. */
static struct informer *informer_of(struct nodes *n, enum nodes__source source) {
    struct informer **i = &n->sources[source];
    const struct api_kind *kind = client_kind(types[source]);
    if (*i)
        return *i;
    if (n->opts.is_alone && !n->own_informers)
        n->own_informers = informers_new(n->opts.client, n->opts.log);
    *i = informers_of(n->opts.is_alone ? n->own_informers : n->opts.informers, kind);
    if (n->opts.is_alone)
        informer_slim(*i, slim);
    informer_listen(
        *i, &(struct informer_handler){.set = source_set, .synced = sources_synced, .arg = n});
    return *i;
}

bool nodes__find_source(void *arg, enum nodes__source source, struct str namespace, struct str name,
                        const struct api_object **out) {
    const struct informer *i = informer_of(arg, source);
    *out = informer_get(i, namespace, name);
    return *out || informer_has_synced(i);
}
