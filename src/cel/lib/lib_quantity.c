/*
 * Kubernetes' quantities.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func Quantity, func stringToQuantity, func quantityAdd.
 */
#include "cel/cel_int.h"

#include "base/limits.h"
#include "quantity/quantity.h"

#define T "kubernetes.Quantity"

static const struct quantity *amount(struct cel_value v) {
    return v.opaque;
}

static struct cel_value call_quantity(struct cel_eval *ev, const struct cel_value *args) {
    struct quantity *q = cel__alloc(ev, sizeof *q);
    struct err err;
    if (!q)
        return CEL_TOO_BIG;
    if (quantity_parse(ev->arena, cel_str(args[0]), q, &err) < 0)
        return cel__error(ev, "%s", err.msg);
    return cel__opaque(CEL_QUANTITY, q);
}

static struct cel_value call_is_quantity(struct cel_eval *ev, const struct cel_value *args) {
    struct quantity q;
    return cel_of_bool(quantity_parse(ev->arena, cel_str(args[0]), &q, NULL) == 0);
}

static struct cel_value call_sign(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(quantity_sign(amount(args[0])));
}

static int compare(struct cel_eval *ev, const struct cel_value *args) {
    const struct quantity *a = amount(args[0]), *b = amount(args[1]);
    return cel__work(ev, quantity_digits(a)) ? quantity_cmp(a, b) : 0;
}

static struct cel_value call_compare(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_int(compare(ev, args));
}

static struct cel_value call_greater(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(compare(ev, args) > 0);
}

static struct cel_value call_less(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(compare(ev, args) < 0);
}

static struct cel_value call_float(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_double(quantity_to_double(amount(args[0])));
}

static struct cel_value call_integer(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    int64_t v;
    return quantity_to_i64(amount(args[0]), &v) ? cel_of_int(v)
                                                : CEL_FAIL("cannot convert value to integer");
}

static struct cel_value call_is_integer(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    int64_t v;
    return cel_of_bool(quantity_to_i64(amount(args[0]), &v));
}

typedef int sum_fn(struct arena *arena, const struct quantity *a, const struct quantity *b,
                   struct quantity *out, struct err *err);

/* The result is marked: upstream holds it in another Go type, which == refuses on its right. */
static struct cel_value combine(struct cel_eval *ev, sum_fn *fn, const struct quantity *a,
                                const struct quantity *b) {
    struct quantity *q = cel__alloc(ev, sizeof *q);
    struct err err;
    if (!q)
        return CEL_TOO_BIG;
    if (fn(ev->arena, a, b, q, &err) < 0)
        return cel__error(ev, "%s", err.msg);
    if (quantity_digits(a) || quantity_digits(b) || quantity_digits(q))
        cel__work(ev, LIMIT_QUANTITY_DIGITS * CEL_WORK_BYTE); /* whatever is left of them */
    struct cel_value v = cel__opaque(CEL_QUANTITY, q);
    v.flag = 1;
    return v;
}

static struct cel_value call_add(struct cel_eval *ev, const struct cel_value *args) {
    return combine(ev, quantity_add, amount(args[0]), amount(args[1]));
}

static struct cel_value call_sub(struct cel_eval *ev, const struct cel_value *args) {
    return combine(ev, quantity_sub, amount(args[0]), amount(args[1]));
}

static struct cel_value call_add_int(struct cel_eval *ev, const struct cel_value *args) {
    struct quantity q = quantity_of_i64(args[1].i, QUANTITY_DECIMAL_EXPONENT);
    return combine(ev, quantity_add, amount(args[0]), &q);
}

static struct cel_value call_sub_int(struct cel_eval *ev, const struct cel_value *args) {
    struct quantity q = quantity_of_i64(args[1].i, QUANTITY_DECIMAL_EXPONENT);
    return combine(ev, quantity_sub, amount(args[0]), &q);
}

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"quantity", "string_to_quantity", "(string) -> " T, call_quantity, cel__est_arg,
     cel__cost_walk, NAME, "the amount that the text is; an error when it is none"},
    {"isQuantity", "is_quantity_string", "(string) -> bool", call_is_quantity, cel__est_arg,
     cel__cost_walk, NAME, "is the text an amount?"},
    {"sign", "quantity_sign", "(" T ") -> int", call_sign, NULL, NULL, NAME,
     "-1, 0 or 1: negative, zero, positive"},
    {"isGreaterThan", "quantity_is_greater_than", T ".(" T ") -> bool", call_greater, NULL, NULL,
     NAME, "is this amount greater?"},
    {"isLessThan", "quantity_is_less_than", T ".(" T ") -> bool", call_less, NULL, NULL, NAME,
     "is this amount smaller?"},
    {"compareTo", "quantity_compare_to", T ".(" T ") -> int", call_compare, NULL, NULL, NAME,
     "-1, 0 or 1: smaller, equal, greater"},
    {"asApproximateFloat", "quantity_get_float", T ".() -> double", call_float, NULL, NULL, NAME,
     "the amount as a double"},
    {"asInteger", "quantity_get_int", T ".() -> int", call_integer, NULL, NULL, NAME,
     "the amount as an integer; an error when it is none"},
    {"isInteger", "quantity_is_integer", T ".() -> bool", call_is_integer, NULL, NULL, NAME,
     "can asInteger give the amount?"},
    {"add", "quantity_add", T ".(" T ") -> " T, call_add, NULL, NULL, NAME, "sum"},
    {"add", "quantity_add_int", T ".(int) -> " T, call_add_int, NULL, NULL, NAME, "sum"},
    {"sub", "quantity_sub", T ".(" T ") -> " T, call_sub, NULL, NULL, NAME, "difference"},
    {"sub", "quantity_sub_int", T ".(int) -> " T, call_sub_int, NULL, NULL, NAME, "difference"},
};

const struct cel_library cel__lib_quantity = {CEL_LIB_QUANTITY, fns, sizeof fns / sizeof *fns};
