/* One map for each type, so that a walk over a kind meets nothing else but its other versions. */
#include "registry/known.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

struct registry_known {
    struct registry_view view; /* the first member: known_of takes one for the other */
    struct arena arena;        /* keys */
    struct str namespace;
    struct map objects[API_TYPES]; /* held, by key_of */
    bool closed[API_TYPES];
    const struct api_object *defaults[API_TYPES]; /* in the map; NULL: there is none */
};

static const struct registry_known *known_of(const struct registry_view *v) {
    return (const struct registry_known *)v;
}

/* Parts are told apart by their lengths: names from files may hold any byte. */
static struct str key_of(struct arena *a, struct str api_version, struct str kind,
                         struct str namespace, struct str name) {
    struct buf key = BUF_INIT(SIZE_MAX);
    const struct str parts[] = {api_version, kind, namespace, name};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_add(&key, (struct str){(const char *)&parts[i].n, sizeof parts[i].n});
        buf_add(&key, parts[i]);
    }
    struct str kept = arena_str(a, buf_view(&key));
    buf_release(&key);
    return kept;
}

/* Kinds that nobody knows are taken for namespaced ones. */
static struct str namespace_of(const struct registry_known *k, const struct api_object *o) {
    if (o->kind && !o->kind->namespaced)
        return STR("");
    return o->meta->namespace.n ? o->meta->namespace : k->namespace;
}

static struct str key_of_object(const struct registry_known *k, struct arena *a,
                                const struct api_object *o) {
    return key_of(a, o->names->api_version, o->names->kind, namespace_of(k, o), o->meta->name);
}

/* ---- the view ---- */

static const struct api_object *get(const struct registry_view *v, const struct api_kind *kind,
                                    struct str namespace, struct str name) {
    AUTO(arena_release) struct arena a = {0};
    const struct map *objects = &known_of(v)->objects[kind->type->id];
    if (!objects->live) /* most often: then a key is not worth making */
        return NULL;
    struct str key = key_of(&a, str_of(kind->api_version), str_of(kind->kind), namespace, name);
    return map_get_const(objects, key);
}

static void each(const struct registry_view *v, const struct api_kind *kind, struct str namespace,
                 registry_visit_fn *visit, void *ctx) {
    const struct registry_known *k = known_of(v);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&k->objects[kind->type->id], &at));) {
        const struct api_object *o = e->const_value;
        bool is_inside = !namespace.n || str_eq(namespace, namespace_of(k, o));
        if (o->kind == kind && is_inside && !visit(ctx, o))
            return;
    }
}

static const struct api_object *default_of(const struct registry_view *v, enum api_type_id type) {
    return known_of(v)->defaults[type];
}

static bool is_closed(const struct registry_view *v, enum api_type_id type) {
    return known_of(v)->closed[type];
}

/* ---- what is known ---- */

struct registry_known *registry_known_new(struct str namespace) {
    struct registry_known *k = xcalloc(1, sizeof *k);
    uint64_t seed = map_random_seed();
    k->view = (struct registry_view){get, each, default_of, is_closed};
    k->namespace = namespace.n ? arena_str(&k->arena, namespace) : STR("default");
    for (size_t i = 0; i < API_TYPES; i++)
        k->objects[i] = MAP_INIT(seed);
    return k;
}

static void forget(struct map *objects) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(objects, &at));)
        api_object_unref(e->const_value);
    map_release(objects);
}

void registry_known_free(struct registry_known *k) {
    if (!k)
        return;
    for (size_t i = 0; i < API_TYPES; i++)
        forget(&k->objects[i]);
    arena_release(&k->arena);
    free(k);
}

const struct registry_view *registry_known_view(const struct registry_known *k) {
    return &k->view;
}

void registry_known_close(struct registry_known *k, enum api_type_id type) {
    k->closed[type] = true;
}

static void consider_default(struct registry_known *k, const struct api_object *o) {
    const struct api_object **best = &k->defaults[o->type->id];
    if (registry_is_default(o) && (!*best || registry_prefers(o, *best)))
        *best = o;
}

/* Looks for the default anew: the one that was it is replaced. */
static void find_default(struct registry_known *k, enum api_type_id type) {
    size_t at = 0;
    k->defaults[type] = NULL;
    for (struct map_entry *e; (e = map_next(&k->objects[type], &at));)
        consider_default(k, e->const_value);
}

void registry_known_set(struct registry_known *k, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct map *objects = &k->objects[o->type->id];
    struct str key = key_of_object(k, &a, o);
    const struct api_object *old = map_get_const(objects, key);
    map_put_const(objects, old ? key : arena_str(&k->arena, key), api_object_ref(o));
    if (old && old == k->defaults[o->type->id])
        find_default(k, o->type->id);
    consider_default(k, o);
    api_object_unref(old);
}

const struct api_object *registry_known_find(const struct registry_known *k,
                                             const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    return map_get_const(&k->objects[o->type->id], key_of_object(k, &a, o));
}
