/*
 * The standard library: operators, size, membership, and the string functions that every
 * environment has.
 *
 * Follows github.com/google/cel-go common/stdlib, func Functions.
 */
#include <math.h>
#include <string.h>

#include "cel/syntax/ast_int.h"

/* An operator asked of a kind of value that does not have it. Kinds with methods of their own are
 * asked for one, and do not say which they miss. */
#define NO_OPERATOR(op)           CEL_FAIL("no such overload: " op)
#define NO_OPERATOR_OF(value, op) cel__no_operator(value, STR("no such overload: " op))

struct cel_value cel__no_operator(struct cel_value v, struct str literal) {
    bool has_methods = v.kind == CEL_STRING || v.kind == CEL_DURATION || v.kind == CEL_TIMESTAMP;
    return has_methods ? CEL_NO_OVERLOAD : cel__fail(literal);
}

/* ---- arithmetic ---- */

#define UINT_OVERFLOW CEL_FAIL("unsigned integer overflow")

static struct cel_value add_times(struct cel_value t, int64_t ns) {
    int64_t seconds = ns / 1000000000, nanos = ns % 1000000000 + t.n;
    if (nanos < 0) {
        nanos += 1000000000;
        seconds--;
    } else if (nanos >= 1000000000) {
        nanos -= 1000000000;
        seconds++;
    }
    if (__builtin_add_overflow(t.i, seconds, &t.i))
        return CEL_OVERFLOW;
    t.n = (uint32_t)nanos;
    bool in_range = t.i >= CEL_MIN_SECONDS && t.i <= CEL_MAX_SECONDS;
    return in_range ? t : CEL_FAIL("timestamp overflow");
}

static struct cel_value concat(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (b.n == 0)
        return a;
    if (a.n == 0)
        return b;
    char *p = cel__alloc(ev, (size_t)a.n + b.n);
    if (!p)
        return CEL_TOO_BIG;
    memcpy(p, a.s, a.n);
    memcpy(p + a.n, b.s, b.n);
    a.s = p;
    a.n += b.n;
    return a;
}

static struct cel_value concat_lists(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    if (b.n == 0)
        return a;
    if (a.n == 0)
        return b;
    struct cel_value *items = cel__alloc_values(ev, (size_t)a.n + b.n);
    if (!items)
        return CEL_TOO_BIG;
    memcpy(items, a.items, a.n * sizeof *items);
    memcpy(items + a.n, b.items, b.n * sizeof *items);
    struct cel_value list = cel__list(items, (size_t)a.n + b.n);
    list.flag = CEL_CONCATENATED;
    return list;
}

static struct cel_value add_i64(struct cel_value a, struct cel_value b) {
    return __builtin_add_overflow(a.i, b.i, &a.i) ? CEL_OVERFLOW : a;
}

struct cel_value cel__add(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value a = args[0], b = args[1];
    switch (a.kind) {
    case CEL_INT:
        return b.kind == CEL_INT ? add_i64(a, b) : CEL_NO_OVERLOAD;
    case CEL_DURATION:
        if (b.kind == CEL_TIMESTAMP)
            return add_times(b, a.i);
        return b.kind == CEL_DURATION ? add_i64(a, b) : CEL_NO_OVERLOAD;
    case CEL_UINT:
        if (b.kind != CEL_UINT)
            return CEL_NO_OVERLOAD;
        return __builtin_add_overflow(a.u, b.u, &a.u) ? UINT_OVERFLOW : a;
    case CEL_DOUBLE:
        return b.kind == CEL_DOUBLE ? cel_of_double(a.d + b.d) : CEL_NO_OVERLOAD;
    case CEL_STRING:
    case CEL_BYTES:
        return a.kind == b.kind ? concat(ev, a, b) : CEL_NO_OVERLOAD;
    case CEL_LIST:
        return b.kind == CEL_LIST ? concat_lists(ev, a, b) : CEL_NO_OVERLOAD;
    case CEL_TIMESTAMP:
        return b.kind == CEL_DURATION ? add_times(a, b.i) : CEL_NO_OVERLOAD;
    default:
        return NO_OPERATOR(CEL_OP_ADD);
    }
}

