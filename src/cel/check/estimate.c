/*
 * What an expression may cost, before it runs: every node has a cost from a least to a most, and
 * many a size. The sizes of variables are Kubernetes'; functions estimate themselves
 * (cel_fn.estimate).
 *
 * Follows github.com/google/cel-go checker, func Cost, func (*coster) cost,
 * func (*coster) costComprehension.
 * Follows k8s.io/apiserver pkg/cel/library, func (*CostEstimator) EstimateCallCost,
 * func (*CostEstimator) EstimateSize.
 */
#include "cel/syntax/ast_int.h"

/* How a value was reached: taint.key, taint.list.@items. */
struct cel_path {
    const struct cel_path *up;
    struct str name;
    const struct cel_type *type; /* as declared, for its size; NULL: nothing is known */
};

struct entry_size {
    bool known, list;
    struct cel_range key, value;
};

/* What is known of a node. */
struct note {
    struct cel_range size;
    struct entry_size entry;
    const struct cel_path *path;
    bool sized;
};

struct local {
    const struct local *up;
    struct str name;
    const struct cel_path *path;
    struct cel_range size;
    struct entry_size entry;
    bool sized;
};

struct cel_coster {
    const struct cel_env *env;
    struct arena arena;
    struct note *notes;
    const struct local *locals;
};

static struct cel_range cost(struct cel_coster *c, const struct cel_expr *e);

static struct note *note_of(struct cel_coster *c, const struct cel_expr *e) {
    return &c->notes[e->index];
}

static const struct local *find_local(const struct cel_coster *c, const struct cel_expr *e) {
    if (e->kind != CEL_E_IDENT)
        return NULL;
    for (const struct local *l = c->locals; l; l = l->up)
        if (str_eq(l->name, e->name))
            return l;
    return NULL;
}

/* ---- paths ---- */

static const struct cel_type *field_at(const struct cel_type *t, struct str name) {
    for (uint32_t i = 0; i < t->field_count; i++)
        if (str_eq(t->fields[i].name, name))
            return t->fields[i].type;
    return NULL;
}

/* What is a step further. The members of a map are known by name if they may be anything, up to a
 * size. */
static const struct cel_type *type_behind(const struct cel_type *t, struct str step) {
    bool list = t->kind == CEL_T_LIST, map = t->kind == CEL_T_MAP;
    if (str_is(step, "@items") || str_is(step, "@values"))
        return list || map ? t->params[map] : NULL;
    if (str_is(step, "@keys"))
        return map ? t->params[0] : NULL;
    const struct cel_type *any = map ? t->params[1] : NULL;
    if (any && (any->kind == CEL_T_ANY || any->kind == CEL_T_DYN) && any->max)
        return any;
    return field_at(t, step);
}

static const struct cel_type *type_of_var(const struct cel_coster *c, struct str name) {
    const struct cel_var_decl *d = cel__env_name(c->env, name);
    return d && d->type->kind == CEL_T_OBJECT ? d->type : NULL;
}

static const struct cel_path *add_path(struct cel_coster *c, const struct cel_path *up,
                                       struct str name) {
    struct cel_path *p = arena_new(&c->arena, struct cel_path);
    p->up = up;
    p->name = name;
    if (!up)
        p->type = type_of_var(c, name);
    else if (up->type)
        p->type = type_behind(up->type, name);
    return p;
}

static const struct cel_path *path_of(struct cel_coster *c, const struct cel_expr *e) {
    const struct local *l = find_local(c, e);
    return l ? l->path : note_of(c, e)->path;
}

/* The greatest size of what is at a path of a variable; false when nothing is known. */
static bool size_by_path(const struct cel_path *path, struct cel_range *out) {
    if (!path || !path->type)
        return false;
    *out = (struct cel_range){0, path->type->max};
    return true;
}

/* ---- sizes ---- */

static bool literal_size(const struct cel_expr *e, struct cel_range *out) {
    switch (e->kind) {
    case CEL_E_LITERAL:
        *out = cel__fixed(cel__size_of(e->literal));
        return true;
    case CEL_E_LIST:
    case CEL_E_MAP:
        *out = cel__fixed(e->count);
        return true;
    default:
        return false;
    }
}

static bool is_scalar(const struct cel_type *t) {
    if (cel__type_is_optional(t))
        return is_scalar(t->params[0]);
    return t->kind == CEL_T_BOOL || t->kind == CEL_T_DOUBLE || t->kind == CEL_T_DURATION ||
           t->kind == CEL_T_INT || t->kind == CEL_T_TIMESTAMP || t->kind == CEL_T_UINT;
}

