/*
 * Macros: calls that become comprehensions while the text is parsed, before any name is looked up.
 * A macro is a row: name, number of arguments, library, and the function that rewrites it.
 *
 * Follows github.com/google/cel-go parser, func MakeExists, func MakeMap, func MakeFilter,
 * func MakeHas.
 * Follows github.com/google/cel-go cel, func optMap, func optFlatMap.
 * Follows github.com/google/cel-go ext, func transformMap.
 */
#include "cel/syntax/parse_int.h"

/* Nodes that copies of macro operands may add to one expression: optMap evaluates its operand
 * twice, so a chain of them doubles with each link. */
enum { MAX_COPIED_NODES = 100000 };

#define BIND_ITER "#unused"

struct macro {
    struct cel_parser *p;
    struct arena *a;
    uint32_t pos;
    struct cel_expr *target;
    struct cel_expr **args;
    uint32_t n;
};

static struct cel_expr *fail(struct macro *m, uint32_t pos, const char *text) {
    cel__issue(m->p->source, pos, "%s", text);
    return cel__new_expr(m->a, CEL_E_ERROR, pos);
}

static struct cel_expr *ident(struct macro *m, struct str name) {
    return cel__new_ident(m->a, m->pos, name);
}

static struct cel_expr *accu(struct macro *m) {
    return ident(m, STR(CEL_ACCU));
}

static struct cel_expr *literal(struct macro *m, struct cel_value v) {
    return cel__new_literal(m->a, m->pos, v);
}

static struct cel_expr *empty_list(struct macro *m) {
    return cel__new_list(m->a, m->pos, NULL, 0);
}

/* A copy, unless copies have grown beyond all bounds. */
static struct cel_expr *copy(struct macro *m, struct cel_expr *e) {
    uint32_t *copied = &m->p->source->copied, more = cel__count(e);
    bool few = more <= MAX_COPIED_NODES - *copied;
    *copied = few ? *copied + more : MAX_COPIED_NODES;
    if (few)
        return cel__copy(m->a, e, m->pos);
    return fail(m, m->pos, "expression grows too large: nested optMap or optFlatMap");
}

static struct cel_expr *member_call(struct macro *m, struct str fn, struct cel_expr *target) {
    return cel__new_call(m->a, m->pos, fn, target, NULL, 0);
}

/* accu + [item] */
static struct cel_expr *append(struct macro *m, struct cel_expr *item) {
    struct cel_expr *list = cel__new_list(m->a, m->pos, &item, 1);
    return CEL_CALL(m->a, m->pos, CEL_OP_ADD, accu(m), list);
}

/* filter ? step : accu, or just step. */
static struct cel_expr *when(struct macro *m, struct cel_expr *filter, struct cel_expr *step) {
    return filter ? CEL_CALL(m->a, m->pos, CEL_OP_COND, filter, step, accu(m)) : step;
}

static struct cel_expr *fold(struct macro *m, struct cel_fold *f) {
    f->range = m->target;
    f->accu = STR(CEL_ACCU);
    if (!f->cond)
        f->cond = literal(m, cel_of_bool(true));
    if (!f->result)
        f->result = accu(m);
    return cel__new_fold(m->a, m->pos, f);
}

static bool is_accu(struct str name) {
    return str_is(name, CEL_ACCU) || str_is(name, "__result__");
}

/* Takes the iteration variables, one or two; false when they were refused and *failed is the
 * answer. */
static bool take_vars(struct macro *m, uint32_t count, struct cel_fold *f, struct cel_expr **failed,
                      const char *not_a_name) {
    struct str *const vars[] = {&f->iter, &f->iter2};
    for (uint32_t i = 0; i < 2 && i < count; i++) {
        if (m->args[i]->kind != CEL_E_IDENT) {
            *failed = fail(m, m->args[i]->pos, not_a_name);
            return false;
        }
        *vars[i] = m->args[i]->name;
    }
    if (count == 2 && str_eq(f->iter, f->iter2)) {
        struct str text = arena_printf(m->a, "duplicate variable name: %.*s", STR_ARG(f->iter));
        *failed = fail(m, m->args[1]->pos, text.p);
        return false;
    }
    for (uint32_t i = 0; i < 2 && i < count; i++) {
        if (!is_accu(*vars[i]))
            continue;
        *failed = fail(m, m->args[i]->pos, "iteration variable overwrites accumulator variable");
        return false;
    }
    return true;
}

static const char SIMPLE_NAME[] = "argument must be a simple name";
static const char NOT_IDENT[] = "argument is not an identifier";

static struct cel_expr *expand_has(struct macro *m) {
    struct cel_expr *e = m->args[0];
    if (e->kind != CEL_E_SELECT)
        return fail(m, e->pos, "invalid argument to has() macro");
    struct cel_expr *test = cel__new_select(m->a, m->pos, e->operand, e->name);
    test->test_only = true;
    return test;
}

