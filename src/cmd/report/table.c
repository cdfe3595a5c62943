/* Tables: cells are kept until the width of every column is known. */
#include "cmd/report/table.h"

#include <assert.h>

#include "base/printable.h"
#include "base/utf8.h"

/* Blanks between columns; what a cut column has at least; one line is at most so long. */
enum { GAP = 3, LEAST_CUT = 20, LONGEST_LINE = 4 << 20 };

static const char *const colours[] = {
    [TABLE_GREEN] = "\033[32m", [TABLE_YELLOW] = "\033[33m", [TABLE_RED] = "\033[31m"};

/* One line on its way out. */
struct line {
    const struct table *table;
    const struct table_style *style;
    size_t most; /* columns of the terminal that the last cell may take; SIZE_MAX: any number */
    struct buf text, cell;
};

static size_t width_of(struct buf *scratch, struct str text) {
    buf_clear(scratch);
    printable_add(scratch, text);
    return utf8_count(buf_view(scratch));
}

static void widen(struct table *t, const struct str *cells) {
    AUTO(buf_release) struct buf scratch = BUF_INIT(LONGEST_LINE);
    for (size_t i = 0; i + 1 < t->columns; i++) {
        size_t width = width_of(&scratch, cells[i]);
        if (width > t->widths[i])
            t->widths[i] = width;
    }
}

void table_init(struct table *t, const struct str *heads, size_t columns) {
    assert(columns > 0 && columns <= TABLE_MOST_COLUMNS);
    *t = (struct table){.columns = columns, .coloured = columns};
    memcpy(t->heads, heads, columns * sizeof *heads);
}

void table_release(struct table *t) {
    vec_release(&t->rows);
    arena_release(&t->arena);
}

void table_add(struct table *t, const struct str *cells, enum table_colour colour) {
    struct str *own = arena_copy(&t->arena, cells, t->columns * sizeof *cells);
    vec_push(&t->rows, (struct table_row){own, colour});
    widen(t, own);
}

/* ---- out ---- */

/* The text up to so many characters, the last of which then tells that there was more. */
static struct str cut(struct str text, size_t most, bool *was_cut) {
    size_t at = 0, len, kept = 0;
    *was_cut = utf8_count(text) > most;
    if (!*was_cut)
        return text;
    for (; kept + 1 < most && at < text.n; kept++, at += len)
        utf8_decode(str_sub(text, at, text.n), &len);
    return str_sub(text, 0, at);
}

static void add_last(struct line *l, struct str cell) {
    bool was_cut;
    buf_clear(&l->cell);
    printable_add(&l->cell, cell);
    buf_add(&l->text, cut(buf_view(&l->cell), l->most, &was_cut));
    if (was_cut)
        buf_add(&l->text, STR("…"));
}

static void add_cell(struct line *l, size_t column, struct str cell, enum table_colour colour) {
    bool has_colour = l->style->colour && column == l->table->coloured && colours[colour];
    if (has_colour)
        buf_add(&l->text, str_of(colours[colour]));
    if (column + 1 == l->table->columns)
        add_last(l, cell);
    else
        printable_add(&l->text, cell);
    if (has_colour)
        buf_add(&l->text, STR("\033[0m"));
}

/* Cells up to the last that says something; no blanks at the end. */
static int add_line(struct line *l, const struct table_row *row, struct spool *to,
                    struct err *err) {
    size_t last = l->table->columns;
    while (last > 0 && row->cells[last - 1].n == 0)
        last--;
    buf_clear(&l->text);
    for (size_t i = 0; i < last; i++) {
        add_cell(l, i, row->cells[i], row->colour);
        if (i + 1 < last)
            buf_add_fill(&l->text, ' ',
                         l->table->widths[i] + GAP - width_of(&l->cell, row->cells[i]));
    }
    buf_add_char(&l->text, '\n');
    return spool_add(to, buf_view(&l->text), err);
}

static size_t room_of_last(const struct table *t, const struct table_style *style) {
    size_t taken = 0;
    for (size_t i = 0; i + 1 < t->columns; i++)
        taken += t->widths[i] + GAP;
    if (!style->width)
        return SIZE_MAX;
    return style->width > taken + LEAST_CUT ? style->width - taken : LEAST_CUT;
}

static int write_lines(struct line *l, struct spool *to, struct err *err) {
    struct table_row head = {l->table->heads, TABLE_PLAIN};
    if (!l->style->no_headers && add_line(l, &head, to, err) < 0)
        return -1;
    for (size_t i = 0; i < l->table->rows.n; i++)
        if (add_line(l, &l->table->rows.v[i], to, err) < 0)
            return -1;
    return 0;
}

int table_write(const struct table *t, const struct table_style *style, struct spool *to,
                struct err *err) {
    if (!t->rows.n)
        return 0;
    struct table wide = *t; /* headers count only if they are shown */
    if (!style->no_headers)
        widen(&wide, wide.heads);
    struct line l = {&wide, style, room_of_last(&wide, style), BUF_INIT(LONGEST_LINE),
                     BUF_INIT(LONGEST_LINE)};
    int rc = write_lines(&l, to, err);
    buf_release(&l.text);
    buf_release(&l.cell);
    return rc;
}
