/*
 * Trees: looking into them, building, copying and comparing. Work that goes down a tree keeps its
 * own list of what is left to do, so a deep tree costs memory and never the C stack.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "codec/json/json_int.h"

const struct json *json_get(const struct json *v, struct str key) {
    if (!v || v->kind != JSON_OBJECT)
        return NULL;
    for (size_t i = v->n; i-- > 0;) {
        if (str_eq(v->members[i].key, key))
            return &v->members[i].value;
    }
    return NULL;
}

/* --- building --- */

struct json json_of_str(struct str s) {
    if (s.n > UINT32_MAX)
        BUG("string of more than 4 GiB");
    return (struct json){.kind = JSON_STRING, .n = (uint32_t)s.n, .s = s.p ? s.p : ""};
}

struct json json_of_i64(int64_t i) {
    return (struct json){.kind = JSON_INT, .i = i};
}

struct json json_of_u64(uint64_t u) {
    if (u <= INT64_MAX)
        return json_of_i64((int64_t)u);
    return (struct json){.kind = JSON_UINT, .u = u};
}

struct json json_of_bool(bool b) {
    return (struct json){.kind = JSON_BOOL, .b = b};
}

struct json json_of_double(struct arena *a, double d) {
    struct buf text = BUF_INIT(64);
    json_write_double(&text, d);
    struct str literal = arena_str(a, buf_view(&text));
    buf_release(&text);
    return (struct json){.kind = JSON_FLOAT, .n = (uint32_t)literal.n, .s = literal.p};
}

/* An array of n elements has room for the next power of two, 4 at least: full ones move. */
static void *make_room(struct arena *a, void *old, uint32_t n, size_t size) {
    bool full = n == 0 || (n >= 4 && (n & (n - 1)) == 0);
    if (!full)
        return old;
    if (n > UINT32_MAX / 2)
        BUG("container of more than 4 Gi elements");
    char *bigger = arena_alloc(a, size_mul(n ? 2 * (size_t)n : 4, size));
    if (n)
        memcpy(bigger, old, n * size);
    return bigger;
}

struct json *json_add(struct arena *a, struct json *object, struct str key, struct json value) {
    object->members = make_room(a, object->members, object->n, sizeof *object->members);
    struct json_member *m = &object->members[object->n++];
    *m = (struct json_member){key, value};
    return &m->value;
}

struct json *json_append(struct arena *a, struct json *array, struct json value) {
    array->items = make_room(a, array->items, array->n, sizeof *array->items);
    struct json *item = &array->items[array->n++];
    *item = value;
    return item;
}

/* --- copying --- */

typedef VEC(struct json *) todo_list;

/* An empty string stays one and does not become absent. */
static const char *clone_bytes(struct arena *a, const char *p, size_t n) {
    return n ? arena_copy(a, p, n) : "";
}

/* Copies what v holds by itself; containers are noted for later. */
static void clone_value(struct arena *a, struct json *v, todo_list *todo) {
    if (v->kind == JSON_STRING || v->kind == JSON_FLOAT)
        v->s = clone_bytes(a, v->s, v->n);
    else if (v->kind >= JSON_ARRAY && v->n)
        vec_push(todo, v);
    else if (v->kind >= JSON_ARRAY)
        v->items = NULL;
}

/* Gives v, still sharing its children with the original, children of its own. */
static void clone_children(struct arena *a, struct json *v, todo_list *todo) {
    if (v->kind == JSON_ARRAY) {
        v->items = arena_copy(a, v->items, size_mul(v->n, sizeof *v->items));
        for (uint32_t i = 0; i < v->n; i++)
            clone_value(a, &v->items[i], todo);
        return;
    }
    v->members = arena_copy(a, v->members, size_mul(v->n, sizeof *v->members));
    for (uint32_t i = 0; i < v->n; i++) {
        struct str *key = &v->members[i].key;
        key->p = clone_bytes(a, key->p, key->n);
        clone_value(a, &v->members[i].value, todo);
    }
}

struct json json_clone(struct arena *a, const struct json *v) {
    struct json out = *v;
    todo_list todo = {0};
    clone_value(a, &out, &todo);
    while (todo.n)
        clone_children(a, todo.v[--todo.n], &todo);
    vec_release(&todo);
    return out;
}

/* --- comparing --- */

struct pair {
    const struct json *a, *b;
};

