/*
 * The document of a JSON patch, see json_patch_int.h.
 *
 * Follows gopkg.in/evanphx/json-patch.v4, func (*lazyNode) equal.
 */
#include "api/patch/json_patch_int.h"

#include "base/limits.h"

void api__doc_release(struct api__doc *d) {
    for (struct api__grown *g = d->grown; g; g = g->next) {
        map_release(&g->members);
        vec_release(&g->chunks);
    }
    d->grown = NULL;
}

/* ---- growing ---- */

static struct api__chunk *new_chunk(struct api__doc *d) {
    struct api__chunk *chunk = arena_alloc(d->p->a, sizeof *chunk);
    chunk->n = 0;
    return chunk;
}

static void grow_array(struct api__doc *d, struct api__grown *g, const struct json *v) {
    for (uint32_t i = 0; i < v->n; i++) {
        if (i % API__CHUNK_ITEMS == 0)
            vec_push(&g->chunks, new_chunk(d));
        struct api__chunk *last = g->chunks.v[g->chunks.n - 1];
        last->items[last->n++] = (struct api__node){.value = v->items[i]};
    }
    g->n = v->n;
}

static void grow_object(struct api__doc *d, struct api__grown *g, const struct json *v) {
    struct api__node *nodes = arena_array(d->p->a, struct api__node, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        nodes[i].value = v->members[i].value;
        map_put(&g->members, v->members[i].key, &nodes[i]);
    }
}

struct api__grown *api__node_grow(struct api__doc *d, struct api__node *node) {
    if (node->grown)
        return node->grown;
    struct api__grown *g = arena_new(d->p->a, struct api__grown);
    g->members = MAP_INIT(d->p->seed);
    g->next = d->grown;
    d->grown = node->grown = g;
    if (node->value.kind == JSON_ARRAY)
        grow_array(d, g, &node->value);
    else
        grow_object(d, g, &node->value);
    return g;
}

/* ---- items ---- */

/* The chunk that has the index, which becomes that in the chunk; the end belongs to the last. */
static size_t find_chunk(const struct api__grown *array, size_t *index) {
    size_t at = 0;
    while (at + 1 < array->chunks.n && *index >= array->chunks.v[at]->n)
        *index -= array->chunks.v[at++]->n;
    return at;
}

struct api__node *api__item_at(struct api__grown *array, size_t index) {
    size_t chunk = find_chunk(array, &index);
    return &array->chunks.v[chunk]->items[index];
}

/* Gives the second half of a full chunk to a new one behind it. */
static void split_chunk(struct api__doc *d, struct api__grown *array, size_t at) {
    struct api__chunk *full = array->chunks.v[at], *half = new_chunk(d);
    half->n = API__CHUNK_ITEMS / 2;
    full->n -= half->n;
    memcpy(half->items, full->items + full->n, half->n * sizeof *half->items);
    vec_reserve(&array->chunks, 1);
    memmove(array->chunks.v + at + 2, array->chunks.v + at + 1,
            (array->chunks.n - at - 1) * sizeof(struct api__chunk *));
    array->chunks.v[at + 1] = half;
    array->chunks.n++;
}

void api__item_insert(struct api__doc *d, struct api__grown *array, size_t index,
                      struct api__node item) {
    if (!array->chunks.n)
        vec_push(&array->chunks, new_chunk(d));
    size_t at = find_chunk(array, &index);
    if (array->chunks.v[at]->n == API__CHUNK_ITEMS) {
        split_chunk(d, array, at);
        if (index > API__CHUNK_ITEMS / 2) {
            index -= API__CHUNK_ITEMS / 2;
            at++;
        }
    }
    struct api__chunk *chunk = array->chunks.v[at];
    memmove(chunk->items + index + 1, chunk->items + index,
            (chunk->n++ - index) * sizeof *chunk->items);
    chunk->items[index] = item;
    array->n++;
}

void api__item_remove(struct api__grown *array, size_t index) {
    size_t at = find_chunk(array, &index);
    struct api__chunk *chunk = array->chunks.v[at];
    memmove(chunk->items + index, chunk->items + index + 1,
            (--chunk->n - index) * sizeof *chunk->items);
    array->n--;
    if (chunk->n)
        return;
    memmove(array->chunks.v + at, array->chunks.v + at + 1,
            (--array->chunks.n - at) * sizeof(struct api__chunk *));
}

