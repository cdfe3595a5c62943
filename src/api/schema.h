/*
 * The schema: every API type as a table of field rows.
 *
 * The rows stand in the .def files of schema/, one file per API group or topic. The C structs
 * (types.h), the decoder, the encoder, defaulting and whatever else walks API objects are made from
 * the same rows, so a new field is one row. A type is written as
 *
 *     #define T toleration
 *     BEGIN("v1.Toleration")                               its name in Go, as error texts show it
 *     FIELD(member, "jsonName", KIND, number, flags, …)    a scalar, list of scalars or map
 *     DEFAULT(member, "jsonName", KIND, number, "value", flags, …)   a scalar with a default that
 *                                                          does not depend on anything else
 *     OBJECTS(member, "jsonName", KIND, type, number, flags, …)   one or many of another type
 *     LATER(member, "jsonName", KIND, type, number, flags, …)   the same, of the type itself or of
 *                                                          one that stands further down: it has no
 *                                                          defaults and no gates inside
 *     INLINE(type, "GoName")                               all fields of another type, as if here
 *     NESTED(type, number, "GoName")                       the same, where protobuf has a message
 *                                                          of its own for them
 *     END
 *     #undef T
 *
 * in the order in which the API server writes the fields. G is the package of the types of a file,
 * as OpenAPI documents name it. `number` is the field's protobuf number,
 * flags are 0 or a sum of OMIT (left out when empty), ZERO (a zero time is left out, too),
 * GATE(Name) (dropped while that feature gate is off, wherever the type stands, unless the object
 * that is replaced uses a field of the gate), EXACT (amounts that are not rounded to thousandths)
 * and PROPOSED (a text that upstream does not have yet: while it is empty, nothing shows that it is
 * here). Three more are for readers of OpenAPI documents, in which what is not left out when empty
 * is required and has its zero value as default: NEEDED (required, though it is left out), OPTIONAL
 * (the other way round) and SHOWN (its default is in the documents). Behind them may stand
 *
 *     .go         name of the Go type when it is a named one
 *     .patch      MERGE, REPLACE, RETAINKEYS or a sum: how a strategic merge patch treats it
 *     .merge_key  the key by which such a patch merges a list (patchMergeKey)
 *     .list       SET or MAP: how server-side apply merges a list (listType); else it is atomic
 *     .keys       of a MAP: "key" or "key,key" (listMapKey)
 *     .map        ATOMIC: server-side apply replaces a map or struct as a whole; GRANULAR: it does
 *                 not, though the type is atomic elsewhere (mapType, structType)
 *
 * KEYED("key") is short for .patch = MERGE, .merge_key = "key", .list = MAP, .keys = "key", which
 * is what most lists with a key are. A type that is atomic wherever it stands says it behind its
 * name: BEGIN("v1.LabelSelector", .map = ATOMIC). A type that is the same in several versions of
 * its group leaves the version out, as in BEGIN(".DeviceClass"): it is the object's. A type with
 * .bare = true has no members in JSON: the value is that of the one row that can take it. `make
 * conformance` holds all of this against the Go types and the OpenAPI definitions of Kubernetes.
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include <stdint.h>

#include "base/str.h"

/* kind, C type of the member. P = may be absent, L = list of, M = map from string to. */
#define API_SCALAR_KINDS(X)             \
    X(STR, struct str)                  \
    X(PSTR, struct str)                 \
    X(BOOL, bool)                       \
    X(PBOOL, struct api_opt_bool)       \
    X(I32, int32_t)                     \
    X(PI32, struct api_opt_i32)         \
    X(I64, int64_t)                     \
    X(PI64, struct api_opt_i64)         \
    X(TIME, struct api_time)            \
    X(PTIME, struct api_time)           \
    X(MICROTIME, struct api_time)       \
    X(PMICROTIME, struct api_time)      \
    X(PF64, struct api_opt_f64)         \
    X(BYTES, struct str)                \
    X(QUANTITY, struct quantity)        \
    X(PQUANTITY, struct quantity *)     \
    X(INTSTR, struct api_int_or_str)    \
    X(PINTSTR, struct api_int_or_str *) \
    X(RAW, struct json)                 \
    X(PRAW, struct json)                \
    X(LSTR, struct api_strs)            \
    X(LI32, struct api_i32s)            \
    X(LI64, struct api_i64s)            \
    X(LBOOL, struct api_bools)          \
    X(LQUANTITY, struct api_amounts)    \
    X(LRAW, struct api_raws)            \
    X(MSTR, struct labels)              \
    X(MBYTES, struct labels)            \
    X(MLSTR, struct api_str_lists)      \
    X(MQUANTITY, struct api_quantities) \
    X(MTIME, struct api_times)

