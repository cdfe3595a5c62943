/* Objects of a file, before a server is asked by others. */
#include "apiserver/apiserver_int.h"

static struct registry_failure create(struct apiserver *s, struct arena *a, struct api_object *o) {
    struct apiserver_response response = {0};
    struct apiserver_request r = {.verb = REGISTRY_VERB_CREATE,
                                  .resource = apiserver_catalog_of(s->opts.catalog, o->kind),
                                  .user_agent = STR("berth"),
                                  .object = o,
                                  .arena = a};
    if (o->kind->namespaced)
        r.namespace = o->meta->namespace.n ? arena_str(a, o->meta->namespace) : STR("default");
    apiserver_write(s, &r, &response);
    struct registry_failure failure = response.failure;
    apiserver_response_release(&response);
    return failure;
}

/* Nothing is asked: it was accepted elsewhere. */
static struct registry_failure adopt(struct apiserver *s, struct arena *a, struct api_object *o) {
    const struct apiserver_resource *r = apiserver_catalog_of(s->opts.catalog, o->kind);
    struct registry_failure failure = {.code = ERR_NONE};
    if (store_get(s->opts.store, r->storage, o->meta->namespace, o->meta->name)) {
        failure = registry_already_exists(a, o->kind, o->meta->name);
        api_object_free(o);
        return failure;
    }
    api_object_settle(o);
    store_put(s->opts.store, r->storage, apiserver_convert_draft(o, r->stored));
    return failure;
}

struct registry_failure apiserver_load(struct apiserver *s, struct arena *a, struct api_object *o) {
    const struct apiserver_resource *r =
        o->kind ? apiserver_catalog_of(s->opts.catalog, o->kind) : NULL;
    if (r && r->stored) {
        api_object_default(o, s->opts.gates);
        return o->meta->uid.n ? adopt(s, a, o) : create(s, a, o);
    }
    struct registry_failure failure =
        registry_no_match(a, arena_str(a, o->names->api_version), arena_str(a, o->names->kind),
                          o->meta ? arena_str(a, o->meta->namespace) : STR(""),
                          o->meta ? arena_str(a, o->meta->name) : STR(""));
    api_object_free(o);
    return failure;
}