/* ---- back to a tree ---- */

static bool write_tree(struct api__doc *d, const struct api__node *node, uint32_t depth,
                       struct json *out);

static bool write_array(struct api__doc *d, const struct api__grown *g, uint32_t depth,
                        struct json *out) {
    *out = (struct json){.kind = JSON_ARRAY, .n = (uint32_t)g->n};
    out->items = arena_alloc(d->p->a, g->n * sizeof *out->items);
    struct json *to = out->items;
    for (size_t i = 0; i < g->chunks.n; i++)
        for (size_t k = 0; k < g->chunks.v[i]->n; k++)
            if (!write_tree(d, &g->chunks.v[i]->items[k], depth, to++))
                return false;
    return true;
}

static bool write_object(struct api__doc *d, const struct api__grown *g, uint32_t depth,
                         struct json *out) {
    *out = (struct json){.kind = JSON_OBJECT, .n = (uint32_t)g->members.live};
    out->members = arena_alloc(d->p->a, out->n * sizeof *out->members);
    struct json_member *to = out->members;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&g->members, &at)); to++) {
        to->key = e->key;
        if (!write_tree(d, e->value, depth, &to->value))
            return false;
    }
    api__object_sort(out);
    return true;
}

/* Trees that nobody has gone through are as deep as the parser allows. */
static bool write_tree(struct api__doc *d, const struct api__node *node, uint32_t depth,
                       struct json *out) {
    *out = node->value;
    if (!node->grown)
        return true;
    if (depth >= LIMIT_JSON_DEPTH)
        return false;
    return node->value.kind == JSON_ARRAY ? write_array(d, node->grown, depth + 1, out)
                                          : write_object(d, node->grown, depth + 1, out);
}

bool api__node_tree(struct api__doc *d, const struct api__node *node, struct json *out) {
    return write_tree(d, node, 0, out);
}

/* ---- comparing ---- */

static bool equal_scalars(const struct json *a, const struct json *b) {
    if (a->kind != b->kind)
        return false;
    return a->kind == JSON_STRING || a->kind == JSON_FLOAT ? str_eq(json_str(a), json_str(b))
           : a->kind == JSON_BOOL                          ? a->b == b->b
           : a->kind == JSON_NULL                          ? true
                                                           : a->u == b->u;
}

static bool equal_arrays(struct api__doc *d, struct api__grown *g, const struct json *wanted,
                         bool *panics) {
    if (g->n != wanted->n)
        return false;
    const struct json *item = wanted->items;
    for (size_t i = 0; i < g->chunks.n; i++)
        for (size_t k = 0; k < g->chunks.v[i]->n; k++, item++) {
            struct api__node *node = &g->chunks.v[i]->items[k];
            bool was_null = node->value.kind == JSON_NULL && !node->value.b;
            *panics |= was_null || item->kind == JSON_NULL;
            if (*panics || !api__node_equals(d, node, item, panics))
                return false;
        }
    return true;
}

static bool equal_objects(struct api__doc *d, struct api__grown *g, const struct json *wanted,
                          bool *panics) {
    if (g->members.live != wanted->n)
        return false;
    for (uint32_t i = 0; i < wanted->n; i++) {
        const struct json_member *m = &wanted->members[i];
        struct api__node *node = map_get(&g->members, m->key);
        if (!node || !api__node_equals(d, node, &m->value, panics))
            return false;
        if (node->value.kind == JSON_NULL && node->value.b)
            return false;
    }
    return true;
}

/* The parser limits how deep `wanted` goes. */
bool api__node_equals(struct api__doc *d, struct api__node *node, const struct json *wanted,
                      bool *panics) {
    if (node->value.kind < JSON_ARRAY || node->value.kind != wanted->kind)
        return equal_scalars(&node->value, wanted);
    struct api__grown *g = api__node_grow(d, node);
    return wanted->kind == JSON_ARRAY ? equal_arrays(d, g, wanted, panics)
                                      : equal_objects(d, g, wanted, panics);
}
