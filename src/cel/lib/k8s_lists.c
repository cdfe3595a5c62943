/*
 * The list functions that Kubernetes adds.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func Lists, func isSorted, func sum, func indexOf.
 */
#include "cel/cel_int.h"

static bool has_order(struct cel_value v) {
    return v.kind >= CEL_BOOL && v.kind <= CEL_TIMESTAMP;
}

static struct cel_value call_is_sorted(struct cel_eval *ev, const struct cel_value *args) {
    for (uint32_t i = 0; i < args[0].n; i++) {
        if (!has_order(args[0].items[i]))
            return CEL_NO_OVERLOAD;
        struct cel_value c = {0};
        if (i > 0)
            c = cel__compare(ev, args[0].items[i - 1], args[0].items[i]);
        if (c.kind == CEL_INT && c.i > 0)
            return cel_of_bool(false);
    }
    return cel_of_bool(true);
}

static struct cel_value sum(struct cel_eval *ev, struct cel_value list, struct cel_value zero) {
    struct cel_value pair[2] = {zero};
    for (uint32_t i = 0; i < list.n && pair[0].kind != CEL_ERROR; i++) {
        pair[1] = list.items[i];
        pair[0] = cel__add(ev, pair);
    }
    return pair[0];
}

static struct cel_value call_sum_int(struct cel_eval *ev, const struct cel_value *args) {
    return sum(ev, args[0], cel_of_int(0));
}

static struct cel_value call_sum_uint(struct cel_eval *ev, const struct cel_value *args) {
    return sum(ev, args[0], cel_of_uint(0));
}

static struct cel_value call_sum_double(struct cel_eval *ev, const struct cel_value *args) {
    return sum(ev, args[0], cel_of_double(0));
}

static struct cel_value call_sum_duration(struct cel_eval *ev, const struct cel_value *args) {
    return sum(ev, args[0], cel__duration(0));
}

/* The element that no other beats; pairs without an order keep the first. */
static struct cel_value best(struct cel_eval *ev, struct cel_value list, int64_t beaten,
                             struct str empty) {
    struct cel_value found = cel__fail(empty);
    for (uint32_t i = 0; i < list.n; i++) {
        if (!has_order(list.items[i]))
            return CEL_NO_OVERLOAD;
        struct cel_value c = i > 0 ? cel__compare(ev, found, list.items[i]) : cel_of_int(beaten);
        if (c.kind == CEL_INT && c.i == beaten)
            found = list.items[i];
    }
    return found;
}

static struct cel_value call_min(struct cel_eval *ev, const struct cel_value *args) {
    return best(ev, args[0], 1, STR("min called on empty list"));
}

static struct cel_value call_max(struct cel_eval *ev, const struct cel_value *args) {
    return best(ev, args[0], -1, STR("max called on empty list"));
}

static struct cel_value call_index_of(struct cel_eval *ev, const struct cel_value *args) {
    for (uint32_t i = 0; i < args[0].n; i++)
        if (cel__is_equal(ev, args[0].items[i], args[1]))
            return cel_of_int(i);
    return cel_of_int(-1);
}

static struct cel_value call_last_index_of(struct cel_eval *ev, const struct cel_value *args) {
    for (uint32_t i = args[0].n; i-- > 0;)
        if (cel__is_equal(ev, args[0].items[i], args[1]))
            return cel_of_int(i);
    return cel_of_int(-1);
}

static struct cel_value call_includes(struct cel_eval *ev, const struct cel_value *args) {
    if (args[0].kind == CEL_LIST)
        return cel_of_bool(call_index_of(ev, args).i >= 0);
    return cel_of_bool(cel__is_equal(ev, args[0], args[1]));
}

static struct cel_estimated est_includes(const struct cel_call_est *call) {
    if (call->target->type->param_count > 0)
        return cel__est_traverse(call);
    return (struct cel_estimated){.cost = cel__operand_size(call->target)};
}

#define ROW(fn, id, type, result, call, doc)                                                 \
    {                                                                                        \
        fn, id, "list(" type ").() -> " result, call, cel__est_traverse, cel__cost_traverse, \
            CEL_FN_COST_BY_NAME, doc                                                         \
    }
#define SUM(type, call) ROW("sum", "list_" type "_sum_" type, type, type, call, "all added up")
#define ORDERED(type)                                                                        \
    ROW("isSorted", "list_" type "_is_sorted_bool", type, "bool", call_is_sorted,            \
        "are the elements in ascending order?"),                                             \
        ROW("max", "list_" type "_max_" type, type, type, call_max, "the greatest element"), \
        ROW("min", "list_" type "_min_" type, type, type, call_min, "the smallest element")

static const struct cel_fn fns[] = {
    ORDERED("int"),
    ORDERED("uint"),
    ORDERED("double"),
    ORDERED("bool"),
    ORDERED("duration"),
    ORDERED("timestamp"),
    ORDERED("string"),
    ORDERED("bytes"),
    SUM("int", call_sum_int),
    SUM("uint", call_sum_uint),
    SUM("double", call_sum_double),
    SUM("duration", call_sum_duration),
    {"indexOf", "list_a_index_of_int", "list(A).(A) -> int", call_index_of, cel__est_traverse,
     cel__cost_traverse, CEL_FN_COST_BY_NAME, "where the element occurs first, or -1"},
    {"lastIndexOf", "list_a_last_index_of_int", "list(A).(A) -> int", call_last_index_of,
     cel__est_traverse, cel__cost_traverse, CEL_FN_COST_BY_NAME,
     "where the element occurs last, or -1"},
};

const struct cel_library cel__lib_k8s_lists = {CEL_LIB_K8S_LISTS, fns, sizeof fns / sizeof *fns};

static const struct cel_fn includes_fns[] = {
    {"includes", "list_includes_dyn_dyn", "dyn.(dyn) -> bool", call_includes, est_includes,
     cel__cost_traverse, CEL_FN_COST_BY_NAME, "is the value an element, or equal?"},
};

const struct cel_library cel__lib_includes = {CEL_LIB_INCLUDES, includes_fns, 1};
