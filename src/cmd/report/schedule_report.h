/* What became of the pods, on its way out: as a table with a sum, or as the pods themselves. */
#ifndef CMD_REPORT_SCHEDULE_REPORT_H
#define CMD_REPORT_SCHEDULE_REPORT_H

#include "cmd/cmd.h"
#include "cmd/report/columns.h"
#include "cmd/report/schedule_select.h"

enum schedule_format {
    SCHEDULE_TABLE,
    SCHEDULE_WIDE,
    SCHEDULE_JSON,
    SCHEDULE_YAML,
    SCHEDULE_NAME,
    SCHEDULE_JSONPATH,
    SCHEDULE_COLUMNS,
};

/* Their names, for the row of an option; NULL at the end. */
extern const char *const schedule_formats[];

/* What a table is about. */
enum schedule_subject { SCHEDULE_PODS, SCHEDULE_NODES, SCHEDULE_CHANGES };

struct schedule_view {
    enum schedule_subject subject;
    enum schedule_format format;
    struct jsonpath *path;         /* SCHEDULE_JSONPATH: the template */
    const struct columns *columns; /* SCHEDULE_COLUMNS */
    struct schedule_select select;
    bool no_headers;    /* nothing but the lines of the table */
    struct str answers; /* lines behind the sum; may be empty */
    struct str metrics; /* behind a table; may be empty */
};

/* Reads what stands behind the name of a format into *view; everything lives in the arena. */
int schedule_view_read(struct arena *a, struct schedule_view *view, struct str text,
                       struct err *err);

/* Writes the pods that were pending or lost their place, and that are selected, to standard
 * output. */
int schedule_report_write(const struct cmd_ctx *ctx, const struct sim_placement *p,
                          const struct schedule_view *view, struct err *err);

#endif