/* t1 - t2 in nanoseconds. */
static struct cel_value sub_times(struct cel_value a, struct cel_value b) {
    int64_t seconds, ns;
    if (__builtin_sub_overflow(a.i, b.i, &seconds) ||
        __builtin_mul_overflow(seconds, 1000000000, &ns) ||
        __builtin_add_overflow(ns, (int64_t)a.n - (int64_t)b.n, &ns))
        return CEL_OVERFLOW;
    return cel__duration(ns);
}

static struct cel_value call_sub(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct cel_value a = args[0], b = args[1];
    if (a.kind == CEL_TIMESTAMP && b.kind == CEL_TIMESTAMP)
        return sub_times(a, b);
    if (a.kind == CEL_TIMESTAMP && b.kind == CEL_DURATION)
        return b.i == INT64_MIN ? CEL_OVERFLOW : add_times(a, -b.i);
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        if (a.kind != b.kind)
            return CEL_NO_OVERLOAD;
        return __builtin_sub_overflow(a.i, b.i, &a.i) ? CEL_OVERFLOW : a;
    case CEL_UINT:
        if (b.kind != CEL_UINT)
            return CEL_NO_OVERLOAD;
        return __builtin_sub_overflow(a.u, b.u, &a.u) ? UINT_OVERFLOW : a;
    case CEL_DOUBLE:
        return b.kind == CEL_DOUBLE ? cel_of_double(a.d - b.d) : CEL_NO_OVERLOAD;
    case CEL_TIMESTAMP:
        return CEL_NO_OVERLOAD;
    default:
        return NO_OPERATOR_OF(a, CEL_OP_SUB);
    }
}

static struct cel_value call_mul(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct cel_value a = args[0], b = args[1];
    if (a.kind != CEL_INT && a.kind != CEL_UINT && a.kind != CEL_DOUBLE)
        return NO_OPERATOR_OF(a, CEL_OP_MUL);
    if (a.kind != b.kind)
        return CEL_NO_OVERLOAD;
    if (a.kind == CEL_INT)
        return __builtin_mul_overflow(a.i, b.i, &a.i) ? CEL_OVERFLOW : a;
    if (a.kind == CEL_UINT)
        return __builtin_mul_overflow(a.u, b.u, &a.u) ? UINT_OVERFLOW : a;
    return cel_of_double(a.d * b.d);
}

static struct cel_value call_div(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct cel_value a = args[0], b = args[1];
    if (a.kind != CEL_INT && a.kind != CEL_UINT && a.kind != CEL_DOUBLE)
        return NO_OPERATOR_OF(a, CEL_OP_DIV);
    if (a.kind != b.kind)
        return CEL_NO_OVERLOAD;
    if (a.kind == CEL_DOUBLE)
        return cel_of_double(a.d / b.d);
    if (b.u == 0)
        return CEL_FAIL("division by zero");
    if (a.kind == CEL_UINT)
        return cel_of_uint(a.u / b.u);
    return a.i == INT64_MIN && b.i == -1 ? CEL_OVERFLOW : cel_of_int(a.i / b.i);
}

static struct cel_value call_mod(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct cel_value a = args[0], b = args[1];
    if (a.kind != CEL_INT && a.kind != CEL_UINT)
        return NO_OPERATOR_OF(a, CEL_OP_MOD);
    if (a.kind != b.kind)
        return CEL_NO_OVERLOAD;
    if (b.u == 0)
        return CEL_FAIL("modulus by zero");
    if (a.kind == CEL_UINT)
        return cel_of_uint(a.u % b.u);
    return a.i == INT64_MIN && b.i == -1 ? CEL_OVERFLOW : cel_of_int(a.i % b.i);
}

static struct cel_value call_neg(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct cel_value a = args[0];
    switch (a.kind) {
    case CEL_INT:
    case CEL_DURATION:
        if (a.i == INT64_MIN)
            return CEL_OVERFLOW;
        a.i = -a.i;
        return a;
    case CEL_DOUBLE:
        return cel_of_double(-a.d);
    case CEL_BOOL:
        return CEL_NO_OVERLOAD;
    default:
        return NO_OPERATOR_OF(a, CEL_OP_NEG);
    }
}

