/*
 * Sets of field paths, see managed_int.h, and their form in FieldsV1.
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 fieldpath, func (PathElement) Compare,
 * func (PathElement) String, func (*Set) Union, func (*Set) Intersection, func (*Set) Difference,
 * func (*Set) RecursiveDifference, func (*Set) ToJSON, func (*Set) FromJSON.
 * Follows sigs.k8s.io/structured-merge-diff/v6 value, func Compare, func ToString.
 */
#include <stdlib.h>

#include "api/go_text_int.h"
#include "api/managed/managed_int.h"
#include "base/goquote.h"
#include "base/limits.h"

/* ---- steps ---- */

/* Numbers, then texts, truths, lists, maps and nulls. */
static int rank(const struct json *v) {
    static const int ranks[] = {
        [JSON_INT] = 0,  [JSON_UINT] = 0,  [JSON_FLOAT] = 0,  [JSON_STRING] = 1,
        [JSON_BOOL] = 2, [JSON_ARRAY] = 3, [JSON_OBJECT] = 4, [JSON_NULL] = 5};
    return ranks[v->kind];
}

static int compare_numbers(const struct json *a, const struct json *b) {
    if (a->kind == JSON_INT && b->kind == JSON_INT)
        return (a->i > b->i) - (a->i < b->i);
    double x = json_double(a), y = json_double(b);
    return (x > y) - (x < y);
}

static int compare_values(const struct json *a, const struct json *b);

/* Values in paths are read from keys of FieldsV1, and the parser limits how deep they go. */
static int compare_items(const struct json *a, const struct json *b) {
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int order = compare_values(&a->items[i], &b->items[i]);
        if (order)
            return order;
    }
    return (a->n > b->n) - (a->n < b->n);
}

static int compare_members(const struct json *a, const struct json *b) {
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int order = str_cmp(a->members[i].key, b->members[i].key);
        order = order ? order : compare_values(&a->members[i].value, &b->members[i].value);
        if (order)
            return order;
    }
    return (a->n > b->n) - (a->n < b->n);
}

static int compare_values(const struct json *a, const struct json *b) {
    int x = rank(a), y = rank(b);
    if (x != y)
        return x - y;
    switch (a->kind) {
    case JSON_STRING:
        return str_cmp(json_str(a), json_str(b));
    case JSON_BOOL:
        return a->b - b->b;
    case JSON_ARRAY:
        return compare_items(a, b);
    case JSON_OBJECT:
        return compare_members(a, b);
    case JSON_NULL:
        return 0;
    default:
        return compare_numbers(a, b);
    }
}

int api__step_compare(const struct api__step *a, const struct api__step *b) {
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->kind == API__STEP_FIELD ? str_cmp(json_str(&a->value), json_str(&b->value))
                                      : compare_values(&a->value, &b->value);
}

/* Maps have no brackets around them. */
static void write_value(struct buf *out, const struct json *v) {
    if (v->kind == JSON_STRING)
        goquote_write(out, json_str(v));
    else if (v->kind == JSON_NULL)
        buf_add(out, STR("null"));
    else if (v->kind < JSON_ARRAY)
        api__write_go(out, v, 'v');
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++) {
        buf_addf(out, "%.*s=", STR_ARG(v->members[i].key));
        write_value(out, &v->members[i].value);
    }
    if (v->kind == JSON_ARRAY)
        buf_add_char(out, '[');
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        write_value(out, &v->items[i]);
    }
    if (v->kind == JSON_ARRAY)
        buf_add_char(out, ']');
}

void api__step_write(struct buf *out, const struct api__step *step) {
    const struct json *v = &step->value;
    if (step->kind == API__STEP_FIELD) {
        buf_addf(out, ".%.*s", STR_ARG(json_str(v)));
        return;
    }
    buf_add(out, step->kind == API__STEP_VALUE ? STR("[=") : STR("["));
    for (uint32_t i = 0; step->kind == API__STEP_KEY && i < v->n; i++) {
        buf_addf(out, "%s%.*s=", i ? "," : "", STR_ARG(v->members[i].key));
        write_value(out, &v->members[i].value);
    }
    if (step->kind != API__STEP_KEY)
        write_value(out, v);
    buf_add_char(out, ']');
}

/* ---- making sets ---- */

static int by_step(const void *a, const void *b) {
    const struct api__path_node *x = a, *y = b;
    return api__step_compare(&x->step, &y->step);
}

static struct api__path_set *new_set(struct arena *a, size_t n) {
    struct api__path_set *s = arena_alloc(a, sizeof *s + n * sizeof *s->v);
    s->n = 0;
    return s;
}

