/*
 * Strategic merge patches: lists that are merged by a key or as sets, and their order.
 *
 * Upstream looks for every item in the whole list; here items are found by a map from their values
 * to the first place.
 *
 * Follows k8s.io/apimachinery pkg/util/strategicpatch, func mergeSlice,
 * func mergeSliceWithSpecialElements, func mergeSliceWithoutSpecialElements,
 * func normalizeElementOrder, func mergeSortedSlice, func validatePatchWithSetOrderList,
 * func sliceElementType.
 */
#include "api/patch/strategic_int.h"
#include "base/limits.h"

static int not_a_map(struct api__patching *p, const struct json *v) {
    return api__patch_fail(p, ERR_UNTOLD, "expected a map[string]interface {}, but received a %s",
                           api__received(v));
}

static int no_merge_key(struct api__patching *p, const struct json *item, struct str key) {
    return api__patch_fail(p, ERR_UNTOLD, "map: %.*s does not contain declared merge key: %.*s",
                           STR_ARG(api__go_text(p->a, item, 'v')), STR_ARG(key));
}

/* ---- where values are ---- */

/* First places of the values of a list's items: of the items themselves, or of their merge key. */
struct places {
    struct api__patching *p;
    struct str key;           /* empty: the items themselves */
    struct map texts, others; /* first places */
    int64_t n;                /* items so far */
    int64_t bare;             /* the first item that is no object, or INT64_MAX */
    int64_t containers[2];    /* the first value that is an array, or an object */
};

static struct places places_init(struct api__patching *p, struct str key) {
    return (struct places){p, key,       MAP_INIT(p->seed),     MAP_INIT(p->seed),
                           0, INT64_MAX, {INT64_MAX, INT64_MAX}};
}

static void places_release(struct places *s) {
    map_release(&s->texts);
    map_release(&s->others);
}

/* The value by which an item is found; NULL: it has none. */
static const struct json *value_of(const struct json *item, struct str key) {
    return key.n ? json_get(item, key) : item;
}

/* A key for values that are no texts: their kind and their bytes. */
static struct str other_key(struct api__patching *p, const struct json *v) {
    double d = json_double(v);
    char *bytes = arena_calloc(p->a, 1, 9);
    bytes[0] = (char)('a' + (v->kind == JSON_UINT ? JSON_FLOAT : v->kind));
    if (v->kind == JSON_INT)
        memcpy(bytes + 1, &v->i, sizeof v->i);
    else if (v->kind == JSON_BOOL)
        bytes[1] = (char)v->b;
    else if (v->kind != JSON_NULL)
        memcpy(bytes + 1, &d, sizeof d);
    return (struct str){bytes, 9};
}

static void places_add(struct places *s, const struct json *item) {
    const struct json *value = value_of(item, s->key);
    int64_t at = s->n++;
    if (item->kind != JSON_OBJECT && at < s->bare)
        s->bare = at;
    if (!value)
        return;
    if (value->kind >= JSON_ARRAY) {
        int64_t *first = &s->containers[value->kind - JSON_ARRAY];
        *first = at < *first ? at : *first;
        return;
    }
    bool is_text = value->kind == JSON_STRING;
    struct map *map = is_text ? &s->texts : &s->others;
    struct str key = is_text ? json_str(value) : other_key(s->p, value);
    if (!map_get(map, key))
        map_put(map, key, (void *)(uintptr_t)(at + 1));
}

static struct places places_of(struct api__patching *p, const struct json *list, struct str key) {
    struct places s = places_init(p, key);
    for (uint32_t i = 0; i < list->n; i++)
        places_add(&s, &list->items[i]);
    return s;
}

/* The first place of a value, or -1. Go panics when it compares containers of the same type. */
static int find_place(const struct places *s, const struct json *value, int64_t *out) {
    *out = -1;
    if (value->kind >= JSON_ARRAY)
        return s->containers[value->kind - JSON_ARRAY] == INT64_MAX ? 0 : api__patch_panic(s->p);
    const void *found = value->kind == JSON_STRING ? map_get(&s->texts, json_str(value))
                                                   : map_get(&s->others, other_key(s->p, value));
    *out = (int64_t)(uintptr_t)found - 1;
    return 0;
}

