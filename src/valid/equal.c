/*
 * Equality of API structs as the API server's updates see it, walked along the schema's rows.
 *
 * Follows k8s.io/apimachinery pkg/api/equality, var Semantic.
 * Follows k8s.io/apimachinery third_party/forked/golang/reflect, func (Equalities) DeepEqual.
 */
#include <string.h>

#include "valid/valid_int.h"

static bool equal_fields(const struct api_type *type, const char *a, const char *b);

static bool equal_times(const struct api_time *a, const struct api_time *b) {
    return a->set == b->set && (!a->set || (a->sec == b->sec && a->nsec == b->nsec));
}

static bool equal_quantity_pointers(const struct quantity *a, const struct quantity *b) {
    return a && b ? quantity_cmp(a, b) == 0 : a == b;
}

static bool equal_int_or_str(const struct api_int_or_str *a, const struct api_int_or_str *b) {
    if (!a || !b)
        return a == b;
    return a->is_str == b->is_str && (a->is_str ? str_eq(a->s, b->s) : a->i == b->i);
}

static bool equal_strs(const struct api_strs *a, const struct api_strs *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return a->n == b->n;
}

static bool equal_quantities(const struct api_quantities *a, const struct api_quantities *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || quantity_cmp(&a->v[i].value, &b->v[i].value))
            return false;
    return a->n == b->n;
}

static bool equal_time_maps(const struct api_times *a, const struct api_times *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || !equal_times(&a->v[i].value, &b->v[i].value))
            return false;
    return a->n == b->n;
}

static bool equal_amounts(const struct api_amounts *a, const struct api_amounts *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (quantity_cmp(&a->v[i], &b->v[i]))
            return false;
    return a->n == b->n;
}

static bool equal_raws(const struct api_raws *a, const struct api_raws *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!json_equal(&a->v[i], &b->v[i]))
            return false;
    return a->n == b->n;
}

static bool equal_str_lists(const struct api_str_lists *a, const struct api_str_lists *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || !equal_strs(&a->v[i].value, &b->v[i].value))
            return false;
    return a->n == b->n;
}

/* Arrays of plain numbers: struct api_i32s, struct api_i64s. */
static bool equal_numbers(const struct api_i32s *a, const struct api_i32s *b, size_t size) {
    return a->n == b->n && (!a->n || memcmp(a->v, b->v, a->n * size) == 0);
}

/* Every list of structs looks like this one. */
struct any_list {
    const char *v;
    size_t n;
};

static bool equal_any_lists(const struct api_type *type, const struct any_list *a,
                            const struct any_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!equal_fields(type, a->v + i * type->size, b->v + i * type->size))
            return false;
    return true;
}

/* Entries of a map begin with their key. */
static bool equal_any_maps(const struct api_type *type, const struct any_list *a,
                           const struct any_list *b) {
    size_t size = sizeof(struct str) + type->size;
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const char *x = a->v + i * size, *y = b->v + i * size;
        if (!str_eq(*(const struct str *)(const void *)x, *(const struct str *)(const void *)y) ||
            !equal_fields(type, x + sizeof(struct str), y + sizeof(struct str)))
            return false;
    }
    return true;
}

static bool equal_pointers(const struct api_type *type, const void *a, const void *b) {
    return a && b ? equal_fields(type, a, b) : a == b;
}

#define BOTH(T) (const T *)(const void *)a, (const T *)(const void *)b
#define SAME(T) (*(const T *)(const void *)a == *(const T *)(const void *)b)
#define SAME_OPT(T)                                                            \
    (((const T *)(const void *)a)->set == ((const T *)(const void *)b)->set && \
     (!((const T *)(const void *)a)->set ||                                    \
      ((const T *)(const void *)a)->v == ((const T *)(const void *)b)->v))

static bool equal_strings(const struct str *a, const struct str *b) {
    return str_eq(*a, *b);
}

static bool equal_optional_strings(const struct str *a, const struct str *b) {
    return !a->p == !b->p && str_eq(*a, *b);
}

