/* What the files that make up the report of `berth schedule` share. */
#ifndef CMD_REPORT_SCHEDULE_INT_H
#define CMD_REPORT_SCHEDULE_INT_H

#include "cmd/report/schedule_report.h"
#include "cmd/report/table.h"

/* deployment.apps/web: what the pod's controller is called, in the arena; the Deployment if it is a
 * ReplicaSet of one that is there. Empty: it has none. */
struct str schedule__owner(struct arena *a, const struct sim_cluster *c,
                           const struct api_object *pod);

/* How tables look: those with sentences are cut to the width of a terminal, and have its colours.
 */
struct table_style schedule__style(const struct cmd_ctx *ctx, const struct schedule_view *view);

/* Fills an empty table with a line for each pod that is selected. Unless it is wide, pods of one
 * owner that are pending for the same reason are one line. Release it. */
void schedule__pods_table(struct table *t, const struct sim_placement *p,
                          const struct schedule_view *view);

/* The same with a line for each node: what is requested of it, before and after; *sum, in the
 * table's arena, tells it of all of them. */
void schedule__nodes_table(struct table *t, const struct sim_placement *p, struct str *sum);

/* The same with a line for each selected pod that is not where it was. */
void schedule__changes_table(struct table *t, const struct sim_placement *p,
                             const struct schedule_view *view);

/* The pod as the API server would show it now; the caller owns it. */
struct api_object *schedule__pod_now(const struct sim_placement_pod *pod);

/* Writes the selected pods in a format that is no table. */
int schedule__write_pods(const struct cmd_ctx *ctx, const struct sim_placement *p,
                         const struct schedule_view *view, struct err *err);

#endif