/* The same in a list whose items must be objects, up to the one that is found. */
static int find_object(const struct places *s, const struct json *value, int64_t *out) {
    if (find_place(s, value, out) < 0)
        return -1;
    if (s->bare < (*out < 0 ? INT64_MAX : *out))
        return api__patch_fail(s->p, ERR_UNTOLD, "value for key %lld is not a map",
                               (long long)s->bare);
    return 0;
}

/* ---- types of items ---- */

static int mixed_types(struct api__patching *p, const struct json *a, const struct json *b) {
    return api__patch_fail(p, ERR_UNTOLD, "list element types are not identical: [%.*s %.*s]",
                           STR_ARG(api__go_text(p->a, a, 'v')),
                           STR_ARG(api__go_text(p->a, b, 'v')));
}

/* An item of both lists, which must all be of one type. */
static int item_of(struct api__patching *p, const struct json *a, const struct json *b,
                   const struct json **out) {
    *out = NULL;
    for (uint32_t i = 0; i < a->n + b->n; i++) {
        const struct json *item = i < a->n ? &a->items[i] : &b->items[i - a->n];
        if (!*out && item->kind == JSON_NULL)
            return api__patch_panic(p);
        if (!*out && item->kind == JSON_ARRAY)
            return api__patch_reject(p, "lists of lists are not supported");
        if (*out && !api__same_go_type(*out, item))
            return mixed_types(p, a, b);
        *out = item;
    }
    return *out ? 0 : api__patch_fail(p, ERR_UNTOLD, "no elements in any of the given slices");
}

/* ---- order ---- */

static int check_keys(struct api__patching *p, const struct json *list, struct str key) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].kind != JSON_OBJECT)
            return not_a_map(p, &list->items[i]);
        if (!json_get(&list->items[i], key))
            return no_merge_key(p, &list->items[i], key);
    }
    return 0;
}

static bool is_marked(const struct json *item, const char *directive) {
    const struct json *v = json_get(item, STR("$patch"));
    return v && v->kind == JSON_STRING && str_is(json_str(v), directive);
}

/* What an item has as its value where order is concerned: null if it has none. */
static const struct json *order_value(const struct json *item, struct str key, bool maps) {
    static const struct json null;
    const struct json *v = maps ? json_get(item, key) : item;
    return v ? v : &null;
}

struct sorter {
    struct api__patching *p;
    struct str key;
    bool maps; /* items are objects, and ordered by the key */
};

/* The places of a list by which others are ordered. */
static struct places ranks_of(const struct sorter *s, const struct json *order) {
    struct places ranks = places_init(s->p, (struct str){0});
    for (uint32_t i = 0; i < order->n; i++)
        places_add(&ranks, order_value(&order->items[i], s->key, s->maps));
    return ranks;
}

/* Sorts a list by another; items to delete go to the end. */
static int sort_by(const struct sorter *s, const struct json *order, struct json *list) {
    if (s->maps && (check_keys(s->p, list, s->key) < 0 || check_keys(s->p, order, s->key) < 0))
        return -1;
    struct json deleted = {.kind = JSON_ARRAY}, sorted = {.kind = JSON_ARRAY};
    struct api__ranked *ranked = arena_array(s->p->a, struct api__ranked, list->n);
    struct places ranks = ranks_of(s, order);
    size_t n = 0;
    int rc = 0;
    for (uint32_t i = 0; i < list->n && rc == 0; i++) {
        const struct json *item = &list->items[i];
        if (s->maps && is_marked(item, "delete")) {
            json_append(s->p->a, &deleted, *item);
            continue;
        }
        ranked[n].value = *item;
        rc = find_place(&ranks, order_value(item, s->key, s->maps), &ranked[n++].rank);
    }
    places_release(&ranks);
    api__sort_ranked(ranked, n);
    for (size_t i = 0; i < n; i++)
        json_append(s->p->a, &sorted, ranked[i].value);
    for (uint32_t i = 0; i < deleted.n; i++)
        json_append(s->p->a, &sorted, deleted.items[i]);
    *list = sorted;
    return rc;
}

/* Puts items of the left list, which are the server's own, before the first of the right one that
 * comes later in the server's order. */
