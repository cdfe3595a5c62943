/*
 * Tokens to a tree. The grammar is upstream's, rule by rule, because its limits count the nesting
 * of rules and its messages name the tokens that a rule expects; operators are rows of a table.
 *
 * A token too many is reported and skipped, as upstream does; any other syntax error ends the
 * parse. Errors that are not syntax (literals out of range, reserved words, macros) are reported
 * and the parse goes on.
 *
 * Follows github.com/google/cel-go parser, func (*Parser) Parse, func (*parser) Visit,
 * func (*parser) VisitExpr, func (*parser) globalCallOrMacro.
 */
#include "cel/syntax/parse_int.h"

#include "base/utf8.h"

enum { MAX_DEPTH = 250, MAX_CODE_POINTS = 100000 };

#define BIT CEL_TOK_BIT

/* What an operand can begin with. */
#define FIRST                                                                                   \
    (BIT(LBRACKET) | BIT(LBRACE) | BIT(LPAREN) | BIT(DOT) | BIT(MINUS) | BIT(NOT) | BIT(TRUE) | \
     BIT(FALSE) | BIT(NULL) | BIT(FLOAT) | BIT(INT) | BIT(UINT) | BIT(STRING) | BIT(BYTES) |    \
     BIT(IDENT))

/* What can follow an operand wherever it stands. */
#define OPERATORS                                                                           \
    (BIT(DOT) | BIT(LBRACKET) | BIT(LT) | BIT(LE) | BIT(GE) | BIT(GT) | BIT(EQ) | BIT(NE) | \
     BIT(IN) | BIT(PLUS) | BIT(MINUS) | BIT(STAR) | BIT(SLASH) | BIT(PERCENT) | BIT(AND) |  \
     BIT(OR))

static struct cel_expr *parse_expr(struct cel_parser *p);
static struct cel_expr *parse_inner(struct cel_parser *p, uint64_t end);

/* The end of an operand in brackets. */
static void match_end(struct cel_parser *p, enum cel_token_kind kind) {
    cel__match(p, kind, OPERATORS | p->after);
}

/* ---- primaries ---- */

static struct str name_of(struct cel_parser *p, const struct cel_token *t) {
    if (t->kind == CEL_TOK_ESC_IDENT)
        return arena_str(p->arena, str_sub(t->text, 1, t->text.n - 1));
    return arena_str(p->arena, t->text);
}

static bool is_reserved(struct str name) {
    static const char *const words[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(name, words[i]))
            return true;
    return false;
}

/* A growing list of nodes while a list or call is read. */
struct items {
    VEC(struct cel_expr *) v;
    VEC(bool) optional;
    bool any_optional;
};

static struct cel_expr *parse_literal(struct cel_parser *p) {
    uint32_t pos = cel__peek(p, 0)->pos;
    bool negative = cel__take_if(p, CEL_TOK_MINUS);
    const struct cel_token *t = cel__take(p);
    struct cel_value v = {0};
    const char *why = NULL;
    if (cel__literal(p->arena, t, negative, &v, &why))
        return cel__new_literal(p->arena, pos, v);
    cel__issue(p->source, pos, "%s", why);
    return cel__new_expr(p->arena, CEL_E_ERROR, pos);
}

static struct cel_expr *finish_list(struct cel_parser *p, struct items *items, uint32_t pos) {
    struct cel_expr *e = cel__new_list(p->arena, pos, items->v.v, (uint32_t)items->v.n);
    if (items->any_optional)
        e->optional = arena_copy(p->arena, items->optional.v, items->optional.n * sizeof(bool));
    vec_release(&items->v);
    vec_release(&items->optional);
    return e;
}

/* Behind an item of a list or map: does a comma and another item follow? If not, a last comma is
 * dropped. */
static bool next_item(struct cel_parser *p, uint64_t first, uint64_t end) {
    if (!cel__expect(p, end | BIT(COMMA)))
        return false;
    bool more = cel__next_is(p, CEL_TOK_COMMA) && first >> cel__peek(p, 1)->kind & 1;
    cel__take_if(p, CEL_TOK_COMMA);
    return more;
}

