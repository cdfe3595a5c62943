/* What became of the pods, on its way out: as a table with a sum, or as the pods themselves. */
#ifndef CMD_REPORT_SCHEDULE_REPORT_H
#define CMD_REPORT_SCHEDULE_REPORT_H

#include "cmd/cmd.h"
#include "cmd/report/schedule_select.h"

enum schedule_format { SCHEDULE_TABLE, SCHEDULE_WIDE, SCHEDULE_JSON, SCHEDULE_YAML, SCHEDULE_NAME };

/* Their names, for the row of an option; NULL at the end. */
extern const char *const schedule_formats[];

struct schedule_view {
    enum schedule_format format;
    struct schedule_select select;
    bool no_headers;    /* nothing but the lines of the table */
    struct str metrics; /* behind a table; may be empty */
};

/* Writes the pods that were pending or lost their place, and that are selected, to standard
 * output. */
int schedule_report_write(const struct cmd_ctx *ctx, const struct sim_placement *p,
                          const struct schedule_view *view, struct err *err);

#endif
