/*
 * What all patches need: failures, a copy of the patch that may be changed, and members by key.
 *
 * Follows sigs.k8s.io/json internal/golang/encoding/json, func (*decodeState) objectInterface,
 * func (*decodeState) saveStrictError.
 * Follows k8s.io/apimachinery pkg/api/errors, func NewGenericServerResponse.
 */
#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "api/object_int.h"
#include "api/patch/patch_int.h"
#include "base/goquote.h"
#include "base/limits.h"

struct api__patching api__patch_start(struct arena *a) {
    return (struct api__patching){.a = a, .seed = map_random_seed()};
}

/* ---- failures ---- */

static struct str cut_text(struct arena *a, const char *fmt, va_list args) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    buf_vaddf(&text, fmt, args);
    return text.full ? STR("the patch cannot be applied, and the text that says why is too long")
                     : arena_str(a, buf_view(&text));
}

int api__patch_fail(struct api__patching *p, enum err_code code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    struct str text = cut_text(p->a, fmt, args);
    va_end(args);
    p->failure = (struct api_patch_failure){code, text, text};
    return -1;
}

int api__patch_reject(struct api__patching *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    struct str text = cut_text(p->a, fmt, args);
    va_end(args);
    p->failure = (struct api_patch_failure){
        ERR_UNPROCESSABLE, STR("the server rejected our request due to an error in our request"),
        text};
    return -1;
}

int api__patch_panic(struct api__patching *p) {
    return api__patch_fail(p, ERR_UNTOLD,
                           "This request caused apiserver to panic. Look in the logs for details.");
}

/* ---- the patch as a copy without repeated keys ---- */

/* Where in the patch this is, innermost first. */
struct spot {
    const struct spot *up;
    struct str key;
    int64_t index; /* of an item, or -1 */
};

struct copier {
    struct api__patching *p;
    struct api_faults *faults; /* or NULL */
    struct map seen;           /* texts of faults */
    const char *prefix;        /* of their texts */
    bool duplicates;
};

static void add_spot(struct buf *b, const struct spot *at) {
    if (!at)
        return;
    add_spot(b, at->up);
    if (at->index >= 0) {
        buf_addf(b, "[%lld]", (long long)at->index);
        return;
    }
    buf_add(b, b->n ? STR(".") : STR(""));
    buf_add(b, at->key);
}

static void note(struct copier *c, enum api_fault_kind kind, const struct spot *at,
                 struct str key) {
    AUTO(buf_release) struct buf path = BUF_INIT(LIMIT_OBJECT_BYTES);
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    if (!c->faults || c->faults->n >= API_MOST_FAULTS)
        return;
    add_spot(&path, at);
    buf_add(&path, path.n ? STR(".") : STR(""));
    buf_add(&path, key);
    buf_addf(&text, "%s%s field ", c->prefix, kind == API_FAULT_UNKNOWN ? "unknown" : "duplicate");
    goquote_write(&text, buf_view(&path));
    struct str copy = arena_str(c->p->a, buf_view(&text));
    if (!map_put_const(&c->seen, copy, copy.p))
        api__fault_add(c->faults, kind, buf_view(&path), copy);
}

static struct json copy_value(struct copier *c, const struct spot *at, const struct json *v);

static struct json copy_array(struct copier *c, const struct spot *at, const struct json *v) {
    struct json out = *v;
    out.items = arena_copy(c->p->a, v->items, v->n * sizeof *v->items);
    struct spot here = {.up = at};
    for (uint32_t i = 0; i < v->n; i++) {
        here.index = i;
        out.items[i] = copy_value(c, &here, &v->items[i]);
    }
    return out;
}

/* A tree that was parsed without repeated keys has none. */
static struct json copy_object(struct copier *c, const struct spot *at, const struct json *v) {
    struct json out = {.kind = JSON_OBJECT};
    AUTO(map_release) struct map first = MAP_INIT(c->p->seed);
    struct spot here = {.up = at, .index = -1};
    out.members = arena_alloc(c->p->a, v->n * sizeof *v->members);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        struct json_member *slot = c->duplicates ? map_get(&first, m->key) : NULL;
        if (slot)
            note(c, API_FAULT_DUPLICATE, at, m->key);
        else
            slot = &out.members[out.n++];
        here.key = m->key;
        *slot = (struct json_member){m->key, copy_value(c, &here, &m->value)};
        if (c->duplicates)
            map_put(&first, m->key, slot);
    }
    return out;
}

/* The parser limits how deep this goes. */
static struct json copy_value(struct copier *c, const struct spot *at, const struct json *v) {
    return v->kind == JSON_ARRAY    ? copy_array(c, at, v)
           : v->kind == JSON_OBJECT ? copy_object(c, at, v)
                                    : *v;
}

/* Members of an operation beside these are unknown to upstream, and what is in them is not read. */
static bool is_op_member(struct str key) {
    return str_is(key, "op") || str_is(key, "path") || str_is(key, "from") || str_is(key, "value");
}