typedef VEC(struct pair) pair_list;

/* By key; members with the same key keep their order. */
static int by_key(const void *a, const void *b) {
    const struct json_member *x = *(const struct json_member *const *)a,
                             *y = *(const struct json_member *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

static const struct json_member **sorted(const struct json *object) {
    const struct json_member **order = xmalloc(size_mul(object->n, sizeof *order));
    for (uint32_t i = 0; i < object->n; i++)
        order[i] = &object->members[i];
    qsort(order, object->n, sizeof *order, by_key);
    return order;
}

/* Notes the values of two objects in pairs; false when their keys differ. */
static bool pair_sorted(const struct json *a, const struct json *b, pair_list *todo) {
    const struct json_member **x = sorted(a), **y = sorted(b);
    uint32_t i = 0;
    for (; i < a->n && str_eq(x[i]->key, y[i]->key); i++)
        vec_push(todo, (struct pair){&x[i]->value, &y[i]->value});
    free(x);
    free(y);
    return i == a->n;
}

static bool pair_members(const struct json *a, const struct json *b, pair_list *todo) {
    size_t before = todo->n;
    for (uint32_t i = 0; i < a->n; i++) {
        if (!str_eq(a->members[i].key, b->members[i].key)) {
            todo->n = before;
            return pair_sorted(a, b, todo);
        }
        vec_push(todo, (struct pair){&a->members[i].value, &b->members[i].value});
    }
    return true;
}

/* Equal as far as can be seen without going down? Children are noted for later. */
static bool same_here(const struct json *a, const struct json *b, pair_list *todo) {
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case JSON_BOOL:
        return a->b == b->b;
    case JSON_INT:
    case JSON_UINT:
        return a->u == b->u;
    case JSON_FLOAT:
        return json_double(a) == json_double(b);
    case JSON_STRING:
        return str_eq(json_str(a), json_str(b));
    case JSON_ARRAY:
        for (uint32_t i = 0; a->n == b->n && i < a->n; i++)
            vec_push(todo, (struct pair){&a->items[i], &b->items[i]});
        return a->n == b->n;
    case JSON_OBJECT:
        return a->n == b->n && pair_members(a, b, todo);
    default:
        return true;
    }
}

bool json_equal(const struct json *a, const struct json *b) {
    pair_list todo = {0};
    bool same = same_here(a, b, &todo);
    while (same && todo.n) {
        struct pair next = todo.v[--todo.n];
        same = same_here(next.a, next.b, &todo);
    }
    vec_release(&todo);
    return same;
}

static bool same_keys(const struct json *a, const struct json *b, size_t *bytes) {
    for (uint32_t i = 0; i < a->n; i++) {
        if (!str_eq(a->members[i].key, b->members[i].key))
            return false;
        *bytes += a->members[i].key.n;
    }
    return true;
}

/* Twins as far as can be seen without going down? */
static bool twins_here(const struct json *a, const struct json *b, size_t *bytes) {
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case JSON_FLOAT:
    case JSON_STRING:
        *bytes += a->n;
        return str_eq(json_str(a), json_str(b));
    case JSON_ARRAY:
        *bytes += a->n * sizeof *a->items;
        return true;
    case JSON_OBJECT:
        *bytes += a->n * sizeof *a->members;
        return same_keys(a, b, bytes);
    case JSON_BOOL:
        return a->b == b->b;
    default:
        return a->kind == JSON_NULL || a->u == b->u;
    }
}

static void pair_children(const struct json *a, const struct json *b, pair_list *todo) {
    for (uint32_t i = 0; a->kind == JSON_ARRAY && i < a->n; i++)
        vec_push(todo, (struct pair){&a->items[i], &b->items[i]});
    for (uint32_t i = 0; a->kind == JSON_OBJECT && i < a->n; i++)
        vec_push(todo, (struct pair){&a->members[i].value, &b->members[i].value});
}

bool json_same(const struct json *a, const struct json *b, size_t *bytes) {
    pair_list todo = {0};
    size_t sum = 0;
    bool same = true;
    vec_push(&todo, (struct pair){a, b});
    while (same && todo.n) {
        struct pair at = todo.v[--todo.n];
        same = twins_here(at.a, at.b, &sum);
        if (same)
            pair_children(at.a, at.b, &todo);
    }
    vec_release(&todo);
    *bytes += same ? sum : 0;
    return same;
}
