#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

enum {
    FIRST_SLOTS = 16,
    LEAST_SPARSE = 64, /* a table with fewer entries is not worth shrinking */
};

/* A slot whose entry was removed: probing goes on behind it. */
#define DEAD UINT32_MAX

void map_release(struct map *m) {
    free(m->entries);
    free(m->slots);
    *m = MAP_INIT(m->seed);
}

/* Three quarters full is where linear probing is still short. */
static size_t capacity(size_t slot_count) {
    return slot_count / 4 * 3;
}

static void place(struct map *m, size_t index) {
    size_t mask = m->slot_count - 1, slot = m->entries[index].hash & mask;
    while (m->slots[slot])
        slot = (slot + 1) & mask;
    m->slots[slot] = (uint32_t)index + 1;
}

/* Are most of the entries removed ones, so many that a rebuild is paid for by their removal? */
static bool is_sparse(const struct map *m) {
    return m->used >= LEAST_SPARSE && m->live < m->used / 4;
}

/* Drops removed entries, and makes the table as large as the others need and one more. */
static void rebuild(struct map *m) {
    size_t slots = FIRST_SLOTS;
    while (capacity(slots) < m->live + m->live / 2 + 1)
        slots *= 2;
    if (slots >= UINT32_MAX)
        BUG("map of more than 2^31 entries");
    struct map_entry *entries = xmalloc(size_mul(capacity(slots), sizeof *entries));
    size_t n = 0;
    for (size_t at = 0; at < m->used; at++)
        if (m->entries[at].key.p)
            entries[n++] = m->entries[at];
    free(m->entries);
    free(m->slots);
    m->entries = entries;
    m->used = n;
    m->slots = xcalloc(slots, sizeof *m->slots);
    m->slot_count = slots;
    for (size_t index = 0; index < n; index++)
        place(m, index);
}

/* The slot that holds key, or NULL. */
static uint32_t *find(const struct map *m, struct str key, uint64_t hash) {
    if (!m->live)
        return NULL;
    size_t mask = m->slot_count - 1;
    for (size_t slot = hash & mask; m->slots[slot]; slot = (slot + 1) & mask) {
        if (m->slots[slot] == DEAD)
            continue;
        const struct map_entry *e = &m->entries[m->slots[slot] - 1];
        if (e->hash == hash && str_eq(e->key, key))
            return &m->slots[slot];
    }
    return NULL;
}

static struct map_entry *find_entry(const struct map *m, struct str key) {
    uint32_t *slot = find(m, key, str_hash(key, m->seed));
    return slot ? &m->entries[*slot - 1] : NULL;
}

void *map_get(const struct map *m, struct str key) {
    const struct map_entry *e = find_entry(m, key);
    return e ? e->value : NULL;
}

const void *map_get_const(const struct map *m, struct str key) {
    const struct map_entry *e = find_entry(m, key);
    return e ? e->const_value : NULL;
}

/* The entry of key; a new one has no value yet. */
static struct map_entry *get_or_add(struct map *m, struct str key) {
    uint64_t hash = str_hash(key, m->seed);
    uint32_t *slot = find(m, key, hash);
    if (slot)
        return &m->entries[*slot - 1];
    if (m->used == capacity(m->slot_count) || is_sparse(m))
        rebuild(m);
    if (!key.p)
        key = STR(""); /* an absent key would read as a removed entry */
    m->entries[m->used] = (struct map_entry){.key = key, .hash = hash};
    place(m, m->used);
    m->live++;
    return &m->entries[m->used++];
}

void *map_put(struct map *m, struct str key, void *value) {
    struct map_entry *e = get_or_add(m, key);
    void *old = e->value;
    e->value = value;
    return old;
}

const void *map_put_const(struct map *m, struct str key, const void *value) {
    struct map_entry *e = get_or_add(m, key);
    const void *old = e->const_value;
    e->const_value = value;
    return old;
}

/* Takes the entry of key out; its value can be read until the map changes again. */
static const struct map_entry *remove_entry(struct map *m, struct str key) {
    uint32_t *slot = find(m, key, str_hash(key, m->seed));
    if (!slot)
        return NULL;
    struct map_entry *e = &m->entries[*slot - 1];
    *slot = DEAD;
    e->key = (struct str){0};
    m->live--;
    return e;
}

void *map_del(struct map *m, struct str key) {
    const struct map_entry *e = remove_entry(m, key);
    return e ? e->value : NULL;
}

const void *map_del_const(struct map *m, struct str key) {
    const struct map_entry *e = remove_entry(m, key);
    return e ? e->const_value : NULL;
}

struct map_entry *map_next(const struct map *m, size_t *at) {
    while (*at < m->used) {
        struct map_entry *e = &m->entries[(*at)++];
        if (e->key.p)
            return e;
    }
    return NULL;
}

uint64_t map_random_seed(void) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        BUG("no random numbers from the operating system");
    return seed;
}
