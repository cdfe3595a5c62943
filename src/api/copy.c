/*
 * Deep copies of API structs, driven by the schema's rows: the bytes first, and then each member
 * that points to something gets its own; or that of a likeness, a struct of the same type that
 * outlives the copy, where both have the same.
 *
 * Whether lists are the same is known when a copy was made of them, so a copy by a likeness takes
 * room on the way that it gives back. It is therefore made twice: in a scratch arena, and what it
 * has there for itself again in its own arena, which is as large as that.
 */
#include <string.h>

#include "api/object_int.h"
#include "base/alloc.h"

struct copier {
    struct arena *a;
    size_t shared;            /* bytes that are the likeness's */
    const struct arena *from; /* only what lies there is copied; NULL: all */
};

/* Is what is there somebody else's, who outlives the copy? */
static bool stays(const struct copier *c, const void *p) {
    return c->from && !arena_has(c->from, p);
}

/* Copies what one thing points to. `like` is what the likeness has in its place, or NULL. */
typedef void own_fn(struct copier *c, const struct api_type *type, void *at, const void *like);

static own_fn own_fields;

static void own_str(struct copier *c, struct str *s, const struct str *like) {
    if (stays(c, s->p))
        return;
    bool is_same = like && like->p && s->p && str_eq(*s, *like);
    c->shared += is_same ? s->n : 0;
    *s = is_same ? *like : arena_str(c->a, *s);
}

static void own_quantity(struct copier *c, struct quantity *q, const struct quantity *like) {
    if (!q->dec && stays(c, q->text.p))
        return;
    bool is_same = like && !q->dec && str_eq(q->text, like->text) &&
                   (q->text.p != NULL) == (like->text.p != NULL);
    if (!is_same)
        *q = quantity_copy(c->a, q);
    else
        q->text = like->text;
}

/* Is a copy, whose parts are owned, what the likeness has, pointers and all? Then it is given back;
 * it is the newest in the arena. */
static bool is_alike(struct copier *c, void *copy, const void *like, size_t n) {
    if (!like || memcmp(copy, like, n) != 0)
        return false;
    arena_take_back(c->a, copy);
    c->shared += n;
    return true;
}

/* ---- trees of JSON ---- */

/* Trees that are deeper are copied whole below this. Managed fields of a pod have ten levels. */
enum { DEEPEST_LIKENESS = 32 };

static void own_value(struct copier *c, struct json *v, const struct json *like, int depth);

static void own_items(struct copier *c, struct json *v, const struct json *like, int depth) {
    if (stays(c, v->items))
        return;
    size_t bytes = size_mul(v->n, sizeof *v->items);
    struct json *copy = arena_copy(c->a, v->items, bytes);
    for (uint32_t i = 0; i < v->n; i++)
        own_value(c, &copy[i], like && i < like->n ? &like->items[i] : NULL, depth + 1);
    struct json *twins = like && like->n == v->n ? like->items : NULL;
    v->items = is_alike(c, copy, twins, bytes) ? twins : copy;
}

static void own_members(struct copier *c, struct json *v, const struct json *like, int depth) {
    if (stays(c, v->members))
        return;
    size_t bytes = size_mul(v->n, sizeof *v->members);
    struct json_member *copy = arena_copy(c->a, v->members, bytes);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json_member *other = like && i < like->n ? &like->members[i] : NULL;
        own_str(c, &copy[i].key, other ? &other->key : NULL);
        own_value(c, &copy[i].value, other ? &other->value : NULL, depth + 1);
    }
    struct json_member *twins = like && like->n == v->n ? like->members : NULL;
    v->members = is_alike(c, copy, twins, bytes) ? twins : copy;
}

/* A value that has no others below it. */
static void own_leaf(struct copier *c, struct json *v, const struct json *like) {
    bool is_text = v->kind == JSON_STRING || v->kind == JSON_FLOAT;
    if (is_text && stays(c, v->s))
        return;
    if (like && json_same(v, like, &c->shared))
        *v = *like;
    else
        *v = json_clone(c->a, v);
}

