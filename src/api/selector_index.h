/*
 * Many selectors, of which those that match some labels are wanted, without asking all of them.
 *
 * A selector is filed under the one of its requirements that the fewest others share: a value of a
 * label, or that there is such a label. Labels then look at the selectors that ask for one of them,
 * and at those that ask for no label at all (NotIn, DoesNotExist, everything).
 */
#ifndef API_SELECTOR_INDEX_H
#define API_SELECTOR_INDEX_H

#include "api/selector.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"

/* A selector, and what it stands for. */
struct selector_filed {
    const struct selector *selector;
    struct str scope;
    size_t place; /* among all that were added */
    void *item;
};

/* Set up with SELECTOR_INDEX_INIT; the members are private. */
struct selector_index {
    struct arena arena;
    struct map buckets; /* struct bucket by scope and requirement */
    VEC(struct selector_filed *) all;
    bool by_label; /* some selector is filed under a label of any value */
    struct buf key;
};

/* An empty index; nothing observable depends on the seed. */
#define SELECTOR_INDEX_INIT(seed) \
    ((struct selector_index){.buckets = MAP_INIT(seed), .key = BUF_INIT(SIZE_MAX)})

/* Frees the index, not what its selectors stand for. */
void selector_index_release(struct selector_index *x);

/* Adds a selector, which is stored, as are the scope's text and the item. Only searches in the same
 * scope find it. One that is NULL or has an error is not added. */
void selector_index_add(struct selector_index *x, struct str scope, const struct selector *sel,
                        void *item);

/* Ends the building. To be called once, before any search. */
void selector_index_seal(struct selector_index *x);

/* A way through the selectors that match some labels. */
struct selector_search {
    const struct labels *labels;
    size_t end;
    struct heap cursors; /* by the place of what comes next in a bucket */
    VEC(struct selector_cursor) room;
};

/* Begins a search among the first `end` selectors that were added, or begins anew; zeroes are a
 * search that has not begun. The labels are stored; the index must not change while the search goes
 * on. */
void selector_search_start(struct selector_search *search, struct selector_index *x,
                           struct str scope, const struct labels *labels, size_t end);

/* The item of the next selector that matches, in the order in which they were added; NULL: there
 * are no more. What is not asked for is not looked at. */
void *selector_search_next(struct selector_search *search);

/* Frees the search. */
void selector_search_release(struct selector_search *search);

#endif
