/*
 * A checked tree to a program. What upstream computes at this point is computed here: list and map
 * literals of constants, conversions of constants, regular expressions; so an error in one of them
 * is an error of the planning. Only a pattern that is known not to fail waits until it is needed.
 *
 * Follows github.com/google/cel-go interpreter, func (*planner) Plan, func maybeOptimizeConstUnary,
 * func maybeBuildListLiteral, func decRegexOptimizer.
 */
#include "base/limits.h"
#include "cel/kit/pattern_int.h"
#include "cel/run/plan_int.h"

#include <string.h>

struct planner {
    struct cel_program *program;
    struct arena *arena;
    const struct cel_ast *ast;
    struct cel_eval ev; /* for constants */
    size_t steps;       /* that are left for patterns */
    struct str error;   /* the first */
};

static const struct cel_node *plan(struct planner *p, const struct cel_expr *e);

#define NODE(p, T, fn) ((T *)new_node(p, sizeof(T), fn))

static struct cel_node *new_node(struct planner *p, size_t size, cel_node_fn *fn) {
    struct cel_node *n = arena_calloc(p->arena, 1, size);
    n->eval = fn;
    return n;
}

static void fail(struct planner *p, struct str text) {
    if (!p->error.p)
        p->error = arena_str(p->ast->arena, text);
}

static const struct cel_node *constant(struct planner *p, struct cel_value v) {
    struct cel_const_node *n = NODE(p, struct cel_const_node, cel__eval_const);
    n->value = v;
    return &n->head;
}

static bool is_const(const struct cel_node *n) {
    return n->eval == cel__eval_const;
}

static struct cel_value const_value(const struct cel_node *n) {
    return ((const struct cel_const_node *)n)->value;
}

/* Evaluates a node whose parts are constants, now. */
static const struct cel_node *fold_now(struct planner *p, const struct cel_node *n) {
    struct cel_value v = cel__node_eval(&p->ev, n);
    if (p->ev.cancelled)
        v = p->ev.reason;
    if (v.kind == CEL_ERROR)
        fail(p, cel_str(v));
    p->ev.cancelled = false;
    return constant(p, v);
}

static struct cel_value own(struct planner *p, struct cel_value v) {
    if (v.kind == CEL_STRING || v.kind == CEL_BYTES)
        v.s = v.n ? arena_copy(p->arena, v.s, v.n) : "";
    return v;
}

/* ---- attributes ---- */

static struct cel_attr *attr_of(const struct cel_node *n) {
    bool attr = n->eval == cel__eval_attr || n->eval == cel__eval_local;
    return attr ? ((const struct cel_attr_node *)n)->attr : NULL;
}

static const struct cel_node *attr_node(struct planner *p, struct cel_attr *attr) {
    bool local = attr->base == CEL_BASE_LOCAL && attr->qual_count == 0;
    struct cel_attr_node *n =
        NODE(p, struct cel_attr_node, local ? cel__eval_local : cel__eval_attr);
    n->attr = attr;
    return &n->head;
}

/* The node's attribute, or a new one with the node as its base. */
static struct cel_attr *relative_attr(struct planner *p, const struct cel_node *n) {
    struct cel_attr *attr = attr_of(n);
    if (attr)
        return attr;
    attr = arena_new(p->arena, struct cel_attr);
    attr->base = CEL_BASE_NODE;
    attr->node = n;
    return attr;
}

static void add_qual(struct planner *p, struct cel_attr *attr, const struct cel_qual *q) {
    if (attr->base == CEL_BASE_COND) {
        add_qual(p, attr->yes, q);
        add_qual(p, attr->no, q);
        return;
    }
    uint32_t n = attr->qual_count;
    if ((n & (n - 1)) == 0) { /* as many as a power of two, or none: there is no more room */
        struct cel_qual *quals = arena_array(p->arena, struct cel_qual, n ? n * 2 : 1);
        if (n)
            memcpy(quals, attr->quals, n * sizeof *quals);
        attr->quals = quals;
    }
    attr->quals[attr->qual_count++] = *q;
}

