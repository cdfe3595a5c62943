#include "cmd/report/kind_hint.h"

#include "cli/spelling.h"
#include "registry/registry.h"

/* Kinds of the group come first: of two Events the one that was meant is there. */
static const struct api_kind *find_server(struct str group, struct str kind) {
    const struct api_kind *found = NULL;
    for (const struct api_kind *k = api_kinds; k->kind; k++) {
        if (!str_is(kind, k->kind) || !k->plural[0])
            continue;
        if (str_eq(registry_group_of(str_of(k->api_version)), group))
            return k;
        if (!found)
            found = k;
    }
    return found;
}

/* pods/eviction: the first resource that takes the kind as a part of it. */
static bool write_subresource(struct buf *out, struct str api_version, struct str kind) {
    size_t count;
    const struct registry_resource *resources = registry_resources(&count);
    for (size_t i = 0; i < count; i++)
        for (const struct registry_subresource *s = resources[i].subresources; s->name; s++) {
            const char *version = s->api_version ? s->api_version : resources[i].kind->api_version;
            if (!str_is(kind, s->kind) || !str_is(api_version, version))
                continue;
            buf_addf(out, "%.*s has no path of its own; it is sent to %s/%s", STR_ARG(kind),
                     resources[i].kind->plural, s->name);
            return true;
        }
    return false;
}

/* The kind whose name needs the fewest changes, of the same group if two need as many. */
static const struct api_kind *find_near(struct str group, struct str kind) {
    const struct api_kind *best = NULL;
    size_t least = SIZE_MAX;
    for (const struct api_kind *k = api_kinds; k->kind; k++) {
        struct suggest near = {.typed = kind};
        if (k->plural[0])
            suggest_offer(&near, k->kind);
        if (!near.n)
            continue;
        bool is_elsewhere = !str_eq(registry_group_of(str_of(k->api_version)), group);
        size_t edits = 2 * suggest_distance(kind, str_of(k->kind)) + is_elsewhere;
        if (edits < least) {
            least = edits;
            best = k;
        }
    }
    return best;
}

bool kind_hint_write(struct buf *out, struct str api_version, struct str kind) {
    struct str group = registry_group_of(api_version);
    if (write_subresource(out, api_version, kind))
        return true;
    const struct api_kind *served = find_server(group, kind);
    if (served) {
        buf_addf(out, "%s serves %s: write \"apiVersion: %s\"", served->api_version, served->kind,
                 served->api_version);
        return true;
    }
    const struct api_kind *near = find_near(group, kind);
    if (near)
        buf_addf(out, "did you mean %s of %s?", near->kind, near->api_version);
    return near;
}
