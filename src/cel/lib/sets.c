/*
 * Lists as sets.
 *
 * Follows github.com/google/cel-go ext, func Sets, func setsContains, func setsEquivalent,
 * func setsIntersects.
 */
#include "cel/cel_int.h"

static bool has(struct cel_eval *ev, struct cel_value list, struct cel_value v) {
    for (uint32_t i = 0; i < list.n; i++)
        if (cel__is_equal(ev, v, list.items[i]))
            return true;
    return false;
}

static bool has_all(struct cel_eval *ev, struct cel_value list, struct cel_value others) {
    for (uint32_t i = 0; i < others.n; i++)
        if (!has(ev, list, others.items[i]))
            return false;
    return true;
}

static struct cel_value call_contains(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(has_all(ev, args[0], args[1]));
}

static struct cel_value call_equivalent(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(has_all(ev, args[0], args[1]) && has_all(ev, args[1], args[0]));
}

static struct cel_value call_intersects(struct cel_eval *ev, const struct cel_value *args) {
    for (uint32_t i = 0; i < args[0].n; i++)
        if (has(ev, args[1], args[0].items[i]))
            return cel_of_bool(true);
    return cel_of_bool(false);
}

static struct cel_estimated estimate(const struct cel_call_est *call, double factor) {
    struct cel_range n = cel__operand_size(&call->args[0]);
    struct cel_range m = cel__operand_size(&call->args[1]);
    struct cel_range cost = cel__range_scale(cel__range_mul(n, m), factor);
    return (struct cel_estimated){.cost = cel__range_add(cost, cel__fixed(1))};
}

static struct cel_estimated est_once(const struct cel_call_est *call) {
    return estimate(call, 1);
}

static struct cel_estimated est_twice(const struct cel_call_est *call) {
    return estimate(call, 2);
}

static uint64_t cost_once(struct cel_eval *ev, const struct cel_value *args,
                          const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__add_sat(cel__mul_sat(cel__size_of(args[0]), cel__size_of(args[1])), 1);
}

static uint64_t cost_twice(struct cel_eval *ev, const struct cel_value *args,
                           const struct cel_value *result) {
    (void)ev;
    return cel__add_sat(cel__mul_sat(cost_once(ev, args, result) - 1, 2), 1);
}

static const struct cel_fn fns[] = {
    {"sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", call_contains,
     est_once, cost_once, 0, "are all elements of the second list in the first?"},
    {"sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) -> bool", call_equivalent,
     est_twice, cost_twice, 0, "do both lists have the same elements?"},
    {"sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", call_intersects,
     est_once, cost_once, 0, "is an element in both lists?"},
};

const struct cel_library cel__lib_sets = {CEL_LIB_SETS, fns, sizeof fns / sizeof *fns};
