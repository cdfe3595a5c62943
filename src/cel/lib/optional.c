/*
 * Optional values. or and orValue are evaluated lazily, by the planner's own nodes.
 *
 * Follows github.com/google/cel-go cel, func OptionalTypes.
 * Follows github.com/google/cel-go common/types, func (*Optional) Equal.
 */
#include "cel/syntax/ast_int.h"

#include <math.h>

#include "base/limits.h"

static struct cel_value call_of(struct cel_eval *ev, const struct cel_value *args) {
    return cel__some(ev, args[0]);
}

static bool is_zero(struct cel_value v) {
    switch (v.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !v.b;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return v.u == 0;
    case CEL_DOUBLE:
        return v.d == 0;
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_LIST:
        return v.n == 0;
    case CEL_MAP:
        return v.map->n == 0;
    case CEL_TIMESTAMP:
        return v.i == CEL_MIN_SECONDS && v.n == 0;
    default:
        return false;
    }
}

static struct cel_value call_of_non_zero(struct cel_eval *ev, const struct cel_value *args) {
    return is_zero(args[0]) ? cel__none() : cel__some(ev, args[0]);
}

static struct cel_value call_none(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    (void)args;
    return cel__none();
}

static struct cel_value call_value(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0].opt ? *args[0].opt : CEL_FAIL("optional.none() dereference");
}

static struct cel_value call_has_value(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_bool(args[0].opt != NULL);
}

static struct cel_value call_first(struct cel_eval *ev, const struct cel_value *args) {
    return args[0].n ? cel__some(ev, args[0].items[0]) : cel__none();
}

static struct cel_value call_last(struct cel_eval *ev, const struct cel_value *args) {
    return args[0].n ? cel__some(ev, args[0].items[args[0].n - 1]) : cel__none();
}

static struct cel_value call_unwrap(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value *items = cel__alloc_values(ev, args[0].n);
    uint32_t n = 0;
    if (!items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < args[0].n && cel__work(ev, CEL_WORK_ITEM); i++) {
        struct cel_value v = args[0].items[i];
        if (v.kind != CEL_OPTIONAL) {
            AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
            cel__write_plain(ev, &text, v);
            return cel__error(ev, "value %.*s is not optional", STR_ARG(buf_view(&text)));
        }
        if (v.opt)
            items[n++] = *v.opt;
    }
    return cel__list(items, n);
}

#define OPT "optional_type(V)"

static const struct cel_fn fns[] = {
    {"optional.of", "optional_of", "(V) -> " OPT, call_of, NULL, NULL, 0,
     "an optional with a value"},
    {"optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) -> " OPT, call_of_non_zero, NULL,
     NULL, 0, "an optional with the value, unless it is zero or empty"},
    {"optional.none", "optional_none", "() -> " OPT, call_none, NULL, NULL, 0,
     "an optional without a value"},
    {"value", "optional_value", OPT ".() -> V", call_value, NULL, NULL, 0,
     "the value; an error when there is none"},
    {"hasValue", "optional_hasValue", OPT ".() -> bool", call_has_value, NULL, NULL, 0,
     "is there a value?"},
    {"or", "optional_or_optional", OPT ".(" OPT ") -> " OPT, NULL, NULL, NULL, 0,
     "the first of the two that has a value"},
    {"orValue", "optional_orValue_value", OPT ".(V) -> V", NULL, NULL, NULL, 0,
     "the value, or the argument when there is none"},
    {CEL_OP_OPT_SELECT, "select_optional_field", "(dyn, string) -> " OPT, NULL, NULL, NULL, 0,
     "the field, if it is there"},
    {CEL_OP_OPT_INDEX, "list_optindex_optional_int", "(list(V), int) -> " OPT, NULL, NULL, NULL, 0,
     "the element, if it is there"},
    {CEL_OP_OPT_INDEX, "optional_list_optindex_optional_int",
     "(optional_type(list(V)), int) -> " OPT, NULL, NULL, NULL, 0, "the element, if it is there"},
    {CEL_OP_OPT_INDEX, "map_optindex_optional_value", "(map(K, V), K) -> " OPT, NULL, NULL, NULL, 0,
     "the value of a key, if it is there"},
    {CEL_OP_OPT_INDEX, "optional_map_optindex_optional_value",
     "(optional_type(map(K, V)), K) -> " OPT, NULL, NULL, NULL, 0,
     "the value of a key, if it is there"},
    {CEL_OP_INDEX, "optional_list_index_int", "(optional_type(list(V)), int) -> " OPT, NULL, NULL,
     NULL, 0, "the element, if it is there"},
    {CEL_OP_INDEX, "optional_map_index_value", "(optional_type(map(K, V)), K) -> " OPT, NULL, NULL,
     NULL, 0, "the value of a key, if it is there"},
    {"last", "list_last", "list(V).() -> " OPT, call_last, NULL, NULL, 0,
     "the last element, if any"},
    {"first", "list_first", "list(V).() -> " OPT, call_first, NULL, NULL, 0,
     "the first element, if any"},
    {"optional.unwrap", "optional_unwrap", "(list(" OPT ")) -> list(V)", call_unwrap, NULL, NULL, 0,
     "the values of those that have one"},
    {"unwrapOpt", "optional_unwrapOpt", "list(" OPT ").() -> list(V)", call_unwrap, NULL, NULL, 0,
     "the values of those that have one"},
};

const struct cel_library cel__lib_optional = {CEL_LIB_OPTIONAL, fns, sizeof fns / sizeof *fns};