/* Where both trees have the same at the same place, the copy has the likeness's. */
static void own_value(struct copier *c, struct json *v, const struct json *like, int depth) {
    const struct json *same = like && like->kind == v->kind ? like : NULL;
    if ((!same && !c->from) || depth > DEEPEST_LIKENESS)
        *v = json_clone(c->a, v);
    else if (v->kind == JSON_ARRAY && v->n)
        own_items(c, v, same, depth);
    else if (v->kind == JSON_OBJECT && v->n)
        own_members(c, v, same, depth);
    else
        own_leaf(c, v, same);
}

static void own_raw(struct copier *c, struct json *v, const struct json *like) {
    bool is_same = like && json_same(v, like, &c->shared);
    if (is_same)
        *v = *like;
    else
        own_value(c, v, like, 0);
}

/* ---- lists and maps, which begin alike ---- */

struct any_list {
    char *v;
    size_t n;
};

/* What an element of a list, or behind a pointer, is made of. */
struct element {
    size_t size;
    own_fn *own; /* NULL: it is what its bytes are */
    const struct api_type *type;
};

/* An empty list stays one and does not become nil. */
static void own_list(struct copier *c, struct element e, struct any_list *list,
                     const struct any_list *like) {
    if (!list->v || stays(c, list->v)) /* a map's value may be absent */
        return;
    size_t bytes = size_mul(list->n, e.size);
    char *copy = arena_alloc(c->a, bytes);
    if (bytes)
        memcpy(copy, list->v, bytes);
    for (size_t i = 0; e.own && i < list->n; i++)
        e.own(c, e.type, copy + i * e.size, like && i < like->n ? like->v + i * e.size : NULL);
    bool is_as_long = like && like->v && like->n == list->n;
    list->v = is_alike(c, copy, is_as_long ? like->v : NULL, bytes) ? like->v : copy;
}

static void own_text(struct copier *c, const struct api_type *type, void *at, const void *like) {
    (void)type;
    own_str(c, at, like);
}

static void own_amount(struct copier *c, const struct api_type *type, void *at, const void *like) {
    (void)type;
    own_quantity(c, at, like);
}

static void own_tree(struct copier *c, const struct api_type *type, void *at, const void *like) {
    (void)type;
    own_raw(c, at, like);
}

/* Every entry of a map starts with its key; the value stands behind it. */
static const void *value_like(const void *entry) {
    return entry ? (const char *)entry + sizeof(struct str) : NULL;
}

static void own_label(struct copier *c, const struct api_type *type, void *at, const void *like) {
    struct label *entry = at;
    (void)type;
    own_str(c, &entry->key, like);
    own_str(c, &entry->value, value_like(like));
}

static void own_named_amount(struct copier *c, const struct api_type *type, void *at,
                             const void *like) {
    struct api_quantity *entry = at;
    (void)type;
    own_str(c, &entry->key, like);
    own_quantity(c, &entry->value, value_like(like));
}

static void own_named_texts(struct copier *c, const struct api_type *type, void *at,
                            const void *like) {
    struct api_str_list *entry = at;
    (void)type;
    own_str(c, &entry->key, like);
    own_list(c, (struct element){sizeof(struct str), own_text, NULL}, (void *)&entry->value,
             value_like(like));
}

static void own_named_struct(struct copier *c, const struct api_type *type, void *at,
                             const void *like) {
    own_str(c, at, like);
    own_fields(c, type, (char *)at + sizeof(struct str), value_like(like));
}

/* ---- pointers ---- */

static void own_pointer(struct copier *c, struct element e, void **slot, void *const *like) {
    if (stays(c, *slot))
        return;
    const void *target = like ? *like : NULL;
    void *copy = arena_copy(c->a, *slot, e.size);
    e.own(c, e.type, copy, target);
    *slot = is_alike(c, copy, target, e.size) ? *like : copy;
}

static void own_int_or_str(struct copier *c, const struct api_type *type, void *at,
                           const void *like) {
    const struct api_int_or_str *other = like;
    (void)type;
    own_str(c, &((struct api_int_or_str *)at)->s, other ? &other->s : NULL);
}