static struct cel_expr *parse_list(struct cel_parser *p) {
    uint32_t pos = cel__take(p)->pos;
    struct items items = {0};
    const uint64_t first = FIRST | BIT(QUESTION), end = BIT(RBRACKET);
    bool more = cel__expect(p, first | end | BIT(COMMA)) && first >> cel__peek(p, 0)->kind & 1;
    if (!more)
        cel__take_if(p, CEL_TOK_COMMA);
    for (; more; more = next_item(p, first, end)) {
        bool optional = cel__take_if(p, CEL_TOK_QUESTION);
        items.any_optional |= optional;
        vec_push(&items.optional, optional);
        vec_push(&items.v, parse_inner(p, end | BIT(COMMA)));
    }
    match_end(p, CEL_TOK_RBRACKET);
    return finish_list(p, &items, pos);
}

/* One "key: value" of a map, or "field: value" of a message. */
static bool parse_item(struct cel_parser *p, bool message, struct cel_item *item) {
    item->optional = cel__take_if(p, CEL_TOK_QUESTION);
    if (message) {
        if (!cel__expect(p, BIT(IDENT) | BIT(ESC_IDENT)))
            return false;
        item->field = name_of(p, cel__take(p));
    } else {
        item->key = parse_inner(p, BIT(COLON));
    }
    const struct cel_token *colon = cel__match(p, CEL_TOK_COLON, FIRST);
    if (!colon)
        return false;
    item->pos = colon->pos;
    item->value = parse_inner(p, BIT(RBRACE) | BIT(COMMA));
    return !p->stopped;
}

static void raise_height(struct cel_expr *e, const struct cel_expr *child) {
    if (child && child->height > e->height)
        e->height = child->height;
}

/* The entries between braces, the opening one at hand. */
static struct cel_expr *parse_items(struct cel_parser *p, bool message) {
    struct cel_expr *e =
        cel__new_expr(p->arena, message ? CEL_E_STRUCT : CEL_E_MAP, cel__take(p)->pos);
    VEC(struct cel_item) items = {0};
    const uint64_t name = BIT(IDENT) | BIT(ESC_IDENT), end = BIT(RBRACE);
    const uint64_t first = (message ? name : FIRST) | BIT(QUESTION);
    bool more = cel__expect(p, first | end | BIT(COMMA)) && first >> cel__peek(p, 0)->kind & 1;
    if (!more)
        cel__take_if(p, CEL_TOK_COMMA);
    for (; more; more = next_item(p, first, end)) {
        struct cel_item item = {0};
        if (!parse_item(p, message, &item))
            break;
        raise_height(e, item.key);
        raise_height(e, item.value);
        vec_push(&items, item);
    }
    match_end(p, CEL_TOK_RBRACE);
    e->count = (uint32_t)items.n;
    e->entries = arena_copy(p->arena, items.v, items.n * sizeof *items.v);
    vec_release(&items);
    return e;
}

/* Arguments up to the closing parenthesis; the opening one has been taken. */
static void parse_args(struct cel_parser *p, struct items *args) {
    if (!cel__expect(p, FIRST | BIT(RPAREN)))
        return;
    if (!cel__next_is(p, CEL_TOK_RPAREN)) {
        do
            vec_push(&args->v, parse_inner(p, BIT(RPAREN) | BIT(COMMA)));
        while (!p->stopped && cel__take_if(p, CEL_TOK_COMMA));
    }
    match_end(p, CEL_TOK_RPAREN);
}

/* A call that may be a macro. */
static struct cel_expr *make_call(struct cel_parser *p, uint32_t pos, struct str fn,
                                  struct cel_expr *target) {
    struct items args = {0};
    parse_args(p, &args);
    struct cel_expr *call = cel__new_call(p->arena, pos, fn, target, args.v.v, (uint32_t)args.v.n);
    vec_release(&args.v);
    if (p->stopped || !p->macros)
        return call;
    struct cel_expr *expansion = cel__macro(p, call);
    if (!expansion)
        return call;
    expansion->height = call->height;
    return expansion;
}

/* Is a message literal at hand: [.]a.b.C{ ? */
static bool at_message(const struct cel_parser *p) {
    size_t i = cel__next_is(p, CEL_TOK_DOT);
    if (cel__peek(p, i)->kind != CEL_TOK_IDENT)
        return false;
    while (cel__peek(p, i + 1)->kind == CEL_TOK_DOT && cel__peek(p, i + 2)->kind == CEL_TOK_IDENT)
        i += 2;
    return cel__peek(p, i + 1)->kind == CEL_TOK_LBRACE;
}