static bool is_nothing(const struct api__path_node *node) {
    return !node->flags && !node->children;
}

/* Makes one node of the equal ones at the head of a list, as the first that is something has it;
 * says how many they are. */
static size_t join_equal(struct arena *a, const struct api__path_node *v, size_t n,
                         struct api__path_node *out) {
    size_t count = 1;
    *out = v[0];
    if (n == 1 || by_step(&v[0], &v[1]) != 0)
        return 1;
    struct api__unions children = {0};
    api__unions_add(a, &children, v[0].children);
    for (; count < n && by_step(&v[0], &v[count]) == 0; count++) {
        if (is_nothing(out))
            out->step = v[count].step;
        out->flags |= v[count].flags;
        out->children = out->children ? out->children : v[count].children;
        api__unions_add(a, &children, v[count].children);
    }
    out->children = api__unions_end(a, &children);
    return count;
}

const struct api__path_set *api__set_make(struct arena *a, api__path_nodes *stack, size_t from) {
    size_t n = stack->n - from;
    bool is_sorted = true;
    if (!n)
        return NULL;
    struct api__path_node *v = stack->v + from;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = by_step(&v[i - 1], &v[i]) <= 0;
    if (!is_sorted)
        qsort(v, n, sizeof *v, by_step);
    struct api__path_set *s = new_set(a, n);
    for (size_t i = 0; i < n;) {
        i += join_equal(a, v + i, n - i, &s->v[s->n]);
        s->n += !is_nothing(&s->v[s->n]);
    }
    stack->n = from;
    return s->n ? s : NULL;
}

/* ---- operations ---- */

static uint32_t combine_flags(enum api__set_op op, uint32_t x, uint32_t y) {
    return op == API__UNION ? x | y : op == API__INTERSECTION ? x & y : y ? 0 : x;
}

/* Two nodes of the same step. */
static struct api__path_node combine_nodes(struct arena *a, enum api__set_op op,
                                           const struct api__path_node *x,
                                           const struct api__path_node *y) {
    struct api__path_node out = *x;
    out.flags = combine_flags(op, x->flags, y->flags);
    out.children = op == API__DEEP_DIFFERENCE && y->flags
                       ? NULL
                       : api__set_combine(a, op, x->children, y->children);
    return out;
}

