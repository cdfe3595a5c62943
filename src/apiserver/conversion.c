/* Objects as they are stored and as they are asked for. */
#include "apiserver/apiserver_int.h"

const struct api_object *apiserver_convert(const struct api_object *o, const struct api_kind *to) {
    return o->kind == to ? api_object_ref(o) : api_publish(registry_convert(o, to));
}

struct api_object *apiserver_convert_draft(struct api_object *o, const struct api_kind *to) {
    if (o->kind == to)
        return o;
    struct api_object *out = registry_convert(o, to);
    api_object_free(o);
    return out;
}

/* What is read from a store has the defaults of the version that is stored. */
struct api_object *apiserver__to_stored(const struct apiserver__call *c, struct api_object *o) {
    const struct api_kind *to = c->r->resource->stored;
    if (o->kind == to)
        return o;
    o = apiserver_convert_draft(o, to);
    api_object_default(o, c->s->opts.gates);
    return o;
}