static bool size_of(struct cel_coster *c, const struct cel_expr *e, struct cel_range *out) {
    struct note *n = note_of(c, e);
    if (n->sized) {
        *out = n->size;
        return true;
    }
    if (literal_size(e, out))
        return true;
    if (size_by_path(path_of(c, e), out)) {
        n->size = *out;
        n->sized = true;
        return true;
    }
    if (is_scalar(e->type)) {
        *out = cel__fixed(1);
        return true;
    }
    const struct local *l = find_local(c, e);
    if (!l || !l->sized)
        return false;
    *out = l->size;
    return true;
}

static struct cel_range size_or_unknown(struct cel_coster *c, const struct cel_expr *e) {
    struct cel_range size;
    return size_of(c, e, &size) ? size : CEL_SIZE_UNKNOWN;
}

static void set_size(struct cel_coster *c, const struct cel_expr *e, struct cel_range size) {
    note_of(c, e)->size = size;
    note_of(c, e)->sized = true;
}

static struct entry_size entry_of(struct cel_coster *c, const struct cel_expr *e) {
    const struct entry_size *entry = &note_of(c, e)->entry;
    if (entry->known)
        return *entry;
    const struct local *l = find_local(c, e);
    return l ? l->entry : (struct entry_size){0};
}

static struct entry_size union_entry(struct entry_size a, struct entry_size b) {
    if (!a.known || !b.known)
        return (struct entry_size){0};
    a.key = cel__range_union(a.key, b.key);
    a.value = cel__range_union(a.value, b.value);
    return a;
}

static void set_entry(struct cel_coster *c, const struct cel_expr *e, struct entry_size entry) {
    if (entry.known)
        note_of(c, e)->entry = entry;
}

static void copy_sizes(struct cel_coster *c, const struct cel_expr *to,
                       const struct cel_expr *from) {
    struct cel_range size;
    if (size_of(c, from, &size))
        set_size(c, to, size);
    set_entry(c, to, entry_of(c, from));
}

/* ---- calls ---- */

static bool is_accu_path(const struct cel_path *path) {
    while (path && path->up)
        path = path->up;
    return path && (str_is(path->name, CEL_ACCU) || str_is(path->name, "__result__"));
}

static struct cel_operand operand(struct cel_coster *c, const struct cel_expr *e) {
    struct cel_operand o = {.expr = e, .type = e->type, .path = path_of(c, e)};
    if (is_accu_path(o.path))
        o.path = NULL;
    o.sized = size_of(c, e, &o.size);
    return o;
}

struct cel_range cel__operand_size(const struct cel_operand *o) {
    return o->sized ? o->size : CEL_SIZE_UNKNOWN;
}

bool cel__operand_elem(const struct cel_operand *list, struct cel_operand *elem) {
    if (list->type->param_count == 0)
        return false;
    *elem = (struct cel_operand){.type = list->type->params[0]};
    return true;
}

const struct cel_value *cel__operand_literal(const struct cel_operand *o) {
    return o->expr && o->expr->kind == CEL_E_LITERAL ? &o->expr->literal : NULL;
}

/* The operators whose operands are not simply all evaluated. */
static struct cel_estimated est_logic(const struct cel_range *args) {
    struct cel_range both = cel__range_add(args[0], args[1]);
    return (struct cel_estimated){.cost = {args[0].min, both.max}};
}

static struct cel_estimated est_conditional(struct cel_coster *c, const struct cel_expr *e,
                                            const struct cel_range *args) {
    struct cel_range size =
        cel__range_union(size_or_unknown(c, e->args[1]), size_or_unknown(c, e->args[2]));
    set_entry(c, e, union_entry(entry_of(c, e->args[1]), entry_of(c, e->args[2])));
    return (struct cel_estimated){cel__range_add(args[0], cel__range_union(args[1], args[2])), size,
                                  true};
}

static bool is_fn(const struct cel_expr *e, const char *name) {
    return str_is(e->name, name);
}

static struct cel_estimated est_overload(struct cel_coster *c, const struct cel_call_est *call,
                                         const struct cel_fn *fn, const struct cel_range *args) {
    const struct cel_expr *e = call->expr;
    if (is_fn(e, CEL_OP_AND) || is_fn(e, CEL_OP_OR))
        return est_logic(args);
    if (is_fn(e, CEL_OP_COND))
        return est_conditional(c, e, args);
    if (is_fn(e, CEL_OP_ADD) && e->count == 2)
        set_entry(c, e, union_entry(entry_of(c, e->args[0]), entry_of(c, e->args[1])));
    struct cel_estimated est = {.cost = cel__fixed(1)};
    if (fn->estimate)
        est = fn->estimate(call);
    for (uint32_t i = 0; i < e->count; i++)
        est.cost = cel__range_add(est.cost, args[i]);
    return est;
}

