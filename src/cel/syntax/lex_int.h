/* Tokens: shared by the lexer, the parser and the reader of literals. */
#ifndef CEL_SYNTAX_LEX_INT_H
#define CEL_SYNTAX_LEX_INT_H

#include "cel/syntax/ast_int.h"

/* In upstream's order, which is the order of "expecting {...}": name, and how messages show it. */
#define CEL_TOKENS(X)      \
    X(EOF, "<EOF>")        \
    X(EQ, "'=='")          \
    X(NE, "'!='")          \
    X(IN, "'in'")          \
    X(LT, "'<'")           \
    X(LE, "'<='")          \
    X(GE, "'>='")          \
    X(GT, "'>'")           \
    X(AND, "'&&'")         \
    X(OR, "'||'")          \
    X(LBRACKET, "'['")     \
    X(RBRACKET, "']'")     \
    X(LBRACE, "'{'")       \
    X(RBRACE, "'}'")       \
    X(LPAREN, "'('")       \
    X(RPAREN, "')'")       \
    X(DOT, "'.'")          \
    X(COMMA, "','")        \
    X(MINUS, "'-'")        \
    X(NOT, "'!'")          \
    X(QUESTION, "'?'")     \
    X(COLON, "':'")        \
    X(PLUS, "'+'")         \
    X(STAR, "'*'")         \
    X(SLASH, "'/'")        \
    X(PERCENT, "'%'")      \
    X(TRUE, "'true'")      \
    X(FALSE, "'false'")    \
    X(NULL, "'null'")      \
    X(FLOAT, "NUM_FLOAT")  \
    X(INT, "NUM_INT")      \
    X(UINT, "NUM_UINT")    \
    X(STRING, "STRING")    \
    X(BYTES, "BYTES")      \
    X(IDENT, "IDENTIFIER") \
    X(ESC_IDENT, "ESC_IDENTIFIER")

enum cel_token_kind {
#define X(name, shown) CEL_TOK_##name,
    CEL_TOKENS(X)
#undef X
};

struct cel_token {
    uint8_t kind;
    uint32_t pos; /* in code points */
    struct str text;
};

struct cel_tokens {
    VEC(struct cel_token) list; /* ends in CEL_TOK_EOF */
};

/* Cuts the source into tokens; what is none is reported and skipped. Free with
 * vec_release(&out->list). */
void cel__lex(struct cel_source *s, struct cel_tokens *out);

/* The value of a token that is a literal; `negative`: a minus stands before it. False, with the
 * reason in *why, when it has none. */
bool cel__literal(struct arena *a, const struct cel_token *t, bool negative, struct cel_value *out,
                  const char **why);

/* Go's strconv.ParseFloat for decimal literals: false when it overflows. */
bool cel__parse_double(struct str text, double *out);

#endif
