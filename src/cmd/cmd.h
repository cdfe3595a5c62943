/*
 * The inside door of the program: what a command is, what it is given, and how it answers.
 *
 * A command is one file and one row: its file ends with a `const struct cmd cmd_NAME`, and the
 * table in cmd.c lists it. It sees the outside world only through struct cmd_ctx, so that it runs
 * in a test as it runs in a terminal.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/opt.h"

/* The outside world. */
struct cmd_ctx {
    const char
        *program;     /* how it was called: "berth", or "kubectl berth" as a plug-in of kubectl */
    int in, out, err; /* borrowed file descriptors */
    const char *const *env;      /* "NAME=value" …, NULL at the end */
    const struct clock *clock;   /* borrowed */
    bool in_is_tty;              /* a person is typing */
    bool out_is_tty, err_is_tty; /* a person is reading */
    bool out_colour, err_colour; /* a terminal, and NO_COLOR is not set */
    unsigned width;              /* columns for wrapped text */
    struct log log;              /* diagnostics; set up from -v and --log-format */
};

/* What a run comes to: the exit code. A failed operation (-1 with err filled) exits with 2 too. */
enum cmd_exit { CMD_GOOD = 0, CMD_BAD_VERDICT = 1, CMD_FAILED = 2 };

/* One call of a command. */
struct cmd_call {
    struct cmd_ctx *ctx;
    struct arena *arena;  /* lives as long as the call */
    const void *opts;     /* the command's options struct, filled */
    struct opt_list args; /* words that are no options */
};

struct cmd_example {
    const char *what; /* NULL ends a list */
    const char *line;
};

/* The most groups of options a command may have. */
enum { CMD_GROUPS = 9 };

struct cmd {
    const char *name;
    const char *summary;                /* one line, no full stop */
    const char *about;                  /* paragraphs, separated by an empty line */
    const char *usage;                  /* what follows the name: "-f FILE [options]" */
    const struct cmd_example *examples; /* or NULL */
    struct opt_group groups[CMD_GROUPS];
    size_t opts_size;             /* of the options struct; it starts zeroed */
    size_t most_args;             /* more are an error */
    const char *args_hint;        /* what helps when there are more; or NULL */
    const char *const *arg_words; /* what completion offers as argument; or NULL */
    bool args_are_commands;       /* completion offers the commands */

    /* Does the work: an exit code, or -1 with err filled. ERR_USAGE adds a hint to --help. */
    int (*run)(struct cmd_call *call, struct err *err);
};

/* The commands, each at the end of its own file. */
extern const struct cmd cmd_apiserver, cmd_cel, cmd_completion, cmd_controller_manager, cmd_convert,
    cmd_explain, cmd_gates, cmd_help, cmd_kubelet, cmd_match, cmd_schedule, cmd_scheduler,
    cmd_store, cmd_up, cmd_validate, cmd_version;

/* Every command in the order of the help, NULL at the end. */
extern const struct cmd *const cmd_table[];

/* The command of that name, or NULL. */
const struct cmd *cmd_find(struct str name);

/* Puts the commands whose names are close to that one under the text of err. Always returns -1. */
int cmd_suggest(struct str name, struct err *err);

/* The options that every command takes, with titles; ended by a group without rows. */
extern const struct opt_group cmd_global_groups[];

/* The whole program: finds the command, parses its options, runs it, reports what failed.
 * Returns the exit code. words are the arguments without the program's name. */
int cmd_main(struct cmd_ctx *ctx, const struct opt_list *words);

/* The same under the name that the program was called by: kubectl-berth is a plug-in of kubectl,
 * and kubectl_complete-berth tells how its words may go on. */
int cmd_main_as(struct cmd_ctx *ctx, struct str path, const struct opt_list *words);

/* --- ctx.c: the outside world ----------------------------------------------------------------- */

/* Fills in what can be known from descriptors and environment: terminals, colour, width, log. */
void cmd_ctx_init(struct cmd_ctx *ctx, int in, int out, int err, const char *const *env);

/* The value of an environment variable, or NULL. */
const char *cmd_getenv(const struct cmd_ctx *ctx, const char *name);

/* Appends the title of a remark for standard error and a space, with colour where it is wanted. */
enum cmd_title { CMD_ERROR, CMD_WARNING, CMD_HINT };
void cmd_add_title(const struct cmd_ctx *ctx, enum cmd_title title, struct buf *out);

/* Puts a hint under the text of err, of which a long one is cut to leave room. Always returns -1.
 */
int cmd_hint(struct err *err, struct str hint);

/* Prints "error: text" and, for usage errors, where to find help. who is the command or NULL. */
void cmd_report(const struct cmd_ctx *ctx, const struct cmd *who, const struct err *err);

#endif
