/*
 * Verdicts on their way out: as text, as one JSON report, as SARIF and as annotations for GitHub.
 * Nothing is written before the end, when all input is known to be readable: results and remarks
 * wait in spools, so that memory does not grow with their number.
 */
#ifndef CMD_REPORT_REPORT_H
#define CMD_REPORT_REPORT_H

#include "cli/spool.h"
#include "cmd/cmd.h"
#include "cmd/report/verdict.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_SARIF, REPORT_GITHUB };

/* Their names, for the row of an option; NULL at the end. */
extern const char *const report_formats[];

struct report {
    const struct cmd_ctx *ctx; /* stored */
    enum report_format format;
    size_t objects, rejected, warnings; /* so far */
    size_t unchecked;                   /* of objects: their kinds are not Kubernetes' own */
    size_t results;                     /* entries of the list that the format writes */
    struct buf text;                    /* of one verdict */
    struct buf places;                  /* where the first rejected objects stand */
    struct spool out, remarks;          /* for standard output and standard error */
};

/* Starts an empty report. */
void report_init(struct report *r, const struct cmd_ctx *ctx, enum report_format format);

/* Frees everything, written or not. */
void report_release(struct report *r);

/* Adds a verdict, of which nothing is kept. */
int report_add(struct report *r, const struct verdict *v, struct err *err);

/* Writes results, then remarks, then the sum if there were several objects. */
int report_finish(struct report *r, struct err *err);

/* --- for the formats, in files of their own --- */

/* How a format writes: each appends to r->text. */
struct report_writer {
    void (*begin)(struct report *r);
    void (*add)(struct report *r, const struct verdict *v);
    void (*end)(struct report *r);
};
extern const struct report_writer report_sarif, report_github;

#endif
