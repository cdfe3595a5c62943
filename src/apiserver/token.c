/*
 * Tokens of service accounts: the objects that they are bound to, and those that are asked for.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/serviceaccount/storage, func (*TokenREST) Create.
 * Follows k8s.io/kubernetes pkg/controller/serviceaccount, func NewGetterFromClient.
 */
#include "apiserver/apiserver_int.h"

static const struct apiserver_resource *resource_of(const struct apiserver *s,
                                                    enum api_type_id type) {
    size_t n;
    const struct apiserver_resource *all = apiserver_catalog_all(s->opts.catalog, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].kind->type == &api_types[type])
            return &all[i];
    return NULL;
}

/* What is durable: whoever was told that an object is gone sees its tokens refused. */
static const struct api_object *get(void *ctx, enum api_type_id type, struct str namespace,
                                    struct str name) {
    const struct apiserver *s = ctx;
    const struct apiserver_resource *r = resource_of(s, type);
    if (!r)
        return NULL;
    struct store_snapshot *snap = store_snapshot_take(s->opts.store);
    const struct api_object *o = store_snapshot_get(snap, r->storage, namespace, name);
    if (o)
        api_object_ref(o);
    store_snapshot_unref(snap);
    return o;
}

struct auth_objects apiserver_objects(struct apiserver *s) {
    return (struct auth_objects){.ctx = s, .get = get};
}

static void warn(struct apiserver__call *c, struct str text) {
    struct str *one = arena_array(c->r->arena, struct str, 1);
    *one = text;
    c->out->warnings = (struct api_strs){one, 1};
}

static struct registry_failure admit(struct apiserver__call *c) {
    struct registry_failure f = apiserver_place(c->r, c->r->object);
    if (f.code)
        return f;
    apiserver__note_manager(c, NULL, c->r->object);
    return registry_admit(
        &c->s->registry, &c->request, c->r->arena,
        &(struct registry_subject){.resource = c->r->resource->kind, .object = c->r->object});
}

void apiserver__token(struct apiserver__call *c) {
    const struct apiserver_opts *o = &c->s->opts;
    struct auth_token_call call = {.namespace = c->r->namespace,
                                   .name = c->r->name,
                                   .now = c->request.now.sec,
                                   .id = apiserver__uuid(c->s, c->r->arena),
                                   .most_seconds = o->token_most_seconds,
                                   .extends = o->extends_tokens};
    struct registry_failure f = admit(c);
    if (!f.code)
        f = o->issuer
                ? auth_token_request(o->issuer, c->r->arena, &call, c->r->object)
                : apiserver__failure(c->r->arena, ERR_METHOD, "%s", "no tokens are issued here");
    if (f.code) {
        apiserver__fail(c->out, f);
        return;
    }
    if (call.warning.n)
        warn(c, call.warning);
    const struct api_object *answer = api_publish(c->r->object);
    c->r->object = NULL;
    apiserver__answer(c->out, 201, answer);
    api_object_unref(answer);
}
