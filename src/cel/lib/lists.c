/*
 * The lists library, version 3.
 *
 * Follows github.com/google/cel-go ext, func Lists, func slice, func flatten, func distinctList.
 */
#include <string.h>

#include "cel/run/plan_int.h"
#include "cel/run/text_int.h"

enum { MAX_RANGE = 1000000 };

/* ---- functions ---- */

static struct cel_value call_slice(struct cel_eval *ev, const struct cel_value *args) {
    long long from = args[1].i, to = args[2].i;
    if (from < 0 || to < 0)
        return cel__error(ev, "cannot slice(%lld, %lld), negative indexes not supported", from, to);
    if (from > to)
        return cel__error(
            ev, "cannot slice(%lld, %lld), start index must be less than or equal to end index",
            from, to);
    if (to > args[0].n)
        return cel__error(ev, "cannot slice(%lld, %lld), list is length %u", from, to, args[0].n);
    return cel__list(args[0].items + from, (size_t)(to - from));
}

/* Items, or how many there would be when out is NULL. */
static size_t flatten(struct cel_eval *ev, struct cel_value list, int64_t depth,
                      struct cel_value *out) {
    size_t n = 0;
    if (!out && !cel__work(ev, (list.n + UINT64_C(1)) * CEL_WORK_ITEM))
        return 0;
    for (uint32_t i = 0; i < list.n; i++) {
        struct cel_value v = list.items[i];
        if (v.kind == CEL_LIST && depth > 0) {
            n += flatten(ev, v, depth - 1, out ? out + n : NULL);
        } else {
            if (out)
                out[n] = v;
            n++;
        }
    }
    return n;
}

static struct cel_value flattened(struct cel_eval *ev, struct cel_value list, int64_t depth) {
    if (depth < 0)
        return CEL_FAIL("level must be non-negative");
    size_t n = flatten(ev, list, depth, NULL);
    struct cel_value *items = ev->cancelled ? NULL : cel__alloc_values(ev, n);
    if (!items)
        return CEL_TOO_BIG;
    flatten(ev, list, depth, items);
    return cel__list(items, n);
}

static struct cel_value call_flatten(struct cel_eval *ev, const struct cel_value *args) {
    if (args[0].kind != CEL_LIST)
        return cel__error(ev, "no such overload: %.*s%s.flatten()",
                          STR_ARG(cel_type_name_of(args[0])), cel__type_params(args[0]));
    return flattened(ev, args[0], 1);
}

static struct cel_value call_flatten_depth(struct cel_eval *ev, const struct cel_value *args) {
    if (args[0].kind != CEL_LIST || args[1].kind != CEL_INT)
        return cel__error(ev, "no such overload: %.*s%s.flatten(%.*s%s)",
                          STR_ARG(cel_type_name_of(args[0])), cel__type_params(args[0]),
                          STR_ARG(cel_type_name_of(args[1])), cel__type_params(args[1]));
    return flattened(ev, args[0], args[1].i);
}

static struct cel_value call_distinct(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value *items = cel__alloc_values(ev, args[0].n);
    uint32_t n = 0;
    if (!items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < args[0].n; i++) {
        uint32_t k = 0;
        while (k < n && !cel__is_equal(ev, args[0].items[i], items[k]))
            k++;
        if (k == n)
            items[n++] = args[0].items[i];
    }
    return cel__list(items, n);
}

static struct cel_value call_reverse(struct cel_eval *ev, const struct cel_value *args) {
    uint32_t n = args[0].n;
    struct cel_value *items = cel__alloc_values(ev, n);
    if (!items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < n; i++)
        items[i] = args[0].items[n - 1 - i];
    return cel__list(items, n);
}

static struct cel_value call_range(struct cel_eval *ev, const struct cel_value *args) {
    int64_t n = args[0].i;
    if (n < 0)
        return cel__error(ev, "lists.range: size must be non-negative, got %lld", (long long)n);
    if (n > MAX_RANGE)
        return cel__error(ev, "lists.range: size %lld exceeds maximum allowed (%d)", (long long)n,
                          MAX_RANGE);
    struct cel_value *items = cel__alloc_values(ev, (size_t)n);
    if (!items)
        return CEL_TOO_BIG;
    for (int64_t i = 0; i < n; i++)
        items[i] = cel_of_int(i);
    return cel__list(items, (size_t)n);
}

/* ---- sorting ---- */

struct keyed {
    struct cel_value key, item;
};

static bool is_less(struct cel_eval *ev, const struct keyed *a, const struct keyed *b) {
    struct cel_value order = cel__compare(ev, a->key, b->key); /* an error when one is NaN */
    return order.kind == CEL_INT && order.i < 0;
}

static void sort_short(struct cel_eval *ev, struct keyed *v, size_t n) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && is_less(ev, &v[k], &v[k - 1]); k--) {
            struct keyed swap = v[k];
            v[k] = v[k - 1];
            v[k - 1] = swap;
        }
}

