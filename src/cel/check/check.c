/*
 * The type checker: gives every node a type, every name its meaning, every call the overloads it
 * may mean. The rules and the texts are upstream's.
 *
 * Follows github.com/google/cel-go checker, func Check, func (*checker) checkCall,
 * func (*checker) resolveOverload, func (*checker) checkComprehension.
 */
#include "cel/check/check_int.h"

struct scope {
    struct cel_var_decl decl;
    const struct scope *up;
};

struct checker {
    struct cel_ast *ast;
    const struct cel_env *env;
    struct arena *arena;
    struct cel_subst subst;
    const struct scope *scope;
};

static void check(struct checker *c, struct cel_expr *e);

static struct str show(struct checker *c, const struct cel_type *t) {
    AUTO(buf_release) struct buf out = BUF_INIT(1U << 20);
    cel__type_show(&out, t);
    return arena_str(c->arena, buf_view(&out));
}

static void set_error(struct cel_expr *e) {
    e->type = cel__type(CEL_T_ERROR);
}

static void report_undeclared(struct checker *c, struct cel_expr *e, struct str name) {
    cel__issue(&c->ast->source, e->pos, "undeclared reference to '%.*s' (in container '%.*s')",
               STR_ARG(name), STR_ARG(c->env->container));
    set_error(e);
}

static void report_mismatch(struct checker *c, const struct cel_expr *e,
                            const struct cel_type *want, const struct cel_type *got) {
    struct str w = show(c, want), g = show(c, got);
    cel__issue(&c->ast->source, e->pos, "expected type '%.*s' but found '%.*s'", STR_ARG(w),
               STR_ARG(g));
}

static const struct cel_type *substituted(struct checker *c, const struct cel_type *t) {
    return cel__substitute(&c->subst, t, false);
}

static bool is_dyn(const struct cel_type *t) {
    return t->kind == CEL_T_DYN || t->kind == CEL_T_ANY;
}

static const struct cel_type *unwrap_optional(const struct cel_type *t, bool *optional) {
    *optional = cel__type_is_optional(t);
    return *optional ? t->params[0] : t;
}

/* ---- names ---- */

static const struct cel_var_decl *find_local(const struct checker *c, struct str name) {
    bool global = str_starts(name, STR("."));
    for (const struct scope *s = c->scope; s && !global; s = s->up)
        if (str_eq(s->decl.name, name))
            return &s->decl;
    return NULL;
}

static const void *find_name(const void *ctx, struct str name) {
    return cel__env_name(ctx, name);
}

static const struct cel_var_decl *find_global(const struct checker *c, struct str name) {
    const struct cel_var_decl *d =
        cel__resolve(c->arena, c->env->container, name, find_name, c->env);
    return d ? d : cel__env_made_name(c->env, c->arena, name);
}

static const void *find_function(const void *ctx, struct str name) {
    return cel__env_function(ctx, name);
}

static const struct cel_function *find_fn(const struct checker *c, struct str name) {
    return cel__resolve(c->arena, c->env->container, name, find_function, c->env);
}

static bool is_hidden(const struct checker *c, struct str name) {
    return str_starts(name, STR(".")) && find_local(c, str_sub(name, 1, name.n));
}

static void check_ident(struct checker *c, struct cel_expr *e) {
    const struct cel_var_decl *d = find_local(c, e->name);
    if (!d)
        d = find_global(c, e->name);
    if (!d) {
        report_undeclared(c, e, e->name);
        return;
    }
    e->var = d;
    e->type = d->type;
    e->hidden = is_hidden(c, e->name);
}

static const struct cel_expr *first_name(const struct cel_expr *e) {
    while (e->kind == CEL_E_SELECT)
        e = e->operand;
    return e;
}

/* The types of the Kubernetes libraries look like messages, but nobody can look them up. */
static const struct cel_type *report_no_field(struct checker *c, const struct cel_expr *e,
                                              const struct cel_type *target, struct str field) {
    if (str_starts(target->name, STR("kubernetes.")) && !target->fields)
        cel__issue(&c->ast->source, e->pos, "unexpected failed resolution of '%.*s'",
                   STR_ARG(target->name));
    else
        cel__issue(&c->ast->source, e->pos, "undefined field '%.*s'", STR_ARG(field));
    return cel__type(CEL_T_ERROR);
}

