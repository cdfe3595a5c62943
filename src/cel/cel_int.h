/*
 * The inside of the engine that function libraries need: types, values, rows of functions, costs.
 * The front end (source, tree, checker, planner) stands in syntax/ast_int.h.
 *
 * A library is a file of lib/ that ends in one table of rows. A row is everything there is to say
 * about an overload: checker, estimate, evaluation, runtime cost and the reference page read the
 * same line.
 */
#ifndef CEL_CEL_INT_H
#define CEL_CEL_INT_H

#include "cel/types_int.h"
#include "cel/value_int.h"

/* ---- rows ---- */

/* The function itself; the number of arguments is the overload's, the target comes first. No
 * argument is an error. */
typedef struct cel_value cel_call_fn(struct cel_eval *ev, const struct cel_value *args);

/* What a call cost, from its arguments and result. */
typedef uint64_t cel_cost_fn(struct cel_eval *ev, const struct cel_value *args,
                             const struct cel_value *result);

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
    CEL_FN_SINGLETON = 1,    /* `call` takes arguments of any kind and answers "no such overload" */
    CEL_FN_COST_BY_NAME = 2, /* costs are those of the function, whichever overload is meant */
    CEL_FN_CONVERSION = 4,   /* folded when its only argument is constant */
    CEL_FN_REGEX = 8,        /* argument 1 is a pattern, compiled once when constant */
    CEL_FN_INTERNAL = 16,    /* cannot be written in an expression; not in the reference */
    CEL_FN_ANY_COUNT = 32,   /* bound upstream for any number of arguments; see stops_at_error */
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

/* One per file of lib/: its last lines. */
extern const struct cel_library cel__lib_std, cel__lib_matches, cel__lib_time, cel__lib_convert,
    cel__lib_strings, cel__lib_lists, cel__lib_sets, cel__lib_optional, cel__lib_twovar,
    cel__lib_regex, cel__lib_url, cel__lib_ip, cel__lib_cidr, cel__lib_quantity, cel__lib_semver,
    cel__lib_format, cel__lib_k8s_lists, cel__lib_includes, cel__lib_authz, cel__lib_patch;

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

/* Size of an operand, which may be unknown. */
struct cel_range cel__operand_size(const struct cel_operand *o);

/* The elements of a list operand, as an operand; false when its type has no parameters. */
bool cel__operand_elem(const struct cel_operand *list, struct cel_operand *elem);

/* The literal that an operand is, or NULL. */
const struct cel_value *cel__operand_literal(const struct cel_operand *o);

/* Shared rules, for rows. Estimates of a call that walks once over its target or its first
 * argument; `_keep`: and whose result is at most as long. */
cel_estimate_fn cel__est_target, cel__est_target_keep, cel__est_target_twice, cel__est_arg,
    cel__est_arg_keep, cel__est_arg_twice;
/* Runtime: ceil(size * 0.1) of args[0]; twice as much; of what is inside args[0], or args[1]. */
cel_cost_fn cel__cost_walk, cel__cost_walk_twice, cel__cost_walk_inside, cel__cost_walk_second;
/* One walk over a string or over all elements of a list (isSorted, sum, indexOf, ...). */
cel_estimate_fn cel__est_traverse;
cel_cost_fn cel__cost_traverse;
/* ceil((n + 1) * 0.1) * ceil(m * 0.25): regular expressions. */
cel_cost_fn cel__cost_regex, cel__cost_regex_inside;
cel_estimate_fn cel__est_regex;

#endif
