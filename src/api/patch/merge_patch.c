/*
 * Merge patches.
 *
 * Follows gopkg.in/evanphx/json-patch.v4, func MergePatch, func mergeDocs, func pruneNulls.
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func (*jsonPatcher) applyJSPatch.
 */
#include "api/patch/patch_int.h"

static bool is_null(const struct json_member *m) {
    return m->value.kind == JSON_NULL;
}

/* Takes nulls out of all objects, in place, and sorts them; nulls of lists stay. The parser limits
 * how deep these go. */
static void prune(struct json *v) {
    if (v->kind == JSON_OBJECT) {
        api__object_filter(v, is_null);
        api__object_sort(v);
    }
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++)
        prune(&v->members[i].value);
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++)
        prune(&v->items[i]);
}

/* A list that takes the place of an object keeps the nulls inside. */
static struct json merge(struct api__patching *p, const struct json *stored, struct json *patch) {
    if (stored->kind != JSON_OBJECT)
        prune(patch);
    if (stored->kind != JSON_OBJECT || patch->kind != JSON_OBJECT)
        return *patch;
    AUTO(map_release) struct map members = api__members_open(p, stored);
    for (uint32_t i = 0; i < patch->n; i++) {
        struct json_member *m = &patch->members[i];
        const struct json *old = map_get(&members, m->key);
        if (m->value.kind == JSON_NULL)
            map_del(&members, m->key);
        else
            api__members_put(p, &members, m->key,
                             merge(p, old ? old : &(struct json){0}, &m->value));
    }
    struct json merged = api__members_close(p, &members);
    api__object_sort(&merged);
    return merged;
}

static int check_kind(struct api__patching *p, const struct json *patch, bool is_validated) {
    if (is_validated && patch->kind != JSON_OBJECT && patch->kind != JSON_NULL)
        return api__patch_fail(p, ERR_INVALID,
                               "error decoding patch: json: cannot unmarshal %s into Go value of "
                               "type map[string]interface {}",
                               api__json_name(patch));
    if (patch->kind != JSON_OBJECT && patch->kind != JSON_ARRAY)
        return api__patch_fail(p, ERR_INVALID, "Invalid JSON Patch");
    return 0;
}

struct api_patch_failure api_patch_merge(struct arena *a, const struct json *stored,
                                         const struct api_patch_body *patch,
                                         struct api_patched *out) {
    struct api__patching p = api__patch_start(a);
    if (check_kind(&p, patch->tree, patch->faults != NULL) < 0)
        return p.failure;
    struct json own = api__patch_own(&p, patch, false);
    if (own.kind == JSON_ARRAY)
        prune(&own);
    *out = (struct api_patched){.tree = merge(&p, stored, &own)};
    return p.failure;
}
