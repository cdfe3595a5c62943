/*
 * API objects on their way out, as kubectl prints them: one as it is, several as one v1 List.
 * Nothing is written before the end, when all input is known to be good.
 */
#ifndef CMD_REPORT_PRINTER_H
#define CMD_REPORT_PRINTER_H

#include "base/arena.h"
#include "cli/spool.h"
#include "cmd/cmd.h"
#include "cmd/source.h"

struct json;

enum printer_format { PRINTER_JSON, PRINTER_YAML };

/* Their names, for the row of an option; NULL at the end. */
extern const char *const printer_formats[];

/* One object printed: deep nesting with much indentation makes more of it than was read. */
enum { PRINTER_MOST_BYTES = 64 << 20 };

struct printer {
    const struct cmd_ctx *ctx; /* stored */
    enum printer_format format;
    bool list;    /* one object is a list, too; so is none */
    size_t count; /* objects so far */
    /* Kept back: alone it is printed as it is, with others it is the first item of a list. */
    struct api_object *first;
    struct input_source first_source;
    struct arena arena; /* of the object being printed */
    struct buf text;
    struct spool spool;
};

/* Starts an empty output. */
void printer_init(struct printer *p, const struct cmd_ctx *ctx, enum printer_format format);

/* Frees everything, printed or not. */
void printer_release(struct printer *p);

/* Adds an object, which is taken. source, whose file name must outlive the printer, is told when
 * the object is too large to print. */
int printer_add(struct printer *p, struct api_object *o, const struct input_source *source,
                struct err *err);

/* Writes what was added to standard output: at least one object, unless it is a list. */
int printer_finish(struct printer *p, struct err *err);

/* Appends a value in kubectl's style: sorted keys, four spaces in JSON, a line break at the end. */
void printer_write(enum printer_format format, const struct json *value, struct buf *out);

#endif