static struct json copy_op(struct copier *c, const struct spot *at, const struct json *v) {
    struct json known = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++) {
        if (is_op_member(v->members[i].key))
            json_add(c->p->a, &known, v->members[i].key, v->members[i].value);
        else
            note(c, API_FAULT_UNKNOWN, at, v->members[i].key);
    }
    return v->kind == JSON_OBJECT ? copy_object(c, at, &known) : *v;
}

static struct json copy_ops(struct copier *c, const struct json *v) {
    struct json out = *v;
    if (v->kind != JSON_ARRAY)
        return out;
    out.items = arena_copy(c->p->a, v->items, v->n * sizeof *v->items);
    for (uint32_t i = 0; i < v->n; i++)
        out.items[i] = copy_op(c, &(struct spot){.index = i}, &v->items[i]);
    return out;
}

struct json api__patch_own(struct api__patching *p, const struct api_patch_body *patch, bool ops) {
    struct copier c = {.p = p,
                       .faults = patch->faults,
                       .seen = MAP_INIT(p->seed),
                       .prefix = ops ? "json patch " : "",
                       .duplicates = patch->duplicates};
    struct json out = ops ? copy_ops(&c, patch->tree) : copy_value(&c, NULL, patch->tree);
    map_release(&c.seen);
    return out;
}

/* ---- members by key ---- */

struct map api__members_open(struct api__patching *p, const struct json *object) {
    struct map members = MAP_INIT(p->seed);
    if (object->kind != JSON_OBJECT || !object->n)
        return members;
    struct json *values = arena_alloc(p->a, object->n * sizeof *values);
    for (uint32_t i = 0; i < object->n; i++) {
        values[i] = object->members[i].value;
        map_put(&members, object->members[i].key, &values[i]);
    }
    return members;
}

void api__members_put(struct api__patching *p, struct map *members, struct str key,
                      struct json value) {
    struct json *slot = map_get(members, key);
    if (!slot) {
        slot = arena_alloc(p->a, sizeof *slot);
        map_put(members, key, slot);
    }
    *slot = value;
}

struct json api__members_close(struct api__patching *p, const struct map *members) {
    struct json out = {.kind = JSON_OBJECT};
    out.members = arena_alloc(p->a, members->live * sizeof *out.members);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(members, &at));)
        out.members[out.n++] = (struct json_member){e->key, *(const struct json *)e->value};
    return out;
}

void api__object_sort(struct json *object) {
    static_assert(offsetof(struct json_member, key) == 0, "members are compared as their keys");
    if (object->n > 1)
        qsort(object->members, object->n, sizeof *object->members, str_cmp_qsort);
}

void api__object_filter(struct json *object, bool (*drop)(const struct json_member *m)) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->n; i++)
        if (!drop(&object->members[i]))
            object->members[kept++] = object->members[i];
    object->n = kept;
}

/* ---- numbers ---- */

static bool settle_number(struct arena *a, struct json *v) {
    struct json text = json_of_double(a, json_double(v)), settled;
    if (json_parse(a, json_str(&text), NULL, &settled, NULL) < 0)
        settled = text;
    bool changes = settled.kind != v->kind || !str_eq(json_str(&settled), json_str(v));
    *v = settled;
    return changes;
}

static bool settle_items(struct arena *a, struct json *v) {
    struct json *own = NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        struct json item = v->items[i];
        if (!api__settle_numbers(a, &item))
            continue;
        if (!own)
            v->items = own = arena_copy(a, v->items, v->n * sizeof *own);
        own[i] = item;
    }
    return own != NULL;
}

static bool settle_members(struct arena *a, struct json *v) {
    struct json_member *own = NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        struct json value = v->members[i].value;
        if (!api__settle_numbers(a, &value))
            continue;
        if (!own)
            v->members = own = arena_copy(a, v->members, v->n * sizeof *own);
        own[i].value = value;
    }
    return own != NULL;
}

/* What is borrowed is not changed but copied, where numbers are. */
bool api__settle_numbers(struct arena *a, struct json *v) {
    return v->kind == JSON_OBJECT                          ? settle_members(a, v)
           : v->kind == JSON_ARRAY                         ? settle_items(a, v)
           : v->kind == JSON_UINT || v->kind == JSON_FLOAT ? settle_number(a, v)
                                                           : false;
}

/* ---- texts ---- */

const char *api__json_name(const struct json *v) {
    static const char *const names[] = {
        [JSON_NULL] = "null",   [JSON_BOOL] = "bool",    [JSON_INT] = "number",
        [JSON_UINT] = "number", [JSON_FLOAT] = "number", [JSON_STRING] = "string",
        [JSON_ARRAY] = "array", [JSON_OBJECT] = "object"};
    return names[v->kind];
}

struct str api_patch_text(struct arena *a, const struct api_patched *patched) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    if (patched->spent.kind == JSON_OBJECT)
        api__write_go(&text, &patched->spent, 'v');
    else
        json_write(&text, &patched->tree, NULL);
    return arena_str(a, buf_view(&text));
}
