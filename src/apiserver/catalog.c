/* The table of the registry, less what is off by default, with places in the store. */
#include "apiserver/catalog.h"

#include <stdlib.h>

#include "base/map.h"

struct apiserver_catalog {
    struct arena arena;
    struct apiserver_resource *resources;
    size_t n;
    struct store_resource *storage;
    size_t stored;
    struct map by_path; /* group/version/plural */
    struct map versions;
};

/* Events live for an hour, as with upstream's --event-ttl. */
#define EVENT_TTL (3600 * CLOCK_SECOND)

static struct str path_of(struct arena *a, struct str group, struct str version,
                          struct str plural) {
    return arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(group), STR_ARG(version), STR_ARG(plural));
}

static const char *storage_name(struct arena *a, const struct api_kind *kind) {
    struct str group = registry_group_of(str_of(kind->api_version));
    if (!group.n)
        return kind->plural;
    return arena_printf(a, "%.*s/%s", STR_ARG(group), kind->plural).p;
}

static void add(struct apiserver_catalog *c, const struct registry_resource *row) {
    struct apiserver_resource *r = &c->resources[c->n++];
    struct str version = str_of(row->kind->api_version), group = registry_group_of(version);
    bool is_stored = row->verbs & 1u << REGISTRY_VERB_GET;
    *r = (struct apiserver_resource){
        .row = row,
        .kind = row->kind,
        .stored = is_stored ? registry_stored_as(row->kind) : NULL,
        .group = group,
        .version = str_sub(version, group.n ? group.n + 1 : 0, version.n),
    };
    map_put(&c->by_path, path_of(&c->arena, group, r->version, str_of(row->kind->plural)), r);
    map_put(&c->versions, path_of(&c->arena, group, r->version, STR("")), r);
}

/* Gives those that are stored as they are a number first, the others that of their kin. */
static void number(struct apiserver_catalog *c) {
    for (size_t i = 0; i < c->n; i++) {
        struct apiserver_resource *r = &c->resources[i];
        if (r->stored != r->kind)
            continue;
        r->storage = (uint32_t)c->stored;
        c->storage[c->stored++] = (struct store_resource){
            .name = storage_name(&c->arena, r->kind),
            .kind = r->kind->kind,
            .ttl_ns = r->kind->type == &api_types[API_T_event] ? EVENT_TTL : 0,
        };
    }
    for (size_t i = 0; i < c->n; i++) {
        struct apiserver_resource *r = &c->resources[i];
        if (r->stored && r->stored != r->kind)
            r->storage = apiserver_catalog_of(c, r->stored)->storage;
    }
}

struct apiserver_catalog *apiserver_catalog_new(void) {
    struct apiserver_catalog *c = xcalloc(1, sizeof *c);
    size_t n;
    const struct registry_resource *rows = registry_resources(&n);
    c->by_path = c->versions = MAP_INIT(map_random_seed());
    c->resources = arena_array(&c->arena, struct apiserver_resource, n);
    c->storage = arena_array(&c->arena, struct store_resource, n);
    for (size_t i = 0; i < n; i++)
        if (registry_is_on_by_default(rows[i].kind))
            add(c, &rows[i]);
    number(c);
    return c;
}

void apiserver_catalog_free(struct apiserver_catalog *c) {
    if (!c)
        return;
    map_release(&c->by_path);
    map_release(&c->versions);
    arena_release(&c->arena);
    free(c);
}

const struct store_resource *apiserver_catalog_storage(const struct apiserver_catalog *c,
                                                       size_t *n) {
    *n = c->stored;
    return c->storage;
}

const struct apiserver_resource *apiserver_catalog_find(const struct apiserver_catalog *c,
                                                        struct str group, struct str version,
                                                        struct str plural) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&c->by_path, path_of(&a, group, version, plural));
}

const struct apiserver_resource *apiserver_catalog_of(const struct apiserver_catalog *c,
                                                      const struct api_kind *kind) {
    for (size_t i = 0; i < c->n; i++)
        if (c->resources[i].kind == kind)
            return &c->resources[i];
    return NULL;
}

bool apiserver_catalog_has_version(const struct apiserver_catalog *c, struct str group,
                                   struct str version) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&c->versions, path_of(&a, group, version, STR("")));
}

const struct apiserver_resource *apiserver_catalog_all(const struct apiserver_catalog *c,
                                                       size_t *n) {
    *n = c->n;
    return c->resources;
}
