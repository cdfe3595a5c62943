/*
 * A hash map from string to pointer that remembers the order of insertion.
 *
 * The hash is seeded, so an outsider cannot choose colliding keys; iteration goes by insertion, so
 * nothing observable depends on the seed. A map that has become much smaller gives its memory back
 * when the next entry comes.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

struct map_entry {
    struct str key; /* borrowed: must outlive the entry; p == NULL marks a removed entry */
    union {
        void *value;
        const void *const_value; /* of what was put by map_put_const */
    };
    uint64_t hash;
};

struct map {
    struct map_entry *entries; /* in order of insertion, removed ones among them */
    uint32_t *slots;           /* open addressing into entries, offset by one; 0 = free */
    size_t used;               /* entries in use or removed */
    size_t live;               /* entries that are there */
    size_t slot_count;         /* a power of two, or 0 */
    uint64_t seed;
};

/* An empty map; it allocates with the first entry. */
#define MAP_INIT(hash_seed) ((struct map){.seed = (hash_seed)})

/* Frees the map, not keys or values. The map is empty and keeps its seed. */
void map_release(struct map *m);

/* The value under key, or NULL. */
void *map_get(const struct map *m, struct str key);

/* Stores value (not NULL) under key and returns the value that was there before, or NULL. The key
 * is borrowed for as long as the entry lives; an existing entry keeps its key and its place. */
void *map_put(struct map *m, struct str key, void *value);

/* Removes key and returns its value, or NULL. */
void *map_del(struct map *m, struct str key);

/* The same for maps of values that nobody may change, such as published objects. A map holds values
 * of one sort. */
const void *map_get_const(const struct map *m, struct str key);
const void *map_put_const(struct map *m, struct str key, const void *value);
const void *map_del_const(struct map *m, struct str key);

/* The next living entry at or behind *at, which moves behind it; NULL at the end. Start with 0.
 * The map must not be added to meanwhile; the entry just returned may be removed. */
struct map_entry *map_next(const struct map *m, size_t *at);

/* A seed from the operating system, for maps whose keys come from outside. */
uint64_t map_random_seed(void);

#endif
