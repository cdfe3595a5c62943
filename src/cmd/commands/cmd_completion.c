/* berth completion: the script that lets a shell complete commands, options and values. */
#include "cmd/cmd.h"

#include "cli/io.h"
#include "cmd/help/complete.h"

enum { MOST_SCRIPT_BYTES = 1 << 20 };

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(struct buf *) = {complete_bash, complete_zsh, complete_fish};

static int run(struct cmd_call *call, struct err *err) {
    struct str known = opt_words_join(call->arena, shells, ", ", " or ");
    if (call->args.n == 0)
        return err_set(err, ERR_USAGE, "Shell not specified: it must be %.*s", STR_ARG(known));
    struct str shell = call->args.v[0];
    size_t i = 0;
    while (shells[i] && !str_is(shell, shells[i]))
        i++;
    if (!shells[i])
        return err_set(err, ERR_USAGE, "Unsupported shell type \"%.*s\": it must be %.*s",
                       STR_ARG(shell), STR_ARG(known));
    AUTO(buf_release) struct buf out = BUF_INIT(MOST_SCRIPT_BYTES);
    writers[i](&out);
    return io_write(call->ctx->out, buf_view(&out), err);
}

static const struct cmd_example examples[] = {
    {"Complete in this bash", "source <(berth completion bash)"},
    {"Install for zsh", "berth completion zsh > \"${fpath[1]}/_berth\""},
    {"Install for fish", "berth completion fish > ~/.config/fish/completions/berth.fish"},
    {0},
};

const struct cmd cmd_completion = {
    .name = "completion",
    .summary = "Print the completion script for bash, zsh or fish",
    .about = "Print the script that completes commands, options and their values in a shell.",
    .usage = "bash|zsh|fish",
    .examples = examples,
    .most_args = 1,
    .arg_words = shells,
    .run = run,
};
