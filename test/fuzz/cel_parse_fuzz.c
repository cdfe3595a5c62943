/*
 * Any text: it parses or says why not, twice the same; and what the tree is written as parses to
 * the same tree, which is written the same way. With macros and without.
 */
#include "cel/syntax/ast_int.h"
#include "cel_fuzz.h"

/* Chains of && and || are balanced when they are read, so only their operands count. */
static bool is_chain(const struct cel_expr *e, struct str fn) {
    return e->kind == CEL_E_CALL && !e->member && e->count == 2 && str_eq(e->name, fn) &&
           (str_is(fn, CEL_OP_AND) || str_is(fn, CEL_OP_OR));
}

typedef VEC(const struct cel_expr *) operands;

static void flatten(const struct cel_expr *e, struct str fn, operands *out) {
    for (uint32_t i = 0; i < 2; i++) {
        if (is_chain(e->args[i], fn))
            flatten(e->args[i], fn, out);
        else
            vec_push(out, e->args[i]);
    }
}

static bool same(const struct cel_expr *x, const struct cel_expr *y);

static bool same_chain(const struct cel_expr *x, const struct cel_expr *y) {
    operands a = {0}, b = {0};
    flatten(x, x->name, &a);
    flatten(y, y->name, &b);
    bool equal = a.n == b.n;
    for (size_t i = 0; equal && i < a.n; i++)
        equal = same(a.v[i], b.v[i]);
    vec_release(&a);
    vec_release(&b);
    return equal;
}

static bool same_literal(struct cel_value x, struct cel_value y) {
    if (x.kind != y.kind)
        return false;
    if (x.kind == CEL_STRING || x.kind == CEL_BYTES)
        return str_eq(cel_str(x), cel_str(y));
    if (x.kind == CEL_BOOL)
        return x.b == y.b;
    return x.kind == CEL_NULL || x.u == y.u;
}

static bool same_args(const struct cel_expr *x, const struct cel_expr *y) {
    for (uint32_t i = 0; i < x->count; i++)
        if (!same(x->args[i], y->args[i]))
            return false;
    return true;
}

static bool same_call(const struct cel_expr *x, const struct cel_expr *y) {
    if (is_chain(x, x->name))
        return y->count == 2 && is_chain(y, x->name) && same_chain(x, y);
    return str_eq(x->name, y->name) && x->member == y->member && x->count == y->count &&
           (!x->member || same(x->operand, y->operand)) && same_args(x, y);
}

static bool same_list(const struct cel_expr *x, const struct cel_expr *y) {
    if (x->count != y->count || !x->optional != !y->optional)
        return false;
    for (uint32_t i = 0; x->optional && i < x->count; i++)
        if (x->optional[i] != y->optional[i])
            return false;
    return same_args(x, y);
}

static bool same_items(const struct cel_expr *x, const struct cel_expr *y) {
    bool equal = x->count == y->count && (x->kind == CEL_E_MAP || str_eq(x->name, y->name));
    for (uint32_t i = 0; equal && i < x->count; i++) {
        const struct cel_item *a = &x->entries[i], *b = &y->entries[i];
        equal = a->optional == b->optional && same(a->value, b->value) &&
                (x->kind == CEL_E_MAP ? same(a->key, b->key) : str_eq(a->field, b->field));
    }
    return equal;
}

static bool same_fold(const struct cel_fold *x, const struct cel_fold *y) {
    return str_eq(x->iter, y->iter) && str_eq(x->iter2, y->iter2) && str_eq(x->accu, y->accu) &&
           same(x->range, y->range) && same(x->init, y->init) && same(x->cond, y->cond) &&
           same(x->step, y->step) && same(x->result, y->result);
}

static bool same(const struct cel_expr *x, const struct cel_expr *y) {
    if (x->kind != y->kind || !x->macro != !y->macro)
        return false;
    switch ((enum cel_expr_kind)x->kind) {
    case CEL_E_LITERAL:
        return same_literal(x->literal, y->literal);
    case CEL_E_IDENT:
        return str_eq(x->name, y->name);
    case CEL_E_SELECT:
        return str_eq(x->name, y->name) && x->test_only == y->test_only &&
               same(x->operand, y->operand);
    case CEL_E_CALL:
        return same_call(x, y);
    case CEL_E_LIST:
        return same_list(x, y);
    case CEL_E_MAP:
    case CEL_E_STRUCT:
        return same_items(x, y);
    case CEL_E_FOLD:
        return same_fold(x->fold, y->fold);
    case CEL_E_ERROR:
        break;
    }
    return false;
}

/* The tree as the parser makes it, before names get a meaning; NULL when there are issues. */
static struct cel_ast *parse(struct arena *a, struct str text, bool macros) {
    struct cel_ast *ast = arena_new(a, struct cel_ast);
    ast->source = (struct cel_source){.text = text, .arena = a};
    ast->root = cel__parse(&ast->source, fuzz_env(), macros);
    bool good = ast->source.issues.n == 0;
    vec_release(&ast->source.issues);
    return good ? ast : NULL;
}

/* Valid UTF-8, as cel_compile hands it on. */
static void try_tree(struct arena *a, struct str text, bool macros) {
    const struct cel_ast *first = parse(a, text, macros);
    if (!first)
        return;
    struct str once = written(a, first);
    if (once.n > MOST_CODE_POINTS)
        return;
    const struct cel_ast *second = parse(a, once, macros);
    CHECK(second && same(first->root, second->root));
    CHECK(str_eq(once, written(a, second)));
}

static void try_text(struct str text, unsigned flags) {
    struct arena a = {0};
    const struct cel_ast *ast = cel_compile(fuzz_env(), &a, text, flags);
    CHECK(same_issues(ast, cel_compile(fuzz_env(), &a, text, flags)));
    try_tree(&a, ast->source.text, !(flags & CEL_NO_MACROS));
    arena_release(&a);
}

FUZZ_SMALL_INPUTS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    try_text(text, CEL_PARSE_ONLY);
    if (str_find_char(text, '(') != STR_NONE) /* without a call there is no macro */
        try_text(text, CEL_PARSE_ONLY | CEL_NO_MACROS);
    return 0;
}
