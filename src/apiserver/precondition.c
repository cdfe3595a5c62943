/*
 * A write that is meant for another object than the one that is there, in the words of upstream's
 * storage, which names the object by its key.
 *
 * Follows k8s.io/apiserver pkg/storage, func (*Preconditions) Check,
 * func NewInvalidObjError.
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func checkName.
 */
#include "apiserver/apiserver_int.h"

/* Where upstream keeps kinds whose folder is not their plural. */
static struct str folder_of(const struct api_kind *kind) {
    static const struct {
        enum api_type_id type;
        const char *folder;
    } others[] = {
        {API_T_replication_controller, "controllers"},
        {API_T_endpoints, "services/endpoints"},
        {API_T_node, "minions"},
        {API_T_service, "services/specs"},
        {API_T_ingress, "ingress"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (kind->type == &api_types[others[i].type])
            return str_of(others[i].folder);
    return str_of(kind->plural);
}

static struct registry_failure refuse(const struct apiserver__call *c, struct str why) {
    const struct apiserver_request *r = c->r;
    const struct api_kind *kind = r->resource->kind;
    struct str namespace = kind->namespaced ? r->namespace : STR("");
    struct str text = arena_printf(
        r->arena,
        "StorageError: invalid object, Code: 4, Key: %s/%.*s/%.*s%s%.*s, ResourceVersion: 0, "
        "AdditionalErrorMsg: Precondition failed: %.*s",
        r->options.dry_run ? "" : "/registry", STR_ARG(folder_of(kind)), STR_ARG(namespace),
        namespace.n ? "/" : "", STR_ARG(r->name), STR_ARG(why));
    return registry_conflict(r->arena, kind, r->name, text);
}

struct registry_failure apiserver__check_name(const struct apiserver__call *c,
                                              const struct api_object *o) {
    const struct apiserver_request *r = c->r;
    const struct api_object_meta *m = o->meta;
    if (!m->name.n)
        return apiserver__failure(r->arena, ERR_INVALID,
                                  "the name of the object (%.*s based on URL) was undeterminable: "
                                  "name must be provided",
                                  STR_ARG(r->name));
    if (!str_eq(m->name, r->name))
        return apiserver__failure(r->arena, ERR_INVALID,
                                  "the name of the object (%.*s) does not match the name on the "
                                  "URL (%.*s)",
                                  STR_ARG(m->name), STR_ARG(r->name));
    if (m->namespace.n && r->resource->kind->namespaced && !str_eq(m->namespace, r->namespace))
        return registry_bad_request(STR("the namespace of the provided object does not match the "
                                        "namespace sent on the request"));
    return (struct registry_failure){.code = ERR_NONE};
}

struct registry_failure apiserver__check_uid(const struct apiserver__call *c, struct str wanted,
                                             const struct api_object *stored) {
    struct str is = stored ? stored->meta->uid : STR("");
    if (!wanted.n || str_eq(wanted, is))
        return (struct registry_failure){.code = ERR_NONE};
    return refuse(c,
                  arena_printf(c->r->arena, "UID in precondition: %.*s, UID in object meta: %.*s",
                               STR_ARG(wanted), STR_ARG(is)));
}

struct registry_failure apiserver__check_version(const struct apiserver__call *c, struct str wanted,
                                                 const struct api_object *stored) {
    struct str is = stored->meta->resource_version;
    if (!wanted.n || str_eq(wanted, is))
        return (struct registry_failure){.code = ERR_NONE};
    return refuse(c, arena_printf(c->r->arena,
                                  "ResourceVersion in precondition: %.*s, ResourceVersion in "
                                  "object meta: %.*s",
                                  STR_ARG(wanted), STR_ARG(is)));
}
