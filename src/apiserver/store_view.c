/*
 * What admission is lent: the store, in the state that the core sees, with what is not durable yet;
 * and the rules of who may do what.
 */
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

/* The server whose authorizer it is. */
static const struct apiserver *server_of(const struct registry_authorizer *self) {
    return (const struct apiserver *)((const char *)self - offsetof(struct apiserver, authorizer));
}

/* Components of the server itself, and everybody where there are no rules, may do everything. */
static bool allows(const struct registry_authorizer *self, struct arena *a,
                   const struct registry_access *q, struct str *reason) {
    const struct auth_rules *rules = server_of(self)->rules;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (!rules || !q->user)
        return true;
    struct auth_user user = {.name = q->user->name, .groups = q->user->groups};
    struct auth_attributes asked = {.user = &user,
                                    .verb = q->verb,
                                    .is_resource = true,
                                    .namespace = q->namespace,
                                    .group = q->group,
                                    .resource = q->resource,
                                    .subresource = q->subresource,
                                    .name = q->name};
    struct auth_verdict verdict = auth_check(rules, &asked);
    auth_reason_write(&text, rules, &asked, &verdict);
    *reason = arena_str(a, buf_view(&text));
    return verdict.allowed;
}

void apiserver__view_init(struct apiserver *s) {
    s->view = (struct registry_view){get, each, default_of, is_closed};
    s->authorizer = (struct registry_authorizer){allows};
    s->registry = (struct registry){.gates = s->opts.gates,
                                    .cel = s->opts.cel,
                                    .view = &s->view,
                                    .plugins = s->opts.plugins,
                                    .authorizer = &s->authorizer};
}

/* ---- what services have taken ---- */

static bool add_service(void *ctx, const struct api_object *o) {
    registry_ranges_add(ctx, o);
    return true;
}

static const struct api_kind *service_kind(void) {
    const struct api_kind *kind = api_kinds;
    while (kind->type != &api_types[API_T_service])
        kind++;
    return kind;
}

void apiserver__ranges_init(struct apiserver *s) {
    struct registry_cidrs *cidrs = &s->opts.service_cidrs;
    if (!cidrs->n && registry_cidrs_read(STR("10.0.0.0/24"), cidrs, NULL) < 0)
        BUG("the default range cannot be read");
    s->ranges = registry_ranges_new(
        &(struct registry_ranges_opts){*cidrs, s->opts.node_ports, s->opts.draw, s->opts.draw_ctx});
    s->registry.ranges = s->ranges;
    each(&s->view, service_kind(), STR(""), add_service, s->ranges);
}