static const struct cel_type *select_field(struct checker *c, struct cel_expr *e,
                                           struct cel_expr *operand, struct str field,
                                           bool optional) {
    check(c, operand);
    bool is_opt;
    const struct cel_type *target = unwrap_optional(substituted(c, operand->type), &is_opt);
    const struct cel_type *result = cel__type(CEL_T_DYN);
    struct str shown;
    switch (target->kind) {
    case CEL_T_MAP:
        result = target->params[1];
        break;
    case CEL_T_OBJECT:
        result = cel__late_field(c->ast->fields, target, field);
        if (!result)
            result = cel__field_type(c->arena, target, target->name, field);
        if (!result)
            result = report_no_field(c, e, target, field);
        break;
    case CEL_T_PARAM:
        cel__assignable(&c->subst, result, target);
        break;
    case CEL_T_DYN:
    case CEL_T_ANY:
    case CEL_T_ERROR:
        break;
    default:
        shown = show(c, target);
        cel__issue(&c->ast->source, e->pos, "type '%.*s' does not support field selection",
                   STR_ARG(shown));
    }
    return is_opt || optional ? cel__type_optional(c->arena, result) : result;
}

static void check_select(struct checker *c, struct cel_expr *e) {
    struct str name = e->test_only ? (struct str){0} : cel__qualified_name(c->arena, e);
    if (name.p && !find_local(c, first_name(e)->name)) {
        const struct cel_var_decl *d = find_global(c, name);
        if (d) {
            e->var = d;
            e->type = d->type;
            e->hidden = is_hidden(c, first_name(e)->name);
            return;
        }
    }
    e->type = substituted(c, select_field(c, e, e->operand, e->name, false));
    if (e->test_only)
        e->type = cel__type(CEL_T_BOOL);
}

/* ---- calls ---- */

struct resolution {
    const struct cel_type **args;
    uint32_t count;
    VEC(const struct cel_overload *) found;
    const struct cel_type *result;
};

static void report_no_overload(struct checker *c, struct cel_expr *e, const struct cel_function *fn,
                               const struct resolution *r) {
    AUTO(buf_release) struct buf sig = BUF_INIT(1U << 20);
    uint32_t i = 0;
    if (e->member) {
        cel__type_show(&sig, cel__substitute(&c->subst, r->args[i++], true));
        buf_add_char(&sig, '.');
    }
    buf_add_char(&sig, '(');
    for (uint32_t first = i; i < r->count; i++) {
        buf_add(&sig, i > first ? STR(", ") : STR(""));
        cel__type_show(&sig, cel__substitute(&c->subst, r->args[i], true));
    }
    buf_add_char(&sig, ')');
    cel__issue(&c->ast->source, e->pos, "found no matching overload for '%.*s' applied to '%.*s'",
               STR_ARG(fn->name), STR_ARG(buf_view(&sig)));
}

/* Type variables are numbered by all overloads, also by those that take more or fewer arguments:
 * the numbers show in messages. */
static void try_overload(struct checker *c, const struct cel_overload *o, struct resolution *r) {
    const struct cel_type *letters[26] = {NULL}, *params[CEL_MAX_ARGS];
    for (uint32_t i = 0; i < o->count; i++)
        params[i] = cel__instantiate(&c->subst, o->params[i], letters);
    const struct cel_type *result = cel__instantiate(&c->subst, o->result, letters);
    if (o->count != r->count || !cel__assignable_all(&c->subst, r->args, params, o->count))
        return;
    vec_push(&r->found, o);
    result = substituted(c, result);
    if (!r->result)
        r->result = result;
    else if (!is_dyn(r->result) && !cel__type_equal(result, r->result))
        r->result = cel__type(CEL_T_DYN);
}

