/*
 * Deep copies of API structs, driven by the schema's rows: the bytes first, and then each member
 * that points to something gets its own.
 */
#include <string.h>

#include "api/object.h"
#include "base/alloc.h"

static void own_fields(struct arena *a, const struct api_type *type, char *body);

static void own_str(struct arena *a, struct str *s) {
    *s = arena_str(a, *s);
}

/* Lists and maps begin alike. An empty one stays one and does not become nil. */
struct any_list {
    char *v;
    size_t n;
};

static void own_array(struct arena *a, struct any_list *list, size_t size) {
    if (!list->v)
        return;
    char *copy = arena_alloc(a, size_mul(list->n, size));
    if (list->n)
        memcpy(copy, list->v, list->n * size);
    list->v = copy;
}

static void own_strs(struct arena *a, struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        own_str(a, &list->v[i]);
}

static void own_labels(struct arena *a, struct labels *map) {
    for (size_t i = 0; i < map->n; i++) {
        own_str(a, &map->v[i].key);
        own_str(a, &map->v[i].value);
    }
}

static void own_quantities(struct arena *a, struct api_quantities *map) {
    for (size_t i = 0; i < map->n; i++) {
        own_str(a, &map->v[i].key);
        map->v[i].value = quantity_copy(a, &map->v[i].value);
    }
}

static void own_str_lists(struct arena *a, struct api_str_lists *map) {
    for (size_t i = 0; i < map->n; i++) {
        own_str(a, &map->v[i].key);
        own_array(a, (struct any_list *)(void *)&map->v[i].value, sizeof(struct str));
        own_strs(a, &map->v[i].value);
    }
}

static void own_amounts(struct arena *a, struct api_amounts *list) {
    for (size_t i = 0; i < list->n; i++)
        list->v[i] = quantity_copy(a, &list->v[i]);
}

static void own_raws(struct arena *a, struct api_raws *list) {
    for (size_t i = 0; i < list->n; i++)
        list->v[i] = json_clone(a, &list->v[i]);
}

static void own_times(struct arena *a, struct api_times *map) {
    for (size_t i = 0; i < map->n; i++)
        own_str(a, &map->v[i].key);
}

static void own_list(struct arena *a, const struct api_type *type, struct any_list *list) {
    own_array(a, list, type->size);
    for (size_t i = 0; i < list->n; i++)
        own_fields(a, type, list->v + i * type->size);
}

static void own_map(struct arena *a, const struct api_type *type, struct any_list *map) {
    size_t size = sizeof(struct str) + type->size;
    own_array(a, map, size);
    for (size_t i = 0; i < map->n; i++) {
        char *entry = map->v + i * size;
        own_str(a, (struct str *)(void *)entry);
        own_fields(a, type, entry + sizeof(struct str));
    }
}

static void own_pointer(struct arena *a, const struct api_type *type, void **slot) {
    if (!*slot)
        return;
    *slot = arena_copy(a, *slot, type->size);
    own_fields(a, type, *slot);
}

static void own_quantity_pointer(struct arena *a, struct quantity **slot) {
    if (!*slot)
        return;
    struct quantity *copy = arena_new(a, struct quantity);
    *copy = quantity_copy(a, *slot);
    *slot = copy;
}

static void own_int_or_str_pointer(struct arena *a, struct api_int_or_str **slot) {
    if (!*slot)
        return;
    *slot = arena_copy(a, *slot, sizeof **slot);
    own_str(a, &(*slot)->s);
}

/* long: one case for each kind of field that points somewhere */
static void own_field(struct arena *a, const struct api_field *f, void *slot) {
    switch ((enum api_field_kind)f->kind) {
    case API_STR:
    case API_PSTR:
    case API_BYTES:
        own_str(a, slot);
        break;
    case API_QUANTITY:
        *(struct quantity *)slot = quantity_copy(a, slot);
        break;
    case API_PQUANTITY:
        own_quantity_pointer(a, slot);
        break;
    case API_INTSTR:
        own_str(a, &((struct api_int_or_str *)slot)->s);
        break;
    case API_PINTSTR:
        own_int_or_str_pointer(a, slot);
        break;
    case API_RAW:
    case API_PRAW:
        *(struct json *)slot = json_clone(a, slot);
        break;
    case API_LSTR:
        own_array(a, slot, sizeof(struct str));
        own_strs(a, slot);
        break;
    case API_LI32:
        own_array(a, slot, sizeof(int32_t));
        break;
    case API_LI64:
        own_array(a, slot, sizeof(int64_t));
        break;
    case API_LBOOL:
        own_array(a, slot, sizeof(bool));
        break;
    case API_LQUANTITY:
        own_array(a, slot, sizeof(struct quantity));
        own_amounts(a, slot);
        break;
    case API_LRAW:
        own_array(a, slot, sizeof(struct json));
        own_raws(a, slot);
        break;
    case API_MLSTR:
        own_array(a, slot, sizeof(struct api_str_list));
        own_str_lists(a, slot);
        break;
    case API_MSTR:
    case API_MBYTES:
        own_array(a, slot, sizeof(struct label));
        own_labels(a, slot);
        break;
    case API_MQUANTITY:
        own_array(a, slot, sizeof(struct api_quantity));
        own_quantities(a, slot);
        break;
    case API_MTIME:
        own_array(a, slot, sizeof(struct api_time_entry));
        own_times(a, slot);
        break;
    case API_OBJ:
    case API_INLINE:
        own_fields(a, f->type, slot);
        break;
    case API_PTR:
        own_pointer(a, f->type, slot);
        break;
    case API_LIST:
        own_list(a, f->type, slot);
        break;
    case API_MOBJ:
        own_map(a, f->type, slot);
        break;
    default: /* numbers, truths and times are what their bytes are */
        break;
    }
}

static void own_fields(struct arena *a, const struct api_type *type, char *body) {
    struct json **extra = (struct json **)(void *)body;
    if (*extra) {
        struct json *copy = arena_new(a, struct json);
        *copy = json_clone(a, *extra);
        *extra = copy;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        own_field(a, f, body + f->offset);
    }
}

void api_struct_copy(struct arena *a, const struct api_type *type, const void *from, void *to) {
    memcpy(to, from, type->size);
    own_fields(a, type, to);
}
