/*
 * Characters to tokens. As upstream's lexer it takes the longest match; where nothing matches, the
 * error quotes everything from the start of the attempt to the character that broke it, and reading
 * goes on behind that character.
 *
 * Follows github.com/google/cel-go parser/gen, func NewCELLexer.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cel/syntax/lex_int.h"

struct lexer {
    struct cel_source *source;
    struct cel_tokens *out;
    const char *p, *end;
    uint32_t pos;
};

static bool is_letter(char c) {
    return ascii_is_letter(c) || c == '_';
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

/* The character at p, or NUL at the end; a NUL in the source is no part of any token either. */
static char at(const struct lexer *x, const char *p) {
    return p < x->end ? *p : '\0';
}

static const char *skip_digits(const struct lexer *x, const char *p) {
    while (ascii_is_digit(at(x, p)))
        p++;
    return p;
}

static size_t char_len(const struct lexer *x, const char *p) {
    size_t len = 1;
    if (p < x->end)
        utf8_decode((struct str){p, (size_t)(x->end - p)}, &len);
    return len;
}

/* Every scanner below returns the end of its match, or NULL and the place that broke it in *bad. */

/* Behind an escape sequence that starts at p. */
static const char *scan_escape(const struct lexer *x, const char *p, const char **bad) {
    static const struct {
        char c;
        int digits;
    } hex[] = {{'x', 2}, {'X', 2}, {'u', 4}, {'U', 8}};
    char c = at(x, ++p);
    *bad = p;
    if (c != '\0' && strchr("abfnrtv\"'\\?`", c))
        return p + 1;
    for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
        if (c != hex[i].c)
            continue;
        for (int k = 0; k < hex[i].digits; k++)
            if (ascii_hex_value(at(x, *bad = ++p)) < 0)
                return NULL;
        return p + 1;
    }
    if (c < '0' || c > '3')
        return NULL;
    for (int k = 0; k < 2; k++) {
        *bad = ++p;
        if (at(x, p) < '0' || at(x, p) > '7')
            return NULL;
    }
    return p + 1;
}

/* A string in single quotes of either kind, from its opening quote. */
static const char *scan_short(const struct lexer *x, const char *p, bool raw, const char **bad) {
    char quote = *p++;
    while (p < x->end && *p != quote) {
        *bad = p;
        if (*p == '\n' || *p == '\r')
            return NULL;
        if (*p == '\\' && !raw) {
            p = scan_escape(x, p, bad);
            if (!p)
                return NULL;
        } else {
            p++;
        }
    }
    *bad = p;
    return p < x->end ? p + 1 : NULL;
}

/* A string in triple quotes, from its opening quotes. */
static const char *scan_long(const struct lexer *x, const char *p, bool raw, const char **bad) {
    char quote = *p;
    p += 3;
    while (p < x->end) {
        if (*p == quote && at(x, p + 1) == quote && at(x, p + 2) == quote)
            return p + 3;
        if (*p == '\\' && !raw) {
            p = scan_escape(x, p, bad);
            if (!p)
                return NULL;
        } else {
            p++;
        }
    }
    *bad = p;
    return NULL;
}

static const char *scan_string(const struct lexer *x, const char *p, const char **bad) {
    bool raw = *p == 'r' || *p == 'R';
    p += raw;
    const char *end = NULL;
    if (at(x, p + 1) == *p && at(x, p + 2) == *p)
        end = scan_long(x, p, raw, bad);
    if (end)
        return end;
    const char *long_bad = *bad;
    end = scan_short(x, p, raw, bad);
    if (!end && long_bad > *bad)
        *bad = long_bad;
    return end;
}

static const char *scan_exponent(const struct lexer *x, const char *p) {
    const char *start = p;
    if (at(x, p) != 'e' && at(x, p) != 'E')
        return start;
    p++;
    if (at(x, p) == '+' || at(x, p) == '-')
        p++;
    return ascii_is_digit(at(x, p)) ? skip_digits(x, p) : start;
}

static const char *scan_number(const struct lexer *x, const char *p, enum cel_token_kind *kind) {
    const char *digits = skip_digits(x, p);
    if (digits - p == 1 && *p == '0' && at(x, digits) == 'x' &&
        ascii_hex_value(at(x, digits + 1)) >= 0) {
        for (digits++; ascii_hex_value(at(x, digits)) >= 0; digits++) {
        }
    } else {
        const char *end = digits;
        if (at(x, end) == '.' && ascii_is_digit(at(x, end + 1)))
            end = skip_digits(x, end + 1);
        end = scan_exponent(x, end);
        if (end > digits) {
            *kind = CEL_TOK_FLOAT;
            return end;
        }
    }
    bool is_uint = at(x, digits) == 'u' || at(x, digits) == 'U';
    *kind = is_uint ? CEL_TOK_UINT : CEL_TOK_INT;
    return digits + is_uint;
}

static const char *scan_word(const struct lexer *x, const char *p, enum cel_token_kind *kind) {
    static const struct {
        const char *word;
        enum cel_token_kind kind;
    } words[] = {{"in", CEL_TOK_IN},
                 {"true", CEL_TOK_TRUE},
                 {"false", CEL_TOK_FALSE},
                 {"null", CEL_TOK_NULL}};
    const char *start = p;
    while (is_letter(at(x, p)) || ascii_is_digit(at(x, p)))
        p++;
    *kind = CEL_TOK_IDENT;
    struct str word = {start, (size_t)(p - start)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].word))
            *kind = words[i].kind;
    return p;
}

