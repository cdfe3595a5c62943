#include "api/schema.h"

#include "api/types.h"
#include "feature/feature.h"

#define OMIT       API_OMIT
#define ZERO       API_ZERO
#define EXACT      API_EXACT
#define PROPOSED   API_PROPOSED
#define NEEDED     API_NEEDED
#define OPTIONAL   API_OPTIONAL
#define SHOWN      API_SHOWN
#define GATE(name) API_GATE(FEATURE_##name)
#define MERGE      API_PATCH_MERGE
#define REPLACE    API_PATCH_REPLACE
#define RETAINKEYS API_PATCH_RETAINKEYS
#define SET        API_LIST_SET
#define MAP        API_LIST_MAP
#define ATOMIC     API_MAP_ATOMIC
#define GRANULAR   API_MAP_GRANULAR
#define KEYED(key) .patch = MERGE, .merge_key = (key), .list = MAP, .keys = (key)

/* First the rows of each type … */
#define TAG(json_name) API_TAG(json_name, sizeof json_name - 1)
#define BEGIN(...)     static const struct api_field API_NAME(T, _fields)[] = {
#define FIELD(member, json_name, kind_, number_, ...)  \
    {.json = STR_INIT(json_name),                      \
     .tag = TAG(json_name),                            \
     .offset = offsetof(struct API_NAME(T, ), member), \
     .kind = API_##kind_,                              \
     .number = (number_),                              \
     .flags = __VA_ARGS__},
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    {.json = STR_INIT(json_name),                               \
     .tag = TAG(json_name),                                     \
     .type = &api_types[API_T_##target],                        \
     .offset = offsetof(struct API_NAME(T, ), member),          \
     .kind = API_##kind_,                                       \
     .number = (number_),                                       \
     .flags = __VA_ARGS__},
#define INLINE(target, ...)                            \
    {.type = &api_types[API_T_##target],               \
     .offset = offsetof(struct API_NAME(T, ), target), \
     .kind = API_INLINE,                               \
     .go = __VA_ARGS__},
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

/* … then their numbers … */
#define BEGIN(...)                                              enum {
#define FIELD(member, json_name, kind_, number_, ...)           API_NAME(T, _row_##member),
#define OBJECTS(member, json_name, kind_, target, number_, ...) API_NAME(T, _row_##member),
#define INLINE(target, ...)                                     API_NAME(T, _row_##target),
#define END            \
    API_NAME(T, _rows) \
    }                  \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … then which of them has which protobuf number … */
#define NUMBERS                  static const uint8_t API_NAME(T, _by_number)[]
#define NUMBERED(member, number) [number] = API_NAME(T, _row_##member) + 1,

#define BEGIN(...)                                              NUMBERS = {
#define FIELD(member, json_name, kind_, number_, ...)           NUMBERED(member, number_)
#define OBJECTS(member, json_name, kind_, target, number_, ...) NUMBERED(member, number_)
#define INLINE(target, ...)
#define NESTED(target, number_, ...) NUMBERED(target, number_)
#define END                                                                   \
    [0] = 0 /* no field has this number, and an array must have an element */ \
    }                                                                         \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … then whether there are defaults or amounts in the type, or in one inside it … */
#define AMOUNTS(kind)                                           ((int)API_##kind == API_MQUANTITY)
#define DEEP(type)                                              api_##type##_deep
#define BEGIN(...)                                              enum { API_NAME(T, _deep) = 0
#define FIELD(member, json_name, kind_, number_, ...)           || AMOUNTS(kind_)
#define DEFAULT(member, json_name, kind_, number_, value, ...)  || true
#define OBJECTS(member, json_name, kind_, target, number_, ...) || DEEP(target)
#define LATER(...)
#define INLINE(target, ...) || DEEP(target)
#define END \
    }       \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … then the types, and which rows of them concern defaulting … */
#define BIT(member, is) ((uint64_t)(is) << API_NAME(T, _row_##member))
#define BEGIN(...)                                                        \
    [API_T_NAME(T)] = {.go = __VA_ARGS__,                                 \
                       .package = G,                                      \
                       .fields = API_NAME(T, _fields),                    \
                       .field_count = API_NAME(T, _rows),                 \
                       .id = API_T_NAME(T),                               \
                       .size = sizeof(struct API_NAME(T, )),              \
                       .by_number = API_NAME(T, _by_number),              \
                       .most_number = sizeof API_NAME(T, _by_number) - 1, \
                       .defaulted = 0
#define FIELD(member, json_name, kind_, number_, ...)           | BIT(member, AMOUNTS(kind_))
#define DEFAULT(member, json_name, kind_, number_, value, ...)  | BIT(member, true)
#define OBJECTS(member, json_name, kind_, target, number_, ...) | BIT(member, DEEP(target))
#define INLINE(target, ...)                                     | BIT(target, DEEP(target))
#define END \
    }       \
    ,