/* a[i]: the result is one of the entries. */
static bool index_result(struct cel_coster *c, const struct cel_expr *e, const struct cel_fn *fn,
                         struct cel_range *size, bool *sized) {
    bool list = str_is(str_of(fn->id), "index_list");
    if (!list && !str_is(str_of(fn->id), "index_map"))
        return false;
    struct entry_size entry = entry_of(c, e->args[0]);
    *sized = entry.known;
    *size = entry.value;
    note_of(c, e)->path =
        add_path(c, path_of(c, e->args[0]), list ? STR("@items") : STR("@values"));
    return true;
}

static struct cel_range cost_overloads(struct cel_coster *c, const struct cel_call_est *call,
                                       const struct cel_range *args) {
    const struct cel_expr *e = call->expr;
    struct cel_range sum = {UINT64_MAX, 0}, size = {0};
    bool sized = false;
    for (const struct cel_overload *const *o = e->found; *o; o++) {
        struct cel_estimated est = est_overload(c, call, (*o)->fn, args);
        sum = cel__range_union(sum, est.cost);
        if (est.sized) {
            size = sized ? cel__range_union(size, est.size) : est.size;
            sized = true;
        }
        index_result(c, e, (*o)->fn, &size, &sized);
        if (!sized)
            sized = size_of(c, e, &size);
    }
    if (sized)
        set_size(c, e, size);
    return sum;
}

static struct cel_range cost_call(struct cel_coster *c, const struct cel_expr *e) {
    if (is_fn(e, "dyn") && e->count == 1) {
        struct cel_range arg = cost(c, e->args[0]);
        copy_sizes(c, e, e->args[0]);
        return cel__range_add(cel__fixed(1), arg);
    }
    struct cel_operand *args = arena_array(&c->arena, struct cel_operand, e->count);
    struct cel_range *costs = arena_array(&c->arena, struct cel_range, e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        costs[i] = cost(c, e->args[i]);
        args[i] = operand(c, e->args[i]);
    }
    struct cel_range sum = {0, 0};
    struct cel_operand target;
    struct cel_call_est call = {.expr = e, .args = args, .n = e->count};
    if (e->member) {
        sum = cost(c, e->operand);
        target = operand(c, e->operand);
        call.target = &target;
    }
    return cel__range_add(sum, cost_overloads(c, &call, costs));
}

/* ---- the other nodes ---- */

static struct cel_range cost_ident(struct cel_coster *c, const struct cel_expr *e) {
    const struct local *l = find_local(c, e);
    const struct cel_var_decl *d = e->var;
    struct str name = d && !e->hidden ? d->name : e->name; /* nobody knows the size of .name */
    note_of(c, e)->path = l ? l->path : add_path(c, NULL, name);
    return cel__fixed(1);
}

static struct cel_range cost_select(struct cel_coster *c, const struct cel_expr *e) {
    if (e->var)
        return cost_ident(c, e);
    struct cel_range sum = cost(c, e->operand);
    if (e->test_only)
        return sum;
    enum cel_type_kind kind = e->operand->type->kind;
    if (kind == CEL_T_MAP || kind == CEL_T_OBJECT || kind == CEL_T_PARAM)
        sum = cel__range_add(sum, cel__fixed(1));
    note_of(c, e)->path = add_path(c, path_of(c, e->operand), e->name);
    return sum;
}

static struct cel_range cost_list(struct cel_coster *c, const struct cel_expr *e) {
    struct cel_range sum = {0, 0}, item = {e->count ? UINT64_MAX : 0, 0};
    for (uint32_t i = 0; i < e->count; i++) {
        sum = cel__range_add(sum, cost(c, e->args[i]));
        item = cel__range_union(item, size_or_unknown(c, e->args[i]));
    }
    set_entry(c, e, (struct entry_size){true, true, cel__fixed(1), item});
    return cel__range_add(sum, cel__fixed(10));
}

static struct cel_range cost_map(struct cel_coster *c, const struct cel_expr *e) {
    struct cel_range sum = {0, 0}, key = {e->count ? UINT64_MAX : 0, 0}, value = key;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct cel_item *item = &e->entries[i];
        sum = cel__range_add(sum, cost(c, item->key));
        sum = cel__range_add(sum, cost(c, item->value));
        key = cel__range_union(key, size_or_unknown(c, item->key));
        value = cel__range_union(value, size_or_unknown(c, item->value));
    }
    set_entry(c, e, (struct entry_size){true, false, key, value});
    return cel__range_add(sum, cel__fixed(30));
}

