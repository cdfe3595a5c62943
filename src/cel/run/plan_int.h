/*
 * Programs: a tree of nodes, each with the function that evaluates it, as the planner makes it and
 * eval.c runs it. All of it is in the program's arena and never changes once the program is made,
 * but for the patterns that are compiled when they are first needed.
 */
#ifndef CEL_RUN_PLAN_INT_H
#define CEL_RUN_PLAN_INT_H

#include "cel/syntax/ast_int.h"

struct cel_node;
/* Evaluates a node. */
typedef struct cel_value cel_node_fn(struct cel_eval *ev, const struct cel_node *n);

/* The head of every node. */
struct cel_node {
    cel_node_fn *eval;
};

static inline struct cel_value cel__node_eval(struct cel_eval *ev, const struct cel_node *n) {
    return n->eval(ev, n);
}

struct cel_const_node {
    struct cel_node head;
    struct cel_value value;
};

/* One step of an attribute: .field, [key], [?key]. */
struct cel_qual {
    struct cel_value key;        /* constant, unless there is a node */
    const struct cel_node *node; /* gives the key */
    const struct cel_attr *attr; /* gives the key, when it is itself an attribute */
    uint32_t hint;               /* where an object has the field */
    bool optional, test_only;
};

enum cel_attr_base {
    CEL_BASE_VAR,
    CEL_BASE_LOCAL,
    CEL_BASE_NODE, /* any other expression */
    CEL_BASE_COND, /* c ? yes : no; steps behind it belong to both branches */
};

/* A variable or other value, and the steps behind it. */
struct cel_attr {
    uint8_t base;
    bool hidden; /* by a local of the same name: its steps cost nothing */
    uint32_t slot;
    const struct cel_node *node; /* the operand, or the condition */
    struct cel_attr *yes, *no;
    struct cel_qual *quals;
    uint32_t qual_count;
};

/* By cel__eval_local when it is a local and nothing else. */
struct cel_attr_node {
    struct cel_node head;
    struct cel_attr *attr;
    bool test_only;
};

/* &&, ||, ==, !=, or, orValue; @not_strictly_false has no b. */
struct cel_pair_node {
    struct cel_node head;
    const struct cel_node *a, *b;
};

struct cel_in_set_node {
    struct cel_node head;
    const struct cel_node *a;
    struct cel_map set;
};

struct cel_call_node {
    struct cel_node head;
    const struct cel_overload *overload; /* the one it is, or NULL: chosen by the arguments */
    const struct cel_function *function;
    cel_cost_fn *cost;           /* NULL: 1 */
    struct cel_pattern *pattern; /* constant, or NULL */
    uint32_t count;
    bool stops; /* at the first error among its arguments, uncharged if there are more */
    const struct cel_node *args[CEL_MAX_ARGS];
};

/* Lists, maps, messages: `keys` are nodes of a map, `fields` names of a message. */
struct cel_make_node {
    struct cel_node head;
    uint32_t count;
    const struct cel_node *const *keys, *const *values;
    const struct str *fields;
    struct str type_name;
    const bool *optional; /* NULL: none is */
};

struct cel_fold_node {
    struct cel_node head;
    uint32_t slot;
    bool two;
    const struct cel_node *range, *init, *cond, *step, *result;
};

cel_node_fn cel__eval_const, cel__eval_local, cel__eval_attr, cel__eval_and, cel__eval_or,
    cel__eval_eq, cel__eval_ne, cel__eval_opt_or, cel__eval_opt_or_value, cel__eval_in_set,
    cel__eval_call, cel__eval_list, cel__eval_map, cel__eval_message, cel__eval_fold,
    cel__eval_accu_append, cel__eval_not_false;

struct cel_program {
    struct arena arena;
    const struct cel_env *env;
    const struct cel_node *root;
    uint32_t locals;
    struct cel_pattern *patterns;
};

/* A local whose comprehension has not read it yet: `opaque` is its cel_fold_node. */
enum { CEL_LAZY = 255 };

/* Adds to the cost, and ends the evaluation when it passes the limit. */
void cel__charge_over(struct cel_eval *ev, uint64_t cost);
static inline void cel__charge(struct cel_eval *ev, uint64_t cost) {
    if (__builtin_expect(cost <= ev->limit - ev->cost && !ev->cancelled, 1))
        ev->cost += cost; /* cost <= limit holds as long as nothing is cancelled */
    else
        cel__charge_over(ev, cost);
}

/* Ends the evaluation with this error, whatever could absorb it. */
void cel__cancel(struct cel_eval *ev, struct cel_value reason);

/* What a cost function answers where upstream's fails on the arguments, which ends the evaluation:
 * args[0] is no list; args[1] is none; args[1] is no int. */
#define CEL_COST_NO_LIST       (UINT64_MAX - 1)
#define CEL_COST_NO_KEYS       (UINT64_MAX - 2)
#define CEL_COST_NO_INT        (UINT64_MAX - 3)
#define CEL_COST_CRASHES(cost) ((cost) >= CEL_COST_NO_INT && (cost) <= CEL_COST_NO_LIST)

/* The value of a well-known message from its fields, which are converted in place. */
struct cel_value cel__message(struct cel_eval *ev, struct str type, const struct str *fields,
                              struct cel_value *values, uint32_t n);

/* The value as google.protobuf.Value holds it; an error when it cannot. */
struct cel_value cel__to_json(struct cel_eval *ev, struct cel_value v);

/* The value as a field of Go's type `native`, whose values are of this kind, holds it; an error
 * with the reason when it cannot. */
struct cel_value cel__to_native(struct cel_eval *ev, struct cel_value v, const char *native,
                                enum cel_kind kind);

/* The name of the value's type in Go, which some errors have. */
const char *cel__go_type(struct cel_value v);

/* The key itself, or an error when nothing can be looked up by its kind. */
struct cel_value cel__bad_key(struct cel_eval *ev, struct cel_value key);

/* The overload that takes these arguments at run time, or NULL. */
const struct cel_overload *cel__dispatch(const struct cel_function *f, const struct cel_value *args,
                                         uint32_t n);

/* Calls an overload whose arguments have been evaluated; answers "no such overload" when their
 * kinds are wrong. */
struct cel_value cel__call(struct cel_eval *ev, const struct cel_overload *o,
                           const struct cel_value *args, uint32_t n);

#endif
