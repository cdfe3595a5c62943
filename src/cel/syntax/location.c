/*
 * Where things stand in an expression, and how errors are shown: line and column in code points,
 * the line itself and a caret below it, as upstream prints them.
 *
 * Follows github.com/google/cel-go common, func (*Error) ToDisplayString,
 * func (*Errors) ToDisplayString.
 */
#include <stdarg.h>

#include "cel/syntax/ast_int.h"

enum { MAX_SNIPPET_BYTES = 16384 };

void cel__issue(struct cel_source *s, uint32_t pos, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vec_push(&s->issues, (struct cel_issue){.pos = pos,
                                            .order = (uint32_t)s->issues.n,
                                            .text = arena_vprintf(s->arena, fmt, args)});
    va_end(args);
}

void cel__forget_issues(struct cel_source *s, size_t keep) {
    size_t n = keep;
    for (size_t i = keep; i < s->issues.n; i++) {
        struct cel_issue issue = s->issues.v[i];
        if (issue.pos != CEL_NOWHERE && !str_starts(issue.text, STR("Syntax error:")))
            continue;
        issue.order = (uint32_t)n;
        s->issues.v[n++] = issue;
    }
    s->issues.n = n;
}

void cel__forget_unread(struct cel_source *s, uint32_t pos) {
    size_t n = 0;
    for (size_t i = 0; i < s->issues.n; i++) {
        struct cel_issue issue = s->issues.v[i];
        if (issue.pos != CEL_NOWHERE && issue.pos > pos)
            continue;
        issue.order = (uint32_t)n;
        s->issues.v[n++] = issue;
    }
    s->issues.n = n;
}

/* The line that a place is in, its number from 1, and what stands in it before the place. */
struct place {
    struct str line;
    uint32_t number, column; /* code points */
    size_t bytes;
};

/* How far the text has been read: issues are printed by place, so it is read once. */
struct reader {
    struct str text;      /* valid UTF-8 */
    size_t at, start;     /* bytes: here, and where its line starts */
    uint32_t pos, before; /* code points: the same two */
    uint32_t number;
};

static bool is_tail(char c) {
    return (c & 0xC0) == 0x80;
}

static void step(struct reader *r) {
    if (r->text.p[r->at++] == '\n') {
        r->start = r->at;
        r->before = r->pos + 1;
        r->number++;
    }
    while (r->at < r->text.n && is_tail(r->text.p[r->at]))
        r->at++;
    r->pos++;
}

static struct place find_place(struct reader *r, uint32_t pos) {
    while (r->pos < pos && r->at < r->text.n)
        step(r);
    struct place at = {
        .number = r->number, .column = r->pos - r->before, .bytes = r->at - r->start};
    struct str rest = str_sub(r->text, r->start, r->text.n), after;
    str_cut(rest, '\n', &at.line, &after);
    return at;
}

/* The source line with tabs as single spaces. */
static void write_line(struct buf *out, struct str line) {
    struct str part, rest = line;
    while (str_cut(rest, '\t', &part, &rest)) {
        buf_add(out, part);
        buf_add_char(out, ' ');
    }
    buf_add(out, part);
}

static void write_dots(struct buf *out, struct str below) {
    const char *p = below.p, *end = below.p + below.n;
    while (p < end) {
        const char *narrow = p;
        while (p < end && !(*p & 0x80))
            p++;
        buf_add_fill(out, '.', (size_t)(p - narrow));
        for (; p < end && (*p & 0x80); p++)
            buf_add(out, is_tail(*p) ? STR("") : STR("\xef\xbc\x8e"));
    }
}

/* Dots up to the place and a caret, both wide where the characters above take several bytes. */
static void write_caret(struct buf *out, const struct place *at) {
    if (at->bytes == at->column)
        buf_add_fill(out, '.', at->column);
    else
        write_dots(out, str_sub(at->line, 0, at->bytes));
    bool wide = at->bytes < at->line.n && (unsigned char)at->line.p[at->bytes] >= 0x80;
    buf_add(out, wide ? STR("\xef\xbc\xbe") : STR("^"));
}

static void print_issue(struct buf *out, struct reader *r, const struct cel_issue *issue) {
    if (issue->pos == CEL_NOWHERE) {
        buf_addf(out, "ERROR: <input>:-1:0: ");
        buf_add(out, issue->text);
        return;
    }
    struct place at = find_place(r, issue->pos);
    bool empty = r->text.n == 0; /* it has no place that could be shown */
    buf_addf(out, "ERROR: <input>:%u:%u: ", at.number, at.column + !empty);
    buf_add(out, issue->text);
    if (empty || at.line.n > MAX_SNIPPET_BYTES)
        return;
    buf_add(out, STR("\n | "));
    write_line(out, at.line);
    buf_add(out, STR("\n | "));
    write_caret(out, &at);
}

static int cmp_issue(const void *a, const void *b) {
    const struct cel_issue *x = a, *y = b;
    uint32_t xp = x->pos + 1, yp = y->pos + 1; /* nowhere comes first */
    if (xp != yp)
        return xp < yp ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct str cel__issues_print(struct cel_source *s) {
    if (s->issues.n == 0)
        return (struct str){"", 0};
    AUTO(buf_release) struct buf out = BUF_INIT(64U << 20);
    size_t shown = s->issues.n < CEL_ISSUES_SHOWN ? s->issues.n : CEL_ISSUES_SHOWN;
    qsort(s->issues.v, shown, sizeof *s->issues.v, cmp_issue); /* the first reported, by place */
    struct reader r = {.text = s->text, .number = 1};
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            buf_add_char(&out, '\n');
        print_issue(&out, &r, &s->issues.v[i]);
    }
    if (s->issues.n > CEL_ISSUES_SHOWN)
        buf_addf(&out, "\n%zu more errors were truncated", s->issues.n - CEL_ISSUES_SHOWN);
    return arena_str(s->arena, buf_view(&out));
}
