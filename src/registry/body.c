/*
 * From a body to an object.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func createHandler.
 * Follows k8s.io/apimachinery pkg/runtime/serializer/versioning, func (*codec) Decode.
 */
#include "registry/registry_int.h"

struct registry_failure registry_refuse_faults(const struct api_faults *faults) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    api_faults_write(&text, faults);
    return registry_bad_request(arena_str(faults->a, buf_view(&text)));
}

struct registry_failure registry_decode(const struct registry *r, const struct json *tree,
                                        const struct api_decode_opts *opts, struct api_object **out,
                                        struct api_faults *faults) {
    *out = NULL;
    if (api_object_decode(tree, opts, out, faults) < 0)
        return registry_refuse_faults(faults);
    api_object_default(*out, r->gates);
    return (struct registry_failure){.code = ERR_NONE};
}

void registry_adopt(const struct registry_request *request, struct api_object *o) {
    struct api_object_meta *m = api_own_meta(o);
    if (o->kind && !o->kind->namespaced)
        m->namespace = STR("");
    else if (o->kind && !m->namespace.n)
        m->namespace =
            request->namespace.n ? arena_str(&o->arena, request->namespace) : STR("default");
    if (!m->resource_version.n)
        m->resource_version = STR("1");
}
