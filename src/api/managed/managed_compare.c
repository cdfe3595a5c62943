/*
 * What differs between two objects, as a trie of paths.
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 typed, func (TypedValue) Compare,
 * func (*compareWalker) compare, func (*compareWalker) doLeaf, func (*compareWalker)
 * visitListItems.
 */
#include <stdlib.h>

#include "api/managed/managed_int.h"
#include "base/map.h"

struct comparer {
    struct arena *a;
    api__path_nodes stack; /* of the sets that are being made */
    uint64_t seed;         /* of maps; 0: none was needed yet */
};

/* Two values of one shape; an absent one is NULL, but not both are. */
struct pair {
    const struct json *before, *after;
};

static int compare(struct comparer *c, const struct api__shape_of *shape, struct pair p,
                   struct api__path_node *node);

/* What becomes of a value without parts. */
static uint32_t judge(struct pair p) {
    return !p.before                             ? API__CHANGED
           : !p.after                            ? API__REMOVED
           : api__value_equal(p.before, p.after) ? 0
                                                 : API__CHANGED;
}

/* Compares a part and notes it if it differs. */
static int compare_part(struct comparer *c, const struct api__shape_of *shape,
                        struct api__step step, struct pair p) {
    struct api__path_node node = {.step = step};
    if (compare(c, shape, p, &node) < 0)
        return -1;
    if (node.flags || node.children)
        vec_push(&c->stack, node);
    return 0;
}

/* ---- maps ---- */

static int compare_member(struct comparer *c, const struct api__shape_of *shape, struct str key,
                          struct pair p) {
    struct api__shape_of member;
    struct api__step step = {API__STEP_FIELD, json_of_str(key)};
    return api__shape_of_member(shape, key, &member) ? compare_part(c, &member, step, p) : 0;
}

/* Members in no common order: by a map. */
static int compare_scattered(struct comparer *c, const struct api__shape_of *shape,
                             struct json before, struct json after) {
    c->seed = c->seed ? c->seed : map_random_seed();
    AUTO(map_release) struct map rest = MAP_INIT(c->seed);
    for (uint32_t i = 0; i < after.n; i++)
        map_put(&rest, after.members[i].key, &after.members[i].value);
    for (uint32_t i = 0; i < before.n; i++) {
        struct str key = before.members[i].key;
        const struct json *other = map_del(&rest, key);
        if (compare_member(c, shape, key, (struct pair){&before.members[i].value, other}) < 0)
            return -1;
    }
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&rest, &at));)
        if (compare_member(c, shape, e->key, (struct pair){NULL, e->value}) < 0)
            return -1;
    return 0;
}

enum { FEW_MEMBERS = 16 };