static int interleave(const struct sorter *s, const struct json *left, const struct json *right,
                      const struct json *order, struct json *out) {
    struct places ranks = ranks_of(s, order);
    uint32_t i = 0, j = 0;
    int rc = 0;
    *out = (struct json){.kind = JSON_ARRAY};
    while (rc == 0 && (i < left->n || j < right->n)) {
        int64_t l = -1, r = -1;
        if (i < left->n && j < right->n) {
            rc = find_place(&ranks, order_value(&left->items[i], s->key, s->maps), &l);
            rc = rc < 0 ? rc
                        : find_place(&ranks, order_value(&right->items[j], s->key, s->maps), &r);
        }
        bool takes_left = j >= right->n || (i < left->n && l >= 0 && r >= 0 && l < r);
        json_append(s->p->a, out, takes_left ? left->items[i++] : right->items[j++]);
    }
    places_release(&ranks);
    return rc;
}

/* Is the item in the list that parts the patch's items from the server's? */
static int is_in(struct api__patching *p, const struct places *by, const struct json *item,
                 bool *out) {
    int64_t at = -1;
    if (!by->key.n) {
        *out = find_place(by, item, &at) == 0 && at >= 0;
        return item->kind >= JSON_ARRAY ? api__patch_panic(p) : 0;
    }
    if (item->kind != JSON_OBJECT)
        return not_a_map(p, item);
    const struct json *value = json_get(item, by->key);
    if (!value)
        return no_merge_key(p, item, by->key);
    if (find_object(by, value, &at) < 0)
        return -1;
    *out = at >= 0;
    return 0;
}

static int partition(struct api__patching *p, const struct json *list, const struct json *wanted,
                     struct str key, struct json parts[2]) {
    struct places by = places_of(p, wanted, key);
    bool is_hashable = by.containers[0] == INT64_MAX && by.containers[1] == INT64_MAX;
    int rc = key.n || is_hashable ? 0 : api__patch_panic(p);
    parts[0] = parts[1] = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < list->n && rc == 0; i++) {
        bool found = false;
        rc = is_in(p, &by, &list->items[i], &found);
        json_append(p->a, &parts[found], list->items[i]);
    }
    places_release(&by);
    return rc;
}

/* The list with the patch's items in the wanted order and the server's in theirs. `maps`: items
 * are objects. */
static int arrange(struct api__patching *p, const struct json *list, const struct json *wanted,
                   const struct json *server, const struct sorter *s, struct json *out) {
    struct json parts[2];
    if (partition(p, list, wanted, s->key, parts) < 0)
        return -1;
    if (sort_by(s, wanted, &parts[1]) < 0 || sort_by(s, server, &parts[0]) < 0)
        return -1;
    return interleave(s, &parts[0], &parts[1], server, out);
}

/* ---- merging ---- */

/* The items of both lists, each once. */
static void unite(struct api__patching *p, const struct json *a, const struct json *b,
                  struct json *out) {
    struct places seen = places_init(p, (struct str){0});
    *out = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < a->n + b->n; i++) {
        const struct json *item = i < a->n ? &a->items[i] : &b->items[i - a->n];
        int64_t at = -1;
        find_place(&seen, item, &at);
        if (at < 0)
            json_append(p->a, out, *item);
        places_add(&seen, item);
    }
    places_release(&seen);
}

/* The items of a list that are not in another one. */
static void subtract(struct api__patching *p, const struct json *list, const struct json *gone,
                     struct json *out) {
    struct places places = places_of(p, gone, (struct str){0});
    *out = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t at = -1;
        find_place(&places, &list->items[i], &at);
        if (at < 0)
            json_append(p->a, out, list->items[i]);
    }
    places_release(&places);
}

/* Items with a $patch: those to delete are noted, others say what becomes of the whole list. */
static int read_special(struct api__patching *p, const struct json *item, struct str key,
                        struct places *gone, bool *replaces) {
    const struct json *directive = json_get(item, STR("$patch"));
    if (is_marked(item, "delete")) {
        if (!json_get(item, key))
            return no_merge_key(p, item, key);
        places_add(gone, item);
        return 0;
    }
    *replaces |= is_marked(item, "replace");
    if (is_marked(item, "replace"))
        return 0;
    if (is_marked(item, "merge"))
        return api__patch_fail(p, ERR_UNTOLD, "merging lists cannot yet be specified in the patch");
    return api__patch_fail(p, ERR_UNTOLD, "unknown patch type: %.*s in map: %.*s",
                           STR_ARG(api__go_text(p->a, directive, 's')),
                           STR_ARG(api__go_text(p->a, item, 'v')));
}

