/*
 * Lines of cells under headers, as kubectl prints them: every column is as wide as its widest cell.
 * On a terminal the last column, which has sentences, is cut to the width that there is.
 */
#ifndef CMD_REPORT_TABLE_H
#define CMD_REPORT_TABLE_H

#include "base/arena.h"
#include "base/vec.h"
#include "cli/spool.h"

enum { TABLE_MOST_COLUMNS = 64 };

enum table_colour { TABLE_PLAIN, TABLE_GREEN, TABLE_YELLOW, TABLE_RED };

struct table_row {
    const struct str *cells;
    enum table_colour colour;
};

struct table {
    struct arena arena; /* of the rows; who adds cells may put their texts there */
    size_t columns;
    size_t coloured; /* the column whose cells have the colours of their rows */
    struct str heads[TABLE_MOST_COLUMNS];
    size_t widths[TABLE_MOST_COLUMNS];
    VEC(struct table_row) rows;
};

/* How it is to look. */
struct table_style {
    bool no_headers, colour;
    size_t width; /* of the terminal; 0: nothing is cut */
};

/* A table without rows. Release with table_release. */
void table_init(struct table *t, const struct str *heads, size_t columns);
void table_release(struct table *t);

/* Adds a row of as many cells as there are columns. The texts are borrowed until the release. */
void table_add(struct table *t, const struct str *cells, enum table_colour colour);

/* Writes headers and rows; a table without rows is nothing at all. */
int table_write(const struct table *t, const struct table_style *style, struct spool *to,
                struct err *err);

#endif