/* What a name stands for. A variable that holds a type is taken for the name of one, as upstream's
 * planner looks at the type of the expression alone. */
static const struct cel_var_decl *meaning_of(struct planner *p, const struct cel_expr *e) {
    if (!e->var->local || !e->type || e->type->kind != CEL_T_TYPE)
        return e->var;
    const struct cel_var_decl *d = map_get(&p->ast->env->names, e->name);
    if (d && d->slot < 0)
        return d;
    fail(p, arena_printf(p->arena, "reference to undefined type: %.*s", STR_ARG(e->name)));
    return e->var;
}

static const struct cel_node *plan_name(struct planner *p, const struct cel_expr *e) {
    const struct cel_var_decl *d = meaning_of(p, e);
    if (d->constant)
        return constant(p, cel_of_int(0));
    if (d->unusable || (d->slot < 0 && e->hidden))
        fail(p, arena_printf(p->arena, "reference to undefined type: %s%.*s", e->hidden ? "." : "",
                             STR_ARG(d->name)));
    if (d->slot < 0)
        return constant(p, (struct cel_value){.kind = CEL_TYPE, .type = d->value});
    struct cel_attr *attr = arena_new(p->arena, struct cel_attr);
    attr->base = d->local ? CEL_BASE_LOCAL : CEL_BASE_VAR;
    attr->slot = (uint32_t)d->slot;
    attr->hidden = e->hidden;
    return attr_node(p, attr);
}

static uint32_t field_hint(const struct cel_type *t, struct str field) {
    for (uint32_t i = 0; t && i < t->field_count; i++)
        if (str_eq(t->fields[i].name, field))
            return i;
    return UINT32_MAX;
}

static const struct cel_node *plan_select(struct planner *p, const struct cel_expr *e) {
    if (e->var)
        return plan_name(p, e);
    const struct cel_node *operand = plan(p, e->operand);
    struct cel_attr *attr = relative_attr(p, operand);
    struct cel_qual q = {.key = own(p, cel_of_str(e->name)),
                         .hint = field_hint(e->operand->type, e->name),
                         .test_only = e->test_only};
    add_qual(p, attr, &q);
    struct cel_attr_node *n = NODE(p, struct cel_attr_node, cel__eval_attr);
    n->attr = attr;
    n->test_only = e->test_only;
    return &n->head;
}

static bool is_key(struct cel_value v) {
    return v.kind == CEL_BOOL || v.kind == CEL_INT || v.kind == CEL_UINT || v.kind == CEL_DOUBLE ||
           v.kind == CEL_STRING;
}

/* a[b], a[?b] and a.?b. */
static const struct cel_node *plan_index(struct planner *p, const struct cel_expr *e) {
    const struct cel_node *operand = plan(p, e->args[0]), *index = plan(p, e->args[1]);
    struct cel_attr *attr = relative_attr(p, operand);
    struct cel_qual q = {.hint = UINT32_MAX, .optional = !str_is(e->name, CEL_OP_INDEX)};
    if (is_const(index)) {
        q.key = const_value(index);
        if (!is_key(q.key))
            fail(p, cel_str(cel__bad_key(&p->ev, q.key)));
        if (q.key.kind == CEL_STRING)
            q.hint = field_hint(e->args[0]->type, cel_str(q.key));
    } else if (attr_of(index)) {
        q.attr = attr_of(index);
    } else {
        q.node = index;
    }
    add_qual(p, attr, &q);
    return attr_node(p, attr);
}

static const struct cel_node *plan_conditional(struct planner *p, const struct cel_expr *e) {
    struct cel_attr *attr = arena_new(p->arena, struct cel_attr);
    attr->base = CEL_BASE_COND;
    attr->node = plan(p, e->args[0]);
    attr->yes = relative_attr(p, plan(p, e->args[1]));
    attr->no = relative_attr(p, plan(p, e->args[2]));
    return attr_node(p, attr);
}

/* ---- calls ---- */

