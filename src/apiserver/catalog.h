/*
 * What the server serves: for each group, version and plural its row of the registry, and where its
 * objects are stored. Versions of one resource share their place in the store.
 */
#ifndef APISERVER_CATALOG_H
#define APISERVER_CATALOG_H

#include "registry/registry.h"
#include "store/store.h"

/* A resource in one of its versions. */
struct apiserver_resource {
    const struct registry_resource *row;
    const struct api_kind *kind;   /* as it is asked for: row->kind */
    const struct api_kind *stored; /* as it is stored; NULL: nothing is, as of reviews */
    uint32_t storage;              /* its number in the store, if it is stored */
    struct str group, version;
};

struct apiserver_catalog;

/* The catalog of all resources that a server has by default. Free it with _free; NULL is fine. */
struct apiserver_catalog *apiserver_catalog_new(void);
void apiserver_catalog_free(struct apiserver_catalog *c);

/* The table that the store is to be opened with; it lives as long as the catalog. */
const struct store_resource *apiserver_catalog_storage(const struct apiserver_catalog *c,
                                                       size_t *n);

/* A resource by its path: "apps", "v1", "deployments"; NULL: there is none. */
const struct apiserver_resource *apiserver_catalog_find(const struct apiserver_catalog *c,
                                                        struct str group, struct str version,
                                                        struct str plural);

/* The resource that serves a kind; NULL: none does. */
const struct apiserver_resource *apiserver_catalog_of(const struct apiserver_catalog *c,
                                                      const struct api_kind *kind);

/* Is anything served in this version of the group? */
bool apiserver_catalog_has_version(const struct apiserver_catalog *c, struct str group,
                                   struct str version);

/* All of them, in the order of the registry's table. */
const struct apiserver_resource *apiserver_catalog_all(const struct apiserver_catalog *c,
                                                       size_t *n);

#endif
