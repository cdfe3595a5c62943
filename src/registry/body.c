/*
 * From a body to an object.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func createHandler.
 * Follows k8s.io/apimachinery pkg/runtime/serializer/versioning, func (*codec) Decode.
 */
#include "registry/registry_int.h"

/* The package of upstream's internal types of a group. */
static struct str package_of(struct str group) {
    struct str first, rest;
    if (!group.n || str_is(group, "events.k8s.io"))
        return STR("core");
    str_cut(group, '.', &first, &rest);
    return first;
}

struct str registry_no_conversion(struct arena *a, const struct api_object *o,
                                  const struct api_kind *want) {
    const struct api_type_meta *names = o->names;
    struct str package = package_of(registry_group_of(str_of(want->api_version)));
    struct str group = registry_group_of(names->api_version);
    if (!o->kind)
        return arena_printf(a,
                            "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                            "\"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"",
                            STR_ARG(names->kind), STR_ARG(names->api_version));
    return arena_printf(
        a, "converting (%.*s.%.*s) to (%.*s.%s): unknown conversion",
        STR_ARG(str_sub(names->api_version, group.n ? group.n + 1 : 0, names->api_version.n)),
        STR_ARG(names->kind), STR_ARG(package), want->kind);
}

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