static struct cel_range cost_struct(struct cel_coster *c, const struct cel_expr *e) {
    struct cel_range sum = cel__fixed(40);
    for (uint32_t i = 0; i < e->count; i++)
        sum = cel__range_add(sum, cost(c, e->entries[i].value));
    return sum;
}

static void push(struct cel_coster *c, struct local l) {
    l.up = c->locals;
    c->locals = arena_copy(&c->arena, &l, sizeof l);
}

static void push_accu(struct cel_coster *c, struct str name, const struct cel_expr *init) {
    struct local l = {.name = name, .path = path_of(c, init), .entry = entry_of(c, init)};
    l.sized = size_of(c, init, &l.size);
    push(c, l);
}

/* An iteration variable: a key (or index) of the range, or a value (or item). */
static void push_iter(struct cel_coster *c, struct str name, const struct cel_expr *range, bool key,
                      bool single) {
    struct entry_size entry = entry_of(c, range);
    bool list = entry.known ? entry.list : range->type->kind == CEL_T_LIST;
    key = single ? !list : key;
    struct str step = key    ? list ? STR("@indices") : STR("@keys")
                         : list ? STR("@items")
                             : STR("@values");
    push(c, (struct local){.name = name,
                           .path = add_path(c, path_of(c, range), step),
                           .size = key ? entry.key : entry.value,
                           .sized = entry.known});
}

static struct cel_range cost_loop(struct cel_coster *c, const struct cel_expr *e) {
    const struct cel_fold *f = e->fold;
    const struct local *outside = c->locals;
    struct cel_range sum = cel__range_add(cost(c, f->range), cost(c, f->init));
    push_accu(c, f->accu, f->init);
    const struct local *with_accu = c->locals;
    push_iter(c, f->iter, f->range, true, !f->iter2.p);
    if (f->iter2.p)
        push_iter(c, f->iter2, f->range, false, false);
    struct cel_range loop = cost(c, f->cond), step = cost(c, f->step);
    c->locals = with_accu;
    sum = cel__range_add(sum, cost(c, f->result));
    c->locals = outside;
    struct cel_range rounds = size_or_unknown(c, f->range);
    sum = cel__range_add(sum, cel__range_mul(rounds, cel__range_add(step, loop)));
    if (f->init->kind == CEL_E_LITERAL) {
        set_size(c, e, size_or_unknown(c, f->init));
    } else if (f->init->kind == CEL_E_LIST || f->init->kind == CEL_E_MAP) {
        set_size(c, e, rounds);
        set_entry(c, e, entry_of(c, f->step));
    }
    return sum;
}

static bool is_bind(const struct cel_fold *f) {
    bool never =
        f->cond->kind == CEL_E_LITERAL && f->cond->literal.kind == CEL_BOOL && !f->cond->literal.b;
    return f->range->kind == CEL_E_LIST && f->range->count == 0 && never &&
           !str_is(f->accu, "__result__");
}

static struct cel_range cost_bind(struct cel_coster *c, const struct cel_expr *e) {
    const struct cel_fold *f = e->fold;
    const struct local *outside = c->locals;
    struct cel_range sum = cel__range_add(cost(c, f->range), cost(c, f->init));
    push_accu(c, f->accu, f->init);
    sum = cel__range_add(sum, cost(c, f->result));
    c->locals = outside;
    copy_sizes(c, e, f->result);
    return sum;
}

static struct cel_range cost(struct cel_coster *c, const struct cel_expr *e) {
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_IDENT:
        return cost_ident(c, e);
    case CEL_E_SELECT:
        return cost_select(c, e);
    case CEL_E_CALL:
        return cost_call(c, e);
    case CEL_E_LIST:
        return cost_list(c, e);
    case CEL_E_MAP:
        return cost_map(c, e);
    case CEL_E_STRUCT:
        return cost_struct(c, e);
    case CEL_E_FOLD:
        return is_bind(e->fold) ? cost_bind(c, e) : cost_loop(c, e);
    case CEL_E_LITERAL:
    case CEL_E_ERROR:
        break;
    }
    return cel__fixed(0);
}

struct cel_range cel_estimate(const struct cel_ast *ast) {
    struct cel_coster c = {.env = ast->env};
    c.notes = arena_array(&c.arena, struct note, ast->nodes);
    struct cel_range r = cost(&c, ast->root);
    arena_release(&c.arena);
    return r;
}
