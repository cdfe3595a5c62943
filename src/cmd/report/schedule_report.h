/* What became of the pods, on its way out: as a table with a sum, or as the pods themselves. */
#ifndef CMD_REPORT_SCHEDULE_REPORT_H
#define CMD_REPORT_SCHEDULE_REPORT_H

#include "cmd/cmd.h"
#include "sim/placement.h"

enum schedule_format { SCHEDULE_TABLE, SCHEDULE_JSON, SCHEDULE_YAML };

/* Their names, for the row of an option; NULL at the end. */
extern const char *const schedule_formats[];

/* Writes the pods that were pending or lost their place to standard output. `metrics`, which may be
 * empty, follows a table. */
int schedule_report_write(const struct cmd_ctx *ctx, const struct sim_placement *p,
                          enum schedule_format format, struct str metrics, struct err *err);

#endif
