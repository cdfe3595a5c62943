/* discovery.jsonl: what a server says about the resource of a kind. Kinds that have no row are not
 * served, and there is nothing to compare. */
#include <string.h>

#include "members.h"
#include "registry/registry.h"
#include "vectors.h"

static struct json encode_verbs(struct arena *a, uint32_t verbs) {
    static const char *const names[] = {
#define X(id, name) name,
        REGISTRY_VERBS(X)
#undef X
    };
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < REGISTRY_VERB_COUNT; i++)
        if (verbs >> i & 1)
            json_append(a, &list, json_of_str(str_of(names[i])));
    return list;
}

/* Adds a list of names that are separated by commas, unless it is empty. */
static void add_names(struct arena *a, struct json *o, struct str key, const char *names) {
    struct json list = {.kind = JSON_ARRAY};
    struct str rest = str_of(names), name;
    while (rest.n) {
        str_cut(rest, ',', &name, &rest);
        json_append(a, &list, json_of_str(str_trim(name)));
    }
    if (list.n)
        json_add(a, o, key, list);
}

static struct json encode_resource(struct arena *a, const struct registry_resource *r) {
    struct json o = {.kind = JSON_OBJECT};
    json_add(a, &o, STR("name"), json_of_str(str_of(r->kind->plural)));
    json_add(a, &o, STR("kind"), json_of_str(str_of(r->kind->kind)));
    json_add(a, &o, STR("singularName"), json_of_str(str_of(r->singular)));
    json_add(a, &o, STR("namespaced"), json_of_bool(r->kind->namespaced));
    add_names(a, &o, STR("shortNames"), r->short_names);
    add_names(a, &o, STR("categories"), r->categories);
    json_add(a, &o, STR("verbs"), encode_verbs(a, r->verbs));
    return o;
}

static struct json encode_subresource(struct arena *a, const struct registry_resource *r,
                                      const struct registry_subresource *s) {
    struct json o = {.kind = JSON_OBJECT};
    struct str name = arena_printf(a, "%s/%s", r->kind->plural, s->name);
    json_add(a, &o, STR("name"), json_of_str(name));
    if (s->api_version)
        json_add(a, &o, STR("apiVersion"), json_of_str(str_of(s->api_version)));
    json_add(a, &o, STR("kind"), json_of_str(str_of(s->kind)));
    json_add(a, &o, STR("namespaced"), json_of_bool(r->kind->namespaced));
    json_add(a, &o, STR("verbs"), encode_verbs(a, s->verbs));
    return o;
}

int vectors_check_discovery(struct arena *a, const struct json *line, struct buf *why) {
    const struct registry_resource *r = registry_resource_of(
        api_kind_find(vectors_text(line, STR("apiVersion")), vectors_text(line, STR("kind"))));
    struct json got = {.kind = JSON_OBJECT}, list = {.kind = JSON_ARRAY};
    if (!r)
        return 0;
    for (const struct registry_subresource *s = r->subresources; s->name; s++)
        json_append(a, &list, encode_subresource(a, r, s));
    json_add(a, &got, STR("resource"), encode_resource(a, r));
    json_add(a, &got, STR("subresources"), list);
    return vectors_compare_members(line, &got, why);
}