/* A list of objects that is merged by a key. */
struct keyed {
    struct json stays; /* items of the original that are not deleted */
    struct json plain; /* items of the patch without a directive */
    bool replaces;
};

static int delete_items(struct api__patching *p, const struct json *original,
                        const struct places *gone, struct str key, struct json *out) {
    for (uint32_t i = 0; i < original->n; i++) {
        const struct json *value = json_get(&original->items[i], key);
        int64_t at = -1;
        if (value && find_place(gone, value, &at) < 0)
            return -1;
        if (at < 0)
            json_append(p->a, out, original->items[i]);
    }
    return 0;
}

static int obey_special(struct api__patching *p, const struct json *original,
                        const struct json *patch, struct str key, struct keyed *out) {
    struct places gone = places_init(p, key);
    int rc = 0;
    *out = (struct keyed){.stays = {.kind = JSON_ARRAY}, .plain = {.kind = JSON_ARRAY}};
    for (uint32_t i = 0; i < patch->n && rc == 0; i++) {
        if (json_get(&patch->items[i], STR("$patch")))
            rc = read_special(p, &patch->items[i], key, &gone, &out->replaces);
        else
            json_append(p->a, &out->plain, patch->items[i]);
    }
    if (rc == 0)
        rc = delete_items(p, original, &gone, key, &out->stays);
    places_release(&gone);
    return rc;
}

/* Merges items into those of the same key, or appends them. */
static int merge_plain(struct api__patching *p, const struct api__merge_field *field,
                       const struct keyed *lists, struct json *out) {
    struct places places = places_of(p, &lists->stays, field->key);
    int rc = 0;
    *out = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; i < lists->stays.n; i++)
        json_append(p->a, out, lists->stays.items[i]);
    for (uint32_t i = 0; i < lists->plain.n && rc == 0; i++) {
        struct json *item = &lists->plain.items[i];
        const struct json *value = json_get(item, field->key);
        int64_t at = -1;
        rc = value ? find_object(&places, value, &at) : no_merge_key(p, item, field->key);
        if (rc == 0 && at >= 0)
            rc = api__strategic_merge(p, field->shape, &out->items[at], item, &out->items[at]);
        else if (rc == 0) {
            json_append(p->a, out, *item);
            places_add(&places, item);
        }
    }
    places_release(&places);
    return rc;
}

/* Gives the patch its items back, which merging has used up. */
static void put_back(const struct keyed *lists, struct json *patch) {
    for (uint32_t i = 0, next = 0; i < patch->n; i++)
        if (!json_get(&patch->items[i], STR("$patch")))
            patch->items[i] = lists->plain.items[next++];
}

/* As much of the merged list as has room in the array of the original. */
static struct json first_items(const struct json *list, uint32_t n) {
    struct json out = *list;
    out.n = n < list->n ? n : list->n;
    return out;
}

static int merge_keyed(struct api__patching *p, const struct api__merge_field *field,
                       const struct json *original, struct json *patch, struct json *out,
                       struct json *order) {
    static const struct json nothing = {.kind = JSON_ARRAY};
    struct sorter s = {p, field->key, true};
    struct keyed lists;
    struct json merged;
    if (!field->key.n)
        return api__patch_fail(p, ERR_UNTOLD, "cannot merge lists without merge key for %s",
                               field->shape.kind);
    if (obey_special(p, original, patch, field->key, &lists) < 0)
        return -1;
    if (lists.replaces) {
        *order = lists.stays;
        return arrange(p, &lists.plain, &nothing, &lists.plain, &s, out);
    }
    if (merge_plain(p, field, &lists, &merged) < 0)
        return -1;
    put_back(&lists, patch);
    *order = first_items(&merged, original->n);
    struct json stays = first_items(&merged, lists.stays.n);
    return arrange(p, &merged, &lists.plain, &stays, &s, out);
}