/* Few members that are left are looked for one by one. */
static int compare_few(struct comparer *c, const struct api__shape_of *shape, struct json before,
                       struct json after) {
    for (uint32_t i = 0; i < before.n; i++) {
        struct str key = before.members[i].key;
        if (compare_member(c, shape, key,
                           (struct pair){&before.members[i].value, json_get(&after, key)}) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < after.n; i++) {
        struct str key = after.members[i].key;
        if (!json_get(&before, key) &&
            compare_member(c, shape, key, (struct pair){NULL, &after.members[i].value}) < 0)
            return -1;
    }
    return 0;
}

static struct json rest_of(struct json object, uint32_t from) {
    object.n -= from;
    object.members = object.n ? object.members + from : NULL;
    return object;
}

/* Both sides are mostly written in the same order. */
static int compare_maps(struct comparer *c, const struct api__shape_of *shape,
                        const struct json *before, const struct json *after) {
    static const struct json empty = {.kind = JSON_OBJECT};
    struct json l = before && before->kind == JSON_OBJECT ? *before : empty,
                r = after && after->kind == JSON_OBJECT ? *after : empty;
    uint32_t i = 0;
    for (; i < l.n && i < r.n && str_eq(l.members[i].key, r.members[i].key); i++) {
        struct pair p = {&l.members[i].value, &r.members[i].value};
        if (compare_member(c, shape, l.members[i].key, p) < 0)
            return -1;
    }
    l = rest_of(l, i);
    r = rest_of(r, i);
    return l.n <= FEW_MEMBERS && r.n <= FEW_MEMBERS ? compare_few(c, shape, l, r)
                                                    : compare_scattered(c, shape, l, r);
}

/* ---- lists ---- */

struct item {
    struct api__step step;
    const struct json *value;
    bool is_new;
};

static int by_step(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int order = api__step_compare(&x->step, &y->step);
    if (order || x->is_new != y->is_new)
        return order ? order : x->is_new - y->is_new;
    return (x->value > y->value) - (x->value < y->value); /* items lie in their order */
}

static int read_items(struct comparer *c, const struct api__shape_of *list, const struct json *v,
                      bool is_new, struct item **to) {
    struct str wrong;
    for (uint32_t i = 0; v && v->kind == JSON_ARRAY && i < v->n; i++) {
        struct item *item = (*to)++;
        *item = (struct item){.value = &v->items[i], .is_new = is_new};
        if (api__step_of_item(c->a, list, item->value, &item->step, &wrong) < 0)
            return -1;
    }
    return 0;
}

static bool same_items(const struct item *before, size_t olds, const struct item *after,
                       size_t news) {
    if (olds != news)
        return false;
    for (size_t i = 0; i < olds; i++)
        if (!api__value_equal(before[i].value, after[i].value))
            return false;
    return true;
}

/* Items that have the same key. Such as are there more than once are taken as a whole. */
static int compare_group(struct comparer *c, const struct api__shape_of *shape,
                         const struct item *group, size_t olds, size_t news) {
    const struct item *after = group + olds;
    struct pair p = {olds == 1 ? group->value : NULL, news == 1 ? after->value : NULL};
    if (olds <= 1 && news <= 1)
        return compare_part(c, shape, group->step, p);
    uint32_t flags = olds < 2                               ? API__CHANGED
                     : news < 2                             ? API__REMOVED
                     : same_items(group, olds, after, news) ? 0
                                                            : API__CHANGED;
    if (flags)
        vec_push(&c->stack, (struct api__path_node){.step = group->step, .flags = flags});
    return p.before || p.after ? compare_part(c, shape, group->step, p) : 0;
}

static int compare_items(struct comparer *c, const struct api__shape_of *list,
                         const struct json *before, const struct json *after) {
    size_t n = (api__is_vacant(before) ? 0 : before->n) + (api__is_vacant(after) ? 0 : after->n);
    struct item *items = arena_array(c->a, struct item, n), *end = items;
    struct api__shape_of shape = api__shape_of_item(list);
    if (read_items(c, list, before, false, &end) < 0 || read_items(c, list, after, true, &end) < 0)
        return -1;
    qsort(items, n, sizeof *items, by_step);
    for (size_t i = 0; i < n;) {
        size_t counts[2] = {0, 0}, from = i;
        while (i < n && api__step_compare(&items[i].step, &items[from].step) == 0)
            counts[items[i++].is_new]++;
        if (compare_group(c, &shape, items + from, counts[0], counts[1]) < 0)
            return -1;
    }
    return 0;
}

static int compare_lists(struct comparer *c, const struct api__shape_of *list,
                         const struct json *before, const struct json *after) {
    bool are_equal = before && after && api__value_equal(before, after);
    return are_equal ? 0 : compare_items(c, list, before, after);
}

/* ---- values ---- */

/* A value of one form: its parts, and whether it came or went as a whole. */
static int compare_as(struct comparer *c, const struct api__shape_of *shape, enum api__form form,
                      struct pair p, struct api__path_node *node) {
    bool has_parts =
        !api__is_whole(shape, form) && (!api__is_vacant(p.before) || !api__is_vacant(p.after));
    size_t from = c->stack.n;
    if (!has_parts) {
        node->flags |= judge(p);
        return 0;
    }
    int rc = form == API__MAP ? compare_maps(c, shape, p.before, p.after)
                              : compare_lists(c, shape, p.before, p.after);
    if (rc < 0)
        return -1;
    const struct api__path_set *parts = api__set_make(c->a, &c->stack, from);
    node->children = api__set_combine(c->a, API__UNION, node->children, parts);
    node->flags |= !p.before ? API__CHANGED : !p.after ? API__REMOVED : 0;
    return 0;
}

/* Values of any form that have different ones are compared as both. The parser limits the depth. */
static int compare(struct comparer *c, const struct api__shape_of *shape, struct pair p,
                   struct api__path_node *node) {
    if (shape->form != API__ANY)
        return compare_as(c, shape, shape->form, p, node);
    enum api__form l = api__form_of(shape, p.before ? p.before : p.after),
                   r = api__form_of(shape, p.after ? p.after : p.before);
    if (l != r && compare_as(c, shape, l, p, node) < 0)
        return -1;
    return compare_as(c, shape, r, p, node);
}

int api__compare(struct arena *a, const struct api_type *type, const struct json *before,
                 const struct json *after, const struct api__path_set **out) {
    struct comparer c = {.a = a};
    struct api__shape_of shape = api__shape_of_type(type);
    struct api__path_node root = {0};
    int rc = compare(&c, &shape, (struct pair){before, after}, &root);
    vec_release(&c.stack);
    *out = root.children;
    return rc;
}
