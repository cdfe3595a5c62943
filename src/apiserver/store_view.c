/* The store, lent to admission: the state that the core sees, with what is not durable yet. */
#include "apiserver/apiserver_int.h"

static const struct api_object *get(const struct registry_view *v, const struct api_kind *kind,
                                    struct str namespace, struct str name) {
    const struct apiserver *s = apiserver__of(v);
    const struct apiserver_resource *r = apiserver_catalog_of(s->opts.catalog, kind);
    return r && r->stored ? store_get(s->opts.store, r->storage, namespace, name) : NULL;
}

static void each(const struct registry_view *v, const struct api_kind *kind, struct str namespace,
                 registry_visit_fn *visit, void *ctx) {
    const struct apiserver *s = apiserver__of(v);
    const struct apiserver_resource *r = apiserver_catalog_of(s->opts.catalog, kind);
    struct store_cursor cursor;
    if (!r || !r->stored)
        return;
    store_cursor_start_newest(&cursor, s->opts.store, r->storage,
                              (struct store_range){.namespace = namespace});
    for (const struct api_object *o; (o = store_cursor_next(&cursor));)
        if (!visit(ctx, o))
            return;
}

static bool find_default(void *ctx, const struct api_object *o) {
    const struct api_object **best = ctx;
    if (registry_is_default(o) && (!*best || registry_prefers(o, *best)))
        *best = o;
    return true;
}

static const struct api_object *default_of(const struct registry_view *v, enum api_type_id type) {
    const struct api_object *best = NULL;
    const struct api_kind *kind = api_kinds;
    while (kind->type != &api_types[type])
        kind++;
    each(v, kind, STR(""), find_default, &best);
    return best;
}

static bool is_closed(const struct registry_view *v, enum api_type_id type) {
    (void)v;
    (void)type;
    return true;
}

void apiserver__view_init(struct apiserver *s) {
    s->view = (struct registry_view){get, each, default_of, is_closed};
    s->registry = (struct registry){s->opts.gates, s->opts.cel, &s->view};
}