/* && and || say which operand is wrong. */
static void check_logic(struct checker *c, struct cel_expr *e, const struct cel_function *fn,
                        struct resolution *r) {
    const struct cel_type *bool_type = cel__type(CEL_T_BOOL);
    bool good = true;
    for (uint32_t i = 0; i < r->count; i++) {
        if (cel__assignable(&c->subst, r->args[i], bool_type))
            continue;
        report_mismatch(c, e->args[i], bool_type, r->args[i]);
        good = false;
    }
    vec_push(&r->found, fn->overloads.v[0]);
    e->type = good ? bool_type : cel__type(CEL_T_ERROR);
}

static void set_found(struct checker *c, struct cel_expr *e, struct resolution *r) {
    vec_push(&r->found, NULL);
    e->found = arena_copy(c->arena, r->found.v, r->found.n * sizeof *r->found.v);
    vec_release(&r->found);
}

static void resolve(struct checker *c, struct cel_expr *e, const struct cel_function *fn) {
    struct resolution r = {0};
    r.args = arena_array(c->arena, const struct cel_type *, e->count + 1);
    if (e->member)
        r.args[r.count++] = e->operand->type;
    for (uint32_t i = 0; i < e->count; i++)
        r.args[r.count++] = e->args[i]->type;
    if (str_is(fn->name, CEL_OP_AND) || str_is(fn->name, CEL_OP_OR)) {
        check_logic(c, e, fn, &r);
        set_found(c, e, &r);
        return;
    }
    for (size_t i = 0; i < fn->overloads.n; i++) {
        const struct cel_overload *o = fn->overloads.v[i];
        if (o->member == e->member)
            try_overload(c, o, &r);
    }
    if (!r.result)
        report_no_overload(c, e, fn, &r);
    e->type = r.result ? r.result : cel__type(CEL_T_ERROR);
    set_found(c, e, &r);
}

static void check_opt_select(struct checker *c, struct cel_expr *e) {
    const struct cel_function *fn = find_fn(c, STR(CEL_OP_OPT_SELECT));
    struct resolution r = {0};
    struct str field = cel_str(e->args[1]->literal);
    e->type = substituted(c, select_field(c, e, e->args[0], field, true));
    e->args[1]->type = cel__type(CEL_T_STRING);
    vec_push(&r.found, fn->overloads.v[0]);
    set_found(c, e, &r);
}

/* x.y.f(...) where x.y.f is itself the name of a function. */
static const struct cel_function *find_qualified_fn(struct checker *c, const struct cel_expr *e) {
    struct str prefix = cel__qualified_name(c->arena, e->operand);
    if (!prefix.p)
        return NULL;
    return find_fn(c, cel__dotted_name(c->arena, prefix, e->name));
}

static void check_call(struct checker *c, struct cel_expr *e) {
    if (!e->member && str_is(e->name, CEL_OP_OPT_SELECT)) {
        check_opt_select(c, e);
        return;
    }
    for (uint32_t i = 0; i < e->count; i++)
        check(c, e->args[i]);
    const struct cel_function *fn = e->member ? find_qualified_fn(c, e) : NULL;
    if (fn) {
        e->member = false;
        e->operand = NULL;
    } else {
        if (e->member)
            check(c, e->operand);
        fn = find_fn(c, e->name);
    }
    if (!fn) {
        report_undeclared(c, e, e->name);
        return;
    }
    e->name = fn->name;
    resolve(c, e, fn);
}

/* ---- aggregates ---- */

static const struct cel_type *join(struct checker *c, const struct cel_type *before,
                                   const struct cel_type *now) {
    if (!before)
        return now;
    if (cel__assignable(&c->subst, before, now))
        return cel__most_general(before, now);
    return cel__type(CEL_T_DYN);
}

/* The type of an element behind a '?': what is in the optional. */
static const struct cel_type *optional_elem(struct checker *c, const struct cel_expr *e) {
    bool optional;
    const struct cel_type *t = unwrap_optional(e->type, &optional);
    if (!optional && !is_dyn(t))
        report_mismatch(c, e, cel__type_optional(c->arena, t), t);
    return t;
}

