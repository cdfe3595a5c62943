/* Columns that the user makes of paths, as kubectl's -o custom-columns=NAME:.metadata.name,… */
#ifndef CMD_REPORT_COLUMNS_H
#define CMD_REPORT_COLUMNS_H

#include "cmd/report/table.h"
#include "codec/jsonpath.h"

struct columns {
    size_t n;
    struct str heads[TABLE_MOST_COLUMNS];
    struct jsonpath *paths[TABLE_MOST_COLUMNS];
};

/* Reads a specification, which is borrowed; all else lives in the arena. Fails with kubectl's
 * words. */
int columns_parse(struct arena *a, struct str spec, struct columns *out, struct err *err);

/* The cells of an object, one for each column: what the path finds, separated by commas, or <none>.
 * They live in the arena. */
int columns_fill(const struct columns *columns, const struct json *object, struct arena *a,
                 struct str *cells, struct err *err);

#endif
