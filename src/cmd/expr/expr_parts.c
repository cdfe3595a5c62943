/*
 * Which sub-expression gave what: each is compiled and evaluated on its own, also where &&, || and
 * ?: would not have come to it.
 */
#include "cmd/expr/expr.h"

#include "base/limits.h"

static bool says_something(const struct cel_part *n) {
    return !n->bound && !str_is(str_of(n->kind), "literal") && !str_is(str_of(n->kind), "ident");
}

static void add_part(void *ctx, const struct cel_part *node) {
    struct expr_parts *p = ctx;
    struct expr_part part = {.depth = node->depth};
    if (!says_something(node))
        return;
    if (p->bytes >= LIMIT_CEL_PARTS_BYTES) {
        p->omitted++;
        return;
    }
    p->bytes += node->text.n;
    expr_init(&part.expr, p->env, p->arena, node->text, p->clock);
    if (part.expr.program)
        vec_push(&p->list, part);
    else
        expr_release(&part.expr);
}

void expr_parts_init(struct expr_parts *p, const struct cel_env *env, struct arena *a,
                     const struct expr *e, const struct clock *clock) {
    *p = (struct expr_parts){.env = env, .clock = clock, .arena = a};
    if (e && e->program)
        cel_ast_visit(e->ast, a, add_part, p);
}

void expr_parts_release(struct expr_parts *p) {
    for (size_t i = 0; i < p->list.n; i++)
        expr_release(&p->list.v[i].expr);
    vec_release(&p->list);
}
