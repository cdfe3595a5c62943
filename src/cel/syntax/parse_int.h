/* What the parser and the macros share: the state of a parse, its tokens, and makers of tree
 * nodes. */
#ifndef CEL_SYNTAX_PARSE_INT_H
#define CEL_SYNTAX_PARSE_INT_H

#include "cel/syntax/lex_int.h"

struct cel_parser {
    struct cel_source *source;
    const struct cel_env *env;
    struct arena *arena;
    struct cel_tokens tokens;
    size_t at; /* the token at hand */
    uint32_t depth, relation_depth, calc_depth;
    bool macros;
    bool stopped;    /* a syntax error ended the parse */
    bool recovering; /* from an error, until the next token fits: nothing more is reported */
    uint64_t after;  /* tokens that can end the expression at hand */
};

#define CEL_TOK_BIT(name) (UINT64_C(1) << CEL_TOK_##name) /* in a set of kinds */

/* The token that is `ahead` of the one at hand; behind the last one there is only the end. */
static inline const struct cel_token *cel__peek(const struct cel_parser *p, size_t ahead) {
    size_t i = p->at + ahead, last = p->tokens.list.n - 1;
    return &p->tokens.list.v[i < last ? i : last];
}

/* Is the token at hand of this kind? */
static inline bool cel__next_is(const struct cel_parser *p, enum cel_token_kind kind) {
    return cel__peek(p, 0)->kind == kind;
}

/* The token at hand; the next one is then at hand. */
static inline const struct cel_token *cel__take(struct cel_parser *p) {
    const struct cel_token *t = cel__peek(p, 0);
    if (t->kind != CEL_TOK_EOF)
        p->at++;
    p->recovering = false;
    return t;
}

/* Takes the token at hand if it is of this kind. */
static inline bool cel__take_if(struct cel_parser *p, enum cel_token_kind kind) {
    if (!cel__next_is(p, kind))
        return false;
    cel__take(p);
    return true;
}

/* Ends the parse: nothing more can be made of the input, or a limit was passed, by what was read
 * since there were `keep` issues. Both return a node that stands for the error. */
struct cel_expr *cel__stop(struct cel_parser *p);
struct cel_expr *cel__stop_at_limit(struct cel_parser *p, const char *text, size_t keep);

/* The same at the next token, where expressions are nested too deeply: what stands behind it was
 * not read. */
struct cel_expr *cel__stop_at_depth(struct cel_parser *p, int depth);

/* Makes sure that the token at hand is one of the set: drops one that is too many, or ends the
 * parse. */
bool cel__expect(struct cel_parser *p, uint64_t set);

/* Takes a token of this kind. Where it is missing and what stands there could follow it (`then`),
 * the parse goes on as if it had been there. NULL when the parse has ended. */
const struct cel_token *cel__match(struct cel_parser *p, enum cel_token_kind kind, uint64_t then);

/* Ends the parse: from `start` up to the token at hand nothing in the grammar fits. */
struct cel_expr *cel__no_alternative(struct cel_parser *p, const struct cel_token *start);

/* Syntax errors at the token at hand: one that does not fit, one that should stand before it, the
 * tokens from `start` on that fit no rule. */
void cel__report_token(struct cel_parser *p, const char *what, uint64_t expected);
void cel__report_missing(struct cel_parser *p, enum cel_token_kind kind);
void cel__report_no_alternative(struct cel_parser *p, const struct cel_token *start);

/* A node of a kind, otherwise zero. */
struct cel_expr *cel__new_expr(struct arena *a, enum cel_expr_kind kind, uint32_t pos);
/* A literal. */
struct cel_expr *cel__new_literal(struct arena *a, uint32_t pos, struct cel_value v);
/* A name. */
struct cel_expr *cel__new_ident(struct arena *a, uint32_t pos, struct str name);
/* operand.field */
struct cel_expr *cel__new_select(struct arena *a, uint32_t pos, struct cel_expr *operand,
                                 struct str field);

/* A call of `fn` with n expressions as arguments, which are copied; target may be NULL. */
struct cel_expr *cel__new_call(struct arena *a, uint32_t pos, struct str fn,
                               struct cel_expr *target, struct cel_expr *const *args, uint32_t n);
struct cel_expr *cel__new_list(struct arena *a, uint32_t pos, struct cel_expr *const *items,
                               uint32_t n);
struct cel_expr *cel__new_fold(struct arena *a, uint32_t pos, const struct cel_fold *fold);

#define CEL_CALL(a, pos, fn, ...)                                            \
    cel__new_call(a, pos, STR(fn), NULL, (struct cel_expr *[]){__VA_ARGS__}, \
                  sizeof((struct cel_expr *[]){__VA_ARGS__}) / sizeof(void *))

/* The nodes of a tree. */
uint32_t cel__count(struct cel_expr *e);

/* A copy that shares no node with e. Nodes stand where they stood, entries of maps and messages
 * at `pos`, which is the macro's. */
struct cel_expr *cel__copy(struct arena *a, const struct cel_expr *e, uint32_t pos);

/* The expansion of a call, or NULL when it is not a macro. */
struct cel_expr *cel__macro(struct cel_parser *p, struct cel_expr *call);

#endif
