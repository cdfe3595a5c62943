/* An explanation on its way out: for people, and for programs. */
#ifndef CMD_REPORT_EXPLAIN_REPORT_H
#define CMD_REPORT_EXPLAIN_REPORT_H

#include "base/buf.h"
#include "sched/explain.h"
#include "sim/outlook.h"

enum explain_format { EXPLAIN_TEXT, EXPLAIN_WIDE, EXPLAIN_JSON };

/* Their names, for the row of an option; NULL at the end. */
extern const char *const explain_formats[];

/* Pods that fail alike, of which one is explained. */
struct explain_alike {
    struct str owner; /* deployment/web; absent: of nobody */
    size_t pods;      /* 0: a single pod was asked for */
};

struct explain_report {
    const struct sched_explanation *e;
    const struct sched_suggestions *suggestions;
    const struct api_object *pod; /* as it was given */
    struct explain_alike alike;
    const struct sim_outlook *outlook; /* among others; NULL: nobody else matters */
    size_t node;                       /* place of the only node that is wanted; SIZE_MAX: all */
    bool all;                          /* every plug-in's verdict on every node */
    bool brief;                        /* one of several: what misses least, and one change */
    bool wide;                         /* nothing is left out but for: */
    size_t most;                       /* bytes after which nothing more is begun */
};

/* Does the pod get a node: among others, if they matter; else alone? */
bool explain_gets_node(const struct explain_report *r);

/* Appends its head: the verdict, what is to be known of the pod, and the scheduler's message. */
void explain_report_write_verdict(struct buf *out, const struct explain_report *r);

/* Appends the report. */
void explain_report_write_text(struct buf *out, const struct explain_report *r);
void explain_report_write_json(struct buf *out, const struct explain_report *r);

/* --- what both share (explain_report.c) --- */

/* The cause for which a plug-in rejects the node at this place, or NULL. */
const struct sched_cause *explain_find_cause(const struct sched_explanation *e, size_t place,
                                             enum sched_plugin plugin);

/* Appends the sentence of a cause; {node} stands for the node's name if that is absent. */
void explain_add_cause(struct buf *out, const struct sched_explanation *e,
                       const struct sched_cause *cause, struct str node);

/* Places of the nodes that fit, best first, in the arena; *n: how many. */
size_t *explain_rank_nodes(struct arena *a, const struct sched_report *r, size_t *n);

/* Is the report as long as it may be? */
bool explain_is_full(const struct buf *out, const struct explain_report *r);

/* Is the node wanted? */
bool explain_wants(const struct explain_report *r, size_t place);

#endif