static void check_list(struct checker *c, struct cel_expr *e) {
    const struct cel_type *elem = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        check(c, e->args[i]);
        bool optional = e->optional && e->optional[i];
        elem = join(c, elem, optional ? optional_elem(c, e->args[i]) : e->args[i]->type);
    }
    if (!elem)
        elem = cel__subst_fresh(&c->subst);
    e->type = cel__type_list(c->arena, elem);
}

static void check_map(struct checker *c, struct cel_expr *e) {
    const struct cel_type *key = NULL, *value = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        struct cel_item *item = &e->entries[i];
        check(c, item->key);
        key = join(c, key, item->key->type);
        check(c, item->value);
        value = join(c, value, item->optional ? optional_elem(c, item->value) : item->value->type);
    }
    if (!key) {
        key = cel__subst_fresh(&c->subst);
        value = cel__subst_fresh(&c->subst);
    }
    e->type = cel__type_map(c->arena, key, value);
}

/* The message whose fields a type of this name has; nothing when it is no message. */
static struct str message_of(const struct cel_var_decl *d) {
    static const char *const well_known[CEL_T_OBJECT + 1] = {
        [CEL_T_ANY] = "google.protobuf.Any",
        [CEL_T_TIMESTAMP] = "google.protobuf.Timestamp",
        [CEL_T_DURATION] = "google.protobuf.Duration",
        [CEL_T_DYN] = "google.protobuf.Value",
        [CEL_T_NULL] = "google.protobuf.NullValue",
        [CEL_T_LIST] = "google.protobuf.ListValue",
        [CEL_T_MAP] = "google.protobuf.Struct",
    };
    const struct cel_type *t = d->value;
    if (t->nullable || t->kind == CEL_T_OBJECT)
        return d->name;
    if (t->kind == CEL_T_MAP && t->params[0]->kind != CEL_T_STRING)
        return (struct str){0};
    return str_of(well_known[t->kind]);
}

/* Some types upstream cannot look up at all; of a map that is no message it finds every field. */
static const struct cel_type *report_no_member(struct checker *c, const struct cel_type *t,
                                               struct str message, const struct cel_item *item) {
    bool unknown = t->kind == CEL_T_NULL || t->kind == CEL_T_TYPE || t->kind == CEL_T_OPAQUE;
    struct str name = message.p ? message : t->name;
    if (unknown)
        cel__issue(&c->ast->source, item->pos, "unexpected failed resolution of '%.*s'",
                   STR_ARG(name));
    else if (message.p || t->kind != CEL_T_MAP)
        cel__issue(&c->ast->source, item->pos, "undefined field '%.*s'", STR_ARG(item->field));
    return NULL;
}

static void check_field(struct checker *c, const struct cel_type *t, struct str message,
                        struct cel_item *item) {
    check(c, item->value);
    const struct cel_type *want = cel__field_type(c->arena, t, message, item->field);
    if (!want)
        want = report_no_member(c, t, message, item);
    const struct cel_type *got = item->optional ? optional_elem(c, item->value) : item->value->type;
    if (!want || cel__assignable(&c->subst, want, got))
        return;
    struct str w = show(c, want), g = show(c, got);
    cel__issue(&c->ast->source, item->pos,
               "expected type of field '%.*s' is '%.*s' but provided type is '%.*s'",
               STR_ARG(item->field), STR_ARG(w), STR_ARG(g));
}

static void check_struct(struct checker *c, struct cel_expr *e) {
    const struct cel_var_decl *d = find_global(c, e->name);
    if (!d || !d->value) {
        report_undeclared(c, e, e->name);
        return;
    }
    e->name = d->name;
    e->type = d->value;
    struct str message = message_of(d);
    if (!message.p) {
        cel__issue(&c->ast->source, e->pos, "'%.*s' is not a message type",
                   STR_ARG(d->value->name));
        set_error(e);
    }
    for (uint32_t i = 0; i < e->count; i++)
        check_field(c, d->value, message, &e->entries[i]);
}

