/*
 * What an object loses on its way through a store of protobuf messages: lists and maps that are
 * empty come back as none. Only rows that are written though they are empty are looked at: of the
 * others nobody can tell.
 *
 * Follows k8s.io/apiserver pkg/storage/etcd3, func (*store) Create.
 */
#include "api/object.h"

/* Lists and maps begin alike. */
struct any_list {
    char *v;
    size_t n;
};

static bool is_embedded(const struct api_field *f) {
    return f->kind == API_OBJ || f->kind == API_INLINE;
}

static bool is_many(const struct api_field *f) {
    return f->kind == API_LIST || f->kind == API_MOBJ ||
           (f->kind >= API_LSTR && f->kind <= API_MTIME);
}

static void settle(const struct api_type *type, char *body);

/* The structs inside a field: one, those of a list, or those of a map, behind their keys. */
static void settle_inside(const struct api_field *f, char *slot) {
    const struct any_list *list = (const struct any_list *)(void *)slot;
    size_t key = f->kind == API_MOBJ ? sizeof(struct str) : 0;
    if (!api_shown_empty_rows[f->type->id])
        return;
    if (is_embedded(f))
        settle(f->type, slot);
    else if (!is_many(f) && list->v)
        settle(f->type, list->v);
    for (size_t i = 0; is_many(f) && i < list->n; i++)
        settle(f->type, list->v + i * (key + f->type->size) + key);
}

static void settle(const struct api_type *type, char *body) {
    for (uint64_t rows = api_shown_empty_rows[type->id]; rows; rows &= rows - 1) {
        const struct api_field *f = &type->fields[__builtin_ctzll(rows)];
        char *slot = body + f->offset;
        struct any_list *list = (struct any_list *)(void *)slot;
        if (is_many(f) && list->v && !list->n) /* what is shared with a stored object is absent */
            list->v = NULL;
        if (f->type)
            settle_inside(f, slot);
    }
}

void api_object_settle(struct api_object *o) {
    if (o->kind)
        settle(o->type, api_own_body(o));
}
