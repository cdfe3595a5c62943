/*
 * Fields behind feature gates: while a gate is off, its fields are taken out of what comes in,
 * unless the object that is replaced uses one of them already.
 *
 * Which gate a field has is a column of the schema's rows. What the schema knows to have no gate
 * inside is not visited.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func DropDisabledPodFields,
 * func DropDisabledTemplateFields.
 * Follows k8s.io/kubernetes pkg/api/job, func DropDisabledFields.
 * Follows k8s.io/kubernetes pkg/api/resourceclaimspec, func DropDisabledFields.
 */
#include <string.h>

#include "api/object.h"
#include "base/alloc.h"
#include "feature/feature.h"

/* Lists and maps begin alike. */
struct any_list {
    const char *v;
    size_t n;
};

static bool is_set(const struct api_field *f, const void *slot) {
    switch (f->kind) {
    case API_PSTR:
        return ((const struct str *)slot)->p;
    case API_PBOOL:
        return ((const struct api_opt_bool *)slot)->set;
    case API_PI32:
        return ((const struct api_opt_i32 *)slot)->set;
    case API_PI64:
        return ((const struct api_opt_i64 *)slot)->set;
    case API_PTR:
    case API_PINTSTR:
    case API_PQUANTITY:
        return *(void *const *)slot;
    case API_LIST:
    case API_LSTR:
    case API_LI64:
    case API_LBOOL:
    case API_MSTR:
    case API_MQUANTITY:
    case API_MOBJ:
        return ((const struct any_list *)slot)->n;
    default:
        BUG("a gate at a kind of field that is always there");
    }
}

static void clear(const struct api_field *f, void *slot) {
    static const size_t sizes[API_FIELD_KINDS] = {
#define X(kind, type) [API_##kind] = sizeof(type),
        API_SCALAR_KINDS(X)
#undef X
            [API_PTR] = sizeof(void *),
        [API_LIST] = sizeof(struct any_list), [API_MOBJ] = sizeof(struct any_list)};
    memset(slot, 0, sizes[f->kind]);
}

/* Is the struct of the field a part of the struct around it? Else the field points to some. */
static bool is_embedded(const struct api_field *f) {
    return f->kind == API_OBJ || f->kind == API_INLINE;
}

/* How many structs an object field has inside. */
static size_t count_inside(const struct api_field *f, const void *slot) {
    if (f->kind == API_LIST || f->kind == API_MOBJ)
        return ((const struct any_list *)slot)->n;
    return is_embedded(f) || *(void *const *)slot;
}

/* Entries of a map begin with their key. */
static size_t key_size(const struct api_field *f) {
    return f->kind == API_MOBJ ? sizeof(struct str) : 0;
}

static size_t stride(const struct api_field *f) {
    return key_size(f) + f->type->size;
}

static uint64_t gated_rows(const struct api_type *type) {
    return api_gated_rows[type->id];
}

/* Switches on the gates of which the rows of the struct use a field. */
static void add_used(const struct api_type *type, const char *body, uint64_t rows,
                     struct feature_set *kept) {
    for (; rows; rows &= rows - 1) {
        const struct api_field *f = &type->fields[__builtin_ctzll(rows)];
        const void *slot = body + f->offset;
        if (api_field_is_absent(f, slot))
            continue;
        uint32_t gate = f->flags >> API_GATE_SHIFT;
        if (gate && is_set(f, slot))
            feature_set_put(kept, (enum feature)(gate - 1), true);
        if (!f->type)
            continue;
        const char *inside = is_embedded(f) ? slot : *(const char *const *)slot;
        for (size_t i = 0, n = count_inside(f, slot); i < n; i++)
            add_used(f->type, inside + i * stride(f) + key_size(f), gated_rows(f->type), kept);
    }
}

static void drop(const struct api_type *type, char *body, uint64_t rows,
                 const struct feature_set *kept) {
    for (; rows; rows &= rows - 1) {
        const struct api_field *f = &type->fields[__builtin_ctzll(rows)];
        void *slot = body + f->offset;
        if (api_field_is_absent(f, slot))
            continue;
        uint32_t gate = f->flags >> API_GATE_SHIFT;
        if (gate && !feature_enabled(kept, (enum feature)(gate - 1)))
            clear(f, slot);
        if (!f->type)
            continue;
        char *inside = is_embedded(f) ? slot : *(char **)slot;
        for (size_t i = 0, n = count_inside(f, slot); i < n; i++)
            drop(f->type, inside + i * stride(f) + key_size(f), gated_rows(f->type), kept);
    }
}

static void drop_rows(struct api_object *o, const struct api_object *old, uint64_t rows,
                      const struct feature_set *gates) {
    struct feature_set kept = *gates;
    if (old)
        add_used(old->type, old->body, rows, &kept);
    drop(o->type, api_own_body(o), rows, &kept);
}

void api_object_drop_gated(struct api_object *o, const struct api_object *old,
                           const struct feature_set *gates) {
    drop_rows(o, old, gated_rows(o->type), gates);
}

void api_object_drop_gated_but_status(struct api_object *o, const struct api_object *old,
                                      const struct feature_set *gates) {
    const struct api_field *next = o->type->fields;
    struct api_found status = api_field_find(o->type, STR("status"), &next);
    uint64_t rows = gated_rows(o->type);
    if (status.field)
        rows &= ~(UINT64_C(1) << (status.field - o->type->fields));
    drop_rows(o, old, rows, gates);
}
