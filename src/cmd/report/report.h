/*
 * Verdicts on their way out: as text, as one JSON report, as SARIF, as annotations for GitHub, and
 * as the results of tests (JUnit, TAP), with the files that could not be read or were skipped.
 * Nothing is written before the end, when all input is known to be readable: results and remarks
 * wait in spools, so that memory does not grow with their number.
 */
#ifndef CMD_REPORT_REPORT_H
#define CMD_REPORT_REPORT_H

#include "base/vec.h"
#include "cli/spool.h"
#include "cmd/cmd.h"
#include "cmd/report/verdict.h"
#include "cmd/skip.h"

enum report_format {
    REPORT_TEXT,
    REPORT_JSON,
    REPORT_SARIF,
    REPORT_GITHUB,
    REPORT_JUNIT,
    REPORT_TAP
};

/* Their names, for the row of an option; NULL at the end. */
extern const char *const report_formats[];

/* A file that could not be read, or not to its end. */
struct report_unreadable {
    struct input_source source;
    struct str text; /* "FILE:LINE:COLUMN: why" */
};

/* A file that is no manifest. */
struct report_skipped {
    struct str file;
    enum skip_reason reason;
};

struct report {
    const struct cmd_ctx *ctx; /* stored */
    enum report_format format;
    size_t objects, rejected, warnings; /* so far */
    size_t unchecked;                   /* of objects: their kinds are not Kubernetes' own */
    size_t skipped_objects;
    VEC(struct report_unreadable) unreadable;
    VEC(struct report_skipped) skipped;
    struct arena arena;        /* texts of what is unreadable */
    size_t results;            /* entries of the list that the format writes */
    struct buf text;           /* of one verdict */
    struct buf places;         /* where the first rejected objects stand */
    struct spool out, remarks; /* for standard output and standard error */
};

/* Starts an empty report. */
void report_init(struct report *r, const struct cmd_ctx *ctx, enum report_format format);

/* Frees everything, written or not. */
void report_release(struct report *r);

/* Adds a verdict, of which nothing is kept. */
int report_add(struct report *r, const struct verdict *v, struct err *err);

/* Adds a file that cannot be read from this place on; the file's name is stored. */
void report_add_unreadable(struct report *r, const struct input_source *source,
                           const struct err *why);

/* Adds a file that was skipped; its name is stored. */
void report_add_skipped(struct report *r, struct str file, enum skip_reason reason);

/* Counts an object of a kind that is not wanted. */
void report_add_skipped_object(struct report *r);

/* Appends "skipped: 12 files: 8 Helm templates, 4 kustomizations" if files were skipped. */
void report_write_skipped(const struct report *r, struct buf *out);

/* Writes results, then remarks, then the sum if there were several objects, and what was skipped.
 */
int report_finish(struct report *r, struct err *err);

/* --- for the formats, in files of their own --- */

/* How a format writes: each appends to r->text. `begin` and `end` are called when all has been
 * added, for what stands before and behind the verdicts. */
struct report_writer {
    void (*begin)(struct report *r);
    void (*add)(struct report *r, const struct verdict *v);
    void (*end)(struct report *r);
};
extern const struct report_writer report_sarif, report_github, report_junit, report_tap;

/* Line and column for formats that have no word for "the whole file". */
static inline uint32_t report_line(const struct input_source *source) {
    return source->line ? source->line : 1;
}
static inline uint32_t report_column(const struct input_source *source) {
    return source->column ? source->column : 1;
}

#endif