static const struct cel_node *plan_pair(struct planner *p, const struct cel_expr *e,
                                        cel_node_fn *fn) {
    struct cel_pair_node *n = NODE(p, struct cel_pair_node, fn);
    n->a = plan(p, e->member ? e->operand : e->args[0]);
    n->b = plan(p, e->args[e->count - 1]);
    return &n->head;
}

/* Adds an element, and a number also as the other kinds that an equal one may have. */
static void add_element(struct cel_map_builder *b, struct cel_value v) {
    static const enum cel_kind numbers[] = {CEL_INT, CEL_UINT, CEL_DOUBLE};
    bool number = v.kind == CEL_INT || v.kind == CEL_UINT || v.kind == CEL_DOUBLE;
    struct cel_value other;
    cel__map_put(b, v, cel_of_null());
    for (size_t i = 0; number && i < sizeof numbers / sizeof *numbers; i++)
        if (v.kind != numbers[i] && cel__number_as(v, numbers[i], &other))
            cel__map_put(b, other, cel_of_null());
}

/* x in [constants]: a set, unless it holds something that upstream cannot hash. */
static const struct cel_node *plan_in_set(struct planner *p, const struct cel_node *a,
                                          struct cel_value list) {
    struct cel_map_builder b = {.ev = &p->ev};
    if (list.n == 0)
        return constant(p, cel_of_bool(false));
    for (uint32_t i = 0; i < list.n; i++) {
        if (!is_key(list.items[i]))
            return NULL;
        add_element(&b, list.items[i]);
    }
    struct cel_in_set_node *n = NODE(p, struct cel_in_set_node, cel__eval_in_set);
    n->a = a;
    n->set = *cel__map_done(&b).map;
    return &n->head;
}

static void compile_pattern(struct planner *p, struct cel_pattern *pattern) {
    AUTO(buf_release) struct buf error = BUF_INIT(4096);
    pattern->re = cel__regex_new(pattern->text, &p->steps, &error);
    if (!pattern->re)
        fail(p, buf_view(&error));
}

/* `e` is the call: its last argument may be a literal that the validator has compiled already. */
static void plan_pattern(struct planner *p, struct cel_call_node *c, const struct cel_expr *e) {
    if (!is_const(c->args[1]) || const_value(c->args[1]).kind != CEL_STRING)
        return;
    struct cel_pattern *pattern = arena_new(p->arena, struct cel_pattern);
    pattern->text = cel_str(const_value(c->args[1]));
    pattern->next = p->program->patterns;
    c->pattern = p->program->patterns = pattern;
    if (!e->args[e->count - 1]->compiles && !cel__pattern_plain(pattern->text))
        compile_pattern(p, pattern);
}

static cel_cost_fn *call_cost(const struct cel_call_node *c) {
    if (c->overload)
        return c->overload->fn->cost;
    for (size_t i = 0; i < c->function->overloads.n; i++)
        if (c->function->overloads.v[i]->fn->flags & CEL_FN_COST_BY_NAME)
            return c->function->overloads.v[i]->fn->cost;
    return NULL;
}

/* Upstream calls with more than two arguments, with a pattern that was compiled beforehand, or with
 * overloads to choose from by one function for any number of arguments. */
static bool stops_at_error(const struct cel_call_node *c) {
    const struct cel_fn *first = c->function->overloads.v[0]->fn;
    bool chosen_late = !c->overload && c->function->overloads.n > 1;
    return c->count > 2 || c->pattern || (chosen_late && !(first->flags & CEL_FN_SINGLETON)) ||
           first->flags & CEL_FN_ANY_COUNT;
}

static const struct cel_node *finish_call(struct planner *p, struct cel_call_node *c,
                                          const struct cel_expr *e) {
    const struct cel_fn *fn = c->overload ? c->overload->fn : c->function->overloads.v[0]->fn;
    if (fn->flags & CEL_FN_CONVERSION && c->count == 1 && is_const(c->args[0]))
        return fold_now(p, &c->head);
    if (fn->flags & CEL_FN_REGEX)
        plan_pattern(p, c, e);
    c->stops = stops_at_error(c);
    if (c->overload && strcmp(fn->id, "in_list") == 0 && is_const(c->args[1])) {
        const struct cel_node *set = plan_in_set(p, c->args[0], const_value(c->args[1]));
        return set ? set : &c->head;
    }
    return &c->head;
}

