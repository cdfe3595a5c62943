/* Three-way merge of trees, see apply.h. */
#include "sim/apply.h"

#include "api/patch.h"
#include "base/map.h"

/* The members of an object by their keys. */
static struct map index_members(const struct json *object) {
    struct map members = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < object->n; i++)
        map_put_const(&members, object->members[i].key, &object->members[i].value);
    return members;
}

/* The manifest as a merge patch, which takes away what was applied before and is not any more. The
 * parser limits how deep this goes. */
static struct json make_patch(struct arena *a, const struct json *last,
                              const struct json *manifest) {
    static const struct json null;
    struct json out = {.kind = JSON_OBJECT};
    if (manifest->kind != JSON_OBJECT || !last || last->kind != JSON_OBJECT)
        return *manifest;
    struct map now = index_members(manifest), before = index_members(last);
    for (size_t i = 0; i < manifest->n; i++) {
        const struct json_member *m = &manifest->members[i];
        json_add(a, &out, m->key, make_patch(a, map_get_const(&before, m->key), &m->value));
    }
    for (size_t i = 0; i < last->n; i++)
        if (!map_get_const(&now, last->members[i].key))
            json_add(a, &out, last->members[i].key, null);
    map_release(&now);
    map_release(&before);
    return out;
}

struct json sim_apply(struct arena *a, const struct json *stored, const struct json *last,
                      const struct json *manifest) {
    struct json patch = make_patch(a, last, manifest);
    struct api_patched patched;
    struct api_patch_failure failure =
        api_patch_merge(a, stored, &(struct api_patch_body){.tree = &patch}, &patched);
    return failure.code == ERR_NONE ? patched.tree : *manifest;
}

static const struct json *member(const struct json *v, const char *key) {
    return v && v->kind == JSON_OBJECT ? json_get(v, str_of(key)) : NULL;
}

const struct json *sim_last_applied(struct arena *a, const struct json *stored) {
    const struct json *annotations = member(member(stored, "metadata"), "annotations");
    const struct json *text =
        member(annotations, "kubectl.kubernetes.io/last-applied-configuration");
    struct json *out = arena_new(a, struct json);
    if (!text || text->kind != JSON_STRING || json_parse(a, json_str(text), NULL, out, NULL) < 0)
        return NULL;
    return out;
}
