/*
 * Which condition of an expression is not true: those that && joins are evaluated one by one, the
 * first that is false or fails is the reason.
 */
#include "tolexpr/tolexpr_int.h"

/* Conditions deeper down are told with the whole that they are part of. */
enum { DEEPEST = 64 };

struct walk {
    struct tolexpr__conditions *into;
    bool joins[DEEPEST]; /* by depth: the part last seen there is a && of the whole */
};

static void see(void *ctx, const struct cel_part *part) {
    struct walk *w = ctx;
    if (part->depth >= DEEPEST)
        return;
    bool counts = part->depth == 0 || w->joins[part->depth - 1];
    w->joins[part->depth] =
        counts && part->depth + 1 < DEEPEST && !part->bound && str_is(part->name, "_&&_");
    if (counts && !w->joins[part->depth])
        vec_push(&w->into->texts, arena_str(&w->into->arena, part->text));
}

static void collect(struct tolexpr *x, struct str expression) {
    struct tolexpr__conditions *c = &x->conditions;
    AUTO(arena_release) struct arena a = {0};
    struct walk w = {.into = c};
    arena_reset(&c->arena);
    vec_clear(&c->texts);
    c->expression = arena_str(&c->arena, expression);
    const struct cel_ast *ast = cel_compile(tolexpr__stored_env(x), &a, expression, 0);
    if (!cel_ast_issues(ast).n)
        cel_ast_visit(ast, &a, see, &w);
}

/* True when the condition is the reason, which is told. */
static bool tell(struct tolexpr *x, struct str condition, const struct match_taint *taint,
                 struct buf *out) {
    const struct match_engine *engine = &x->engine;
    struct err err = {0};
    size_t spent = 0;
    void *program = engine->compile(engine->ctx, condition, &spent, &err);
    if (!program)
        return false;
    int verdict = engine->eval(engine->ctx, program, taint, 1, &err);
    engine->free(engine->ctx, program);
    if (verdict > 0)
        return false;
    buf_add(out, condition);
    buf_add(out, verdict == 0 ? STR(" is false") : STR(" fails: "));
    if (verdict < 0)
        buf_add(out, str_of(err.msg));
    return true;
}

void tolexpr__find_false(void *ctx, struct str expression, const struct match_taint *taint,
                         struct buf *out) {
    struct tolexpr *x = ctx;
    const struct tolexpr__conditions *c = &x->conditions;
    if (!str_eq(c->expression, expression))
        collect(x, expression);
    for (size_t i = 0; i < c->texts.n; i++)
        if (tell(x, c->texts.v[i], taint, out))
            return;
    buf_add(out, expression);
    buf_add(out, STR(" is false"));
}