static struct cel_expr *parse_message(struct cel_parser *p) {
    AUTO(buf_release) struct buf name = BUF_INIT(MAX_CODE_POINTS);
    while (!cel__next_is(p, CEL_TOK_LBRACE))
        buf_add(&name, cel__take(p)->text);
    struct cel_expr *e = parse_items(p, true);
    e->name = arena_str(p->arena, buf_view(&name));
    return e;
}

static struct cel_expr *parse_name(struct cel_parser *p) {
    if (at_message(p))
        return parse_message(p);
    const struct cel_token *first = cel__peek(p, 0);
    bool dot = cel__take_if(p, CEL_TOK_DOT);
    if (!cel__next_is(p, CEL_TOK_IDENT))
        return cel__no_alternative(p, first);
    const struct cel_token *t = cel__take(p);
    bool call = cel__next_is(p, CEL_TOK_LPAREN);
    struct str name = dot ? cel__dotted_name(p->arena, STR(""), t->text) : t->text;
    if (is_reserved(t->text)) {
        cel__issue(p->source, first->pos, "reserved identifier: %.*s", STR_ARG(t->text));
        size_t before = p->source->issues.n;
        if (call)
            make_call(p, cel__take(p)->pos, name, NULL);
        cel__forget_issues(p->source, before);
        return cel__new_expr(p->arena, CEL_E_ERROR, first->pos);
    }
    if (!call)
        return cel__new_ident(p->arena, t->pos, name);
    return make_call(p, cel__take(p)->pos, name, NULL);
}

static struct cel_expr *parse_primary(struct cel_parser *p) {
    struct cel_expr *e;
    if (!cel__expect(p, FIRST & ~BIT(NOT)))
        return cel__stop(p);
    switch (cel__peek(p, 0)->kind) {
    case CEL_TOK_LPAREN:
        cel__take(p);
        e = parse_inner(p, BIT(RPAREN));
        match_end(p, CEL_TOK_RPAREN);
        return e;
    case CEL_TOK_LBRACKET:
        return parse_list(p);
    case CEL_TOK_LBRACE:
        return parse_items(p, false);
    case CEL_TOK_DOT:
    case CEL_TOK_IDENT:
        return parse_name(p);
    default:
        return parse_literal(p);
    }
}

/* ---- members, operators ---- */

static struct cel_expr *parse_selection(struct cel_parser *p, struct cel_expr *operand) {
    const struct cel_token *dot = cel__take(p);
    bool optional = cel__take_if(p, CEL_TOK_QUESTION);
    if (optional && !cel__expect(p, BIT(IDENT) | BIT(ESC_IDENT)))
        return cel__stop(p);
    if (!cel__next_is(p, CEL_TOK_IDENT) && !cel__next_is(p, CEL_TOK_ESC_IDENT))
        return cel__no_alternative(p, dot);
    const struct cel_token *t = cel__take(p);
    struct str name = name_of(p, t);
    if (optional) {
        struct cel_expr *field = cel__new_literal(p->arena, t->pos, cel_of_str(name));
        struct cel_expr *e = CEL_CALL(p->arena, dot->pos, CEL_OP_OPT_SELECT, operand, field);
        e->height++;
        return e;
    }
    if (t->kind == CEL_TOK_IDENT && cel__next_is(p, CEL_TOK_LPAREN))
        return make_call(p, cel__take(p)->pos, name, operand);
    return cel__new_select(p->arena, dot->pos, operand, name);
}

static struct cel_expr *parse_index(struct cel_parser *p, struct cel_expr *operand) {
    uint32_t pos = cel__take(p)->pos;
    if (!cel__expect(p, FIRST | BIT(QUESTION)))
        return cel__stop(p);
    bool optional = cel__take_if(p, CEL_TOK_QUESTION);
    struct cel_expr *index = parse_inner(p, BIT(RBRACKET));
    match_end(p, CEL_TOK_RBRACKET);
    struct str fn = optional ? STR(CEL_OP_OPT_INDEX) : STR(CEL_OP_INDEX);
    struct cel_expr *e =
        cel__new_call(p->arena, pos, fn, NULL, (struct cel_expr *[]){operand, index}, 2);
    e->height++;
    return e;
}

