/*
 * Arithmetic of costs, and the rules that many functions share.
 *
 * Follows github.com/google/cel-go interpreter, func (*CostTracker) costCall,
 * func (*CostTracker) ActualCost.
 * Follows k8s.io/apiserver pkg/cel/library, func (*CostEstimator) CallCost.
 */
#include <math.h>

#include "cel/cel_int.h"

static const double WALK = 0.1, REGEX = 0.25;

uint64_t cel__add_sat(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t cel__mul_sat(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t cel__scale(uint64_t x, double factor) {
    double d = (double)x;
    if (x < UINT64_C(1) << 40 && factor < 1024) { /* nearly always: no overflow to look for */
        uint64_t down = (uint64_t)(d * factor);
        return down + ((double)down < d * factor);
    }
    if (d > 0 && factor > 0 && d > 0x1p64 / factor)
        return UINT64_MAX;
    double up = ceil(d * factor);
    return up >= 0x1p64 ? UINT64_MAX : (uint64_t)up;
}

struct cel_range cel__range_add(struct cel_range a, struct cel_range b) {
    return (struct cel_range){cel__add_sat(a.min, b.min), cel__add_sat(a.max, b.max)};
}

struct cel_range cel__range_mul(struct cel_range a, struct cel_range b) {
    return (struct cel_range){cel__mul_sat(a.min, b.min), cel__mul_sat(a.max, b.max)};
}

struct cel_range cel__range_scale(struct cel_range r, double factor) {
    return (struct cel_range){cel__scale(r.min, factor), cel__scale(r.max, factor)};
}

struct cel_range cel__range_union(struct cel_range a, struct cel_range b) {
    return (struct cel_range){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

/* ---- estimates ---- */

static struct cel_estimated walk(struct cel_range size, double factor, bool keep) {
    return (struct cel_estimated){cel__range_scale(size, factor), size, keep};
}

struct cel_estimated cel__est_target(const struct cel_call_est *call) {
    return walk(cel__operand_size(call->target), WALK, false);
}

struct cel_estimated cel__est_target_keep(const struct cel_call_est *call) {
    return walk(cel__operand_size(call->target), WALK, true);
}

struct cel_estimated cel__est_target_twice(const struct cel_call_est *call) {
    return walk(cel__operand_size(call->target), 2 * WALK, false);
}

struct cel_estimated cel__est_arg(const struct cel_call_est *call) {
    return walk(cel__operand_size(&call->args[0]), WALK, false);
}

struct cel_estimated cel__est_arg_keep(const struct cel_call_est *call) {
    return walk(cel__operand_size(&call->args[0]), WALK, true);
}

struct cel_estimated cel__est_arg_twice(const struct cel_call_est *call) {
    return walk(cel__operand_size(&call->args[0]), 2 * WALK, false);
}

struct cel_estimated cel__est_regex(const struct cel_call_est *call) {
    const struct cel_operand *text = call->target ? call->target : &call->args[0];
    const struct cel_operand *pattern = call->target ? &call->args[0] : &call->args[1];
    struct cel_range n = cel__range_add(cel__operand_size(text), cel__fixed(1));
    struct cel_range m = cel__operand_size(pattern);
    return (struct cel_estimated){
        .cost = cel__range_mul(cel__range_scale(n, WALK), cel__range_scale(m, REGEX))};
}

struct cel_estimated cel__est_traverse(const struct cel_call_est *call) {
    struct cel_range size = cel__operand_size(call->target), each = cel__fixed(1);
    struct cel_operand elem;
    if (!cel__operand_elem(call->target, &elem))
        return (struct cel_estimated){.cost = cel__range_scale(size, WALK)};
    if (elem.type->kind == CEL_T_STRING || elem.type->kind == CEL_T_BYTES)
        each = cel__range_add(each, cel__range_scale(cel__operand_size(&elem), WALK));
    return (struct cel_estimated){.cost = cel__range_mul(size, each)};
}

/* ---- at run time ---- */

/* Short strings and what is empty cost nothing, but are looked at. */
static uint64_t traversal(struct cel_eval *ev, struct cel_value v) {
    uint64_t cost = 0;
    if (!cel__work(ev, CEL_WORK_ITEM))
        return 0;
    switch (v.kind) {
    case CEL_STRING:
    case CEL_BYTES:
        return (uint64_t)((double)v.n * WALK); /* bytes, rounded down: as upstream counts here */
    case CEL_LIST:
        for (uint32_t i = 0; i < v.n; i++)
            cost += traversal(ev, v.items[i]);
        return cost;
    case CEL_MAP:
        for (uint32_t i = 0; i < v.map->n; i++)
            cost += traversal(ev, v.map->entries[i].key) + traversal(ev, v.map->entries[i].value);
        return cost;
    default:
        return 1;
    }
}

uint64_t cel__cost_traverse(struct cel_eval *ev, const struct cel_value *args,
                            const struct cel_value *result) {
    (void)result;
    return traversal(ev, args[0]);
}

uint64_t cel__cost_walk(struct cel_eval *ev, const struct cel_value *args,
                        const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_of(args[0]), WALK);
}

uint64_t cel__cost_walk_second(struct cel_eval *ev, const struct cel_value *args,
                               const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_inside(args[1]), WALK);
}

uint64_t cel__cost_walk_inside(struct cel_eval *ev, const struct cel_value *args,
                               const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_inside(args[0]), WALK);
}

uint64_t cel__cost_walk_twice(struct cel_eval *ev, const struct cel_value *args,
                              const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_of(args[0]), 2 * WALK);
}

uint64_t cel__cost_regex(struct cel_eval *ev, const struct cel_value *args,
                         const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_of(args[0]) + 1, WALK) * cel__scale(cel__size_of(args[1]), REGEX);
}

uint64_t cel__cost_regex_inside(struct cel_eval *ev, const struct cel_value *args,
                                const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(cel__size_inside(args[0]) + 1, WALK) *
           cel__scale(cel__size_inside(args[1]), REGEX);
}
