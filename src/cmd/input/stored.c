/* Objects by apiVersion, kind, namespace and name. */
#include "cmd/input/stored.h"

#include "api/object.h"
#include "base/map.h"
#include "base/vec.h"

struct stored {
    struct arena arena; /* keys */
    struct map by_key;
    struct str namespace;
};

static struct str key_of(struct arena *a, const struct stored *s, const struct api_object *o) {
    bool namespaced = !o->kind || o->kind->namespaced;
    struct str own = o->meta->namespace.n ? o->meta->namespace : s->namespace;
    return arena_printf(a, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(o->names->api_version),
                        STR_ARG(o->names->kind), STR_ARG(namespaced ? own : STR("")),
                        STR_ARG(o->meta->name));
}

/* A manifest that never was in a cluster has no version; updates need one. */
static void complete(const struct stored *s, struct api_object *o,
                     const struct feature_set *gates) {
    api_object_default(o, gates);
    if (o->kind && o->kind->namespaced && !o->meta->namespace.n)
        o->meta->namespace = arena_str(&o->arena, s->namespace);
    if (!o->meta->resource_version.n)
        o->meta->resource_version = STR("1");
}

static int load(struct stored *s, struct input *in, const struct feature_set *gates,
                struct err *err) {
    struct api_object *o;
    struct input_source source;
    int rc;
    while ((rc = input_next(in, &o, &source, err)) > 0) {
        if (!o->meta) {
            api_object_unref(o);
            continue;
        }
        complete(s, o, gates);
        api_object_unref(map_put(&s->by_key, key_of(&s->arena, s, o), o));
    }
    return rc;
}

int stored_load(struct cmd_ctx *ctx, const struct input_opts *files, struct str namespace,
                const struct feature_set *gates, struct stored **out, struct err *err) {
    struct input *in;
    if (input_open(ctx, files, false, &in, err) < 0)
        return -1;
    struct stored *s = xcalloc(1, sizeof *s);
    s->by_key = MAP_INIT(map_random_seed());
    s->namespace = namespace.n ? arena_str(&s->arena, namespace) : STR("default");
    int rc = load(s, in, gates, err);
    input_free(in);
    if (rc < 0)
        stored_free(s);
    else
        *out = s;
    return rc;
}

void stored_free(struct stored *s) {
    if (!s)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->by_key, &at));)
        api_object_unref(e->value);
    map_release(&s->by_key);
    arena_release(&s->arena);
    free(s);
}

const struct api_object *stored_find(const struct stored *s, const struct api_object *o) {
    if (!s || !o->meta)
        return NULL;
    AUTO(arena_release) struct arena a = {0};
    return map_get(&s->by_key, key_of(&a, s, o));
}