/* ---- comprehensions ---- */

static const struct scope *enter(struct checker *c, struct str name, const struct cel_type *type) {
    struct scope *s = arena_new(c->arena, struct scope);
    int32_t slot = (int32_t)c->ast->locals++;
    s->decl = (struct cel_var_decl){name, type, slot, true, NULL, false, false};
    s->up = c->scope;
    c->scope = s;
    return s;
}

/* The types of the iteration variables over a range. */
static void range_types(struct checker *c, struct cel_expr *range, bool two,
                        const struct cel_type *types[2]) {
    const struct cel_type *t = substituted(c, range->type), *dyn = cel__type(CEL_T_DYN);
    struct str shown;
    switch (t->kind) {
    case CEL_T_LIST:
        types[0] = two ? cel__type(CEL_T_INT) : t->params[0];
        types[1] = t->params[0];
        return;
    case CEL_T_MAP:
        types[0] = t->params[0];
        types[1] = t->params[1];
        return;
    case CEL_T_DYN:
    case CEL_T_ERROR:
    case CEL_T_PARAM:
        cel__assignable(&c->subst, dyn, t);
        types[0] = types[1] = dyn;
        return;
    default:
        shown = show(c, t);
        cel__issue(&c->ast->source, range->pos,
                   "expression of type '%.*s' cannot be range of a comprehension (must be list, "
                   "map, or dynamic)",
                   STR_ARG(shown));
        types[0] = types[1] = cel__type(CEL_T_ERROR);
    }
}

static void assert_type(struct checker *c, struct cel_expr *e, const struct cel_type *want) {
    if (!cel__assignable(&c->subst, want, e->type))
        report_mismatch(c, e, want, e->type);
}

static void check_fold(struct checker *c, struct cel_expr *e) {
    struct cel_fold *f = e->fold;
    const struct scope *outside = c->scope;
    const struct cel_type *types[2];
    check(c, f->range);
    check(c, f->init);
    const struct cel_type *accu = f->init->type;
    range_types(c, f->range, f->iter2.p != NULL, types);
    const struct scope *with_accu = enter(c, f->accu, accu);
    f->slot = (uint32_t)with_accu->decl.slot;
    enter(c, f->iter, types[0]);
    if (f->iter2.p)
        enter(c, f->iter2, types[1]);
    check(c, f->cond);
    assert_type(c, f->cond, cel__type(CEL_T_BOOL));
    check(c, f->step);
    assert_type(c, f->step, accu);
    c->scope = with_accu;
    check(c, f->result);
    c->scope = outside;
    e->type = substituted(c, f->result->type);
}

/* ---- all together ---- */

static void check_literal(struct cel_expr *e) {
    e->type = cel__type_of(e->literal);
}

static void check(struct checker *c, struct cel_expr *e) {
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_LITERAL:
        check_literal(e);
        return;
    case CEL_E_IDENT:
        check_ident(c, e);
        return;
    case CEL_E_SELECT:
        check_select(c, e);
        return;
    case CEL_E_CALL:
        check_call(c, e);
        return;
    case CEL_E_LIST:
        check_list(c, e);
        return;
    case CEL_E_MAP:
        check_map(c, e);
        return;
    case CEL_E_STRUCT:
        check_struct(c, e);
        return;
    case CEL_E_FOLD:
        check_fold(c, e);
        return;
    case CEL_E_ERROR:
        set_error(e);
    }
}

static void finish_type(struct cel_expr *e, void *ctx) {
    struct checker *c = ctx;
    e->index = c->ast->nodes++;
    if (e->type)
        e->type = cel__substitute(&c->subst, e->type, true);
}

void cel__check(struct cel_ast *ast) {
    struct checker c = {.ast = ast, .env = ast->env, .arena = ast->arena};
    c.subst.arena = ast->arena;
    check(&c, ast->root);
    cel__walk(ast->root, finish_type, &c);
    vec_release(&c.subst.of);
    vec_release(&c.subst.trail);
    ast->checked = true;
}
