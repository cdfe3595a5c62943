/*
 * From a body to an object.
 *
 * Follows k8s.io/apiserver/pkg/endpoints/handlers/create.go and
 * k8s.io/apimachinery/pkg/runtime/serializer/versioning: decoding sets defaults, too.
 */
#include "registry/registry_int.h"

static struct str version_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? version : api_version;
}

struct registry_failure registry_refuse_fields(struct arena *a, const struct api_object *o,
                                               const struct api_problems *problems) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct str kind = o->names->kind;
    buf_add(&text, kind);
    buf_add(&text, STR(" in version \""));
    buf_add(&text, version_of(o->names->api_version));
    buf_add(&text, STR("\" cannot be handled as a "));
    buf_add(&text, kind);
    buf_add(&text, STR(": strict decoding error: "));
    for (size_t i = 0; i < problems->n; i++) {
        buf_add(&text, i ? STR(", ") : STR(""));
        buf_add(&text, problems->v[i]);
    }
    return registry_bad_request(arena_str(a, buf_view(&text)));
}

struct registry_failure registry_decode(const struct registry *r, struct arena *a,
                                        const struct json *tree, const struct api_decode_opts *opts,
                                        struct api_object **out) {
    struct api_problems problems = {.n = 0};
    struct api_decode_opts lenient = *opts;
    struct registry_failure failure = {.code = ERR_NONE};
    struct err err;
    lenient.strict = false;
    if (!lenient.problems)
        lenient.problems = &problems;
    *out = NULL;
    if (api_object_decode(tree, &lenient, out, &err) < 0)
        return registry_bad_request(arena_str(a, str_of(err.msg)));
    if (opts->strict && lenient.problems->n) {
        failure = registry_refuse_fields(a, *out, lenient.problems);
        api_object_unref(*out);
        *out = NULL;
        return failure;
    }
    api_object_default(*out, r->gates);
    return failure;
}

void registry_adopt(const struct registry_request *request, struct api_object *o) {
    struct api_object_meta *m = o->meta;
    if (o->kind && !o->kind->namespaced)
        m->namespace = STR("");
    else if (o->kind && !m->namespace.n)
        m->namespace =
            request->namespace.n ? arena_str(&o->arena, request->namespace) : STR("default");
    if (!m->resource_version.n)
        m->resource_version = STR("1");
}
