/* Small objects and stores for the tests of this folder. */
#ifndef TEST_STORE_KIT_H
#define TEST_STORE_KIT_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../data.h"
#include "api/object.h"
#include "store/store.h"

enum { CONFIG_MAPS, NODES, EVENTS, KIT_RESOURCES };

static const struct store_resource kit_resources[KIT_RESOURCES] = {
    {.name = "configmaps", .kind = "ConfigMap"},
    {.name = "nodes", .kind = "Node"},
    {.name = "events", .kind = "Event", .ttl_ns = 3600 * CLOCK_SECOND},
};

static inline struct api_object *kit_decode(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return o;
}

/* An object of a resource; what it says is found again by kit_value. */
static inline struct api_object *kit_object(uint32_t resource, const char *namespace,
                                            const char *name, const char *value) {
    static const char *const versions[] = {"v1", "v1", "v1"};
    char text[1024];
    snprintf(text, sizeof text,
             "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
             "\"%s\",\"labels\":{\"value\":\"%s\"}}}",
             kit_resources[resource].kind, versions[resource], name, namespace, value);
    return kit_decode(text);
}

static inline struct str kit_value(const struct api_object *o) {
    return o && o->meta->labels.n ? o->meta->labels.v[0].value : STR("");
}

static inline uint64_t kit_revision(const struct api_object *o) {
    int64_t revision = 0;
    assert_true(str_to_i64(o->meta->resource_version, &revision));
    return (uint64_t)revision;
}

/* A store in memory on a clock that is moved by hand. */
struct kit {
    struct clock_manual clock;
    struct store *store;
    int done, failed; /* calls of kit_done */
};

static inline void kit_done(void *ctx, const struct err *err) {
    struct kit *k = ctx;
    k->done++;
    k->failed += err != NULL;
}

static inline void kit_open(struct kit *k, const char *directory) {
    struct err err = {0};
    if (!k->clock.clock.wall)
        clock_manual_init(&k->clock, 1000 * CLOCK_SECOND);
    struct store_opts opts = {.resources = kit_resources,
                              .n = KIT_RESOURCES,
                              .clock = &k->clock.clock,
                              .directory = directory};
    if (store_open(&opts, &k->store, &err) < 0)
        fail_msg("%s", err.msg);
}

static inline void kit_close(struct kit *k) {
    store_close(k->store);
    k->store = NULL;
}

static inline void kit_commit(struct kit *k) {
    store_commit(k->store, kit_done, k);
    store_flush(k->store);
}

/* Puts an object and commits; returns its revision. */
static inline uint64_t kit_put(struct kit *k, uint32_t resource, const char *namespace,
                               const char *name, const char *value) {
    uint64_t revision =
        kit_revision(store_put(k->store, resource, kit_object(resource, namespace, name, value)));
    kit_commit(k);
    return revision;
}

static inline uint64_t kit_delete(struct kit *k, uint32_t resource, const char *namespace,
                                  const char *name) {
    uint64_t revision =
        kit_revision(store_delete(k->store, resource, kit_object(resource, namespace, name, "")));
    kit_commit(k);
    return revision;
}

/* A new directory for a store, which kit_remove takes away with all that is in it. */
static inline void kit_directory(char *path, size_t size) {
    const char *tmp = getenv("TMPDIR");
    snprintf(path, size, "%s/berth-store-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
}

static inline void kit_remove(const char *path) {
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm",
                                        "lock",     "store.new",    "store.new-journal"};
    char file[512];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        unlink(file);
    }
    assert_int_equal(rmdir(path), 0);
}

/* A number below n, by chance that is the same in each run. */
static inline uint32_t kit_chance(uint64_t *seed, uint32_t n) {
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*seed >> 33) % n;
}

#endif