const struct api_type api_types[API_TYPES] = {
#include "api/schema/all.def"
};

#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … then whether there are gates in a type. They stand among the flags of a row, which are the
 * first of the columns that its macro does not name … */
#define FLAGS(...)                                    FIRST(__VA_ARGS__, 0)
#define FIRST(flags, ...)                             (flags)
#define GATED(...)                                    (FLAGS(__VA_ARGS__) >= API_GATE(0))
#define INSIDE(type)                                  api_##type##_gated
#define BEGIN(...)                                    enum { API_NAME(T, _gated) = 0
#define FIELD(member, json_name, kind_, number_, ...) || GATED(__VA_ARGS__)
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    || GATED(__VA_ARGS__) || INSIDE(target)
#define LATER(...)
#define INLINE(target, ...) || INSIDE(target)
#define END \
    }       \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

/* … and in which rows of it. */
#define BEGIN(...)                                    [API_T_NAME(T)] = 0
#define FIELD(member, json_name, kind_, number_, ...) | BIT(member, GATED(__VA_ARGS__))
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    | BIT(member, GATED(__VA_ARGS__) || INSIDE(target))
#define INLINE(target, ...) | BIT(target, INSIDE(target))
#define END                 ,
const uint64_t api_gated_rows[API_TYPES] = {
#include "api/schema/all.def"
};

#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END
#undef INSIDE

/* Likewise for lists and maps that are written though they are empty. */
#define IS_MANY(kind_)                                     \
    (API_##kind_ == API_LIST || API_##kind_ == API_MOBJ || \
     (API_##kind_ >= API_LSTR && API_##kind_ <= API_MTIME))
#define ALWAYS(...)                                   (!(FLAGS(__VA_ARGS__) & API_OMIT))
#define SHOWN_EMPTY(kind_, ...)                       (IS_MANY(kind_) && ALWAYS(__VA_ARGS__))
#define INSIDE(type)                                  api_##type##_shown_empty
#define BEGIN(...)                                    enum { API_NAME(T, _shown_empty) = 0
#define FIELD(member, json_name, kind_, number_, ...) || SHOWN_EMPTY(kind_, __VA_ARGS__)
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    || SHOWN_EMPTY(kind_, __VA_ARGS__) || INSIDE(target)
#define LATER(...)
#define INLINE(target, ...) || INSIDE(target)
#define END \
    }       \
    ;
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END

#define BEGIN(...)                                    [API_T_NAME(T)] = 0
#define FIELD(member, json_name, kind_, number_, ...) | BIT(member, SHOWN_EMPTY(kind_, __VA_ARGS__))
#define OBJECTS(member, json_name, kind_, target, number_, ...) \
    | BIT(member, SHOWN_EMPTY(kind_, __VA_ARGS__) || INSIDE(target))
#define INLINE(target, ...) | BIT(target, INSIDE(target))
#define END                 ,
const uint64_t api_shown_empty_rows[API_TYPES] = {
#include "api/schema/all.def"
};

const struct api_kind api_kinds[] = {
#define KIND(type_, kind_, api_version_, plural_, namespaced_) \
    {.kind = (kind_),                                          \
     .tag = TAG(kind_),                                        \
     .api_version = (api_version_),                            \
     .plural = (plural_),                                      \
     .namespaced = (namespaced_),                              \
     .type = &api_types[API_T_##type_]},
#define ALSO(type, version, ...) KIND(type, __VA_ARGS__)
#include "api/schema/kinds.def"
    {0}};

const struct api_kind *api_kind_find(struct str api_version, struct str kind) {
    uint32_t tag = kind.n ? API_TAG(kind.p, kind.n) : UINT32_MAX;
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (k->tag == tag && str_is(kind, k->kind) && str_is(api_version, k->api_version))
            return k;
    return NULL;
}

struct api_found api_field_find_inline(const struct api_type *type, struct str json) {
    struct api_found found = {.field = NULL};
    for (size_t i = 0; i < type->field_count && !found.field; i++) {
        const struct api_field *f = &type->fields[i];
        if (f->kind != API_INLINE)
            continue;
        const struct api_field *next = f->type->fields;
        found = api_field_find(f->type, json, &next);
        found.offset += f->offset;
        found.within = found.via;
        found.via = f->go;
    }
    return found;
}
