/*
 * The C structs of the API, made from the rows of schema/: struct api_pod, struct api_pod_spec,
 * struct api_toleration … and for each of them a list type, struct api_toleration_list.
 *
 * Strings are views into the object's arena. A string that Go declares as a pointer is absent when
 * its p is NULL; the other strings do not tell absent from empty. A nil list or map has v == NULL,
 * an empty one has v != NULL and n == 0.
 */
#ifndef API_TYPES_H
#define API_TYPES_H

#include "api/labels.h"
#include "api/schema.h"
#include "codec/json.h"
#include "quantity/quantity.h"

struct api_opt_bool {
    bool set, v;
};
struct api_opt_i32 {
    bool set;
    int32_t v;
};
struct api_opt_i64 {
    bool set;
    int64_t v;
};
struct api_opt_f64 {
    bool set;
    double v;
};

/* A moment as seconds since the Unix epoch; `set` is false for the zero time. */
struct api_time {
    int64_t sec;
    int32_t nsec;
    bool set;
};

/* A number or a text, such as a port or a percentage. */
struct api_int_or_str {
    bool is_str;
    int32_t i;
    struct str s;
};

struct api_strs {
    struct str *v;
    size_t n;
};
struct api_i32s {
    int32_t *v;
    size_t n;
};
struct api_i64s {
    int64_t *v;
    size_t n;
};
struct api_bools {
    bool *v;
    size_t n;
};
struct api_amounts {
    struct quantity *v;
    size_t n;
};
struct api_raws {
    struct json *v;
    size_t n;
};

/* Maps: sorted by key, each key once. */
struct api_quantity {
    struct str key;
    struct quantity value;
};
struct api_quantities {
    struct api_quantity *v;
    size_t n;
};
struct api_time_entry {
    struct str key;
    struct api_time value;
};
struct api_times {
    struct api_time_entry *v;
    size_t n;
};
struct api_str_list {
    struct str key;
    struct api_strs value;
};
struct api_str_lists {
    struct api_str_list *v;
    size_t n;
};

#define API_NAME2(t, suffix) api_##t##suffix
#define API_NAME(t, suffix)  API_NAME2(t, suffix)

/* First the lists and maps of all types, which any struct may have as members … */
#define BEGIN(...)                      \
    struct API_NAME(T, _list) {         \
        struct API_NAME(T, ) * v;       \
        size_t n;                       \
    };                                  \
    struct API_NAME(T, _map) {          \
        struct API_NAME(T, _entry) * v; \
        size_t n;                       \
    };
#define END
#define FIELD(member, json_name, kind, number, ...)
#define OBJECTS(member, json_name, kind, target, number, ...)
#define INLINE(target, ...)
#include "api/schema/all.def"
#undef BEGIN
#undef END
#undef FIELD
#undef OBJECTS
#undef INLINE

/* … then the structs, each with that of a map's entry. */
#define BEGIN(...)         \
    struct API_NAME(T, ) { \
        struct json *extra; /* members that the schema does not know, or NULL */
#define END                         \
    }                               \
    ;                               \
    struct API_NAME(T, _entry) {    \
        struct str key;             \
        struct API_NAME(T, ) value; \
    };
#define FIELD(member, json_name, kind, number, ...)           API_C_##kind member;
#define OBJECTS(member, json_name, kind, target, number, ...) API_C_##kind(target) member;
#define INLINE(target, ...)                                   struct api_##target target;

#define API_C_OBJ(t)     struct api_##t
#define API_C_PTR(t)     struct api_##t *
#define API_C_LIST(t)    struct api_##t##_list
#define API_C_MOBJ(t)    struct api_##t##_map
#define API_C_STR        struct str
#define API_C_PSTR       struct str
#define API_C_BOOL       bool
#define API_C_PBOOL      struct api_opt_bool
#define API_C_I32        int32_t
#define API_C_PI32       struct api_opt_i32
#define API_C_I64        int64_t
#define API_C_PI64       struct api_opt_i64
#define API_C_TIME       struct api_time
#define API_C_PTIME      struct api_time
#define API_C_MICROTIME  struct api_time
#define API_C_PMICROTIME struct api_time
#define API_C_PF64       struct api_opt_f64
#define API_C_BYTES      struct str
#define API_C_QUANTITY   struct quantity
#define API_C_PQUANTITY  struct quantity *
#define API_C_INTSTR     struct api_int_or_str
#define API_C_PINTSTR    struct api_int_or_str *
#define API_C_RAW        struct json
#define API_C_PRAW       struct json
#define API_C_LSTR       struct api_strs
#define API_C_LI32       struct api_i32s
#define API_C_LI64       struct api_i64s
#define API_C_LBOOL      struct api_bools
#define API_C_LQUANTITY  struct api_amounts
#define API_C_LRAW       struct api_raws
#define API_C_MSTR       struct labels
#define API_C_MBYTES     struct labels
#define API_C_MLSTR      struct api_str_lists
#define API_C_MQUANTITY  struct api_quantities
#define API_C_MTIME      struct api_times

#include "api/schema/all.def"

#undef BEGIN
#undef END
#undef FIELD
#undef OBJECTS
#undef INLINE

#endif
