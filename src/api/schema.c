#include "api/schema.h"

#include "api/types.h"

#define OMIT       API_OMIT
#define ZERO       API_ZERO
#define MERGE      API_PATCH_MERGE
#define REPLACE    API_PATCH_REPLACE
#define RETAINKEYS API_PATCH_RETAINKEYS

/* First the rows of each type … */
#define BEGIN(name) static const struct api_field API_NAME(T, _fields)[] = {
#define FIELD(member, json_name, kind_, number_, ...)  \
    {.json = STR_INIT(json_name),                      \
     .offset = offsetof(struct API_NAME(T, ), member), \
     .kind = API_##kind_,                              \
     .number = (number_),                              \
     .flags = __VA_ARGS__},
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    {.json = STR_INIT(json_name),                               \
     .type = &api_types[API_T_##target],                        \
     .offset = offsetof(struct API_NAME(T, ), member),          \
     .kind = API_##kind_,                                       \
     .number = (number_),                                       \
     .flags = __VA_ARGS__},
#define INLINE(target, go_name)                        \
    {.type = &api_types[API_T_##target],               \
     .offset = offsetof(struct API_NAME(T, ), target), \
     .go = (go_name),                                  \
     .kind = API_INLINE},
#define END                                                                      \
    { .kind = 0 } /* a type may have no fields, an array must have an element */ \
    }                                                                            \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … then the types. */
#define BEGIN(go_name)                                                                            \
    [API_T_NAME(T)] = {.go = (go_name),                                                           \
                       .fields = API_NAME(T, _fields),                                            \
                       .field_count = sizeof API_NAME(T, _fields) / sizeof(struct api_field) - 1, \
                       .id = API_T_NAME(T),                                                       \
                       .size = sizeof(struct API_NAME(T, ))},
#define FIELD(member, json_name, kind_, number_, ...)
#define OBJECTS(member, json_name, kind_, target, number_, ...)
#define INLINE(target, go_name)
#define END
const struct api_type api_types[API_TYPES] = {
#include "api/schema/all.def"
};

const struct api_kind api_kinds[] = {
#define KIND(type_, kind_, api_version_, plural_, namespaced_) \
    {.kind = (kind_),                                          \
     .api_version = (api_version_),                            \
     .plural = (plural_),                                      \
     .namespaced = (namespaced_),                              \
     .type = &api_types[API_T_##type_]},
#include "api/schema/kinds.def"
    {0}};

const struct api_kind *api_kind_find(struct str api_version, struct str kind) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (str_is(kind, k->kind) && str_is(api_version, k->api_version))
            return k;
    return NULL;
}

static struct api_found find_inline(const struct api_field *f, struct str json) {
    size_t hint = 0;
    struct api_found found = api_field_find(f->type, json, &hint);
    found.offset += f->offset;
    found.via = f->go;
    return found;
}

struct api_found api_field_find(const struct api_type *type, struct str json, size_t *hint) {
    size_t n = type->field_count;
    for (size_t tried = 0, at = *hint; tried < n; tried++, at++) {
        if (at >= n)
            at = 0;
        const struct api_field *f = &type->fields[at];
        if (f->kind == API_INLINE) {
            struct api_found found = find_inline(f, json);
            if (found.field)
                return found;
        } else if (str_eq(f->json, json)) {
            *hint = at + 1;
            return (struct api_found){.field = f, .offset = f->offset};
        }
    }
    return (struct api_found){.field = NULL};
}
