/*
 * A cluster for tests of components, on one loop and virtual time: a store in memory, the API
 * server's core, and a client of it. Nothing waits, and every run is the same.
 */
#ifndef TEST_UNIT_WORLD_H
#define TEST_UNIT_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "client/client.h"
#include "client/informer.h"
#include "client/local.h"
#include "codec/yml.h"
#include "net/loop.h"

struct world {
    struct clock_manual clock;
    struct net_loop *loop;
    struct feature_config gates; /* of the server; a component may have others */
    struct apiserver_catalog *catalog;
    struct store *store;
    struct apiserver *api;
    struct apiserver_core *core;
    struct client *client;
    struct informers *informers;
    struct log log;
    uint64_t drawn;
    struct client_answer last; /* of world_send; texts live in the arena, the object is held */
    bool has_answer;
    struct arena arena;
};

static inline void world__draw(void *ctx, void *to, size_t n) {
    struct world *w = ctx;
    for (size_t i = 0; i < n; i++) {
        w->drawn = w->drawn * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)to)[i] = (unsigned char)(w->drawn >> 56);
    }
}

/* Starts a cluster with these gates ("A=true,B=false", or empty), of the newest version. */
static inline void world_start(struct world *w, const char *gates) {
    struct err err = {0};
    *w = (struct world){.drawn = 1};
    clock_manual_init(&w->clock, INT64_C(1700000000) * CLOCK_SECOND);
    w->log = (struct log){.fd = 2, .clock = &w->clock.clock};
    w->loop = net_loop_new(&w->clock.clock);
    struct str list = str_of(gates);
    struct feature_flags flags = {.gates = {&list, list.n > 0}};
    if (feature_configure(&flags, &w->gates, &err) < 0)
        fail_msg("%s", err.msg);
    w->catalog = apiserver_catalog_new();
    struct store_opts opts = {.clock = &w->clock.clock};
    opts.resources = apiserver_catalog_storage(w->catalog, &opts.n);
    assert_int_equal(store_open(&opts, &w->store, &err), 0);
    w->api = apiserver_new(&(struct apiserver_opts){.catalog = w->catalog,
                                                    .store = w->store,
                                                    .gates = &w->gates.enabled,
                                                    .clock = &w->clock.clock,
                                                    .plugins = registry_plugins_default(),
                                                    .draw = world__draw,
                                                    .draw_ctx = w});
    apiserver_bootstrap(w->api);
    store_commit(w->store, NULL, NULL);
    w->core = apiserver_core_new(
        &(struct apiserver_core_opts){w->api, w->store, w->loop, &w->clock.clock});
    w->client = client_local_new(&(struct client_local_opts){.loop = w->loop,
                                                             .api = w->api,
                                                             .core = w->core,
                                                             .catalog = w->catalog,
                                                             .store = w->store,
                                                             .gates = &w->gates.enabled,
                                                             .user_agent = STR("test")});
    w->informers = informers_new(w->client, &w->log);
}

/* Lets so many seconds pass. */
static inline void world_run(struct world *w, double seconds) {
    net_loop_run_virtual(w->loop, &w->clock,
                         w->clock.mono_ns + (int64_t)(seconds * (double)CLOCK_SECOND));
}

/* Ends it; components must have been freed before. */
static inline void world_stop(struct world *w) {
    api_object_unref(w->last.object);
    informers_free(w->informers);
    client_free(w->client);
    apiserver_core_free(w->core);
    store_close(w->store);
    apiserver_free(w->api);
    apiserver_catalog_free(w->catalog);
    net_loop_free(w->loop);
    arena_release(&w->arena);
}

/* ---- requests ---- */

static inline void world__answered(void *arg, const struct client_answer *answer) {
    struct world *w = arg;
    api_object_unref(w->last.object);
    w->last = *answer;
    w->last.message = arena_str(&w->arena, answer->message);
    w->last.object = answer->object ? api_object_ref(answer->object) : NULL;
    w->last.items = NULL;
    w->has_answer = true;
}

/* Sends a request and waits for its answer, without time passing. */
static inline const struct client_answer *world_send(struct world *w,
                                                     const struct client_request *request) {
    w->has_answer = false;
    client_send(w->client, request, world__answered, w);
    while (!w->has_answer)
        net_loop_turn(w->loop, 0);
    return &w->last;
}