static const char *scan_quoted_name(const struct lexer *x, const char *p, const char **bad) {
    const char *start = ++p;
    while (is_letter(at(x, p)) || ascii_is_digit(at(x, p)) ||
           (at(x, p) != '\0' && strchr(".-/ ", *p)))
        p++;
    *bad = p;
    return p > start && at(x, p) == '`' ? p + 1 : NULL;
}

static const char *scan_punctuation(const struct lexer *x, const char *p, enum cel_token_kind *kind,
                                    const char **bad) {
    static const struct {
        char text[3];
        enum cel_token_kind kind;
    } marks[] = {
        {"==", CEL_TOK_EQ},      {"!=", CEL_TOK_NE},    {"<=", CEL_TOK_LE},
        {">=", CEL_TOK_GE},      {"&&", CEL_TOK_AND},   {"||", CEL_TOK_OR},
        {"<", CEL_TOK_LT},       {">", CEL_TOK_GT},     {"[", CEL_TOK_LBRACKET},
        {"]", CEL_TOK_RBRACKET}, {"{", CEL_TOK_LBRACE}, {"}", CEL_TOK_RBRACE},
        {"(", CEL_TOK_LPAREN},   {")", CEL_TOK_RPAREN}, {".", CEL_TOK_DOT},
        {",", CEL_TOK_COMMA},    {"-", CEL_TOK_MINUS},  {"!", CEL_TOK_NOT},
        {"?", CEL_TOK_QUESTION}, {":", CEL_TOK_COLON},  {"+", CEL_TOK_PLUS},
        {"*", CEL_TOK_STAR},     {"/", CEL_TOK_SLASH},  {"%", CEL_TOK_PERCENT},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i].text);
        if ((size_t)(x->end - p) >= n && memcmp(p, marks[i].text, n) == 0) {
            *kind = marks[i].kind;
            return p + n;
        }
    }
    bool half = *p == '=' || *p == '&' || *p == '|';
    *bad = p + half;
    return NULL;
}

static bool starts_string(const struct lexer *x, const char *p) {
    if (at(x, p) == 'r' || at(x, p) == 'R')
        p++;
    return at(x, p) == '"' || at(x, p) == '\'';
}

/* A token that begins with a quote, or a letter before one. A prefix without a string behind it is
 * a word. */
static const char *scan_prefixed(const struct lexer *x, const char *p, enum cel_token_kind *kind,
                                 const char **bad) {
    bool bytes = (*p == 'b' || *p == 'B') && starts_string(x, p + 1);
    if (!bytes && !starts_string(x, p))
        return NULL;
    *kind = bytes ? CEL_TOK_BYTES : CEL_TOK_STRING;
    return scan_string(x, p + bytes, bad);
}

static const char *scan_token(const struct lexer *x, enum cel_token_kind *kind, const char **bad) {
    const char *p = x->p, *end = scan_prefixed(x, p, kind, bad);
    if (end)
        return end;
    if (ascii_is_digit(*p) || (*p == '.' && ascii_is_digit(at(x, p + 1))))
        return scan_number(x, p, kind);
    if (is_letter(*p))
        return scan_word(x, p, kind);
    if (*p == '"' || *p == '\'')
        return NULL;
    if (*p == '`') {
        *kind = CEL_TOK_ESC_IDENT;
        return scan_quoted_name(x, p, bad);
    }
    return scan_punctuation(x, p, kind, bad);
}

/* Moves to p and counts the code points on the way. */
static void advance(struct lexer *x, const char *p) {
    for (; x->p < p; x->p++)
        x->pos += ((unsigned char)*x->p & 0xC0) != 0x80;
}

static bool skip_blank(struct lexer *x) {
    const char *p = x->p;
    while (is_space(at(x, p)))
        p++;
    if (at(x, p) == '/' && at(x, p + 1) == '/')
        while (p < x->end && *p != '\n')
            p++;
    bool any = p > x->p;
    advance(x, p);
    return any;
}

static void report(struct lexer *x, const char *bad) {
    const char *end = bad < x->end ? bad + char_len(x, bad) : x->end;
    cel__issue(x->source, x->pos, "Syntax error: token recognition error at: '%.*s'",
               (int)(end - x->p), x->p);
    advance(x, end);
}

void cel__lex(struct cel_source *s, struct cel_tokens *out) {
    struct lexer x = {.source = s, .out = out, .p = s->text.p, .end = s->text.p + s->text.n};
    while (skip_blank(&x) || x.p < x.end) {
        if (x.p == x.end || is_space(*x.p))
            continue;
        enum cel_token_kind kind = CEL_TOK_EOF;
        const char *bad = x.p, *end = scan_token(&x, &kind, &bad);
        if (!end) {
            report(&x, bad);
            continue;
        }
        struct str text = {x.p, (size_t)(end - x.p)};
        vec_push(&out->list, (struct cel_token){(uint8_t)kind, x.pos, text});
        advance(&x, end);
    }
    vec_push(&out->list, (struct cel_token){CEL_TOK_EOF, x.pos, {x.end, 0}});
}