static struct cel_expr *expand_all(struct macro *m) {
    struct cel_fold f = {0};
    struct cel_expr *failed, *predicate = m->args[m->n - 1];
    if (!take_vars(m, m->n - 1, &f, &failed, SIMPLE_NAME))
        return failed;
    f.init = literal(m, cel_of_bool(true));
    f.cond = CEL_CALL(m->a, m->pos, CEL_OP_NSF, accu(m));
    f.step = CEL_CALL(m->a, m->pos, CEL_OP_AND, accu(m), predicate);
    return fold(m, &f);
}

static struct cel_expr *expand_exists(struct macro *m) {
    struct cel_fold f = {0};
    struct cel_expr *failed, *predicate = m->args[m->n - 1];
    if (!take_vars(m, m->n - 1, &f, &failed, SIMPLE_NAME))
        return failed;
    f.init = literal(m, cel_of_bool(false));
    struct cel_expr *not_yet = CEL_CALL(m->a, m->pos, CEL_OP_NOT, accu(m));
    f.cond = CEL_CALL(m->a, m->pos, CEL_OP_NSF, not_yet);
    f.step = CEL_CALL(m->a, m->pos, CEL_OP_OR, accu(m), predicate);
    return fold(m, &f);
}

static struct cel_expr *expand_exists_one(struct macro *m) {
    struct cel_fold f = {0};
    struct cel_expr *failed, *predicate = m->args[m->n - 1];
    if (!take_vars(m, m->n - 1, &f, &failed, SIMPLE_NAME))
        return failed;
    f.init = literal(m, cel_of_int(0));
    struct cel_expr *more = CEL_CALL(m->a, m->pos, CEL_OP_ADD, accu(m), literal(m, cel_of_int(1)));
    f.step = when(m, predicate, more);
    f.result = CEL_CALL(m->a, m->pos, CEL_OP_EQ, accu(m), literal(m, cel_of_int(1)));
    return fold(m, &f);
}

static struct cel_expr *make_map(struct macro *m, uint32_t vars, const char *not_a_name) {
    struct cel_fold f = {0};
    struct cel_expr *failed;
    if (!take_vars(m, vars, &f, &failed, not_a_name))
        return failed;
    f.init = empty_list(m);
    struct cel_expr *filter = m->n == vars + 2 ? m->args[vars] : NULL;
    f.step = when(m, filter, append(m, m->args[m->n - 1]));
    return fold(m, &f);
}

static struct cel_expr *expand_map(struct macro *m) {
    return make_map(m, 1, NOT_IDENT);
}

static struct cel_expr *expand_transform_list(struct macro *m) {
    return make_map(m, 2, SIMPLE_NAME);
}

static struct cel_expr *expand_filter(struct macro *m) {
    struct cel_fold f = {0};
    struct cel_expr *failed;
    if (!take_vars(m, 1, &f, &failed, NOT_IDENT))
        return failed;
    f.init = empty_list(m);
    f.step = when(m, m->args[1], append(m, m->args[0]));
    return fold(m, &f);
}

static struct cel_expr *make_transform_map(struct macro *m, bool entry) {
    struct cel_fold f = {0};
    struct cel_expr *failed, *value = m->args[m->n - 1];
    if (!take_vars(m, 2, &f, &failed, SIMPLE_NAME))
        return failed;
    f.init = cel__new_expr(m->a, CEL_E_MAP, m->pos);
    struct cel_expr *insert =
        entry ? CEL_CALL(m->a, m->pos, "cel.@mapInsert", accu(m), value)
              : CEL_CALL(m->a, m->pos, "cel.@mapInsert", accu(m), ident(m, f.iter), value);
    f.step = when(m, m->n == 4 ? m->args[2] : NULL, insert);
    return fold(m, &f);
}

static struct cel_expr *expand_transform_map(struct macro *m) {
    return make_transform_map(m, false);
}

static struct cel_expr *expand_transform_map_entry(struct macro *m) {
    return make_transform_map(m, true);
}

/* A comprehension over nothing, whose accumulator is the variable: `name = value in result`. */
static struct cel_expr *bind(struct macro *m, struct str name, struct cel_expr *value,
                             struct cel_expr *result) {
    struct cel_fold f = {.iter = STR(BIND_ITER),
                         .accu = name,
                         .range = empty_list(m),
                         .init = value,
                         .cond = literal(m, cel_of_bool(false)),
                         .step = ident(m, name),
                         .result = result};
    return cel__new_fold(m->a, m->pos, &f);
}

