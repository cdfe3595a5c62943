/*
 * Help in its three forms, all written from the tables: on the terminal, as man page, as Markdown.
 */
#ifndef CMD_HELP_HELP_H
#define CMD_HELP_HELP_H

#include "cmd/cmd.h"

/* More than all help together will ever need. */
#define HELP_MOST_BYTES ((size_t)1 << 20)

/* What the program is, in one sentence. */
extern const char help_program_summary[];

/* A row of a two-column list in the man page and the reference: exit codes, environment. */
struct help_fact {
    const char *name; /* NULL ends a list */
    const char *text;
};
extern const struct help_fact help_exit_codes[];
extern const struct help_fact help_environment[];

/* Appends the help of a command, or of the program when cmd is NULL, wrapped for ctx's width. */
void help_print(const struct cmd_ctx *ctx, const struct cmd *cmd, struct buf *out);

/* Appends berth(1) in roff's man macros. */
void help_print_man(struct buf *out);

/* Appends the reference of all commands in Markdown (docs/cli.md). */
void help_print_markdown(struct buf *out);

/* Appends the reference of all functions of CEL in Markdown (docs/cel-functions.md). */
void help_print_cel(struct buf *out);

/* "-o, --output=FORMAT": the spellings of an option as one line of help shows them. */
struct str help_opt_spelling(struct arena *a, const struct opt *o);

/* The help of an option with its default, if that says anything: "Output format (default yaml)". */
struct str help_opt_text(struct arena *a, const struct opt *o);

#endif
