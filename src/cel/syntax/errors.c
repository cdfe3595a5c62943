/*
 * Syntax errors in upstream's words: what stands in the input, and what the grammar expects.
 *
 * Follows github.com/google/cel-go parser, func (*parser) SyntaxError, func (*parser) reportError.
 */
#include "base/limits.h"
#include "cel/syntax/parse_int.h"

static const char *const names[] = {
#define X(name, text) text,
    CEL_TOKENS(X)
#undef X
};

/* White space other than blanks is shown by its escape. */
static void write_shown(struct buf *out, struct str text) {
    static const char from[] = "\t\n\r", to[] = "tnr";
    for (size_t i = 0; i < text.n; i++) {
        size_t k = 0;
        while (k < sizeof to - 1 && text.p[i] != from[k])
            k++;
        if (k < sizeof to - 1)
            buf_addf(out, "\\%c", to[k]);
        else
            buf_add_char(out, text.p[i]);
    }
}

static void write_token(struct buf *out, const struct cel_token *t) {
    write_shown(out, t->kind == CEL_TOK_EOF ? STR("<EOF>") : t->text);
}

static void write_set(struct buf *out, uint64_t set) {
    bool single = (set & (set - 1)) == 0, first = true;
    buf_add(out, single ? STR("") : STR("{"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(set >> i & 1))
            continue;
        buf_addf(out, "%s%s", first ? "" : ", ", names[i]);
        first = false;
    }
    buf_add(out, single ? STR("") : STR("}"));
}

static void report(struct cel_parser *p, const struct cel_token *t, const struct buf *text) {
    if (!p->recovering)
        cel__issue(p->source, t->pos, "Syntax error: %.*s", STR_ARG(buf_view(text)));
}

void cel__report_token(struct cel_parser *p, const char *what, uint64_t expected) {
    const struct cel_token *t = &p->tokens.list.v[p->at];
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    buf_addf(&text, "%s input '", what);
    write_token(&text, t);
    buf_add(&text, STR("' expecting "));
    write_set(&text, expected);
    report(p, t, &text);
}

void cel__report_missing(struct cel_parser *p, enum cel_token_kind kind) {
    const struct cel_token *t = &p->tokens.list.v[p->at];
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    buf_addf(&text, "missing %s at '", names[kind]);
    write_token(&text, t);
    buf_add_char(&text, '\'');
    report(p, t, &text);
    p->recovering = true;
}

void cel__report_no_alternative(struct cel_parser *p, const struct cel_token *start) {
    const struct cel_token *t = &p->tokens.list.v[p->at];
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    buf_add(&text, STR("no viable alternative at input '"));
    write_shown(&text,
                (struct str){start->text.p, (size_t)(t->text.p + t->text.n - start->text.p)});
    buf_add_char(&text, '\'');
    report(p, t, &text);
}
