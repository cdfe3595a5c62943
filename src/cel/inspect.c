/* What can be seen of a tree and of an environment from outside: nodes as they were written, and
 * the rows of functions. */
#include "cel/syntax/ast_int.h"

enum { MOST_TEXT = 4U << 20 };

static const char *const kind_names[] = {
    [CEL_E_LITERAL] = "literal", [CEL_E_IDENT] = "ident", [CEL_E_SELECT] = "select",
    [CEL_E_CALL] = "call",       [CEL_E_LIST] = "list",   [CEL_E_MAP] = "map",
    [CEL_E_STRUCT] = "struct",   [CEL_E_FOLD] = "fold",   [CEL_E_ERROR] = "error",
};

struct walk {
    struct arena *arena;
    cel_part_fn *visit;
    void *ctx;
    struct buf text;
};

/* Where a node stands. */
struct place {
    uint32_t depth;
    bool bound;
};

static struct str text_of(struct walk *w, const struct cel_expr *e) {
    buf_clear(&w->text);
    cel__expr_write(&w->text, e);
    return arena_str(w->arena, buf_view(&w->text));
}

static struct str type_of(struct walk *w, const struct cel_expr *e) {
    if (!e->type)
        return STR("");
    buf_clear(&w->text);
    cel__type_write(&w->text, e->type);
    return arena_str(w->arena, buf_view(&w->text));
}

static struct str name_of(const struct cel_expr *e, struct str text) {
    if (e->kind == CEL_E_LITERAL)
        return text;
    return e->kind == CEL_E_LIST || e->kind == CEL_E_MAP ? STR("") : e->name;
}

static void visit(struct walk *w, const struct cel_expr *e, struct place at);

static void visit_all(struct walk *w, struct cel_expr *const *list, uint32_t n, struct place at) {
    for (uint32_t i = 0; i < n; i++)
        visit(w, list[i], at);
}

static void visit_children(struct walk *w, const struct cel_expr *e, struct place at) {
    if ((e->kind == CEL_E_SELECT || e->kind == CEL_E_CALL) && e->operand)
        visit(w, e->operand, at);
    if (e->kind == CEL_E_CALL || e->kind == CEL_E_LIST)
        visit_all(w, e->args, e->count, at);
    for (uint32_t i = 0; (e->kind == CEL_E_MAP || e->kind == CEL_E_STRUCT) && i < e->count; i++) {
        if (e->entries[i].key)
            visit(w, e->entries[i].key, at);
        visit(w, e->entries[i].value, at);
    }
}

/* The arguments of a macro may use the variables that it brings; its target may not. */
static void visit_macro(struct walk *w, const struct cel_expr *call, struct place at) {
    if (call->operand)
        visit(w, call->operand, at);
    visit_all(w, call->args, call->count, (struct place){at.depth, true});
}

static void visit(struct walk *w, const struct cel_expr *e, struct place at) {
    const struct cel_expr *written = e->macro ? e->macro : e;
    struct cel_part node = {.kind = e->macro ? "macro" : kind_names[e->kind],
                            .type = type_of(w, e),
                            .text = text_of(w, e),
                            .depth = at.depth,
                            .bound = at.bound};
    node.name = name_of(written, node.text);
    w->visit(w->ctx, &node);
    at.depth++;
    if (e->macro)
        visit_macro(w, e->macro, at);
    else
        visit_children(w, e, at);
}

void cel_ast_visit(const struct cel_ast *ast, struct arena *a, cel_part_fn *fn, void *ctx) {
    struct walk w = {.arena = a, .visit = fn, .ctx = ctx, .text = BUF_INIT(MOST_TEXT)};
    visit(&w, ast->root, (struct place){0});
    buf_release(&w.text);
}

void cel_env_visit(const struct cel_env *env, cel_fn_info_fn *fn, void *ctx) {
    const struct map_entry *entry;
    for (size_t at = 0; (entry = map_next(&env->functions, &at));) {
        const struct cel_function *f = entry->value;
        for (size_t i = 0; i < f->overloads.n; i++) {
            const struct cel_fn *row = f->overloads.v[i]->fn;
            if (row->flags & CEL_FN_INTERNAL)
                continue;
            struct cel_fn_info info = {row->name, row->id, row->sig, row->doc};
            fn(ctx, &info);
        }
    }
}