/* ---- fields ---- */

enum form {
    PLAIN, /* numbers, truths and times are what their bytes are */
    PART,  /* it lies in the struct */
    POINTER,
    LIST, /* or a map */
};

static const struct how {
    own_fn *own;    /* what is there, or one element */
    uint8_t form;   /* enum form */
    uint16_t fixed; /* bytes of an element, beside the type of the field's rows */
} hows[API_FIELD_KINDS] = {
    [API_STR] = {own_text, PART, 0},
    [API_PSTR] = {own_text, PART, 0},
    [API_BYTES] = {own_text, PART, 0},
    [API_QUANTITY] = {own_amount, PART, 0},
    [API_INTSTR] = {own_int_or_str, PART, 0},
    [API_RAW] = {own_tree, PART, 0},
    [API_PRAW] = {own_tree, PART, 0},
    [API_OBJ] = {own_fields, PART, 0},
    [API_INLINE] = {own_fields, PART, 0},
    [API_PTR] = {own_fields, POINTER, 0},
    [API_PQUANTITY] = {own_amount, POINTER, sizeof(struct quantity)},
    [API_PINTSTR] = {own_int_or_str, POINTER, sizeof(struct api_int_or_str)},
    [API_LIST] = {own_fields, LIST, 0},
    [API_LSTR] = {own_text, LIST, sizeof(struct str)},
    [API_LI32] = {NULL, LIST, sizeof(int32_t)},
    [API_LI64] = {NULL, LIST, sizeof(int64_t)},
    [API_LBOOL] = {NULL, LIST, sizeof(bool)},
    [API_LQUANTITY] = {own_amount, LIST, sizeof(struct quantity)},
    [API_LRAW] = {own_tree, LIST, sizeof(struct json)},
    [API_MSTR] = {own_label, LIST, sizeof(struct label)},
    [API_MBYTES] = {own_label, LIST, sizeof(struct label)},
    [API_MLSTR] = {own_named_texts, LIST, sizeof(struct api_str_list)},
    [API_MQUANTITY] = {own_named_amount, LIST, sizeof(struct api_quantity)},
    [API_MTIME] = {own_text, LIST, sizeof(struct api_time_entry)},
    [API_MOBJ] = {own_named_struct, LIST, sizeof(struct str)},
};

static void own_field(struct copier *c, const struct api_field *f, void *slot, const void *like) {
    const struct how *how = &hows[f->kind];
    struct element e = {how->fixed + (f->type ? f->type->size : 0), how->own, f->type};
    switch ((enum form)how->form) {
    case PLAIN:
        break;
    case PART:
        e.own(c, e.type, slot, like);
        break;
    case POINTER:
        own_pointer(c, e, slot, like);
        break;
    case LIST:
        own_list(c, e, slot, like);
        break;
    }
}

static void own_fields(struct copier *c, const struct api_type *type, void *at, const void *like) {
    struct json **extra = at;
    if (*extra) {
        struct json *copy = arena_new(c->a, struct json);
        *copy = json_clone(c->a, *extra);
        *extra = copy;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        void *slot = (char *)at + f->offset;
        if (!api_field_is_absent(f, slot))
            own_field(c, f, slot, like ? (const char *)like + f->offset : NULL);
    }
}

void api_struct_copy(struct arena *a, const struct api_type *type, const void *from, void *to) {
    struct copier c = {.a = a};
    memcpy(to, from, type->size);
    own_fields(&c, type, to, NULL);
}

size_t api__struct_copy_like(struct arena *a, const struct api_type *type, const void *from,
                             const void *like, void *to) {
    struct copier c = {.a = a};
    memcpy(to, from, type->size);
    own_fields(&c, type, to, like);
    return c.shared;
}

void api__struct_copy_own(struct arena *a, const struct api_type *type, const struct arena *own,
                          const void *from, void *to) {
    struct copier c = {.a = a, .from = own};
    memcpy(to, from, type->size);
    own_fields(&c, type, to, NULL);
}
