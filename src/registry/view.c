/* Objects in one map, and the two default classes beside it. */
#include "registry/view.h"

#include "base/map.h"
#include "base/vec.h"

struct registry_view {
    struct arena arena; /* keys */
    struct str namespace;
    struct map objects; /* held, by key_of */
    bool closed[API_TYPES];
    const struct api_object *priority_class; /* the default, in the map; or NULL */
    const struct api_object *storage_class;
};

struct registry_view *registry_view_new(struct str namespace) {
    struct registry_view *v = xcalloc(1, sizeof *v);
    v->namespace = namespace.n ? arena_str(&v->arena, namespace) : STR("default");
    v->objects = MAP_INIT(map_random_seed());
    return v;
}

void registry_view_free(struct registry_view *v) {
    if (!v)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&v->objects, &at));)
        api_object_unref(e->const_value);
    map_release(&v->objects);
    arena_release(&v->arena);
    free(v);
}

void registry_view_close(struct registry_view *v, enum api_type_id type) {
    v->closed[type] = true;
}

bool registry_view_is_closed(const struct registry_view *v, enum api_type_id type) {
    return v->closed[type];
}

/* ---- defaults ---- */

static bool is_default_priority_class(const struct api_object *o) {
    return api_object_is(o, API_T_priority_class) &&
           ((const struct api_priority_class *)o->body)->global_default;
}

static bool is_lower(const struct api_object *a, const struct api_object *b) {
    const struct api_priority_class *x = a->body, *y = b->body;
    return x->value < y->value;
}

static bool is_default_storage_class(const struct api_object *o) {
    const struct label *l =
        labels_find(&o->meta->annotations, STR("storageclass.kubernetes.io/is-default-class"));
    return api_object_is(o, API_T_storage_class) && l && str_is(l->value, "true");
}

static bool is_newer(const struct api_object *a, const struct api_object *b) {
    int64_t x = a->meta->creation_timestamp.sec, y = b->meta->creation_timestamp.sec;
    return x != y ? x > y : str_cmp(a->meta->name, b->meta->name) < 0;
}

static void consider_default(struct registry_view *v, const struct api_object *o) {
    if (is_default_priority_class(o) && (!v->priority_class || is_lower(o, v->priority_class)))
        v->priority_class = o;
    if (is_default_storage_class(o) && (!v->storage_class || is_newer(o, v->storage_class)))
        v->storage_class = o;
}

/* Looks for the defaults anew when one of them was replaced. */
static void find_defaults(struct registry_view *v, const struct api_object *replaced) {
    if (!replaced || (replaced != v->priority_class && replaced != v->storage_class))
        return;
    size_t at = 0;
    v->priority_class = v->storage_class = NULL;
    for (struct map_entry *e; (e = map_next(&v->objects, &at));)
        consider_default(v, e->const_value);
}

const struct api_priority_class *
registry_view_default_priority_class(const struct registry_view *v) {
    return v->priority_class ? v->priority_class->body : NULL;
}

const struct api_storage_class *registry_view_default_storage_class(const struct registry_view *v) {
    return v->storage_class ? v->storage_class->body : NULL;
}

/* ---- objects ---- */

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
static struct str key_of_object(const struct registry_view *v, struct arena *a,
                                const struct api_object *o) {
    struct str namespace = o->meta->namespace.n ? o->meta->namespace : v->namespace;
    if (o->kind && !o->kind->namespaced)
    namespace = STR("");
    return key_of(a, o->names->api_version, o->names->kind, namespace, o->meta->name);
}

void registry_view_set(struct registry_view *v, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct str key = key_of_object(v, &a, o);
    const struct api_object *old = map_get_const(&v->objects, key);
    map_put_const(&v->objects, old ? key : arena_str(&v->arena, key), api_object_ref(o));
    find_defaults(v, old);
    consider_default(v, o);
    api_object_unref(old);
}

const struct api_object *registry_view_find(const struct registry_view *v,
                                            const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    return map_get_const(&v->objects, key_of_object(v, &a, o));
}

const struct api_object *registry_view_get(const struct registry_view *v,
                                           const struct api_kind *kind, struct str namespace,
                                           struct str name) {
    AUTO(arena_release) struct arena a = {0};
    return map_get_const(
        &v->objects, key_of(&a, str_of(kind->api_version), str_of(kind->kind), namespace, name));
}