/* ---- logic, order ---- */

static struct cel_value call_not(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0].kind == CEL_BOOL ? cel_of_bool(!args[0].b) : CEL_NO_OVERLOAD;
}

static bool has_order(struct cel_value v) {
    return v.kind >= CEL_BOOL && v.kind <= CEL_TIMESTAMP;
}

static struct cel_value call_lt(struct cel_eval *ev, const struct cel_value *args) {
    if (!has_order(args[0]))
        return NO_OPERATOR(CEL_OP_LT);
    struct cel_value c = cel__compare(ev, args[0], args[1]);
    return c.kind == CEL_ERROR ? c : cel_of_bool(c.i < 0);
}

static struct cel_value call_le(struct cel_eval *ev, const struct cel_value *args) {
    if (!has_order(args[0]))
        return NO_OPERATOR(CEL_OP_LE);
    struct cel_value c = cel__compare(ev, args[0], args[1]);
    return c.kind == CEL_ERROR ? c : cel_of_bool(c.i <= 0);
}

static struct cel_value call_gt(struct cel_eval *ev, const struct cel_value *args) {
    if (!has_order(args[0]))
        return NO_OPERATOR(CEL_OP_GT);
    struct cel_value c = cel__compare(ev, args[0], args[1]);
    return c.kind == CEL_ERROR ? c : cel_of_bool(c.i > 0);
}

static struct cel_value call_ge(struct cel_eval *ev, const struct cel_value *args) {
    if (!has_order(args[0]))
        return NO_OPERATOR(CEL_OP_GE);
    struct cel_value c = cel__compare(ev, args[0], args[1]);
    return c.kind == CEL_ERROR ? c : cel_of_bool(c.i >= 0);
}

/* ---- containers ---- */

static struct cel_value call_in(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value in = args[1];
    if (in.kind == CEL_MAP)
        return cel_of_bool(cel__map_find(ev, in.map, args[0]) != NULL);
    if (in.kind != CEL_LIST)
        return CEL_NO_OVERLOAD;
    for (uint32_t i = 0; i < in.n; i++)
        if (cel__is_equal(ev, args[0], in.items[i]))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

static struct cel_value call_size(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    uint8_t kind = args[0].kind;
    bool sized = kind == CEL_STRING || kind == CEL_BYTES || kind == CEL_LIST || kind == CEL_MAP;
    return sized ? cel_of_int((int64_t)cel__size_of(args[0])) : NO_OPERATOR_OF(args[0], "size");
}

static struct cel_value call_type(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return (struct cel_value){.kind = CEL_TYPE, .type = cel__type_of(args[0])};
}

static struct cel_value call_dyn(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0];
}

/* ---- strings ---- */

static bool both_strings(const struct cel_value *args) {
    return args[0].kind == CEL_STRING && args[1].kind == CEL_STRING;
}

static struct cel_value call_contains(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    if (!both_strings(args))
        return CEL_NO_OVERLOAD;
    return cel_of_bool(str_find(cel_str(args[0]), cel_str(args[1])) != STR_NONE);
}

static struct cel_value call_starts(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    if (!both_strings(args))
        return CEL_NO_OVERLOAD;
    return cel_of_bool(str_starts(cel_str(args[0]), cel_str(args[1])));
}

static struct cel_value call_ends(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    if (!both_strings(args))
        return CEL_NO_OVERLOAD;
    return cel_of_bool(str_ends(cel_str(args[0]), cel_str(args[1])));
}

/* ---- costs ---- */

static uint64_t cost_less(struct cel_eval *ev, const struct cel_value *args,
                          const struct cel_value *result) {
    (void)ev;
    (void)result;
    uint64_t n = cel__size_inside(args[0]), m = cel__size_inside(args[1]);
    return cel__scale(n < m ? n : m, 0.1);
}

static uint64_t cost_concat(struct cel_eval *ev, const struct cel_value *args,
                            const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_inside(args[0]) + cel__size_inside(args[1]), 0.1);
}

