/*
 * The inside of the engine that function libraries need: types, rows of functions, values, costs.
 * The front end (source, tree, checker, planner) stands in ast_int.h.
 *
 * A library is a file lib_*.c that ends in one table of rows. A row is everything there is to say
 * about an overload: checker, estimate, evaluation, runtime cost and the reference page read the
 * same line.
 */
#ifndef CEL_CEL_INT_H
#define CEL_CEL_INT_H

#include "cel/cel.h"

/* ---- types ---- */

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
    struct str name; /* as Type.String() prints it without parameters */
    const struct cel_type *params[CEL_TYPE_PARAMS];
    const struct cel_field *fields; /* of an object */
    uint32_t field_count;
};

/* The type of a kind that needs no parameters; list(dyn), map(dyn, dyn); NULL for the others. */
const struct cel_type *cel__type(enum cel_type_kind kind);

/* The type that a text names, in the arena. Capital letters are type variables. Reads up to the end
 * of the type and moves *text behind it; NULL when it is none. */
const struct cel_type *cel__type_read(struct arena *a, struct str *text);

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

/* ---- evaluation ---- */

struct cel_pattern;

/* One evaluation. Functions take memory from the arena. */
struct cel_eval {
    struct arena *arena;
    uint64_t cost, limit, work; /* see cel__work */
    const struct cel_value *vars;
    struct cel_value *locals;    /* slots of comprehension variables */
    struct cel_pattern *pattern; /* of the call at hand, when it is constant; else NULL */
    bool cancelled;              /* nothing more is evaluated ... */
    struct cel_value reason;     /* ... because of this error */
};

/* An error value. The text of the second is a literal. */
__attribute__((format(printf, 2, 3))) struct cel_value cel__error(struct cel_eval *ev,
                                                                  const char *fmt, ...);
static inline struct cel_value cel__fail(struct str literal) {
    return (struct cel_value){.kind = CEL_ERROR, .n = (uint32_t)literal.n, .s = literal.p};
}
#define CEL_FAIL(text)  cel__fail(STR(text))
#define CEL_NO_OVERLOAD CEL_FAIL("no such overload")
#define CEL_OVERFLOW    CEL_FAIL("integer overflow")
/* The error `literal`; for values with methods of their own, "no such overload" alone. */
struct cel_value cel__no_operator(struct cel_value v, struct str literal);
/* "no such overload: name(int, string)" for these arguments. */
struct cel_value cel__no_such_overload(struct cel_eval *ev, const char *name,
                                       const struct cel_value *args, size_t n);

/* Room for n bytes or n values in the evaluation's arena; NULL when the evaluation would pass
 * LIMIT_CEL_EVAL_BYTES (then return CEL_TOO_BIG). */
void *cel__alloc(struct cel_eval *ev, size_t n);
struct cel_value *cel__alloc_values(struct cel_eval *ev, size_t n);
#define CEL_TOO_BIG CEL_FAIL("result too large")
/* A string value with a copy of these bytes; CEL_TOO_BIG when it does not fit. */
struct cel_value cel__string(struct cel_eval *ev, struct str s);

static inline struct cel_value cel__bytes(struct str s) {
    return (struct cel_value){.kind = CEL_BYTES, .n = (uint32_t)s.n, .s = s.p};
}
static inline struct cel_value cel__duration(int64_t ns) {
    return (struct cel_value){.kind = CEL_DURATION, .i = ns};
}
/* Timestamps: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
#define CEL_MIN_SECONDS INT64_C(-62135596800)
#define CEL_MAX_SECONDS INT64_C(253402300799)

static inline struct cel_value cel__list(const struct cel_value *items, size_t n) {
    return (struct cel_value){.kind = CEL_LIST, .n = (uint32_t)n, .items = items};
}
static inline struct cel_value cel__opaque(enum cel_kind kind, const void *p) {
    return (struct cel_value){.kind = (uint8_t)kind, .opaque = p};
}
static inline struct cel_value cel__none(void) {
    return (struct cel_value){.kind = CEL_OPTIONAL};
}
/* optional.of(v) */
struct cel_value cel__some(struct cel_eval *ev, struct cel_value v);

/* a == b as CEL has it: true, false, or an error ("no such overload", when a is an opaque value of
 * another kind). */
struct cel_value cel__equal(struct cel_value a, struct cel_value b);
/* Is a == b exactly true? */
bool cel__is_equal(struct cel_value a, struct cel_value b);

/* Order of two values that have one: -1, 0, 1 as int, or an error. Numbers of different kinds
 * compare by value. */
struct cel_value cel__compare(struct cel_value a, struct cel_value b);

/* args[0] + args[1], for whatever has a sum. */
struct cel_value cel__add(struct cel_eval *ev, const struct cel_value *args);

/* The value under a key (numbers match across kinds), or NULL. */
const struct cel_value *cel__map_find(const struct cel_map *map, struct cel_value key);

/* A map being built: later keys replace earlier ones. */
struct cel_map_builder {
    struct cel_eval *ev;
    struct cel_entry *entries;
    uint32_t n, cap;
    uint32_t *index;
    uint32_t slots;
};
/* False when the evaluation would need too much memory. */
bool cel__map_put(struct cel_map_builder *b, struct cel_value key, struct cel_value value);
void cel__map_remove(struct cel_map_builder *b, struct cel_value key);
struct cel_value cel__map_done(struct cel_map_builder *b);

/* Code points of a string, bytes, items, entries, bytes of an address; 1 for everything else. */
uint64_t cel__size_of(struct cel_value v);