/* The first node from a place on that is not before a step: in a time of O(log its distance). */
static uint32_t skip_to(const struct api__path_set *s, uint32_t from,
                        const struct api__step *step) {
    uint32_t low = from, width = 1;
    while (width <= s->n - low && api__step_compare(&s->v[low + width - 1].step, step) < 0) {
        low += width;
        width *= 2;
    }
    uint32_t high = width <= s->n - low ? low + width - 1 : s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (api__step_compare(&s->v[mid].step, step) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Goes on to the next node that two sets share; false if there is none. */
static bool find_shared(const struct api__path_set *x, const struct api__path_set *y, uint32_t *i,
                        uint32_t *j) {
    while (*i < x->n && *j < y->n) {
        int order = api__step_compare(&x->v[*i].step, &y->v[*j].step);
        if (order == 0)
            return true;
        if (order < 0)
            *i = skip_to(x, *i + 1, &y->v[*j].step);
        else
            *j = skip_to(y, *j + 1, &x->v[*i].step);
    }
    return false;
}

static void add_nodes(struct api__path_set *out, const struct api__path_set *s, uint32_t from,
                      uint32_t to) {
    memcpy(out->v + out->n, s->v + from, (to - from) * sizeof *s->v);
    out->n += to - from;
}

static const struct api__path_set *unite(struct arena *a, const struct api__path_set *x,
                                         const struct api__path_set *y) {
    struct api__path_set *out = new_set(a, (size_t)x->n + y->n);
    for (uint32_t i = 0, j = 0; i < x->n || j < y->n;) {
        int order = i >= x->n   ? 1
                    : j >= y->n ? -1
                                : api__step_compare(&x->v[i].step, &y->v[j].step);
        const struct api__path_node *l = order <= 0 ? &x->v[i++] : NULL,
                                    *r = order >= 0 ? &y->v[j++] : NULL;
        out->v[out->n++] = l && r ? combine_nodes(a, API__UNION, l, r) : *(l ? l : r);
    }
    return out;
}

static const struct api__path_set *intersect(struct arena *a, const struct api__path_set *x,
                                             const struct api__path_set *y) {
    struct api__path_set *out = NULL;
    for (uint32_t i = 0, j = 0; find_shared(x, y, &i, &j); i++, j++) {
        struct api__path_node node = combine_nodes(a, API__INTERSECTION, &x->v[i], &y->v[j]);
        if (is_nothing(&node))
            continue;
        if (!out)
            out = new_set(a, x->n - i < y->n - j ? x->n - i : y->n - j);
        out->v[out->n++] = node;
    }
    return out;
}

/* The set itself, if it loses nothing. */
static const struct api__path_set *subtract(struct arena *a, enum api__set_op op,
                                            const struct api__path_set *x,
                                            const struct api__path_set *y) {
    struct api__path_set *out = NULL;
    uint32_t done = 0; /* nodes of x that are in `out`, or gone */
    for (uint32_t i = 0, j = 0; find_shared(x, y, &i, &j); i++, j++) {
        struct api__path_node node = combine_nodes(a, op, &x->v[i], &y->v[j]);
        if (node.flags == x->v[i].flags && node.children == x->v[i].children)
            continue;
        out = out ? out : new_set(a, x->n);
        add_nodes(out, x, done, i);
        if (!is_nothing(&node))
            out->v[out->n++] = node;
        done = i + 1;
    }
    if (!out)
        return x;
    add_nodes(out, x, done, x->n);
    return out->n ? out : NULL;
}

/* Sets are as deep as FieldsV1 and objects can be, which the parser limits. */
const struct api__path_set *api__set_combine(struct arena *a, enum api__set_op op,
                                             const struct api__path_set *x,
                                             const struct api__path_set *y) {
    if (!y)
        return op == API__INTERSECTION ? NULL : x;
    if (!x)
        return op == API__UNION ? y : NULL;
    return op == API__UNION          ? unite(a, x, y)
           : op == API__INTERSECTION ? intersect(a, x, y)
                                     : subtract(a, op, x, y);
}

void api__unions_add(struct arena *a, struct api__unions *u, const struct api__path_set *s) {
    size_t i = 0;
    for (; s && u->v[i]; i++) {
        s = u->last_wins ? unite(a, s, u->v[i]) : unite(a, u->v[i], s);
        u->v[i] = NULL;
    }
    if (s)
        u->v[i] = s;
}

const struct api__path_set *api__unions_end(struct arena *a, struct api__unions *u) {
    const struct api__path_set *out = NULL;
    for (size_t i = 0; i < sizeof u->v / sizeof *u->v; i++)
        out = u->last_wins ? api__set_combine(a, API__UNION, out, u->v[i])
                           : api__set_combine(a, API__UNION, u->v[i], out);
    *u = (struct api__unions){.last_wins = u->last_wins};
    return out;
}

const struct api__path_set *api__set_extract(struct arena *a, const struct api__path_set *s,
                                             enum api__path_flags flag) {
    if (!s)
        return NULL;
    struct api__path_set *out = new_set(a, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        struct api__path_node node = s->v[i];
        node.flags = node.flags & flag ? API__MEMBER : 0;
        node.children = api__set_extract(a, node.children, flag);
        if (!is_nothing(&node))
            out->v[out->n++] = node;
    }
    return out->n ? out : NULL;
}

const struct api__path_node *api__set_find(const struct api__path_set *s,
                                           const struct api__step *step) {
    uint32_t low = 0, high = s ? s->n : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = api__step_compare(&s->v[mid].step, step);
        if (order == 0)
            return &s->v[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* One path as a set. */
static const struct api__path_set *set_of_path(struct arena *a, struct str path) {
    struct str head, rest;
    struct api__path_set *s = new_set(a, 1);
    bool leads_on = str_cut(path, '.', &head, &rest);
    s->v[s->n++] = (struct api__path_node){.step = {API__STEP_FIELD, json_of_str(head)},
                                           .flags = leads_on ? 0 : API__MEMBER,
                                           .children = leads_on ? set_of_path(a, rest) : NULL};
    return s;
}

const struct api__path_set *api__set_of_paths(struct arena *a, const char *paths) {
    const struct api__path_set *out = NULL;
    struct str rest = str_of(paths), path;
    while (rest.n) {
        str_cut(rest, ',', &path, &rest);
        out = api__set_combine(a, API__UNION, out, set_of_path(a, path));
    }
    return out;
}

/* ---- FieldsV1 ---- */

static int by_name(const void *a, const void *b) {
    const struct json_member *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

/* 1; 0: a kind of step that a later version may know; -1: it is none. */
static int read_step(struct arena *a, struct str key, struct api__step *out) {
    struct str rest = str_sub(key, 2, key.n);
    static const char letters[] = "fkvi";
    const char *letter = key.n < 2 || key.p[1] != ':' ? NULL : memchr(letters, key.p[0], 4);
    if (key.n < 2 || key.p[1] != ':')
        return -1;
    if (!letter)
        return 0;
    out->kind = (enum api__step_kind)(letter - letters);
    out->value = json_of_str(rest);
    if (out->kind == API__STEP_FIELD)
        return 1;
    if (json_parse(a, rest, NULL, &out->value, NULL) < 0)
        return -1;
    if (out->kind == API__STEP_KEY) {
        if (out->value.kind != JSON_OBJECT)
            return -1;
        qsort(out->value.members, out->value.n, sizeof *out->value.members, by_name);
    }
    return out->kind != API__STEP_INDEX || out->value.kind == JSON_INT ? 1 : -1;
}

static bool read_members(struct arena *a, api__path_nodes *stack, const struct json *fields,
                         bool *is_member, const struct api__path_set **out) {
    size_t from = stack->n;
    if (fields->kind != JSON_OBJECT && fields->kind != JSON_NULL)
        return false;
    for (uint32_t i = 0; fields->kind == JSON_OBJECT && i < fields->n; i++) {
        const struct json_member *m = &fields->members[i];
        struct api__path_node node = {0};
        if (str_is(m->key, ".")) {
            *is_member = true;
            continue;
        }
        int known = read_step(a, m->key, &node.step);
        bool child_is_member = false;
        if (known < 0)
            return false;
        if (known == 0)
            continue;
        if (!read_members(a, stack, &m->value, &child_is_member, &node.children))
            return false;
        node.flags = child_is_member || !node.children ? API__MEMBER : 0;
        vec_push(stack, node);
    }
    *out = api__set_make(a, stack, from);
    return true;
}

bool api__set_read(struct arena *a, const struct json *fields, const struct api__path_set **out) {
    api__path_nodes stack = {0};
    bool is_member = false;
    bool is_good = read_members(a, &stack, fields, &is_member, out);
    vec_release(&stack);
    return is_good;
}

static const struct json *find_field(const struct json *fields, struct str name) {
    for (uint32_t i = 0; i < fields->n; i++) {
        struct str key = fields->members[i].key;
        if (key.n == name.n + 2 && key.p[0] == 'f' && str_eq(str_sub(key, 2, key.n), name))
            return &fields->members[i].value;
    }
    return NULL;
}

/* Names that are worth comparing one by one. */
enum { MOST_PAIRS = 4096 };

/* Only names are compared; items of lists may be any, and so may be members of large maps. */
bool api__set_may_meet(const struct json *fields, const struct api__path_set *s) {
    if (s && (uint64_t)s->n * fields->n > MOST_PAIRS)
        return true;
    for (uint32_t i = 0; s && fields->kind == JSON_OBJECT && i < s->n; i++) {
        const struct api__path_node *node = &s->v[i];
        if (node->step.kind != API__STEP_FIELD)
            return true;
        const struct json *other = find_field(fields, json_str(&node->step.value));
        if (other && (node->flags || api__set_may_meet(other, node->children)))
            return true;
    }
    return false;
}

/* Field names are borrowed with their prefix put in front, others are written. */
static struct str write_step(struct arena *a, const struct api__step *step) {
    if (step->kind == API__STEP_FIELD) {
        char *text = arena_alloc(a, step->value.n + 2);
        memcpy(text, "f:", 2);
        memcpy(text + 2, step->value.s, step->value.n);
        return (struct str){text, step->value.n + 2};
    }
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    buf_add_char(&text, "fkvi"[step->kind]);
    buf_add_char(&text, ':');
    json_write(&text, &step->value, NULL);
    return arena_str(a, buf_view(&text));
}

static struct json write_node(struct arena *a, const struct api__path_node *node) {
    static const struct json nothing = {.kind = JSON_OBJECT};
    struct json children = api__set_write(a, node->children);
    if (!node->children || !node->flags)
        return children;
    struct json out = {.kind = JSON_OBJECT, .n = children.n + 1};
    out.members = arena_alloc(a, out.n * sizeof *out.members);
    out.members[0] = (struct json_member){STR("."), nothing};
    memcpy(out.members + 1, children.members, children.n * sizeof *children.members);
    return out;
}

struct json api__set_write(struct arena *a, const struct api__path_set *s) {
    struct json out = {.kind = JSON_OBJECT};
    if (!s)
        return out;
    out.n = s->n;
    out.members = arena_alloc(a, s->n * sizeof *out.members);
    for (uint32_t i = 0; i < s->n; i++)
        out.members[i] =
            (struct json_member){write_step(a, &s->v[i].step), write_node(a, &s->v[i])};
    return out;
}