static uint64_t cost_contains(struct cel_eval *ev, const struct cel_value *args,
                              const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_inside(args[0]), 0.1) * cel__scale(cel__size_inside(args[1]), 0.1);
}

static uint64_t cost_in_list(struct cel_eval *ev, const struct cel_value *args,
                             const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__size_inside(args[1]);
}

/* Half of the comparisons may end at the first byte; all end with the shorter side. */
static struct cel_estimated est_less(const struct cel_call_est *call) {
    struct cel_range a = cel__operand_size(&call->args[0]);
    struct cel_range b = cel__operand_size(&call->args[1]);
    uint64_t max = a.max < b.max ? a.max : b.max;
    struct cel_range size = {max > 0, max};
    return (struct cel_estimated){.cost = cel__range_scale(size, 0.1)};
}

static struct cel_estimated est_equal(const struct cel_call_est *call) {
    const struct cel_type *t = call->args[0].type;
    static const struct {
        const char *name;
        uint64_t max; /* 0: the size of the right side */
    } special[] = {{"net.IP", 1},
                   {"net.CIDR", 1},
                   {"kubernetes.Quantity", 1},
                   {"kubernetes.Semver", 1},
                   {"kubernetes.NamedFormat", 64},
                   {"kubernetes.URL", 0}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (!str_is(t->name, special[i].name) || !cel__type_equal(t, call->args[1].type))
            continue;
        if (special[i].max == 1)
            return (struct cel_estimated){.cost = cel__fixed(1)};
        uint64_t size = call->args[1].sized ? call->args[1].size.max : 1;
        struct cel_range r = {1, special[i].max ? special[i].max : size};
        return (struct cel_estimated){.cost = cel__range_scale(r, 0.1)};
    }
    return est_less(call);
}

static struct cel_estimated est_concat(const struct cel_call_est *call) {
    struct cel_range size =
        cel__range_add(cel__operand_size(&call->args[0]), cel__operand_size(&call->args[1]));
    bool list = call->args[0].type->kind == CEL_T_LIST && call->args[1].type->kind == CEL_T_LIST;
    return (struct cel_estimated){list ? cel__fixed(1) : cel__range_scale(size, 0.1), size, true};
}

static struct cel_estimated est_add_list(const struct cel_call_est *call) {
    struct cel_estimated e = est_concat(call);
    e.cost = cel__fixed(1);
    return e;
}

static struct cel_estimated est_contains(const struct cel_call_est *call) {
    struct cel_range n = cel__range_scale(cel__operand_size(call->target), 0.1);
    struct cel_range m = cel__range_scale(cel__operand_size(&call->args[0]), 0.1);
    return (struct cel_estimated){.cost = cel__range_mul(n, m)};
}

static struct cel_estimated est_in_list(const struct cel_call_est *call) {
    return (struct cel_estimated){.cost = cel__range_scale(cel__operand_size(&call->args[1]), 1)};
}

/* ---- rows ---- */

enum { ANY = CEL_FN_SINGLETON };

#define ORDER(op, id, fn, doc)                                                               \
    {op, id "_bool", "(bool, bool) -> bool", fn, NULL, NULL, ANY, doc},                      \
        {op, id "_int64", "(int, int) -> bool", fn, NULL, NULL, ANY, doc},                   \
        {op, id "_int64_double", "(int, double) -> bool", fn, NULL, NULL, ANY, doc},         \
        {op, id "_int64_uint64", "(int, uint) -> bool", fn, NULL, NULL, ANY, doc},           \
        {op, id "_uint64", "(uint, uint) -> bool", fn, NULL, NULL, ANY, doc},                \
        {op, id "_uint64_double", "(uint, double) -> bool", fn, NULL, NULL, ANY, doc},       \
        {op, id "_uint64_int64", "(uint, int) -> bool", fn, NULL, NULL, ANY, doc},           \
        {op, id "_double", "(double, double) -> bool", fn, NULL, NULL, ANY, doc},            \
        {op, id "_double_int64", "(double, int) -> bool", fn, NULL, NULL, ANY, doc},         \
        {op, id "_double_uint64", "(double, uint) -> bool", fn, NULL, NULL, ANY, doc},       \
        {op, id "_string", "(string, string) -> bool", fn, est_less, cost_less, ANY, doc},   \
        {op, id "_bytes", "(bytes, bytes) -> bool", fn, est_less, cost_less, ANY, doc},      \
        {op, id "_timestamp", "(timestamp, timestamp) -> bool", fn, NULL, NULL, ANY, doc}, { \
        op, id "_duration", "(duration, duration) -> bool", fn, NULL, NULL, ANY, doc         \
    }