static struct cel_expr *make_opt_map(struct macro *m, const char *not_a_name, bool flat) {
    if (m->args[0]->kind != CEL_E_IDENT)
        return fail(m, m->args[0]->pos, not_a_name);
    struct cel_expr *value = member_call(m, STR("value"), copy(m, m->target));
    struct cel_expr *mapped = bind(m, m->args[0]->name, value, m->args[1]);
    if (!flat)
        mapped = CEL_CALL(m->a, m->pos, "optional.of", mapped);
    struct cel_expr *none = cel__new_call(m->a, m->pos, STR("optional.none"), NULL, NULL, 0);
    struct cel_expr *has = member_call(m, STR("hasValue"), m->target);
    return CEL_CALL(m->a, m->pos, CEL_OP_COND, has, mapped, none);
}

static struct cel_expr *expand_opt_map(struct macro *m) {
    return make_opt_map(m, "optMap() variable name must be a simple identifier", false);
}

static struct cel_expr *expand_opt_flat_map(struct macro *m) {
    return make_opt_map(m, "optFlatMap() variable name must be a simple identifier", true);
}

static struct cel_expr *expand_sort_by(struct macro *m) {
    struct cel_expr *target = m->target;
    struct str input = STR("@__sortBy_input__");
    if (target->kind == CEL_E_LITERAL || target->kind == CEL_E_MAP ||
        target->kind == CEL_E_STRUCT || target->kind == CEL_E_ERROR)
        return fail(m, target->pos,
                    "sortBy can only be applied to a list, identifier, comprehension, call or "
                    "select expression");
    m->target = ident(m, input);
    struct cel_expr *keys = expand_map(m);
    if (keys->kind == CEL_E_ERROR)
        return keys;
    struct cel_expr *sorted =
        cel__new_call(m->a, m->pos, STR("@sortByAssociatedKeys"), ident(m, input), &keys, 1);
    return bind(m, input, target, sorted);
}

static struct cel_expr *expand_bind(struct macro *m) {
    if (m->target->kind != CEL_E_IDENT || !str_is(m->target->name, "cel"))
        return NULL;
    if (m->args[0]->kind != CEL_E_IDENT)
        return fail(m, m->args[0]->pos, "cel.bind() variable names must be simple identifiers");
    return bind(m, m->args[0]->name, m->args[1], m->args[2]);
}

static const struct macro_row {
    const char *name;
    uint32_t args;
    bool member;
    enum cel_lib lib;
    struct cel_expr *(*expand)(struct macro *m);
} rows[] = {
    {"has", 1, false, CEL_LIB_STD, expand_has},
    {"all", 2, true, CEL_LIB_STD, expand_all},
    {"exists", 2, true, CEL_LIB_STD, expand_exists},
    {"exists_one", 2, true, CEL_LIB_STD, expand_exists_one},
    {"map", 2, true, CEL_LIB_STD, expand_map},
    {"map", 3, true, CEL_LIB_STD, expand_map},
    {"filter", 2, true, CEL_LIB_STD, expand_filter},
    {"all", 3, true, CEL_LIB_TWOVAR, expand_all},
    {"exists", 3, true, CEL_LIB_TWOVAR, expand_exists},
    {"exists_one", 3, true, CEL_LIB_TWOVAR, expand_exists_one},
    {"existsOne", 3, true, CEL_LIB_TWOVAR, expand_exists_one},
    {"transformList", 3, true, CEL_LIB_TWOVAR, expand_transform_list},
    {"transformList", 4, true, CEL_LIB_TWOVAR, expand_transform_list},
    {"transformMap", 3, true, CEL_LIB_TWOVAR, expand_transform_map},
    {"transformMap", 4, true, CEL_LIB_TWOVAR, expand_transform_map},
    {"transformMapEntry", 3, true, CEL_LIB_TWOVAR, expand_transform_map_entry},
    {"transformMapEntry", 4, true, CEL_LIB_TWOVAR, expand_transform_map_entry},
    {"optMap", 2, true, CEL_LIB_OPTIONAL, expand_opt_map},
    {"optFlatMap", 2, true, CEL_LIB_OPTIONAL, expand_opt_flat_map},
    {"sortBy", 2, true, CEL_LIB_LISTS, expand_sort_by},
    {"bind", 3, true, CEL_LIB_BIND, expand_bind},
};

struct cel_expr *cel__macro(struct cel_parser *p, struct cel_expr *call) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct macro_row *row = &rows[i];
        if (row->args != call->count || row->member != call->member ||
            !(p->env->libs >> row->lib & 1) || !str_is(call->name, row->name))
            continue;
        struct macro m = {p, p->arena, call->pos, call->operand, call->args, call->count};
        struct cel_expr *e = row->expand(&m);
        if (e)
            e->macro = call;
        return e;
    }
    return NULL;
}
