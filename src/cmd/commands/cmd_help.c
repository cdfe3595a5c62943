/* berth help: the help of the program or of a command, and the hidden forms for the build. */
#include "cmd/cmd.h"

#include "cli/io.h"
#include "cmd/help/help.h"

struct help_opts {
    bool man, markdown, cel;
};

static const struct opt help_opts[] = {
    {.name = "cel",
     .kind = OPT_FLAG,
     .hidden = true,
     .help = "Print the reference of CEL's functions in Markdown.",
     .offset = offsetof(struct help_opts, cel)},
    {.name = "man",
     .kind = OPT_FLAG,
     .hidden = true,
     .help = "Print the man page.",
     .offset = offsetof(struct help_opts, man)},
    {.name = "markdown",
     .kind = OPT_FLAG,
     .hidden = true,
     .help = "Print the reference in Markdown.",
     .offset = offsetof(struct help_opts, markdown)},
    {0},
};

static int print_topic(struct cmd_call *call, struct buf *out, struct err *err) {
    const struct cmd *topic = NULL;
    if (call->args.n > 0) {
        topic = cmd_find(call->args.v[0]);
        if (!topic) {
            err_set(err, ERR_USAGE, "unknown help topic \"%.*s\"", STR_ARG(call->args.v[0]));
            return cmd_suggest(call->args.v[0], err);
        }
    }
    help_print(call->ctx, topic, out);
    return 0;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct help_opts *opts = call->opts;
    AUTO(buf_release) struct buf out = BUF_INIT(HELP_MOST_BYTES);
    if (opts->man)
        help_print_man(&out);
    else if (opts->markdown)
        help_print_markdown(&out);
    else if (opts->cel)
        help_print_cel(&out);
    else if (print_topic(call, &out, err) < 0)
        return -1;
    return io_write(call->ctx->out, buf_view(&out), err);
}

static const struct cmd_example examples[] = {
    {"List the commands", "berth help"},
    {"Show what a command does and which options it takes", "berth help convert"},
    {0},
};

const struct cmd cmd_help = {
    .name = "help",
    .summary = "Show help for the program or one of its commands",
    .about = "Show help for the program or one of its commands.",
    .usage = "[COMMAND]",
    .examples = examples,
    .groups = {{"Options", help_opts, 0}},
    .opts_size = sizeof(struct help_opts),
    .most_args = 1,
    .args_are_commands = true,
    .run = run,
};