static bool takes_count(const struct cel_function *f, uint32_t count) {
    for (size_t i = 0; i < f->overloads.n; i++)
        if (f->overloads.v[i]->count == count)
            return true;
    return false;
}

/* No overload takes so many arguments: only an unchecked expression gets here. */
static void refuse_count(struct planner *p, const struct cel_call_node *c) {
    static const char *const args[] = {"", "arg", "lhs, rhs", "..."};
    const char *shown = args[c->count < 3 ? c->count : 3];
    fail(p,
         arena_printf(p->arena, "no such overload: %.*s(%s)", STR_ARG(c->function->name), shown));
}

static const struct cel_node *plan_function(struct planner *p, const struct cel_expr *e) {
    struct cel_call_node *c = NODE(p, struct cel_call_node, cel__eval_call);
    c->function = cel__env_function(p->ast->env, e->name);
    c->overload = e->found[0] && !e->found[1] ? e->found[0] : NULL;
    c->cost = call_cost(c);
    if (e->member)
        c->args[c->count++] = plan(p, e->operand);
    for (uint32_t i = 0; i < e->count; i++)
        c->args[c->count++] = plan(p, e->args[i]);
    if (!c->overload && !takes_count(c->function, c->count))
        refuse_count(p, c);
    return finish_call(p, c, e);
}

static bool is_accu(const struct cel_expr *e) {
    return e->kind == CEL_E_IDENT && str_is(e->name, CEL_ACCU);
}

static const struct cel_node *plan_add(struct planner *p, const struct cel_expr *e) {
    bool append = is_accu(e->args[0]) && e->args[1]->kind == CEL_E_LIST;
    return append ? plan_pair(p, e, cel__eval_accu_append) : plan_function(p, e);
}

static const struct cel_node *plan_not_false(struct planner *p, const struct cel_expr *e) {
    struct cel_pair_node *n = NODE(p, struct cel_pair_node, cel__eval_not_false);
    n->a = plan(p, e->args[0]);
    return &n->head;
}

static const struct cel_node *plan_call(struct planner *p, const struct cel_expr *e) {
    static const struct {
        const char *name;
        cel_node_fn *pair;
        const struct cel_node *(*plan)(struct planner *p, const struct cel_expr *e);
        bool member;
    } special[] = {
        {CEL_OP_AND, cel__eval_and, NULL, false},
        {CEL_OP_OR, cel__eval_or, NULL, false},
        {CEL_OP_EQ, cel__eval_eq, NULL, false},
        {CEL_OP_NE, cel__eval_ne, NULL, false},
        {"or", cel__eval_opt_or, NULL, true},
        {"orValue", cel__eval_opt_or_value, NULL, true},
        {CEL_OP_COND, NULL, plan_conditional, false},
        {CEL_OP_INDEX, NULL, plan_index, false},
        {CEL_OP_OPT_INDEX, NULL, plan_index, false},
        {CEL_OP_OPT_SELECT, NULL, plan_index, false},
        {CEL_OP_ADD, NULL, plan_add, false},
        {CEL_OP_NSF, NULL, plan_not_false, false},
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].member == e->member && str_is(e->name, special[i].name))
            return special[i].pair ? plan_pair(p, e, special[i].pair) : special[i].plan(p, e);
    return plan_function(p, e);
}

/* ---- aggregates ---- */

static const struct cel_node *plan_list(struct planner *p, const struct cel_expr *e) {
    struct cel_make_node *n = NODE(p, struct cel_make_node, cel__eval_list);
    const struct cel_node **values = arena_array(p->arena, const struct cel_node *, e->count);
    bool constants = true;
    for (uint32_t i = 0; i < e->count; i++) {
        values[i] = plan(p, e->args[i]);
        constants = constants && is_const(values[i]);
    }
    n->count = e->count;
    n->values = values;
    if (e->optional)
        n->optional = arena_copy(p->arena, e->optional, e->count * sizeof(bool));
    return constants ? fold_now(p, &n->head) : &n->head;
}