/* As upstream up to SHORT, which shows where NaN stands among them. Longer lists by merging:
 * stable, where upstream leaves the order of equal keys open. */
enum { SHORT = 12 };

static void sort(struct cel_eval *ev, struct keyed *v, struct keyed *spare, size_t n) {
    if (n <= SHORT) {
        sort_short(ev, v, n);
        return;
    }
    size_t half = n / 2, i = 0, k = half, out = 0;
    sort(ev, v, spare, half);
    sort(ev, v + half, spare, n - half);
    while (i < half && k < n)
        spare[out++] = is_less(ev, &v[k], &v[i]) ? v[k++] : v[i++];
    while (i < half)
        spare[out++] = v[i++];
    memcpy(v, spare, out * sizeof *v);
}

static bool has_order(struct cel_value v) {
    return v.kind >= CEL_BOOL && v.kind <= CEL_TIMESTAMP;
}

static struct cel_value check_keys(struct cel_value keys) {
    if (!has_order(keys.items[0]))
        return CEL_FAIL("list elements must be comparable");
    for (uint32_t i = 1; i < keys.n; i++)
        if (keys.items[i].kind != keys.items[0].kind)
            return CEL_FAIL("list elements must have the same type");
    return keys;
}

static struct cel_value sort_by(struct cel_eval *ev, struct cel_value list, struct cel_value keys) {
    if (list.n != keys.n)
        return cel__error(ev,
                          "@sortByAssociatedKeys() expected a list of the same size as the "
                          "associated keys list, but got %u and %u elements respectively",
                          list.n, keys.n);
    if (list.n == 0)
        return list;
    struct cel_value checked = check_keys(keys);
    if (checked.kind == CEL_ERROR)
        return checked;
    struct keyed *v = cel__alloc(ev, 2 * (size_t)list.n * sizeof *v);
    struct cel_value *items = v ? cel__alloc_values(ev, list.n) : NULL;
    if (!items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < list.n; i++)
        v[i] = (struct keyed){keys.items[i], list.items[i]};
    sort(ev, v, v + list.n, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        items[i] = v[i].item;
    return cel__list(items, list.n);
}

static struct cel_value call_sort(struct cel_eval *ev, const struct cel_value *args) {
    if (args[0].kind != CEL_LIST)
        return cel__no_operator(args[0], STR("no such overload: sort"));
    return sort_by(ev, args[0], args[0]);
}

static struct cel_value call_sort_by(struct cel_eval *ev, const struct cel_value *args) {
    if (args[0].kind != CEL_LIST || args[1].kind != CEL_LIST)
        return CEL_FAIL("no such overload: @sortByAssociatedKeys");
    return sort_by(ev, args[0], args[1]);
}

/* ---- costs: the call, a new list, and its elements ---- */

static struct cel_estimated allocating(struct cel_range size, double factor) {
    return (struct cel_estimated){cel__range_add(cel__range_scale(size, factor), cel__fixed(11)),
                                  size, true};
}

static uint64_t literal_or(const struct cel_operand *o, uint64_t other) {
    const struct cel_value *v = cel__operand_literal(o);
    if (!v || v->kind != CEL_INT)
        return other;
    return v->i < 0 ? 0 : (uint64_t)v->i;
}

static struct cel_estimated est_slice(const struct cel_call_est *call) {
    uint64_t from = literal_or(&call->args[0], 0);
    uint64_t to = literal_or(&call->args[1], cel__operand_size(call->target).max);
    return allocating(cel__fixed(to - from), 1); /* wraps around, as upstream's does */
}

static struct cel_estimated est_range(const struct cel_call_est *call) {
    return allocating(cel__fixed(literal_or(&call->args[0], UINT64_MAX)), 1);
}

static struct cel_estimated est_reverse(const struct cel_call_est *call) {
    return allocating(cel__operand_size(call->target), 1);
}

static struct cel_estimated est_flatten(const struct cel_call_est *call) {
    uint64_t depth = call->n > 0 ? literal_or(&call->args[0], UINT64_MAX) : 1;
    return allocating(cel__operand_size(call->target), (double)depth);
}

static struct cel_estimated squared(struct cel_range size, double factor) {
    return allocating(cel__range_mul(size, size), factor);
}

static struct cel_estimated est_distinct(const struct cel_call_est *call) {
    return squared(cel__operand_size(call->target), 2);
}

static struct cel_estimated est_sort(const struct cel_call_est *call) {
    return squared(cel__operand_size(call->target), 2);
}

static struct cel_estimated est_sort_text(const struct cel_call_est *call) {
    return squared(cel__operand_size(call->target), 2.1);
}

static struct cel_estimated est_sort_by(const struct cel_call_est *call) {
    return squared(cel__operand_size(&call->args[0]), 2);
}

static struct cel_estimated est_sort_by_text(const struct cel_call_est *call) {
    return squared(cel__operand_size(&call->args[0]), 2.1);
}

/* What is too large for a uint64 becomes 2^63, as Go converts it on amd64. */
static uint64_t allocated(uint64_t size, double factor) {
    double d = (double)size * (factor < 0 ? 1 : factor);
    return cel__add_sat(d >= 0x1p64 ? UINT64_C(1) << 63 : (uint64_t)d, 11);
}

static uint64_t cost_output(struct cel_eval *ev, const struct cel_value *args,
                            const struct cel_value *result) {
    (void)ev;
    (void)args;
    return allocated(cel__size_of(*result), 1);
}

static uint64_t cost_flatten(struct cel_eval *ev, const struct cel_value *args,
                             const struct cel_value *result) {
    (void)ev;
    (void)result;
    return allocated(cel__size_of(args[0]), 1);
}

static uint64_t cost_flatten_depth(struct cel_eval *ev, const struct cel_value *args,
                                   const struct cel_value *result) {
    (void)ev;
    (void)result;
    if (args[1].kind != CEL_INT)
        return CEL_COST_NO_INT;
    return allocated(cel__size_of(args[0]), (double)args[1].i);
}

static uint64_t self_compare(struct cel_value list) {
    bool text = list.n > 0 && (list.items[0].kind == CEL_STRING || list.items[0].kind == CEL_BYTES);
    uint64_t n = list.n;
    return allocated(cel__mul_sat(n, n), text ? 2.1 : 2);
}

static uint64_t cost_sort(struct cel_eval *ev, const struct cel_value *args,
                          const struct cel_value *result) {
    (void)ev;
    (void)result;
    return args[0].kind == CEL_LIST ? self_compare(args[0]) : CEL_COST_NO_LIST;
}

static uint64_t cost_sort_by(struct cel_eval *ev, const struct cel_value *args,
                             const struct cel_value *result) {
    (void)ev;
    (void)result;
    return args[1].kind == CEL_LIST ? self_compare(args[1]) : CEL_COST_NO_KEYS;
}

/* ---- rows ---- */

#define SORT(type, name, est)                                                                \
    {                                                                                        \
        "sort", "list_" name "_sort", "list(" type ").() -> list(" type ")", call_sort, est, \
            cost_sort, CEL_FN_SINGLETON, "in ascending order"                                \
    }
#define SORT_BY(type, name, est)                                                    \
    {                                                                               \
        "@sortByAssociatedKeys", "list_" name "_sortByAssociatedKeys",              \
            "list(T).(list(" type ")) -> list(T)", call_sort_by, est, cost_sort_by, \
            CEL_FN_SINGLETON | CEL_FN_INTERNAL, "in the order of the keys"          \
    }

static const struct cel_fn fns[] = {
    {"slice", "list_slice", "list(T).(int, int) -> list(T)", call_slice, est_slice, cost_output, 0,
     "the elements between two places"},
    {"flatten", "list_flatten", "list(list(T)).() -> list(T)", call_flatten, est_flatten,
     cost_flatten, CEL_FN_SINGLETON, "the elements of the elements"},
    {"flatten", "list_flatten_int", "list(dyn).(int) -> list(dyn)", call_flatten_depth, est_flatten,
     cost_flatten_depth, CEL_FN_SINGLETON, "the same, n levels deep"},
    {"distinct", "list_distinct", "list(T).() -> list(T)", call_distinct, est_distinct, cost_sort,
     0, "each element once, at its first place"},
    {"reverse", "list_reverse", "list(T).() -> list(T)", call_reverse, est_reverse, cost_output, 0,
     "from the last to the first"},
    {"lists.range", "lists_range", "(int) -> list(int)", call_range, est_range, cost_output, 0,
     "the numbers from 0 to n - 1"},
    SORT("int", "int", est_sort),
    SORT("uint", "uint", est_sort),
    SORT("double", "double", est_sort),
    SORT("bool", "bool", est_sort),
    SORT("duration", "google.protobuf.Duration", est_sort),
    SORT("timestamp", "google.protobuf.Timestamp", est_sort),
    SORT("string", "string", est_sort_text),
    SORT("bytes", "bytes", est_sort_text),
    SORT_BY("int", "int", est_sort_by),
    SORT_BY("uint", "uint", est_sort_by),
    SORT_BY("double", "double", est_sort_by),
    SORT_BY("bool", "bool", est_sort_by),
    SORT_BY("duration", "google.protobuf.Duration", est_sort_by),
    SORT_BY("timestamp", "google.protobuf.Timestamp", est_sort_by),
    SORT_BY("string", "string", est_sort_by_text),
    SORT_BY("bytes", "bytes", est_sort_by_text),
};

const struct cel_library cel__lib_lists = {CEL_LIB_LISTS, fns, sizeof fns / sizeof *fns};