/* Appends the value as Go's %v does in cel-go's error texts (a string without quotes). */
void cel__write_plain(struct buf *out, struct cel_value v);

/* Appends a double as Go's strconv.FormatFloat(d, 'g', -1, 64) with CEL's exponent threshold (%g:
 * six digits). */
void cel__write_double(struct buf *out, double d);

/* ---- rows ---- */

/* The function itself; the number of arguments is the overload's, the target comes first. No
 * argument is an error unless the row is non-strict. */
typedef struct cel_value cel_call_fn(struct cel_eval *ev, const struct cel_value *args);

/* What a call cost, from its arguments and result. */
typedef uint64_t cel_cost_fn(const struct cel_value *args, const struct cel_value *result);

struct cel_coster;
struct cel_expr;
struct cel_path;

/* An operand of a call as the estimate sees it. */
struct cel_operand {
    const struct cel_expr *expr;
    const struct cel_type *type;
    const struct cel_path *path;
    struct cel_range size;
    bool sized; /* the size is known */
};

struct cel_call_est {
    struct cel_coster *coster;
    const struct cel_expr *expr;
    const struct cel_operand *target; /* NULL: a global call */
    const struct cel_operand *args;
    size_t n;
};

struct cel_estimated {
    struct cel_range cost; /* of the call alone, without its operands */
    struct cel_range size; /* of the result */
    bool sized;
};

/* What a call may cost, and how large its result may be. */
typedef struct cel_estimated cel_estimate_fn(const struct cel_call_est *call);

enum cel_fn_flags {
    CEL_FN_SINGLETON =
        1, /* `call` takes arguments of any kind and answers "no such overload" itself */
    CEL_FN_NON_STRICT = 2,   /* is called with error arguments as well */
    CEL_FN_COST_BY_NAME = 4, /* costs are those of the function, whichever overload is meant */
    CEL_FN_CONVERSION = 8,   /* folded when its only argument is constant */
    CEL_FN_REGEX = 16,       /* argument 1 is a pattern, compiled once when constant */
    CEL_FN_INTERNAL = 32,    /* cannot be written in an expression; not in the reference */
    CEL_FN_ANY_COUNT = 64,   /* bound upstream for any number of arguments; see stops_at_error */
};

struct cel_fn {
    const char *name;  /* of the function: "contains", "_+_", "optional.of" */
    const char *id;    /* of the overload */
    const char *sig;   /* "string.(string, int) -> int", a global one "(A, list(A)) -> bool" */
    cel_call_fn *call; /* NULL: done by the planner, or only declared */
    cel_estimate_fn *estimate; /* NULL: 1, size unknown */
    cel_cost_fn *cost;         /* NULL: 1 */
    unsigned flags;
    const char *doc; /* one line for the reference page */
};

struct cel_library {
    enum cel_lib lib;
    const struct cel_fn *fns;
    size_t n;
};

/* One per lib_*.c: its last lines. */
extern const struct cel_library cel__lib_std, cel__lib_matches, cel__lib_time, cel__lib_convert,
    cel__lib_strings, cel__lib_lists, cel__lib_sets, cel__lib_optional, cel__lib_twovar,
    cel__lib_regex, cel__lib_url, cel__lib_ip, cel__lib_cidr, cel__lib_quantity, cel__lib_semver,
    cel__lib_format, cel__lib_k8s_lists, cel__lib_includes, cel__lib_authz;

/* ---- costs ---- */

#define CEL_SIZE_UNKNOWN ((struct cel_range){0, UINT64_MAX})

static inline struct cel_range cel__fixed(uint64_t n) {
    return (struct cel_range){n, n};
}

/* Sum and product that stop at the greatest number. */
uint64_t cel__add_sat(uint64_t a, uint64_t b);
uint64_t cel__mul_sat(uint64_t a, uint64_t b);
/* ceil(x * factor) in double, as upstream computes it. */
uint64_t cel__scale(uint64_t x, double factor);
/* The same on both ends of ranges, and the range that holds both. */
struct cel_range cel__range_add(struct cel_range a, struct cel_range b);
struct cel_range cel__range_mul(struct cel_range a, struct cel_range b);
struct cel_range cel__range_scale(struct cel_range r, double factor);
struct cel_range cel__range_union(struct cel_range a, struct cel_range b);

/* Size of an operand: computed, or by its path, or unknown. */
struct cel_range cel__operand_size(const struct cel_call_est *call, const struct cel_operand *o);

/* The elements of a list operand, as an operand; false when its type has no parameters. */
bool cel__operand_elem(const struct cel_operand *list, struct cel_operand *elem);

/* The literal that an operand is, or NULL. */
const struct cel_value *cel__operand_literal(const struct cel_operand *o);

/* Shared rules, for rows. Estimates of a call that walks once over its target or its first
 * argument; `_keep`: and whose result is at most as long. */
cel_estimate_fn cel__est_target, cel__est_target_keep, cel__est_target_twice, cel__est_arg,
    cel__est_arg_keep, cel__est_arg_twice;
/* Runtime: ceil(size * 0.1) of args[0] or args[1]; twice as much of args[0]. */
cel_cost_fn cel__cost_walk, cel__cost_walk_second, cel__cost_walk_twice;
/* One walk over a string or over all elements of a list (isSorted, sum, indexOf, ...). */
cel_estimate_fn cel__est_traverse;
cel_cost_fn cel__cost_traverse;
/* ceil((n + 1) * 0.1) * ceil(m * 0.25): regular expressions. */
cel_cost_fn cel__cost_regex;
cel_estimate_fn cel__est_regex;

#endif