static const struct cel_node *plan_items(struct planner *p, const struct cel_expr *e) {
    bool map = e->kind == CEL_E_MAP, constants = map;
    struct cel_make_node *n =
        NODE(p, struct cel_make_node, map ? cel__eval_map : cel__eval_message);
    const struct cel_node **keys = arena_array(p->arena, const struct cel_node *, e->count);
    const struct cel_node **values = arena_array(p->arena, const struct cel_node *, e->count);
    struct str *fields = arena_array(p->arena, struct str, e->count);
    bool *optional = arena_array(p->arena, bool, e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        const struct cel_item *item = &e->entries[i];
        keys[i] = map ? plan(p, item->key) : NULL;
        values[i] = plan(p, item->value);
        fields[i] = arena_str(p->arena, item->field);
        optional[i] = item->optional;
        constants = constants && is_const(keys[i]) && is_const(values[i]);
    }
    n->count = e->count;
    n->keys = keys;
    n->values = values;
    n->fields = fields;
    n->optional = optional;
    n->type_name = map ? (struct str){0} : arena_str(p->arena, e->name);
    return constants ? fold_now(p, &n->head) : &n->head;
}

static const struct cel_node *plan_fold(struct planner *p, const struct cel_expr *e) {
    struct cel_fold_node *n = NODE(p, struct cel_fold_node, cel__eval_fold);
    const struct cel_fold *f = e->fold;
    n->slot = f->slot;
    n->two = f->iter2.p != NULL;
    n->init = plan(p, f->init);
    n->range = plan(p, f->range);
    n->cond = plan(p, f->cond);
    n->step = plan(p, f->step);
    n->result = plan(p, f->result);
    return &n->head;
}

static const struct cel_node *plan(struct planner *p, const struct cel_expr *e) {
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_LITERAL:
        return constant(p, own(p, e->literal));
    case CEL_E_IDENT:
        return plan_name(p, e);
    case CEL_E_SELECT:
        return plan_select(p, e);
    case CEL_E_CALL:
        return plan_call(p, e);
    case CEL_E_LIST:
        return plan_list(p, e);
    case CEL_E_MAP:
    case CEL_E_STRUCT:
        return plan_items(p, e);
    case CEL_E_FOLD:
        return plan_fold(p, e);
    case CEL_E_ERROR:
        break;
    }
    BUG("a program of an expression with errors");
}

/* Room for a short expression; what is longer takes more in steps that double. */
enum { FIRST_BYTES = 512 };

struct cel_program *cel_program_new(const struct cel_ast *ast, struct str *error) {
    struct cel_program *program = xcalloc(1, sizeof *program);
    arena_start(&program->arena, FIRST_BYTES);
    struct planner p = {
        .steps = LIMIT_CEL_REGEX_STEPS, .program = program, .arena = &program->arena, .ast = ast};
    p.ev = (struct cel_eval){.arena = &program->arena,
                             .limit = UINT64_MAX,
                             .work = LIMIT_CEL_EVAL_WORK,
                             .seed = ast->env->seed};
    program->env = ast->env;
    program->locals = ast->locals;
    program->root = plan(&p, ast->root);
    *ast->pattern_steps += LIMIT_CEL_REGEX_STEPS - p.steps;
    if (!p.error.p)
        return program;
    *error = p.error;
    cel_program_free(program);
    return NULL;
}

void cel_program_free(struct cel_program *program) {
    if (!program)
        return;
    for (struct cel_pattern *p = program->patterns; p; p = p->next)
        cel__regex_free(p->re);
    arena_release(&program->arena);
    free(program);
}

size_t cel_program_bytes(const struct cel_program *program) {
    return sizeof *program + program->arena.bytes;
}
