/*
 * Expressions that are not checked: names still need their meaning, and calls the functions they
 * may mean.
 *
 * Follows github.com/google/cel-go interpreter, func (*planBuilder) planIdent,
 * func (*planBuilder) planCall.
 */
#include "cel/syntax/ast_int.h"

struct scope {
    struct cel_var_decl decl;
    const struct scope *up;
};

struct binder {
    struct cel_ast *ast;
    const struct scope *scope;
};

static void bind(struct binder *b, struct cel_expr *e);

static const void *find_name(const void *ctx, struct str name) {
    return cel__env_name(ctx, name);
}

static const void *find_function(const void *ctx, struct str name) {
    return cel__env_function(ctx, name);
}

static const struct cel_var_decl *find_local(const struct binder *b, struct str name) {
    for (const struct scope *s = b->scope; s; s = s->up)
        if (str_eq(s->decl.name, name))
            return &s->decl;
    return NULL;
}

static const struct cel_var_decl *find_global(struct binder *b, struct str name) {
    return cel__resolve(b->ast->arena, b->ast->env->container, name, find_name, b->ast->env);
}

/* What upstream notices only when it gets there: the node becomes its error. */
__attribute__((format(printf, 3, 0))) static void fail_later(struct binder *b, struct cel_expr *e,
                                                             const char *fmt, struct str name) {
    struct str text = arena_printf(b->ast->arena, fmt, STR_ARG(name));
    *e = (struct cel_expr){.kind = CEL_E_LITERAL, .pos = e->pos, .literal = cel__fail(text)};
}

static void bind_ident(struct binder *b, struct cel_expr *e) {
    e->var = find_local(b, e->name);
    if (!e->var)
        e->var = find_global(b, e->name);
    if (!e->var)
        fail_later(b, e, "no such attribute(s): %.*s", e->name);
}

static struct str first_name(const struct cel_expr *e) {
    while (e->kind == CEL_E_SELECT)
        e = e->operand;
    return e->name;
}

static void bind_select(struct binder *b, struct cel_expr *e) {
    struct str name = e->test_only ? (struct str){0} : cel__qualified_name(b->ast->arena, e);
    if (name.p && !find_local(b, first_name(e)))
        e->var = find_global(b, name);
    if (!e->var)
        bind(b, e->operand);
}

static const struct cel_function *find_fn(struct binder *b, struct str name) {
    return cel__resolve(b->ast->arena, b->ast->env->container, name, find_function, b->ast->env);
}

static const struct cel_function *find_qualified_fn(struct binder *b, const struct cel_expr *e) {
    struct str prefix = cel__qualified_name(b->ast->arena, e->operand);
    if (!prefix.p)
        return NULL;
    return find_fn(b, cel__dotted_name(b->ast->arena, prefix, e->name));
}

static void bind_call(struct binder *b, struct cel_expr *e) {
    static const struct cel_overload *const any[] = {NULL};
    const struct cel_function *fn = e->member ? find_qualified_fn(b, e) : NULL;
    if (fn) {
        e->member = false;
        e->operand = NULL;
    } else {
        fn = find_fn(b, e->name);
        if (e->member)
            bind(b, e->operand);
    }
    for (uint32_t i = 0; i < e->count; i++)
        bind(b, e->args[i]);
    if (!fn || e->count + e->member > CEL_MAX_ARGS) {
        fail_later(b, e, "no such overload: %.*s", e->name);
        return;
    }
    e->name = fn->name;
    e->found = any;
}

static void enter(struct binder *b, struct str name) {
    struct scope *s = arena_new(b->ast->arena, struct scope);
    int32_t slot = (int32_t)b->ast->locals++;
    s->decl = (struct cel_var_decl){name, NULL, slot, true, NULL, false, false};
    s->up = b->scope;
    b->scope = s;
}

static void bind_fold(struct binder *b, struct cel_expr *e) {
    struct cel_fold *f = e->fold;
    const struct scope *outside = b->scope;
    bind(b, f->range);
    bind(b, f->init);
    f->slot = b->ast->locals;
    enter(b, f->accu);
    const struct scope *with_accu = b->scope;
    enter(b, f->iter);
    if (f->iter2.p)
        enter(b, f->iter2);
    bind(b, f->cond);
    bind(b, f->step);
    b->scope = with_accu;
    bind(b, f->result);
    b->scope = outside;
}

static void bind_items(struct binder *b, struct cel_expr *e) {
    if (e->kind == CEL_E_STRUCT) {
        const struct cel_var_decl *d = find_global(b, e->name);
        if (d)
            e->name = d->name;
        else
            cel__issue(&b->ast->source, e->pos, "unknown type: %.*s", STR_ARG(e->name));
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->entries[i].key)
            bind(b, e->entries[i].key);
        bind(b, e->entries[i].value);
    }
}

static void bind(struct binder *b, struct cel_expr *e) {
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_IDENT:
        bind_ident(b, e);
        return;
    case CEL_E_SELECT:
        bind_select(b, e);
        return;
    case CEL_E_CALL:
        bind_call(b, e);
        return;
    case CEL_E_LIST:
        for (uint32_t i = 0; i < e->count; i++)
            bind(b, e->args[i]);
        return;
    case CEL_E_MAP:
    case CEL_E_STRUCT:
        bind_items(b, e);
        return;
    case CEL_E_FOLD:
        bind_fold(b, e);
        return;
    case CEL_E_LITERAL:
    case CEL_E_ERROR:
        return;
    }
}

void cel__bind(struct cel_ast *ast) {
    struct binder b = {.ast = ast};
    bind(&b, ast->root);
}
