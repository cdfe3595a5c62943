/*
 * Outcomes by the ids of two lists: a cache that doubles as it fills until it has its most entries.
 * A new outcome that finds no room forgets one that lies in its way.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "match/match_int.h"

enum {
    FIRST_ENTRIES = 256,
    REACH = 4,   /* an outcome lies in one of so many entries from its home on */
    ROOMY = 4,   /* a table with so many entries for each outcome does not grow */
    TOO_BIG = 16 /* and one with more than so many shrinks */
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

/* Makes a table of another size; what finds no room in it is forgotten. */
static void resize(struct match__memo *memo, size_t count) {
    struct match__memo old = *memo;
    *memo = (struct match__memo){.count = count};
    memo->entries = xcalloc(count, sizeof *memo->entries);
    for (size_t i = 0; i < old.count; i++) {
        const struct match__memo_entry *e = &old.entries[i];
        struct match__memo_entry *place =
            e->tolerations1 ? find_free(memo, e->tolerations1 - 1, e->taints) : NULL;
        if (!place)
            continue;
        *place = *e;
        memo->used++;
    }
    free(old.entries);
}

/* Two outcomes that are in each other's way by chance are no reason to grow. */
static bool is_full(const struct match__memo *memo) {
    return memo->count < MATCH__MEMO_MOST && memo->used >= memo->count / ROOMY;
}

void match__memo_put(struct match__memo *memo, uint32_t tolerations, uint32_t taints,
                     const struct match_fit *fit) {
    struct match__memo_entry *e;
    while (!(e = find_free(memo, tolerations, taints)) && is_full(memo))
        resize(memo, memo->count ? memo->count * 2 : FIRST_ENTRIES);
    if (e)
        memo->used++;
    else
        e = entry_at(memo, tolerations, taints, 0);
    *e = (struct match__memo_entry){tolerations + 1, taints, *fit};
}

void match__memo_sweep(struct match__memo *memo, const struct match__pool *tolerations,
                       const struct match__pool *taints) {
    for (size_t i = 0; i < memo->count; i++) {
        struct match__memo_entry *e = &memo->entries[i];
        if (!e->tolerations1 ||
            (match__pool_at(tolerations, e->tolerations1 - 1) && match__pool_at(taints, e->taints)))
            continue;
        e->tolerations1 = 0;
        memo->used--;
    }
    size_t count = memo->count;
    while (count > FIRST_ENTRIES && memo->used < count / TOO_BIG)
        count /= 2;
    if (count != memo->count)
        resize(memo, count);
}
