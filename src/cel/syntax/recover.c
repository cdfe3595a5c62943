/*
 * What becomes of a parse when a token does not fit: one too many is dropped, one that is missing
 * is taken for granted, anything else ends the parse.
 *
 * Follows github.com/google/cel-go parser, func (*recoveryLimitErrorStrategy) Recover,
 * func (*recoveryLimitErrorStrategy) RecoverInline.
 */
#include "cel/syntax/parse_int.h"

enum { MAX_LOOKAHEAD = 256 };

static struct cel_expr *end(struct cel_parser *p) {
    p->stopped = true;
    p->at = p->tokens.list.n - 1;
    return cel__new_expr(p->arena, CEL_E_ERROR, CEL_NOWHERE);
}

/* Upstream looks for a place to go on, and gives up on long rests. */
struct cel_expr *cel__stop(struct cel_parser *p) {
    if (!p->stopped && p->tokens.list.n - p->at > MAX_LOOKAHEAD + 1) {
        cel__forget_issues(p->source, 0);
        cel__issue(p->source, CEL_NOWHERE, "error recovery token lookahead limit exceeded: %d",
                   MAX_LOOKAHEAD);
    }
    return end(p);
}

struct cel_expr *cel__stop_at_limit(struct cel_parser *p, const char *text, size_t keep) {
    if (!p->stopped) {
        cel__forget_issues(p->source, keep);
        cel__issue(p->source, CEL_NOWHERE, "%s", text);
    }
    return end(p);
}

struct cel_expr *cel__stop_at_depth(struct cel_parser *p, int depth) {
    if (!p->stopped) {
        cel__forget_issues(p->source, 0);
        cel__forget_unread(p->source, cel__peek(p, 0)->pos);
        cel__issue(p->source, CEL_NOWHERE, "expression recursion limit exceeded: %d", depth);
    }
    return end(p);
}

bool cel__expect(struct cel_parser *p, uint64_t set) {
    if (p->stopped)
        return false;
    if (set >> cel__peek(p, 0)->kind & 1)
        return true;
    if (!cel__next_is(p, CEL_TOK_EOF) && set >> cel__peek(p, 1)->kind & 1) {
        cel__report_token(p, "extraneous", set);
        cel__take(p);
        return true;
    }
    cel__report_token(p, "mismatched", set);
    cel__stop(p);
    return false;
}

const struct cel_token *cel__match(struct cel_parser *p, enum cel_token_kind kind, uint64_t then) {
    bool extraneous = !cel__next_is(p, CEL_TOK_EOF) && cel__peek(p, 1)->kind == kind;
    if (!p->stopped && !cel__next_is(p, kind) && !extraneous && then >> cel__peek(p, 0)->kind & 1) {
        cel__report_missing(p, kind);
        return cel__peek(p, 0);
    }
    return cel__expect(p, UINT64_C(1) << kind) ? cel__take(p) : NULL;
}

struct cel_expr *cel__no_alternative(struct cel_parser *p, const struct cel_token *start) {
    if (p->stopped)
        return cel__stop(p);
    const struct cel_token *t = cel__peek(p, 0);
    bool reserved = start != t && (t->kind == CEL_TOK_TRUE || t->kind == CEL_TOK_FALSE ||
                                   t->kind == CEL_TOK_NULL);
    if (reserved && start->kind == CEL_TOK_DOT && start->text.p + 1 == t->text.p) {
        cel__report_token(p, "mismatched", CEL_TOK_BIT(IDENT));
        return cel__stop(p);
    }
    cel__report_no_alternative(p, start);
    return cel__stop(p);
}