/* An object of YAML or JSON, not yet defaulted; the caller owns it. */
static inline struct api_object *world_object(struct world *w, const char *text) {
    struct err err = {0};
    struct json tree;
    struct api_object *o;
    if (yml_parse(&w->arena, str_of(text), &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

/* Creates the object, which must be accepted. */
static inline const struct api_object *world_create(struct world *w, const char *text) {
    struct api_object *o = world_object(w, text);
    struct str namespace = o->meta->namespace;
    struct client_request r = {.verb = REGISTRY_VERB_CREATE, .kind = o->kind, .object = o};
    if (o->kind->namespaced)
        r.namespace = namespace.n ? arena_str(&w->arena, namespace) : STR("default");
    const struct client_answer *answer = world_send(w, &r);
    if (answer->code)
        fail_msg("%.*s", STR_ARG(answer->message));
    return answer->object;
}

/* Patches an object (of the namespace default, if it has one) by a strategic merge patch, or a
 * subresource of it, which must be accepted. */
static inline void world_patch(struct world *w, enum api_type_id type, const char *name,
                               const char *subresource, const char *patch) {
    const struct api_kind *kind = client_kind(type);
    struct client_request r = {.verb = REGISTRY_VERB_PATCH,
                               .kind = kind,
                               .subresource = subresource,
                               .name = str_of(name),
                               .patch_type = CLIENT_PATCH_STRATEGIC,
                               .patch = str_of(patch)};
    if (kind->namespaced)
        r.namespace = STR("default");
    const struct client_answer *answer = world_send(w, &r);
    if (answer->code)
        fail_msg("%.*s", STR_ARG(answer->message));
}

/* Deletes an object, at once. */
static inline void world_delete(struct world *w, enum api_type_id type, const char *name) {
    const struct api_kind *kind = client_kind(type);
    struct client_request r = {.verb = REGISTRY_VERB_DELETE,
                               .kind = kind,
                               .name = str_of(name),
                               .deletion = {.grace_seconds = {true, 0}}};
    if (kind->namespaced)
        r.namespace = STR("default");
    world_send(w, &r);
}

/* What is stored under the name (in the namespace default, if the kind has one), or NULL; borrowed
 * until the next call. */
static inline const struct api_object *world_get(struct world *w, enum api_type_id type,
                                                 const char *name) {
    const struct api_kind *kind = client_kind(type);
    return world_send(
               w, &(struct client_request){.verb = REGISTRY_VERB_GET,
                                           .kind = kind,
                                           .namespace = kind->namespaced ? STR("default") : STR(""),
                                           .name = str_of(name)})
        ->object;
}

/* Calls visit for each object of a type that is stored. */
static inline size_t world_each(struct world *w, enum api_type_id type,
                                void (*visit)(void *arg, const struct api_object *o), void *arg) {
    const struct apiserver_resource *r = apiserver_catalog_of(w->catalog, client_kind(type));
    struct store_snapshot *snap = store_snapshot_take(w->store);
    struct store_cursor cursor;
    size_t n = 0;
    store_cursor_start(&cursor, snap, r->storage, (struct store_range){0});
    for (const struct api_object *o; (o = store_cursor_next(&cursor)); n++)
        if (visit)
            visit(arg, o);
    store_snapshot_unref(snap);
    return n;
}

/* How many objects of a type are stored. */
static inline size_t world_count(struct world *w, enum api_type_id type) {
    return world_each(w, type, NULL, NULL);
}

/* The event of this reason about an object of that name that was written first, or NULL; borrowed
 * for as long as the test needs it. */
struct world__search {
    struct world *w;
    const char *reason, *name;
    const struct api_event *found;
};

static inline void world__look(void *arg, const struct api_object *o) {
    struct world__search *s = arg;
    const struct api_event *e = o->body;
    if (s->found || !str_is(e->reason, s->reason) || !str_is(e->involved_object.name, s->name))
        return;
    struct api_event *copy = arena_new(&s->w->arena, struct api_event);
    api_struct_copy(&s->w->arena, o->type, e, copy);
    s->found = copy;
}

static inline const struct api_event *world_event(struct world *w, const char *reason,
                                                  const char *name) {
    struct world__search s = {w, reason, name, NULL};
    world_each(w, API_T_event, world__look, &s);
    return s.found;
}

#endif