static const struct cel_fn fns[] = {
    {CEL_OP_COND, "conditional", "(bool, A, A) -> A", NULL, NULL, NULL, 0,
     "one of two values, by a condition"},
    {CEL_OP_AND, "logical_and", "(bool, bool) -> bool", NULL, NULL, NULL, 0,
     "true when both are; false wins over errors"},
    {CEL_OP_OR, "logical_or", "(bool, bool) -> bool", NULL, NULL, NULL, 0,
     "true when one is; true wins over errors"},
    {CEL_OP_NOT, "logical_not", "(bool) -> bool", call_not, NULL, NULL, ANY, "the opposite"},
    {CEL_OP_NSF, "not_strictly_false", "(bool) -> bool", NULL, NULL, NULL, CEL_FN_INTERNAL,
     "true unless false, errors included"},
    {CEL_OP_EQ, "equals", "(A, A) -> bool", NULL, est_equal, NULL, 0, "same value"},
    {CEL_OP_NE, "not_equals", "(A, A) -> bool", NULL, est_less, NULL, 0, "not the same value"},
    {CEL_OP_ADD, "add_bytes", "(bytes, bytes) -> bytes", cel__add, est_concat, cost_concat, ANY,
     "both, one behind the other"},
    {CEL_OP_ADD, "add_double", "(double, double) -> double", cel__add, NULL, NULL, ANY, "sum"},
    {CEL_OP_ADD, "add_duration_duration", "(duration, duration) -> duration", cel__add, NULL, NULL,
     ANY, "sum"},
    {CEL_OP_ADD, "add_duration_timestamp", "(duration, timestamp) -> timestamp", cel__add, NULL,
     NULL, ANY, "a later moment"},
    {CEL_OP_ADD, "add_timestamp_duration", "(timestamp, duration) -> timestamp", cel__add, NULL,
     NULL, ANY, "a later moment"},
    {CEL_OP_ADD, "add_int64", "(int, int) -> int", cel__add, NULL, NULL, ANY, "sum"},
    {CEL_OP_ADD, "add_list", "(list(A), list(A)) -> list(A)", cel__add, est_add_list, NULL, ANY,
     "the elements of both"},
    {CEL_OP_ADD, "add_string", "(string, string) -> string", cel__add, est_concat, cost_concat, ANY,
     "both, one behind the other"},
    {CEL_OP_ADD, "add_uint64", "(uint, uint) -> uint", cel__add, NULL, NULL, ANY, "sum"},
    {CEL_OP_DIV, "divide_double", "(double, double) -> double", call_div, NULL, NULL, ANY,
     "quotient"},
    {CEL_OP_DIV, "divide_int64", "(int, int) -> int", call_div, NULL, NULL, ANY,
     "quotient, towards zero"},
    {CEL_OP_DIV, "divide_uint64", "(uint, uint) -> uint", call_div, NULL, NULL, ANY,
     "quotient, rounded down"},
    {CEL_OP_MOD, "modulo_int64", "(int, int) -> int", call_mod, NULL, NULL, ANY,
     "remainder, with the sign of the first"},
    {CEL_OP_MOD, "modulo_uint64", "(uint, uint) -> uint", call_mod, NULL, NULL, ANY, "remainder"},
    {CEL_OP_MUL, "multiply_double", "(double, double) -> double", call_mul, NULL, NULL, ANY,
     "product"},
    {CEL_OP_MUL, "multiply_int64", "(int, int) -> int", call_mul, NULL, NULL, ANY, "product"},
    {CEL_OP_MUL, "multiply_uint64", "(uint, uint) -> uint", call_mul, NULL, NULL, ANY, "product"},
    {CEL_OP_NEG, "negate_double", "(double) -> double", call_neg, NULL, NULL, ANY, "negative"},
    {CEL_OP_NEG, "negate_int64", "(int) -> int", call_neg, NULL, NULL, ANY, "negative"},
    {CEL_OP_SUB, "subtract_double", "(double, double) -> double", call_sub, NULL, NULL, ANY,
     "difference"},
    {CEL_OP_SUB, "subtract_duration_duration", "(duration, duration) -> duration", call_sub, NULL,
     NULL, ANY, "difference"},
    {CEL_OP_SUB, "subtract_int64", "(int, int) -> int", call_sub, NULL, NULL, ANY, "difference"},
    {CEL_OP_SUB, "subtract_timestamp_duration", "(timestamp, duration) -> timestamp", call_sub,
     NULL, NULL, ANY, "an earlier moment"},
    {CEL_OP_SUB, "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", call_sub,
     NULL, NULL, ANY, "the time between two moments"},
    {CEL_OP_SUB, "subtract_uint64", "(uint, uint) -> uint", call_sub, NULL, NULL, ANY,
     "difference"},
    ORDER(CEL_OP_LT, "less", call_lt, "comes before"),
    ORDER(CEL_OP_LE, "less_equals", call_le, "comes before, or is equal"),
    ORDER(CEL_OP_GT, "greater", call_gt, "comes behind"),
    ORDER(CEL_OP_GE, "greater_equals", call_ge, "comes behind, or is equal"),
    {CEL_OP_INDEX, "index_list", "(list(A), int) -> A", NULL, NULL, NULL, 0,
     "the element at a place, from 0"},
    {CEL_OP_INDEX, "index_map", "(map(A, B), A) -> B", NULL, NULL, NULL, 0, "the value of a key"},
    {CEL_OP_IN, "in_list", "(A, list(A)) -> bool", call_in, est_in_list, cost_in_list, ANY,
     "is an element"},
    {CEL_OP_IN, "in_map", "(A, map(A, B)) -> bool", call_in, NULL, NULL, ANY, "is a key"},
    {"size", "size_bytes", "(bytes) -> int", call_size, NULL, NULL, ANY, "number of bytes"},
    {"size", "bytes_size", "bytes.() -> int", call_size, NULL, NULL, ANY, "number of bytes"},
    {"size", "size_list", "(list(A)) -> int", call_size, NULL, NULL, ANY, "number of elements"},
    {"size", "list_size", "list(A).() -> int", call_size, NULL, NULL, ANY, "number of elements"},
    {"size", "size_map", "(map(A, B)) -> int", call_size, NULL, NULL, ANY, "number of entries"},
    {"size", "map_size", "map(A, B).() -> int", call_size, NULL, NULL, ANY, "number of entries"},
    {"size", "size_string", "(string) -> int", call_size, NULL, NULL, ANY, "number of code points"},
    {"size", "string_size", "string.() -> int", call_size, NULL, NULL, ANY,
     "number of code points"},
    {"type", "type", "(A) -> type(A)", call_type, NULL, NULL, ANY | CEL_FN_CONVERSION,
     "the type of a value"},
    {"dyn", "to_dyn", "(A) -> dyn", call_dyn, NULL, NULL, ANY | CEL_FN_CONVERSION,
     "the value, with its type unknown to the checker"},
    {"contains", "contains_string", "string.(string) -> bool", call_contains, est_contains,
     cost_contains, ANY, "has the text in it"},
    {"endsWith", "ends_with_string", "string.(string) -> bool", call_ends, cel__est_arg,
     cel__cost_walk_second, ANY, "ends in the text"},
    {"startsWith", "starts_with_string", "string.(string) -> bool", call_starts, cel__est_arg,
     cel__cost_walk_second, ANY, "begins with the text"},
};

const struct cel_library cel__lib_std = {CEL_LIB_STD, fns, sizeof fns / sizeof *fns};
