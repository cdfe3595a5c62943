/*
 * From text to a checked tree: the order of the steps, and what is asked of their outcome.
 *
 * Follows github.com/google/cel-go cel, func (*Env) Compile, func (*Env) Check.
 */
#include "base/utf8.h"
#include "cel/syntax/ast_int.h"

/* A copy of the text in which every byte that is not UTF-8 is U+FFFD, as Go reads it. */
static struct str clean_copy(struct arena *a, struct str text) {
    if (utf8_valid_prefix(text) == text.n)
        return arena_str(a, text.p ? text : STR(""));
    char *out = arena_alloc(a, text.n * 3 + 1), *p = out;
    for (size_t i = 0, len; i < text.n; i += len) {
        uint32_t cp = utf8_decode(str_sub(text, i, text.n), &len);
        p += utf8_encode(cp == UTF8_INVALID ? 0xFFFD : cp, p);
    }
    return (struct str){out, (size_t)(p - out)};
}

static const struct cel_ast *compile(const struct cel_env *env, struct arena *a, struct str text,
                                     unsigned flags, const struct cel_fields *fields) {
    struct cel_ast *ast = arena_new(a, struct cel_ast);
    ast->env = env;
    ast->fields = fields;
    ast->arena = a;
    ast->pattern_steps = arena_new(a, size_t);
    ast->source = (struct cel_source){.text = clean_copy(a, text), .arena = a};
    ast->root = cel__parse(&ast->source, env, !(flags & CEL_NO_MACROS));
    if (ast->source.issues.n == 0) {
        if (flags & CEL_PARSE_ONLY)
            cel__bind(ast);
        else
            cel__check(ast);
    }
    if (ast->source.issues.n == 0 && ast->checked)
        cel__validate(ast);
    ast->issues = cel__issues_print(&ast->source);
    vec_release(&ast->source.issues);
    return ast;
}

const struct cel_ast *cel_compile(const struct cel_env *env, struct arena *a, struct str text,
                                  unsigned flags) {
    return compile(env, a, text, flags, NULL);
}

const struct cel_ast *cel_compile_with(const struct cel_env *env, struct arena *a, struct str text,
                                       const struct cel_fields *fields) {
    return compile(env, a, text, 0, fields);
}

struct str cel_ast_issues(const struct cel_ast *ast) {
    return ast->issues;
}

size_t cel_ast_weight(const struct cel_ast *ast) {
    enum { STEPS_OF_BYTE = 4 };
    return ast->source.text.n + ast->source.copied + *ast->pattern_steps / STEPS_OF_BYTE;
}

struct str cel_ast_type(const struct cel_ast *ast, struct arena *a) {
    AUTO(buf_release) struct buf out = BUF_INIT(1U << 20);
    cel__type_write(&out, ast->root->type);
    return arena_str(a, buf_view(&out));
}

bool cel_ast_is_bool(const struct cel_ast *ast) {
    return ast->root->type && ast->root->type->kind == CEL_T_BOOL && !ast->root->type->nullable;
}
