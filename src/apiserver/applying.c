/*
 * Server-side apply: the fields that a manager wants, merged with those of others.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func (*applyPatcher) applyPatchToCurrentObject,
 * func (*applyPatcher) createNewObject.
 */
#include "api/managed.h"
#include "api/patch.h"
#include "apiserver/apiserver_int.h"

/* Which fields others have. */
static struct registry_failure conflict(struct arena *a, const struct api_patch_failure *f,
                                        const struct api_managed_applied *applied) {
    struct registry_cause *causes = arena_array(a, struct registry_cause, applied->conflict_count);
    for (size_t i = 0; i < applied->conflict_count; i++)
        causes[i] =
            (struct registry_cause){STR("FieldManagerConflict"), applied->conflicts[i].message,
                                    applied->conflicts[i].field};
    return (struct registry_failure){.code = f->code,
                                     .message = f->message,
                                     .further = causes,
                                     .further_count = applied->conflict_count,
                                     .has_details = applied->conflict_count > 0};
}

static struct str text_at(const struct json *tree, const char *outer, const char *inner) {
    const struct json *in = tree->kind == JSON_OBJECT ? json_get(tree, str_of(outer)) : NULL;
    const struct json *v = in && in->kind == JSON_OBJECT ? json_get(in, str_of(inner)) : NULL;
    return v && v->kind == JSON_STRING ? json_str(v) : STR("");
}

/* A value that has the shape of its type and is none of it all the same.
 *
 * Follows k8s.io/apimachinery pkg/util/managedfields/internal, func (*structuredMergeManager)
 * Apply, func objectGVKNN. */
static struct registry_failure unrestorable(const struct apiserver__call *c,
                                            const struct api_kind *kind, struct str why) {
    struct arena *a = c->r->arena;
    struct str version = str_of(kind->api_version), group, rest;
    if (!str_cut(version, '/', &group, &rest)) {
        rest = version;
        group = STR("");
    }
    struct str name =
        arena_printf(a, "%.*s/%.*s, Kind=%s", STR_ARG(group), STR_ARG(rest), kind->kind);
    return apiserver__failure(a, ERR_UNTOLD,
                              "failed to convert new object (%.*s/%.*s; %.*s) to proper version: "
                              "unable to convert unstructured object to %.*s: %.*s",
                              STR_ARG(text_at(c->r->patch, "metadata", "namespace")),
                              STR_ARG(text_at(c->r->patch, "metadata", "name")), STR_ARG(name),
                              STR_ARG(name), STR_ARG(why));
}

/* The merged tree as a draft; NULL, and *failure tells why. */
static struct api_object *decode(const struct apiserver__call *c, const struct api_kind *kind,
                                 const struct json *tree, struct registry_failure *failure) {
    struct api_decode_opts opts = {
        .api_version = str_of(kind->api_version), .kind = str_of(kind->kind), .known_only = true};
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, c->r->arena);
    *failure = registry_decode(&c->s->registry, tree, &opts, &o, &faults);
    struct str why = failure->code ? api_restore_fault(c->r->arena, kind, tree) : STR("");
    if (why.n)
        *failure = unrestorable(c, kind, why);
    return o;
}

struct str apiserver_repeats_text(struct arena *a, struct api_strs repeats) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("yaml: unmarshal errors:"));
    for (size_t i = 0; i < repeats.n; i++)
        buf_addf(&text, "\n  %.*s", STR_ARG(repeats.v[i]));
    return arena_str(a, buf_view(&text));
}

/* Keys that stood again are looked at when all else is good. */
static struct registry_failure judge_repeats(struct apiserver__call *c) {
    const struct apiserver_request *r = c->r;
    enum apiserver_strictness how = r->options.field_validation;
    if (r->patch_repeats.n && how == APISERVER_STRICT)
        return apiserver__failure(
            r->arena, ERR_INVALID,
            "error strict decoding patch: error converting YAML to JSON: %.*s",
            STR_ARG(apiserver_repeats_text(r->arena, r->patch_repeats)));
    if (r->patch_repeats.n && how == APISERVER_WARN)
        c->out->warnings = r->patch_repeats;
    return (struct registry_failure){.code = ERR_NONE};
}

struct registry_failure apiserver__applied(struct apiserver__call *c, const struct api_kind *kind,
                                           const struct api_object *stored,
                                           struct api_object **out) {
    const struct apiserver_request *r = c->r;
    struct api_managed_write w = {
        .kind = kind,
        .manager = r->options.field_manager,
        .subresource = str_of(r->subresource ? r->subresource->name : ""),
        .now = c->request.now,
    };
    struct api_managed_applied applied = {0};
    struct api_patch_failure f =
        api_managed_apply(r->arena, &w, stored, r->patch, r->options.force.v, &applied);
    struct registry_failure failure = {.code = ERR_NONE};
    if (f.code)
        return conflict(r->arena, &f, &applied);
    *out = decode(c, kind, &applied.tree, &failure);
    if (!failure.code)
        failure = judge_repeats(c);
    if (!failure.code && !stored && (*out)->meta->uid.n)
        return registry_conflict(r->arena, r->resource->kind, r->name,
                                 arena_printf(r->arena,
                                              "uid mismatch: the provided object specified uid "
                                              "%.*s, and no existing object was found",
                                              STR_ARG((*out)->meta->uid)));
    return failure.code ? failure : apiserver__check_name(c, *out);
}

void apiserver__apply(struct apiserver__call *c) {
    const struct api_object *stored = apiserver__stored(c);
    const struct api_object *shown =
        stored ? apiserver_convert(stored, c->r->resource->kind) : NULL;
    struct api_object *draft = NULL;
    struct registry_failure f = {.code = ERR_NONE};
    if (!stored && c->r->subresource)
        f = registry_not_found(c->r->arena, c->r->resource->kind, c->r->name);
    if (!f.code)
        f = apiserver__applied(c, c->r->resource->kind, shown, &draft);
    if (f.code) {
        apiserver__fail(c->out, f);
        api_object_free(draft);
    } else {
        draft = apiserver__to_stored(c, draft);
        if (stored)
            apiserver__replace(c, draft, stored);
        else
            apiserver__create_draft(c, draft);
    }
    api_object_unref(shown);
}