/* kind: OBJ a struct, PTR a pointer to one (may be NULL), LIST many, MOBJ a map from string to it,
 * INLINE a struct whose fields belong to the outer object. */
#define API_OBJECT_KINDS(X) X(OBJ) X(PTR) X(LIST) X(MOBJ) X(INLINE)

enum api_field_kind {
#define X(kind, type) API_##kind,
    API_SCALAR_KINDS(X)
#undef X
#define X(kind) API_##kind,
        API_OBJECT_KINDS(X)
#undef X
            API_FIELD_KINDS
};

enum api_field_flags {
    API_OMIT = 1,
    API_ZERO = 2,
    API_EXACT = 4,
    API_PROPOSED = 8,
    API_NEEDED = 16,
    API_OPTIONAL = 32,
    API_SHOWN = 64,
};

/* The gate of a field is a part of its flags: 0 for none, else its enum feature and one. */
#define API_GATE_SHIFT   8
#define API_GATE(number) (((uint32_t)(number) + 1) << API_GATE_SHIFT)

enum api_patch { API_PATCH_MERGE = 1, API_PATCH_REPLACE = 2, API_PATCH_RETAINKEYS = 4 };
enum api_list_kind { API_LIST_ATOMIC, API_LIST_SET, API_LIST_MAP };
enum api_map_kind { API_MAP_UNSAID, API_MAP_ATOMIC, API_MAP_GRANULAR };

struct api_type;

/* What tells most names apart at once: the length, the first and the last byte. */
#define API_TAG(p, n)                                             \
    ((uint32_t)(n) << 16 | (uint32_t)(unsigned char)(p)[0] << 8 | \
     (uint32_t)(unsigned char)(p)[(n)-1])

struct api_field {
    struct str json;             /* name on the wire */
    const struct api_type *type; /* of OBJECTS and INLINE rows */
    const char *go;              /* name of a named Go type or INLINE field, or NULL */
    const char *def;             /* default that does not depend on anything else, or NULL */
    const char *merge_key;       /* of lists that are merged by key, or NULL */
    const char *keys;            /* of API_LIST_MAP: names joined by commas */
    uint32_t tag;                /* API_TAG of json; 0 of INLINE rows */
    uint16_t offset;             /* of the member in the struct */
    uint16_t number;             /* in protobuf messages */
    uint32_t flags;              /* enum api_field_flags, and the gate */
    uint8_t kind;                /* enum api_field_kind */
    uint8_t patch;               /* enum api_patch */
    uint8_t list;                /* enum api_list_kind */
    uint8_t map;                 /* enum api_map_kind */
};

/* Kinds of fields that begin with a pointer, which is NULL when nothing is there. */
#define API_POINTING                                                                      \
    (UINT64_C(1) << API_STR | UINT64_C(1) << API_PSTR | UINT64_C(1) << API_BYTES |        \
     UINT64_C(1) << API_PTR | UINT64_C(1) << API_PQUANTITY | UINT64_C(1) << API_PINTSTR | \
     UINT64_C(1) << API_LIST | UINT64_C(1) << API_LSTR | UINT64_C(1) << API_LI32 |        \
     UINT64_C(1) << API_LI64 | UINT64_C(1) << API_LBOOL | UINT64_C(1) << API_LQUANTITY |  \
     UINT64_C(1) << API_LRAW | UINT64_C(1) << API_MSTR | UINT64_C(1) << API_MBYTES |      \
     UINT64_C(1) << API_MLSTR | UINT64_C(1) << API_MQUANTITY | UINT64_C(1) << API_MTIME | \
     UINT64_C(1) << API_MOBJ)