int api__merge_lists(struct api__patching *p, const struct api__merge_field *field,
                     const struct json *original, struct json *patch, bool deletes,
                     struct json *out, struct json *order) {
    const struct json *item;
    struct json before = *original, merged;
    *order = before;
    if (!original->n && !patch->n) {
        *out = before;
        return 0;
    }
    if (item_of(p, original, patch, &item) < 0)
        return -1;
    if (item && item->kind == JSON_OBJECT)
        return merge_keyed(p, field, &before, patch, out, order);
    if (deletes) {
        subtract(p, &before, patch, out);
        return 0;
    }
    unite(p, &before, patch, &merged);
    return arrange(p, &merged, patch, &before, &(struct sorter){p, field->key, false}, out);
}

/* ---- $setElementOrder ---- */

/* Are two items the same, by their key if they have one? */
static int same_item(struct api__patching *p, const struct json *a, const struct json *b,
                     struct str key, bool *out) {
    struct json one = {.kind = JSON_ARRAY};
    json_append(p->a, &one, *b);
    if (key.n && a->kind != JSON_OBJECT)
        return not_a_map(p, a);
    if (key.n && b->kind != JSON_OBJECT)
        return not_a_map(p, b);
    const struct json *x = value_of(a, key), *y = value_of(b, key);
    if (!x || !y)
        return no_merge_key(p, x ? b : a, key);
    struct places places = places_of(p, &one, key);
    int64_t at = -1;
    int rc = find_place(&places, x, &at);
    places_release(&places);
    *out = at >= 0;
    return rc;
}

static int wrong_order(const struct api__ordering *o, struct api__patching *p) {
    return api__patch_fail(
        p, ERR_UNTOLD,
        "The order in patch list:\n%.*s\n doesn't match $setElementOrder list:\n%.*s\n",
        STR_ARG(api__go_text(p->a, o->patch, 'v')), STR_ARG(api__go_text(p->a, o->wanted, 'v')));
}

/* The items of the patch, but for those to delete, must be in the wanted order. */
static int check_order(struct api__patching *p, const struct api__ordering *o) {
    struct json left = {.kind = JSON_ARRAY};
    struct str key = o->field->key;
    uint32_t at = 0;
    if (!o->wanted->n || !o->patch || !o->patch->n)
        return 0;
    for (uint32_t i = 0; i < o->patch->n; i++) {
        if (key.n && o->patch->items[i].kind != JSON_OBJECT)
            return not_a_map(p, &o->patch->items[i]);
        if (!key.n || !is_marked(&o->patch->items[i], "delete"))
            json_append(p->a, &left, o->patch->items[i]);
    }
    for (uint32_t i = 0; at < left.n && i < o->wanted->n; i++) {
        bool same = false;
        while (at < left.n && json_get(&left.items[at], STR("$patch")))
            at++;
        if (at < left.n && same_item(p, &left.items[at], &o->wanted->items[i], key, &same) < 0)
            return -1;
        at += same;
    }
    return at < left.n ? wrong_order(o, p) : 0;
}

/* The merged list before it is put in order. */
static int merge_unordered(struct api__patching *p, const struct api__ordering *o,
                           struct json *merged, struct json *server) {
    static const struct json nothing = {.kind = JSON_ARRAY};
    *server = o->original ? *o->original : nothing;
    if (!o->patch)
        *merged = *o->original;
    else if (o->original && o->field->merges)
        return api__merge_lists(p, o->field, o->original, o->patch, false, merged, server);
    else {
        *merged = json_clone(p->a, o->patch);
        if (!o->original)
            api__strip_directives(merged);
    }
    return 0;
}

int api__merge_lists_in_order(struct api__patching *p, const struct api__ordering *o,
                              struct json *out) {
    static const struct json nothing = {.kind = JSON_ARRAY};
    struct json merged, server, parts[2];
    const struct json *item;
    struct str key = o->field->key;
    if (check_order(p, o) < 0)
        return -1;
    if (!o->original && !o->patch)
        return 0;
    if (merge_unordered(p, o, &merged, &server) < 0 ||
        partition(p, &merged, o->wanted, key, parts) < 0 ||
        item_of(p, &server, o->patch ? o->patch : &nothing, &item) < 0)
        return -1;
    struct sorter s = {p, key, item && item->kind == JSON_OBJECT};
    if (sort_by(&s, o->wanted, &parts[1]) < 0 || sort_by(&s, &server, &parts[0]) < 0)
        return -1;
    return interleave(&s, &parts[0], &parts[1], &server, out);
}