/* long: one case for each kind of field */
static bool equal_field(const struct api_field *f, const char *a, const char *b) {
    switch ((enum api_field_kind)f->kind) {
    case API_STR:
    case API_BYTES:
        return equal_strings(BOTH(struct str));
    case API_PSTR:
        return equal_optional_strings(BOTH(struct str));
    case API_BOOL:
        return SAME(bool);
    case API_PBOOL:
        return SAME_OPT(struct api_opt_bool);
    case API_I32:
        return SAME(int32_t);
    case API_PI32:
        return SAME_OPT(struct api_opt_i32);
    case API_I64:
        return SAME(int64_t);
    case API_PI64:
        return SAME_OPT(struct api_opt_i64);
    case API_TIME:
    case API_PTIME:
    case API_MICROTIME:
    case API_PMICROTIME:
        return equal_times(BOTH(struct api_time));
    case API_PF64:
        return SAME_OPT(struct api_opt_f64);
    case API_QUANTITY:
        return quantity_cmp(BOTH(struct quantity)) == 0;
    case API_PQUANTITY:
        return equal_quantity_pointers(*(struct quantity *const *)(const void *)a,
                                       *(struct quantity *const *)(const void *)b);
    case API_INTSTR:
        return equal_int_or_str(BOTH(struct api_int_or_str));
    case API_PINTSTR:
        return equal_int_or_str(*(struct api_int_or_str *const *)(const void *)a,
                                *(struct api_int_or_str *const *)(const void *)b);
    case API_RAW:
    case API_PRAW:
        return json_equal(BOTH(struct json));
    case API_LSTR:
        return equal_strs(BOTH(struct api_strs));
    case API_LI32:
        return equal_numbers(BOTH(struct api_i32s), sizeof(int32_t));
    case API_LI64:
        return equal_numbers(BOTH(struct api_i32s), sizeof(int64_t));
    case API_LBOOL:
        return equal_numbers(BOTH(struct api_i32s), sizeof(bool));
    case API_LQUANTITY:
        return equal_amounts(BOTH(struct api_amounts));
    case API_LRAW:
        return equal_raws(BOTH(struct api_raws));
    case API_MLSTR:
        return equal_str_lists(BOTH(struct api_str_lists));
    case API_MSTR:
    case API_MBYTES:
        return labels_equal(BOTH(struct labels));
    case API_MQUANTITY:
        return equal_quantities(BOTH(struct api_quantities));
    case API_MTIME:
        return equal_time_maps(BOTH(struct api_times));
    case API_OBJ:
    case API_INLINE:
        return equal_fields(f->type, a, b);
    case API_PTR:
        return equal_pointers(f->type, *(void *const *)(const void *)a,
                              *(void *const *)(const void *)b);
    case API_LIST:
        return equal_any_lists(f->type, BOTH(struct any_list));
    case API_MOBJ:
        return equal_any_maps(f->type, BOTH(struct any_list));
    case API_FIELD_KINDS:
        break;
    }
    BUG("unknown kind of field");
}

static bool equal_fields(const struct api_type *type, const char *a, const char *b) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        if (!equal_field(f, a + f->offset, b + f->offset))
            return false;
    }
    return true;
}

/* ---- nil and empty ---- */

static bool same_fields(const struct api_type *type, const char *a, const char *b);

static bool same_inside(const struct api_type *type, size_t key_size, const struct any_list *a,
                        const struct any_list *b) {
    size_t size = key_size + type->size;
    for (size_t i = 0; i < a->n; i++)
        if (!same_fields(type, a->v + i * size + key_size, b->v + i * size + key_size))
            return false;
    return !a->v == !b->v;
}

static bool same_field(const struct api_field *f, const char *a, const char *b) {
    switch ((enum api_field_kind)f->kind) {
    case API_LSTR:
    case API_LI32:
    case API_LI64:
    case API_LBOOL:
    case API_MSTR:
    case API_MBYTES:
        return !((const struct any_list *)(const void *)a)->v ==
               !((const struct any_list *)(const void *)b)->v;
    case API_LIST:
        return same_inside(f->type, 0, BOTH(struct any_list));
    case API_MOBJ:
        return same_inside(f->type, sizeof(struct str), BOTH(struct any_list));
    case API_OBJ:
    case API_INLINE:
        return same_fields(f->type, a, b);
    case API_PTR:
        a = *(char *const *)(const void *)a;
        b = *(char *const *)(const void *)b;
        return !a || same_fields(f->type, a, b);
    default:
        return true;
    }
}

static bool same_fields(const struct api_type *type, const char *a, const char *b) {
    for (size_t i = 0; i < type->field_count; i++)
        if (!same_field(&type->fields[i], a + type->fields[i].offset, b + type->fields[i].offset))
            return false;
    return true;
}

bool valid__equal_field(const struct api_field *f, const void *a, const void *b) {
    return equal_field(f, a, b);
}

bool valid__same(enum api_type_id type, const void *a, const void *b) {
    return same_fields(&api_types[type], a, b);
}

bool valid__same_lists(enum api_type_id type, const void *list_a, const void *list_b) {
    return same_inside(&api_types[type], 0, list_a, list_b);
}

bool valid__equal(enum api_type_id type, const void *a, const void *b) {
    return equal_pointers(&api_types[type], a, b);
}

bool valid__equal_lists(enum api_type_id type, const void *list_a, const void *list_b) {
    return equal_any_lists(&api_types[type], list_a, list_b);
}

bool valid_equal(enum api_type_id type, const void *a, const void *b) {
    return valid__equal(type, a, b);
}

bool valid_equal_lists(enum api_type_id type, const void *list_a, const void *list_b) {
    return valid__equal_lists(type, list_a, list_b);
}
