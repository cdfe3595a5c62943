/*
 * Where things stand in an expression, and how errors are shown: line and column in code points,
 * the line itself and a caret below it, as upstream prints them.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "cel/ast_int.h"

enum { MAX_SNIPPET_BYTES = 16384, MAX_ISSUE_BYTES = 1 << 20 };

void cel__issue(struct cel_source *s, uint32_t pos, const char *fmt, ...) {
    AUTO(buf_release) struct buf text = BUF_INIT(MAX_ISSUE_BYTES);
    va_list ap;
    va_start(ap, fmt);
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *room = n < 0 ? NULL : buf_room(&text, (size_t)n + 1);
    if (room) {
        vsnprintf(room, (size_t)n + 1, fmt, again);
        text.n += (size_t)n;
    }
    va_end(again);
    va_end(ap);
    vec_push(&s->issues, (struct cel_issue){.pos = pos,
                                            .order = (uint32_t)s->issues.n,
                                            .text = arena_str(s->arena, buf_view(&text))});
}

/* The line that a place is in, its number from 1, and the code points before the place. */
struct place {
    struct str line;
    uint32_t number, column;
};

static struct place find_place(struct str text, uint32_t pos) {
    struct place at = {.number = 1};
    size_t start = 0, i = 0, len;
    for (; i < text.n && pos > 0; i += len, pos--) {
        utf8_decode(str_sub(text, i, text.n), &len);
        at.column++;
        if (text.p[i] == '\n') {
            start = i + 1;
            at.number++;
            at.column = 0;
        }
    }
    struct str rest = str_sub(text, start, text.n), line, after;
    str_cut(rest, '\n', &line, &after);
    at.line = line;
    return at;
}

/* The source line with tabs as single spaces. */
static void write_line(struct buf *out, struct str line) {
    for (size_t i = 0; i < line.n; i++)
        buf_add_char(out, line.p[i] == '\t' ? ' ' : line.p[i]);
}

/* Dots up to the place and a caret, both wide where the characters above take several bytes. */
static void write_caret(struct buf *out, const struct place *at) {
    size_t i = 0, len;
    for (uint32_t c = 0; c < at->column && i < at->line.n; c++, i += len) {
        utf8_decode(str_sub(at->line, i, at->line.n), &len);
        buf_add(out, len > 1 ? STR("\xef\xbc\x8e") : STR("."));
    }
    bool wide = i < at->line.n && (unsigned char)at->line.p[i] >= 0x80;
    buf_add(out, wide ? STR("\xef\xbc\xbe") : STR("^"));
}

static void print_issue(struct buf *out, const struct cel_source *s,
                        const struct cel_issue *issue) {
    if (issue->pos == CEL_NOWHERE) {
        buf_addf(out, "ERROR: <input>:-1:0: ");
        buf_add(out, issue->text);
        return;
    }
    struct place at = find_place(s->text, issue->pos);
    buf_addf(out, "ERROR: <input>:%u:%u: ", at.number, at.column + 1);
    buf_add(out, issue->text);
    if (at.line.n > MAX_SNIPPET_BYTES)
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
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            buf_add_char(&out, '\n');
        print_issue(&out, s, &s->issues.v[i]);
    }
    if (s->issues.n > CEL_ISSUES_SHOWN)
        buf_addf(&out, "\n%zu more errors were truncated", s->issues.n - CEL_ISSUES_SHOWN);
    return arena_str(s->arena, buf_view(&out));
}