static struct cel_expr *parse_member(struct cel_parser *p) {
    size_t before = p->source->issues.n;
    struct cel_expr *e = parse_primary(p);
    while (!p->stopped) {
        if (cel__next_is(p, CEL_TOK_DOT))
            e = parse_selection(p, e);
        else if (cel__next_is(p, CEL_TOK_LBRACKET))
            e = parse_index(p, e);
        else
            break;
        if (e->height > MAX_DEPTH)
            return cel__stop_at_limit(p, "max recursion depth exceeded", before);
    }
    return e;
}

static bool at_negative_number(const struct cel_parser *p) {
    uint8_t kind = cel__peek(p, 1)->kind;
    return cel__next_is(p, CEL_TOK_MINUS) && (kind == CEL_TOK_INT || kind == CEL_TOK_FLOAT);
}

/* A run of one sign; an even number of them cancels out. */
static struct cel_expr *parse_signs(struct cel_parser *p, enum cel_token_kind sign, struct str fn) {
    const struct cel_token *first = cel__peek(p, 0), *last = first;
    size_t n = 0;
    for (; cel__next_is(p, sign); n++)
        last = cel__take(p);
    bool operand_first = FIRST >> cel__peek(p, 0)->kind & 1;
    if (sign == CEL_TOK_MINUS && (cel__next_is(p, CEL_TOK_NOT) || !operand_first))
        return cel__no_alternative(p, last);
    if (!operand_first) {
        cel__report_token(p, "extraneous", FIRST);
        return cel__stop(p);
    }
    if (cel__next_is(p, CEL_TOK_MINUS) && !at_negative_number(p))
        return cel__no_alternative(p, cel__take(p));
    struct cel_expr *operand = parse_member(p);
    if (n % 2 == 0)
        return operand;
    return cel__new_call(p->arena, first->pos, fn, NULL, &operand, 1);
}

static struct cel_expr *parse_unary(struct cel_parser *p) {
    if (!cel__expect(p, FIRST))
        return cel__stop(p);
    if (cel__next_is(p, CEL_TOK_NOT))
        return parse_signs(p, CEL_TOK_NOT, STR(CEL_OP_NOT));
    if (cel__next_is(p, CEL_TOK_MINUS) && !at_negative_number(p))
        return parse_signs(p, CEL_TOK_MINUS, STR(CEL_OP_NEG));
    return parse_member(p);
}

/* Binary operators: relations bind less than calculations; all are left-associative. */
enum group { RELATION, CALC };

static const struct operator_row {
    uint8_t token, group, level;
    struct str fn;
} operators[] = {
    {CEL_TOK_LT, RELATION, 1, STR_INIT(CEL_OP_LT)},
    {CEL_TOK_LE, RELATION, 1, STR_INIT(CEL_OP_LE)},
    {CEL_TOK_GE, RELATION, 1, STR_INIT(CEL_OP_GE)},
    {CEL_TOK_GT, RELATION, 1, STR_INIT(CEL_OP_GT)},
    {CEL_TOK_EQ, RELATION, 1, STR_INIT(CEL_OP_EQ)},
    {CEL_TOK_NE, RELATION, 1, STR_INIT(CEL_OP_NE)},
    {CEL_TOK_IN, RELATION, 1, STR_INIT(CEL_OP_IN)},
    {CEL_TOK_PLUS, CALC, 1, STR_INIT(CEL_OP_ADD)},
    {CEL_TOK_MINUS, CALC, 1, STR_INIT(CEL_OP_SUB)},
    {CEL_TOK_STAR, CALC, 2, STR_INIT(CEL_OP_MUL)},
    {CEL_TOK_SLASH, CALC, 2, STR_INIT(CEL_OP_DIV)},
    {CEL_TOK_PERCENT, CALC, 2, STR_INIT(CEL_OP_MOD)},
};

static const struct operator_row *operator_at(const struct cel_parser *p, enum group group,
                                              unsigned level) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (cel__next_is(p, operators[i].token))
            return operators[i].group == group && operators[i].level >= level ? &operators[i]
                                                                              : NULL;
    return NULL;
}

static struct cel_expr *parse_binary(struct cel_parser *p, enum group group, unsigned level) {
    uint32_t *depth = group == RELATION ? &p->relation_depth : &p->calc_depth;
    size_t before = p->source->issues.n;
    if (++*depth > MAX_DEPTH)
        return cel__stop_at_depth(p, MAX_DEPTH);
    struct cel_expr *left = group == RELATION ? parse_binary(p, CALC, 0) : parse_unary(p);
    const struct operator_row *op;
    while (!p->stopped && (op = operator_at(p, group, level))) {
        uint32_t pos = cel__take(p)->pos;
        struct cel_expr *right = parse_binary(p, group, op->level + 1U);
        left = cel__new_call(p->arena, pos, op->fn, NULL, (struct cel_expr *[]){left, right}, 2);
        left->height++;
        if (left->height > MAX_DEPTH && !p->stopped)
            return cel__stop_at_limit(p, "max recursion depth exceeded", before);
    }
    --*depth;
    return left;
}

