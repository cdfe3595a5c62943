/* Selectors by what they ask for, see selector_index.h. */
#include "api/selector_index.h"

/* What a selector can be filed under; the first letter of a bucket's key. */
enum level { ANYTHING = '*', LABEL = 'l', VALUE = 'v' };

/* One selector in one bucket. */
struct entry {
    const struct selector_filed *filed;
    struct entry *next;
};

struct bucket {
    size_t wanted; /* requirements that selectors could be filed here for */
    struct entry *first, *last;
};

struct selector_cursor {
    struct heap_node node;
    const struct entry *next;
};

/* ---- buckets ---- */

/* Lengths tell where a part ends. */
static void add_part(struct buf *out, struct str part) {
    buf_add_u64(out, part.n);
    buf_add_char(out, ':');
    buf_add(out, part);
}

static struct str write_key(struct selector_index *x, enum level level, struct str scope,
                            struct label label) {
    buf_clear(&x->key);
    buf_add_char(&x->key, (char)level);
    add_part(&x->key, scope);
    if (level != ANYTHING)
        add_part(&x->key, label.key);
    if (level == VALUE)
        add_part(&x->key, label.value);
    return buf_view(&x->key);
}

static struct bucket *bucket_get(struct selector_index *x, enum level level, struct str scope,
                                 struct label label) {
    struct str key = write_key(x, level, scope, label);
    struct bucket *b = map_get(&x->buckets, key);
    if (b)
        return b;
    b = arena_new(&x->arena, struct bucket);
    map_put(&x->buckets, arena_str(&x->arena, key), b);
    return b;
}

static void file(struct selector_index *x, struct bucket *b, const struct selector_filed *filed) {
    struct entry *e = arena_new(&x->arena, struct entry);
    e->filed = filed;
    *(b->last ? &b->last->next : &b->first) = e;
    b->last = e;
}

/* ---- building ---- */

static enum level level_of(const struct selector_req *r) {
    switch (r->op) {
    case SELECTOR_IN:
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
        return VALUE;
    case SELECTOR_EXISTS:
    case SELECTOR_GREATER_THAN:
    case SELECTOR_LESS_THAN:
        return LABEL;
    default:
        return ANYTHING;
    }
}

typedef void bucket_fn(struct selector_index *x, struct bucket *b, void *data);

/* The bucket of a requirement, or one for each different value that it allows. */
static void each_bucket(struct selector_index *x, struct str scope, const struct selector_req *r,
                        bucket_fn *fn, void *data) {
    enum level level = level_of(r);
    size_t n = level == VALUE ? r->value_count : 1;
    for (size_t i = 0; i < n; i++) {
        struct label label = {.key = r->key};
        if (level == VALUE)
            label.value = r->values[i];
        if (!i || !str_eq(r->values[i], r->values[i - 1]))
            fn(x, bucket_get(x, level, scope, label), data);
    }
}

static void count(struct selector_index *x, struct bucket *b, void *data) {
    (void)x;
    (void)data;
    b->wanted++;
}

static void find_fullest(struct selector_index *x, struct bucket *b, void *data) {
    size_t *most = data;
    (void)x;
    if (*most < b->wanted)
        *most = b->wanted;
}

static void file_in(struct selector_index *x, struct bucket *b, void *data) {
    file(x, b, data);
}

/* The requirement that the fewest selectors share; NULL: none asks for a label. */
static const struct selector_req *choose_requirement(struct selector_index *x,
                                                     const struct selector_filed *filed) {
    const struct selector_req *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < filed->selector->n; i++) {
        const struct selector_req *r = &filed->selector->reqs[i];
        size_t most = 0;
        if (level_of(r) == ANYTHING)
            continue;
        each_bucket(x, filed->scope, r, find_fullest, &most);
        if (most >= least)
            continue;
        least = most;
        best = r;
    }
    return best;
}

void selector_index_add(struct selector_index *x, struct str scope, const struct selector *sel,
                        void *item) {
    if (!sel || sel->error.p)
        return;
    struct selector_filed *filed = arena_new(&x->arena, struct selector_filed);
    *filed = (struct selector_filed){sel, scope, x->all.n, item};
    vec_push(&x->all, filed);
    for (size_t i = 0; i < sel->n; i++)
        if (level_of(&sel->reqs[i]) != ANYTHING)
            each_bucket(x, scope, &sel->reqs[i], count, NULL);
}

void selector_index_seal(struct selector_index *x) {
    for (size_t i = 0; i < x->all.n; i++) {
        struct selector_filed *filed = x->all.v[i];
        const struct selector_req *r = choose_requirement(x, filed);
        if (r)
            each_bucket(x, filed->scope, r, file_in, filed);
        else
            file(x, bucket_get(x, ANYTHING, filed->scope, (struct label){0}), filed);
        x->by_label |= r && level_of(r) == LABEL;
    }
}

void selector_index_release(struct selector_index *x) {
    map_release(&x->buckets);
    vec_release(&x->all);
    buf_release(&x->key);
    arena_release(&x->arena);
}

/* ---- searching ---- */

static bool comes_before(const struct heap_node *a, const struct heap_node *b) {
    return heap_const_entry(a, struct selector_cursor, node)->next->filed->place <
           heap_const_entry(b, struct selector_cursor, node)->next->filed->place;
}

static void look_into(struct selector_search *search, struct selector_index *x, struct str key) {
    const struct bucket *b = map_get(&x->buckets, key);
    if (b && b->first && b->first->filed->place < search->end)
        vec_push(&search->room, (struct selector_cursor){.next = b->first});
}

void selector_search_start(struct selector_search *search, struct selector_index *x,
                           struct str scope, const struct labels *labels, size_t end) {
    search->labels = labels;
    search->end = end;
    search->cursors.before = comes_before;
    search->cursors.n = 0;
    vec_clear(&search->room);
    look_into(search, x, write_key(x, ANYTHING, scope, (struct label){0}));
    for (size_t i = 0; i < labels->n; i++) {
        look_into(search, x, write_key(x, VALUE, scope, labels->v[i]));
        if (x->by_label)
            look_into(search, x, write_key(x, LABEL, scope, labels->v[i]));
    }
    for (size_t i = 0; i < search->room.n; i++)
        heap_push(&search->cursors, &search->room.v[i].node);
}

/* The next selector that may match; NULL: there are no more. */
static const struct selector_filed *advance(struct selector_search *search) {
    struct heap_node *first = heap_peek(&search->cursors);
    if (!first)
        return NULL;
    struct selector_cursor *cursor = heap_entry(first, struct selector_cursor, node);
    const struct selector_filed *filed = cursor->next->filed;
    cursor->next = cursor->next->next;
    if (cursor->next && cursor->next->filed->place < search->end) {
        heap_fix(&search->cursors, first);
    } else {
        heap_pop(&search->cursors);
    }
    return filed;
}

void *selector_search_next(struct selector_search *search) {
    for (const struct selector_filed *filed; (filed = advance(search));)
        if (selector_matches(filed->selector, search->labels))
            return filed->item;
    return NULL;
}

void selector_search_release(struct selector_search *search) {
    heap_release(&search->cursors);
    vec_release(&search->room);
}
