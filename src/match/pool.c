/*
 * Lists of one kind, found by what they hold: a map from key to list, and a column from id to list.
 * A key is the ids of the atoms in the list, which the list keeps alive, so equal keys are equal
 * lists. What nobody holds goes with the second sweep after it was last handed out, as atoms do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "match/match_int.h"

enum {
    NEW = 1,     /* made since the last sweep */
    TOUCHED = 2, /* handed out again since the last sweep */
};

enum { LEAST_NEWS = 256 }; /* fewer new lists than this are not worth a sweep */

struct match_list *match__pool_find(struct match__pool *p, struct str key) {
    struct match_list *list = map_get(&p->by_key, key);
    if (list)
        list->state |= TOUCHED;
    return list;
}

static uint32_t take_id(struct match__pool *p) {
    if (p->free_ids.n)
        return p->free_ids.v[--p->free_ids.n];
    if (p->by_id.n >= UINT32_MAX - 1)
        BUG("more than four billion lists");
    vec_push(&p->by_id, NULL);
    return (uint32_t)p->by_id.n - 1;
}

struct match_list *match__pool_add(struct match__pool *p, size_t size, struct str key) {
    struct match_list *list = xcalloc(1, size + key.n);
    char *copy = (char *)list + size;
    if (key.n)
        memcpy(copy, key.p, key.n);
    *list = (struct match_list){.id = take_id(p), .state = NEW, .key = {copy, key.n}};
    p->by_id.v[list->id] = list;
    map_put(&p->by_key, list->key, list);
    p->made++;
    return list;
}

bool match__pool_wants_sweep(const struct match__pool *p) {
    return p->made >= LEAST_NEWS && p->made >= p->sweep_due;
}

static bool is_idle(const struct match_list *list) {
    return !list->refs && !(list->state & (NEW | TOUCHED));
}

/* Is it held, or was it handed out again after its first round? */
static bool is_proven(const struct match_list *list) {
    return list->refs || !(list->state & NEW);
}

/* Lists the free ids, smallest on top, and forgets those at the end. */
static void gather_free_ids(struct match__pool *p) {
    while (p->by_id.n && !p->by_id.v[p->by_id.n - 1])
        p->by_id.n--;
    vec_clear(&p->free_ids);
    for (size_t id = p->by_id.n; id-- > 0;)
        if (!p->by_id.v[id])
            vec_push(&p->free_ids, (uint32_t)id);
    vec_shrink(&p->by_id);
    vec_shrink(&p->free_ids);
}

/* The next sweep is due after as many new lists as there are proven ones: waiting for as many as
 * there are at all would make each round longer than the last. */
size_t match__pool_sweep(struct match__pool *p, match__list_free_fn *free_list) {
    size_t freed = 0, proven = 0;
    for (size_t id = p->by_id.n; id-- > 0;) {
        struct match_list *list = p->by_id.v[id];
        if (!list)
            continue;
        if (!is_idle(list)) {
            proven += is_proven(list);
            list->state &= ~(uint32_t)(NEW | TOUCHED);
            continue;
        }
        map_del(&p->by_key, list->key);
        free_list(list);
        p->by_id.v[id] = NULL;
        freed++;
    }
    if (freed)
        gather_free_ids(p);
    p->sweep_due = p->made + LEAST_NEWS + proven;
    return freed;
}

void match__pool_release(struct match__pool *p, match__list_free_fn *free_list) {
    for (size_t id = 0; id < p->by_id.n; id++)
        if (p->by_id.v[id])
            free_list(p->by_id.v[id]);
    vec_release(&p->by_id);
    vec_release(&p->free_ids);
    map_release(&p->by_key);
}