/* Is plainly nothing there? Most fields of most objects are absent. */
static inline bool api_field_is_absent(const struct api_field *f, const void *slot) {
    return API_POINTING >> f->kind & 1 && !*(void *const *)slot;
}

/* One id per type, API_T_<type>, in the order of schema/all.def. */
enum api_type_id {
#define API_T_NAME2(t) API_T_##t
#define API_T_NAME(t)  API_T_NAME2(t)
#define BEGIN(...)     API_T_NAME(T),
#define FIELD(member, json_name, kind, number, ...)
#define OBJECTS(member, json_name, kind, target, number, ...)
#define INLINE(target, ...)
#define END
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END
    API_TYPES
};

struct api_type {
    const char *go;      /* name in Go, with package; ".Name": in that of the object's version */
    const char *package; /* in OpenAPI documents, without the version */
    uint8_t map;         /* enum api_map_kind, where a field does not say it */
    bool bare;           /* its JSON is the value of one of its rows */
    const struct api_field *fields;
    const uint8_t *by_number; /* for each protobuf number up to most_number: the row, and one */
    uint64_t defaulted;       /* a bit for each row that is, or has inside, a default or amounts */
    uint16_t field_count;
    uint16_t most_number;
    uint16_t id;   /* enum api_type_id */
    uint32_t size; /* of the C struct */
};

/* Types by id. Every struct of types.h starts with a `struct json *extra`: the object of members
 * that the schema does not know, or NULL. */
extern const struct api_type api_types[API_TYPES];

/* By id: a bit for each row of the type that has a gate, or has such a row inside. */
extern const uint64_t api_gated_rows[API_TYPES];

/* Likewise for each row of a list or map that is written though it is empty. */
extern const uint64_t api_shown_empty_rows[API_TYPES];

struct api_found {
    const struct api_field *field; /* NULL: the type has no such field */
    const char *via;               /* Go name of the INLINE type it belongs to, or NULL */
    const char *within;            /* and of the one that this has it from, or NULL */
    size_t offset;                 /* of the member in the outer struct */
};

/* A field of the type's INLINE types by its JSON name. */
struct api_found api_field_find_inline(const struct api_type *type, struct str json);

/* Finds a field by its JSON name, in INLINE types too. `next` is the row to try first, and moves
 * behind the one found, which speeds up calls in row order: start with type->fields. */
static inline __attribute__((always_inline)) struct api_found
api_field_find(const struct api_type *type, struct str json, const struct api_field **next) {
    const struct api_field *end = type->fields + type->field_count, *f = *next;
    uint32_t tag = json.n ? API_TAG(json.p, json.n) : UINT32_MAX;
    for (size_t left = type->field_count; left > 0; left--, f++) {
        if (f == end)
            f = type->fields;
        if (f->tag == tag && str_eq(f->json, json)) {
            *next = f + 1;
            return (struct api_found){.field = f, .offset = f->offset};
        }
    }
    return api_field_find_inline(type, json);
}

/* The row with this protobuf number; NULL: the message has no such field. */
static inline const struct api_field *api_field_numbered(const struct api_type *type,
                                                         uint64_t number) {
    uint8_t row = number <= type->most_number ? type->by_number[number] : 0;
    return row ? &type->fields[row - 1] : NULL;
}

struct api_kind {
    const char *kind;        /* Pod */
    uint32_t tag;            /* API_TAG of it */
    const char *api_version; /* v1, apps/v1 */
    const char *plural;      /* pods */
    bool namespaced;
    const struct api_type *type;
};

/* The kinds with a schema, ended by a row whose kind is NULL. */
extern const struct api_kind api_kinds[];

/* The kind by name and apiVersion; NULL when there is no schema for it. */
const struct api_kind *api_kind_find(struct str api_version, struct str kind);

#endif
