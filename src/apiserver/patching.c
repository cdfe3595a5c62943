/*
 * Patching: the stored object as a tree, the patch, the tree that comes of it, and from there on an
 * update as any other.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func (*patcher) applyPatch,
 * func (*jsonPatcher) applyPatchToCurrentObject, func strategicPatchObject.
 */
#include "api/patch.h"

#include "apiserver/apiserver_int.h"

/* A patch under way. */
struct patching {
    struct apiserver__call *call;
    const struct api_kind *kind;
    struct api_faults faults; /* of the patch, then of what comes of it */
    struct api_patched patched;
};

static struct api_patch_failure apply(struct patching *p, const struct json *stored) {
    const struct apiserver_request *r = p->call->r;
    bool ignores = r->options.field_validation == APISERVER_IGNORE;
    struct api_patch_body body = {r->patch, r->patch_has_duplicates, ignores ? NULL : &p->faults};
    switch (r->patch_type) {
    case APISERVER_JSON_PATCH:
        return api_patch_json(r->arena, stored, &body, &p->patched);
    case APISERVER_MERGE_PATCH:
        return api_patch_merge(r->arena, stored, &body, &p->patched);
    default:
        return api_patch_strategic(r->arena, p->kind->type, stored, &body, &p->patched);
    }
}

/* The error of a tree that is no object of the kind quotes the patch. */
static struct registry_failure undecodable(struct patching *p, struct str why) {
    struct arena *a = p->call->r->arena;
    return registry_invalid_patch(a, api_patch_text(a, &p->patched), why);
}

static struct str faults_text(struct patching *p) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    api_faults_write(&text, &p->faults);
    return arena_str(p->call->r->arena, buf_view(&text));
}

static void warn(struct patching *p) {
    struct arena *a = p->call->r->arena;
    struct api_strs *warnings = &p->call->out->warnings;
    *warnings = (struct api_strs){arena_array(a, struct str, p->faults.n), p->faults.n};
    for (size_t i = 0; i < p->faults.n; i++)
        warnings->v[i] = p->faults.v[i].text;
}

/* A strategic merge patch is applied to a struct of the request's version, whatever kind the patch
 * says it is of. */
static struct json without_names(struct arena *a, const struct json *tree) {
    struct json out = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < tree->n; i++) {
        const struct json_member *m = &tree->members[i];
        bool is_name = str_is(m->key, "apiVersion") || str_is(m->key, "kind");
        if (!is_name || m->value.kind != JSON_STRING)
            json_add(a, &out, m->key, m->value);
    }
    return out;
}

/* What names no version is read by upstream as an object of its internal one, which has no field of
 * these names. */
static bool has_version(const struct json *tree) {
    const struct json *version = json_get(tree, STR("apiVersion"));
    return version && version->kind == JSON_STRING && version->n;
}

/* The tree as an object of the request's version; NULL, and *failure tells why. */
static struct api_object *decode(struct patching *p, struct registry_failure *failure) {
    const struct apiserver_request *r = p->call->r;
    const struct api_kind *kind = p->kind;
    struct api_decode_opts opts = {.api_version = str_of(kind->api_version),
                                   .kind = str_of(kind->kind),
                                   .strict = r->options.field_validation == APISERVER_STRICT,
                                   .known_only = true};
    struct api_object *o = NULL;
    struct json tree = p->patched.tree;
    struct api_faults found;
    api_faults_init(&found, r->arena);
    bool is_strategic = r->patch_type == APISERVER_STRATEGIC_PATCH;
    if (is_strategic)
        tree = without_names(r->arena, &tree);
    int rc = api_object_decode(&tree, &opts, &o, &found);
    for (size_t i = 0; i < found.n && p->faults.n < API_MOST_FAULTS; i++)
        p->faults.v[p->faults.n++] = found.v[i];
    struct str fault = STR("");
    if (rc < 0 && is_strategic)
        fault = api_restore_fault(r->arena, kind, &tree);
    if (rc < 0 || (opts.strict && p->faults.n))
        *failure = undecodable(p, fault.n ? fault : faults_text(p));
    else if (o->kind != kind)
        *failure = undecodable(p, registry_no_conversion(r->arena, o, kind));
    if (failure->code) {
        api_object_free(o);
        return NULL;
    }
    if (r->options.field_validation == APISERVER_WARN)
        warn(p);
    if (!is_strategic && !has_version(&tree))
        api_own_meta(o)->name = STR("");
    api_object_default(o, p->call->s->opts.gates);
    return o;
}

struct api_object *apiserver__patched(struct apiserver__call *c, const struct api_object *shown,
                                      struct registry_failure *failure) {
    struct patching p = {.call = c, .kind = shown->kind};
    struct json tree = api_object_encode(shown, c->r->arena);
    struct api_object *o = NULL;
    *failure = (struct registry_failure){.code = ERR_NONE};
    api_faults_init(&p.faults, c->r->arena);
    struct api_patch_failure f = apply(&p, &tree);
    if (f.code)
        *failure = (struct registry_failure){
            .code = f.code, .message = f.message, .has_details = f.code == ERR_UNPROCESSABLE};
    else
        o = decode(&p, failure);
    if (o)
        *failure = apiserver__check_name(c, o);
    if (!failure->code) {
        apiserver__note_manager(c, shown, o);
        return o;
    }
    api_object_free(o);
    return NULL;
}

static void patch_stored(struct apiserver__call *c, const struct api_object *stored) {
    const struct api_object *shown = apiserver_convert(stored, c->r->resource->kind);
    struct registry_failure failure;
    struct api_object *o = apiserver__patched(c, shown, &failure);
    if (o)
        apiserver__replace(c, apiserver__to_stored(c, o), stored);
    else
        apiserver__fail(c->out, failure);
    api_object_unref(shown);
}

void apiserver__patch(struct apiserver__call *c) {
    const struct api_object *stored = apiserver__stored(c);
    if (c->r->patch_type == APISERVER_APPLY_PATCH)
        apiserver__apply(c);
    else if (stored)
        patch_stored(c, stored);
    else
        apiserver__not_found(c);
}
