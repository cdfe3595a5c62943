/*
 * The text form of label selectors, as `kubectl get -l` and list requests give it.
 *
 * Upstream's lexer works on bytes and treats a NUL as the end of what it is reading; both show in
 * verdicts and error texts, so this one does the same.
 *
 * Follows k8s.io/apimachinery pkg/labels, func Parse, func (*Lexer) Lex, func (*Parser) parse.
 */
#include "api/selector.h"

#include <stdlib.h>
#include <string.h>

#include "api/selectors/selector_int.h"
#include "base/limits.h"

enum token {
    TOKEN_END,
    TOKEN_WORD, /* a key or a value */
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_IN,
    TOKEN_NOT_IN,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct parser {
    struct selector *sel;
    struct str rest;    /* of the text, behind the current token */
    enum token token;   /* the current token */
    struct str literal; /* and its bytes */
    struct str *values; /* of the current requirement, in the selector's arena */
    size_t value_count, value_cap;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The token that starts with this byte, where a longer one does not; 0 for all other bytes. */
static const unsigned char specials[256] = {
    ['='] = TOKEN_EQUALS, ['!'] = TOKEN_NOT,     ['('] = TOKEN_OPEN, [')'] = TOKEN_CLOSE,
    [','] = TOKEN_COMMA,  ['>'] = TOKEN_GREATER, ['<'] = TOKEN_LESS,
};

static bool ends_word(char c) {
    return c == '\0' || is_blank(c) || specials[(unsigned char)c];
}

/* Takes n bytes as the current token, and a NUL behind them, which upstream's lexer swallows. */
static void take(struct parser *p, enum token token, size_t n) {
    p->token = token;
    p->literal = str_sub(p->rest, 0, n);
    p->rest = str_sub(p->rest, n, p->rest.n);
    if (p->rest.n > 0 && p->rest.p[0] == '\0')
        p->rest = str_sub(p->rest, 1, p->rest.n);
}

static void take_special(struct parser *p) {
    if (str_starts(p->rest, STR("==")))
        take(p, TOKEN_DOUBLE_EQUALS, 2);
    else if (str_starts(p->rest, STR("!=")))
        take(p, TOKEN_NOT_EQUALS, 2);
    else
        take(p, specials[(unsigned char)p->rest.p[0]], 1);
}

static void take_word(struct parser *p) {
    size_t n = 0;
    while (n < p->rest.n && !ends_word(p->rest.p[n]))
        n++;
    struct str word = str_sub(p->rest, 0, n);
    take(p, str_is(word, "in") ? TOKEN_IN : str_is(word, "notin") ? TOKEN_NOT_IN : TOKEN_WORD, n);
}

/* Moves on to the next token; TOKEN_END stays where it is. */
static void next(struct parser *p) {
    while (p->rest.n > 0 && is_blank(p->rest.p[0]))
        p->rest = str_sub(p->rest, 1, p->rest.n);
    if (p->rest.n == 0 || p->rest.p[0] == '\0')
        take(p, TOKEN_END, 0);
    else if (specials[(unsigned char)p->rest.p[0]])
        take_special(p);
    else
        take_word(p);
}

/* Is the current token a word where an operator cannot stand? */
static bool at_word(const struct parser *p) {
    return p->token == TOKEN_WORD || p->token == TOKEN_IN || p->token == TOKEN_NOT_IN;
}

/* Fails at the current token; `expected` is all that follows the token in the text. */
static int unexpected(struct parser *p, const char *expected) {
    struct str text = arena_printf(p->sel->arena, "found '%.*s'%s", STR_ARG(p->literal), expected);
    return selector__fail(p->sel, text, NULL);
}

static int check_key(struct parser *p, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    if (errs.n == 0)
        return 0;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_SELECTOR_ERROR_BYTES);
    buf_add(&text, STR("<nil>: ")); /* how upstream prints that the text has no path */
    selector__add_invalid(&text, key, &errs);
    return selector__fail(p->sel, buf_view(&text), NULL);
}

static void add_value(struct parser *p, struct str value) {
    if (p->value_count == p->value_cap) {
        size_t cap = p->value_cap ? p->value_cap * 2 : 8;
        struct str *values = arena_array(p->sel->arena, struct str, cap);
        if (p->value_count > 0)
            memcpy(values, p->values, p->value_count * sizeof *values);
        p->values = values;
        p->value_cap = cap;
    }
    p->values[p->value_count++] = value;
}

/* A run of commas means one empty value, however long it is. */
static void add_empty_value(struct parser *p) {
    if (p->value_count == 0 || p->values[p->value_count - 1].n > 0)
        add_value(p, STR(""));
}

/* At a comma inside parentheses: a value is empty where nothing stands between two separators. */
static void parse_list_comma(struct parser *p) {
    bool leading = p->value_count == 0;
    next(p);
    if (leading || p->token == TOKEN_CLOSE || p->token == TOKEN_COMMA)
        add_empty_value(p);
}

static int parse_list_word(struct parser *p) {
    add_value(p, p->literal);
    next(p);
    if (p->token != TOKEN_COMMA && p->token != TOKEN_CLOSE)
        return unexpected(p, ", expected: ',' or ')'");
    return 0;
}

/* What stands between the parentheses; ends at the closing one. */
static int parse_list(struct parser *p) {
    if (p->token == TOKEN_CLOSE) {
        add_empty_value(p);
        return 0;
    }
    if (p->token != TOKEN_COMMA && !at_word(p))
        return unexpected(p, ", expected: ',', ')' or identifier");
    while (p->token != TOKEN_CLOSE) {
        if (p->token == TOKEN_COMMA)
            parse_list_comma(p);
        else if (!at_word(p))
            return unexpected(p, ", expected: ',', or identifier");
        else if (parse_list_word(p) < 0)
            return -1;
    }
    return 0;
}

static int parse_set(struct parser *p) {
    if (p->token != TOKEN_OPEN)
        return unexpected(p, " expected: '('");
    next(p);
    if (parse_list(p) < 0)
        return -1;
    next(p);
    return 0;
}

static int parse_single(struct parser *p) {
    if (p->token == TOKEN_END || p->token == TOKEN_COMMA) {
        add_empty_value(p);
        return 0;
    }
    if (!at_word(p))
        return unexpected(p, ", expected: identifier");
    add_value(p, p->literal);
    next(p);
    return 0;
}

/* Upstream collects the values in a set and reads them back in order. */
static void sort_values(struct parser *p) {
    qsort(p->values, p->value_count, sizeof *p->values, str_cmp_qsort);
    size_t kept = 1;
    for (size_t i = 1; i < p->value_count; i++)
        if (!str_eq(p->values[i], p->values[kept - 1]))
            p->values[kept++] = p->values[i];
    p->value_count = kept;
}

/* Behind the key: an operator and its values. */
static int parse_comparison(struct parser *p, struct str key) {
    static const struct {
        bool known;
        enum selector_op op;
        int (*parse_values)(struct parser *);
    } operators[] = {
        [TOKEN_IN] = {true, SELECTOR_IN, parse_set},
        [TOKEN_NOT_IN] = {true, SELECTOR_NOT_IN, parse_set},
        [TOKEN_EQUALS] = {true, SELECTOR_EQUALS, parse_single},
        [TOKEN_DOUBLE_EQUALS] = {true, SELECTOR_DOUBLE_EQUALS, parse_single},
        [TOKEN_NOT_EQUALS] = {true, SELECTOR_NOT_EQUALS, parse_single},
        [TOKEN_GREATER] = {true, SELECTOR_GREATER_THAN, parse_single},
        [TOKEN_LESS] = {true, SELECTOR_LESS_THAN, parse_single},
    };
    enum token token = p->token;
    if (!operators[token].known)
        return unexpected(p, ", expected: in, notin, =, ==, !=, gt, lt");
    next(p);
    p->value_count = 0;
    if (operators[token].parse_values(p) < 0)
        return -1;
    sort_values(p);
    return selector_require(p->sel, key, operators[token].op, p->values, p->value_count, NULL);
}

static int parse_requirement(struct parser *p) {
    bool negated = p->token == TOKEN_NOT;
    if (negated)
        next(p);
    if (!at_word(p))
        return unexpected(p, ", expected: identifier");
    struct str key = p->literal;
    if (check_key(p, key) < 0)
        return -1;
    next(p);
    if (negated)
        return selector_require(p->sel, key, SELECTOR_DOES_NOT_EXIST, NULL, 0, NULL);
    if (p->token == TOKEN_END || p->token == TOKEN_COMMA)
        return selector_require(p->sel, key, SELECTOR_EXISTS, NULL, 0, NULL);
    return parse_comparison(p, key);
}

static bool at_requirement(const struct parser *p) {
    return at_word(p) || p->token == TOKEN_NOT;
}

static int parse_requirements(struct parser *p) {
    if (p->token == TOKEN_END)
        return 0;
    if (!at_requirement(p))
        return unexpected(p, ", expected: !, identifier, or 'end of string'");
    for (;;) {
        if (parse_requirement(p) < 0) {
            struct str text = arena_printf(p->sel->arena, "unable to parse requirement: %.*s",
                                           STR_ARG(p->sel->error));
            return selector__fail(p->sel, text, NULL);
        }
        if (p->token == TOKEN_END)
            return 0;
        if (p->token != TOKEN_COMMA)
            return unexpected(p, ", expected: ',' or 'end of string'");
        next(p);
        if (!at_requirement(p))
            return unexpected(p, ", expected: identifier after ','");
    }
}

int selector_parse(struct arena *a, struct str text, struct selector **out, struct err *err) {
    struct selector *sel = *out = arena_new(a, struct selector);
    selector_init(sel, a);
    struct parser p = {.sel = sel, .rest = text};
    next(&p);
    if (parse_requirements(&p) < 0)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(sel->error));
    selector_seal(sel);
    return 0;
}
