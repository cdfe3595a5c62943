/* Types: those of values, of declarations in rows, and of expressions while they are checked. */
#ifndef CEL_TYPES_INT_H
#define CEL_TYPES_INT_H

#include "cel/cel.h"

enum cel_type_kind {
    CEL_T_DYN,
    CEL_T_ERROR, /* of an expression that has been reported */
    CEL_T_PARAM, /* a type variable: A in the rows, numbered in a check */
    CEL_T_NULL,
    CEL_T_BOOL,
    CEL_T_INT,
    CEL_T_UINT,
    CEL_T_DOUBLE,
    CEL_T_STRING,
    CEL_T_BYTES,
    CEL_T_DURATION,
    CEL_T_TIMESTAMP,
    CEL_T_ANY,
    CEL_T_LIST,   /* params: element */
    CEL_T_MAP,    /* params: key, value */
    CEL_T_TYPE,   /* params: the type, if known */
    CEL_T_OPAQUE, /* optional_type(T), net.IP */
    CEL_T_OBJECT,
};

enum { CEL_TYPE_PARAMS = 3 };

struct cel_type {
    uint8_t kind; /* enum cel_type_kind */
    uint8_t param_count;
    bool nullable;   /* a wrapper of a scalar: google.protobuf.Int64Value and its like */
    uint32_t number; /* of a type variable; 0 in rows */
    uint32_t size;   /* types that it is made of; 0: it alone */
    struct str name; /* as Type.String() prints it without parameters */
    const struct cel_type *params[CEL_TYPE_PARAMS];
    uint64_t max;                         /* of values' sizes, where it was declared */
    const struct cel_typed_field *fields; /* of an object; NULL: nobody declared it */
    uint32_t field_count;
    bool open;                       /* an object that has every field, of type dyn */
    bool has_param;                  /* a type variable is among what it is made of */
    const struct cel_fields *keeper; /* whose arena holds all of it; NULL: some other arena */
};

struct cel_typed_field {
    struct str name;
    const struct cel_type *type;
};

/* The type of a kind that needs no parameters; list(dyn), map(dyn, dyn); NULL for the others. */
const struct cel_type *cel__type(enum cel_type_kind kind);

/* The type that a text names, in the arena. Capital letters are type variables, a number in
 * brackets is the greatest size. Reads up to the end of the type and moves *text behind it; NULL
 * when it is none. */
const struct cel_type *cel__type_read(struct arena *a, struct str *text);

/* The field of this name in an object or in a well-known message, or NULL. Of two that an object
 * has by one name, the later one. */
const struct cel_type *cel__field_type(struct arena *a, const struct cel_type *t,
                                       struct str message, struct str field);

/* What some errors have behind the name of a value's type: list(dyn), map(dyn, dyn),
 * optional_type(dyn). */
const char *cel__type_params(struct cel_value v);

/* Gives a type its parameters; they are dyn if it would be larger than LIMIT_CEL_TYPE_SIZE. All
 * types that are made of others get these here. */
void cel__type_set_params(struct cel_type *t, const struct cel_type *const *params);

/* list(elem) */
const struct cel_type *cel__type_list(struct arena *a, const struct cel_type *elem);
/* map(key, value) */
const struct cel_type *cel__type_map(struct arena *a, const struct cel_type *key,
                                     const struct cel_type *value);
/* optional_type(of) */
const struct cel_type *cel__type_optional(struct arena *a, const struct cel_type *of);
/* type(of) */
const struct cel_type *cel__type_of_type(struct arena *a, const struct cel_type *of);

/* Could a value have this type at run time? Of lists and maps the first element speaks for all. */
bool cel__type_accepts(const struct cel_type *t, struct cel_value v);

/* The kinds of values that a type lets through, as bits. */
uint32_t cel__type_kinds(const struct cel_type *t);

/* Is it optional_type(...)? */
bool cel__type_is_optional(const struct cel_type *t);

/* Exactly the same type, parameters included? */
bool cel__type_equal(const struct cel_type *a, const struct cel_type *b);

/* Appends the type as Type.String() does (google.protobuf.Duration), or as the checker's messages
 * do (duration). */
void cel__type_write(struct buf *out, const struct cel_type *t);
void cel__type_show(struct buf *out, const struct cel_type *t);

/* The type of a value at run time, without parameters; also what type(x) gives. */
const struct cel_type *cel__type_of(struct cel_value v);

#endif
