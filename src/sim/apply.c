/* Three-way merge of trees, see apply.h. */
#include "sim/apply.h"

#include "base/map.h"

/* The members of an object by their keys; with nothing in it for what is no object. */
static struct map index_members(const struct json *object) {
    struct map members = MAP_INIT(map_random_seed());
    for (size_t i = 0; object && object->kind == JSON_OBJECT && i < object->n; i++)
        map_put_const(&members, object->members[i].key, &object->members[i].value);
    return members;
}

/* The parser limits how deep this goes. */
struct json sim_apply(struct arena *a, const struct json *stored, const struct json *last,
                      const struct json *manifest) {
    struct json out = {.kind = JSON_OBJECT};
    if (stored->kind != JSON_OBJECT || manifest->kind != JSON_OBJECT)
        return *manifest;
    struct map now = index_members(manifest), before = index_members(last),
               old = index_members(stored);
    for (size_t i = 0; i < stored->n; i++) {
        const struct json_member *m = &stored->members[i];
        const struct json *wanted = map_get_const(&now, m->key),
                          *was = map_get_const(&before, m->key);
        if (wanted)
            json_add(a, &out, m->key, sim_apply(a, &m->value, was, wanted));
        else if (!was)
            json_add(a, &out, m->key, m->value);
    }
    for (size_t i = 0; i < manifest->n; i++)
        if (!map_get_const(&old, manifest->members[i].key))
            json_add(a, &out, manifest->members[i].key, manifest->members[i].value);
    map_release(&now);
    map_release(&before);
    map_release(&old);
    return out;
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
