/* What differs between two explanations of one pod, one later than the other. */
#ifndef CMD_REPORT_EXPLAIN_CHANGES_H
#define CMD_REPORT_EXPLAIN_CHANGES_H

#include "cmd/report/explain_report.h"

/* What is kept of an explanation. */
struct explain_state {
    struct arena arena;
    struct str verdict; /* the head of the report */
    struct explain_state_node {
        struct str name, text; /* its causes, one in a line; empty: the pod fits */
    } * nodes;                 /* by name */
    size_t node_count;
};

/* Keeps what a report would say. Release with explain_state_release. */
void explain_state_keep(struct explain_state *out, const struct explain_report *r);
void explain_state_release(struct explain_state *state);

/* Appends the verdict, if it is another one, and nodes of which causes have come (+) or gone (-),
 * all of one change together. False, and nothing is appended, when all is as before. */
bool explain_changes_write(struct buf *out, const struct explain_state *before,
                           const struct explain_state *now);

#endif
