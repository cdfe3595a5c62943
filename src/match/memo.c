/*
 * Outcomes by the ids of two lists: a cache that doubles until it has its most entries, and then
 * forgets for each new outcome one that lies in its way.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "match/match_int.h"

enum {
    FIRST_ENTRIES = 256,
    REACH = 4, /* an outcome lies in one of so many entries from its home on */
};

static struct match__memo_entry *entry_at(const struct match__memo *memo, uint32_t tolerations,
                                          uint32_t taints, size_t step) {
    uint64_t hash = ((uint64_t)tolerations << 32 | taints) * UINT64_C(0x9E3779B97F4A7C15);
    return &memo->entries[((hash >> 32) + step) & (memo->count - 1)];
}

const struct match_fit *match__memo_find(const struct match__memo *memo, uint32_t tolerations,
                                         uint32_t taints) {
    for (size_t step = 0; memo->count && step < REACH; step++) {
        const struct match__memo_entry *e = entry_at(memo, tolerations, taints, step);
        if (e->tolerations1 == tolerations + 1 && e->taints == taints)
            return &e->fit;
    }
    return NULL;
}

static struct match__memo_entry *find_free(const struct match__memo *memo, uint32_t tolerations,
                                           uint32_t taints) {
    for (size_t step = 0; memo->count && step < REACH; step++) {
        struct match__memo_entry *e = entry_at(memo, tolerations, taints, step);
        if (!e->tolerations1)
            return e;
    }
    return NULL;
}

/* Doubles the table; what finds no room in the new one is forgotten. */
static void grow(struct match__memo *memo) {
    struct match__memo old = *memo;
    memo->count = old.count ? old.count * 2 : FIRST_ENTRIES;
    memo->entries = xcalloc(memo->count, sizeof *memo->entries);
    for (size_t i = 0; i < old.count; i++) {
        const struct match__memo_entry *e = &old.entries[i];
        struct match__memo_entry *place =
            e->tolerations1 ? find_free(memo, e->tolerations1 - 1, e->taints) : NULL;
        if (place)
            *place = *e;
    }
    free(old.entries);
}

void match__memo_put(struct match__memo *memo, uint32_t tolerations, uint32_t taints,
                     const struct match_fit *fit) {
    struct match__memo_entry *e;
    while (!(e = find_free(memo, tolerations, taints)) && memo->count < MATCH__MEMO_MOST)
        grow(memo);
    if (!e)
        e = entry_at(memo, tolerations, taints, 0);
    *e = (struct match__memo_entry){tolerations + 1, taints, *fit};
}

void match__memo_sweep(struct match__memo *memo, const struct match__pool *tolerations,
                       const struct match__pool *taints) {
    for (size_t i = 0; i < memo->count; i++) {
        struct match__memo_entry *e = &memo->entries[i];
        if (e->tolerations1 &&
            (!tolerations->by_id.v[e->tolerations1 - 1] || !taints->by_id.v[e->taints]))
            e->tolerations1 = 0;
    }
}