/* The terms of a chain of && or ||, and where the operators stand. */
struct chain {
    struct str fn;
    VEC(struct cel_expr *) terms;
    VEC(uint32_t) ops;
};

static struct cel_expr *balance(struct cel_parser *p, const struct chain *c, size_t lo, size_t hi) {
    size_t mid = (lo + hi + 1) / 2;
    struct cel_expr *left = mid == lo ? c->terms.v[mid] : balance(p, c, lo, mid - 1);
    struct cel_expr *right = mid == hi ? c->terms.v[mid + 1] : balance(p, c, mid + 1, hi);
    return cel__new_call(p->arena, c->ops.v[mid], c->fn, NULL, (struct cel_expr *[]){left, right},
                         2);
}

static struct cel_expr *parse_chain(struct cel_parser *p, enum cel_token_kind op) {
    bool is_or = op == CEL_TOK_OR;
    struct chain c = {.fn = is_or ? STR(CEL_OP_OR) : STR(CEL_OP_AND)};
    struct cel_expr *e = is_or ? parse_chain(p, CEL_TOK_AND) : parse_binary(p, RELATION, 0);
    if (!cel__next_is(p, op))
        return e;
    vec_push(&c.terms, e);
    while (!p->stopped && cel__next_is(p, op)) {
        vec_push(&c.ops, cel__take(p)->pos);
        vec_push(&c.terms, is_or ? parse_chain(p, CEL_TOK_AND) : parse_binary(p, RELATION, 0));
    }
    e = balance(p, &c, 0, c.ops.n - 1);
    vec_release(&c.terms);
    vec_release(&c.ops);
    return e;
}

static struct cel_expr *parse_conditional(struct cel_parser *p) {
    struct cel_expr *e = parse_chain(p, CEL_TOK_OR);
    if (p->stopped || !cel__next_is(p, CEL_TOK_QUESTION))
        return e;
    uint32_t pos = cel__take(p)->pos;
    uint64_t after = p->after;
    p->after = BIT(COLON);
    struct cel_expr *yes = parse_chain(p, CEL_TOK_OR);
    p->after = after;
    if (!cel__match(p, CEL_TOK_COLON, FIRST))
        return cel__stop(p);
    struct cel_expr *no = parse_expr(p);
    e = CEL_CALL(p->arena, pos, CEL_OP_COND, e, yes, no);
    e->height++;
    return e;
}

static struct cel_expr *parse_expr(struct cel_parser *p) {
    if (p->stopped)
        return cel__stop(p);
    if (++p->depth > MAX_DEPTH)
        return cel__stop_at_depth(p, MAX_DEPTH);
    struct cel_expr *e = parse_conditional(p);
    p->depth--;
    return e;
}

/* An expression that one of these tokens ends. */
static struct cel_expr *parse_inner(struct cel_parser *p, uint64_t end) {
    uint64_t after = p->after;
    p->after = end | BIT(QUESTION);
    struct cel_expr *e = parse_expr(p);
    p->after = after;
    return e;
}

struct cel_expr *cel__parse(struct cel_source *s, const struct cel_env *env, bool macros) {
    size_t size = utf8_count(s->text);
    if (size > MAX_CODE_POINTS) {
        cel__issue(s, CEL_NOWHERE, "expression code point size exceeds limit: size: %zu, limit %d",
                   size, MAX_CODE_POINTS);
        return cel__new_expr(s->arena, CEL_E_ERROR, CEL_NOWHERE);
    }
    struct cel_parser p = {.source = s, .env = env, .arena = s->arena, .macros = macros};
    cel__lex(s, &p.tokens);
    struct cel_expr *e = parse_inner(&p, BIT(EOF));
    cel__match(&p, CEL_TOK_EOF, 0);
    if (!p.stopped && e->height > MAX_DEPTH)
        cel__stop_at_limit(&p, "max recursion depth exceeded", 0);
    vec_release(&p.tokens.list);
    return e;
}
