/* The table of commands, the options that all of them share, and the way from words to a run. */
#include "cmd/cmd.h"

#include "cli/io.h"
#include "cli/spelling.h"
#include "cmd/help/complete.h"
#include "cmd/help/help.h"

const struct cmd *const cmd_table[] = {
    &cmd_validate,
    &cmd_schedule,
    &cmd_explain,
    &cmd_match,
    &cmd_cel,
    &cmd_convert,
    &cmd_gates,
    &cmd_up,
    &cmd_apiserver,
    &cmd_scheduler,
    &cmd_controller_manager,
    &cmd_kubelet,
    &cmd_store,
    &cmd_completion,
    &cmd_version,
    &cmd_help,
    NULL,
};

struct globals {
    bool help;
    int64_t verbosity;
    int log_format; /* enum log_format */
};

static const char *const log_formats[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json", NULL};

static const struct opt global_opts[] = {
    {.name = "help",
     .letter = 'h',
     .kind = OPT_FLAG,
     .help = "Show help for the command.",
     .offset = offsetof(struct globals, help)},
    {.name = "log-format",
     .kind = OPT_ENUM,
     .value = "FORMAT",
     .help = "How diagnostics on standard error are written: text or json.",
     .offset = offsetof(struct globals, log_format),
     .fallback = "text",
     .words = log_formats},
    {.name = "v",
     .letter = 'v',
     .kind = OPT_INT,
     .value = "LEVEL",
     .help = "Verbosity of the diagnostics; 2 tells what is read, 0 only what fails.",
     .offset = offsetof(struct globals, verbosity),
     .fallback = "0"},
    {0},
};

/* What may stand in the place of a command. */
struct instead {
    bool version;
};

static const struct opt instead_opts[] = {
    {.name = "version",
     .kind = OPT_FLAG,
     .hidden = true,
     .help = "As berth version.",
     .offset = offsetof(struct instead, version)},
    {0},
};

const struct opt_group cmd_global_groups[] = {{"Global Options", global_opts, 0}, {0}};

const struct cmd *cmd_find(struct str name) {
    for (size_t i = 0; cmd_table[i]; i++)
        if (str_is(name, cmd_table[i]->name))
            return cmd_table[i];
    return NULL;
}

int cmd_suggest(struct str name, struct err *err) {
    struct suggest suggest = {.typed = name};
    for (size_t i = 0; cmd_table[i]; i++)
        suggest_offer(&suggest, cmd_table[i]->name);
    return suggest_fail(&suggest, "", err);
}

static int check_args(const struct cmd *cmd, const struct opt_list *args, struct err *err) {
    if (args->n <= cmd->most_args)
        return 0;
    AUTO(buf_release) struct buf extra = BUF_INIT(ERR_TEXT);
    for (size_t i = cmd->most_args; i < args->n; i++)
        buf_addf(&extra, "%s%.*s", i == cmd->most_args ? "" : " ", STR_ARG(args->v[i]));
    return err_set(err, ERR_USAGE, "extra arguments: [%.*s%s]%s%s", STR_ARG(buf_view(&extra)),
                   extra.full ? "..." : "", cmd->args_hint ? ": " : "",
                   cmd->args_hint ? cmd->args_hint : "");
}

static int run_help(struct cmd_ctx *ctx, const struct cmd *cmd, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(HELP_MOST_BYTES);
    help_print(ctx, cmd, &text);
    return io_write(ctx->out, buf_view(&text), err);
}

static void set_up_log(struct cmd_ctx *ctx, const struct globals *g) {
    ctx->log.verbosity = g->verbosity > INT32_MAX ? INT32_MAX : (int)g->verbosity;
    ctx->log.format = (enum log_format)g->log_format;
}

/* Runs cmd with all words but its name. */
static int run_command(struct cmd_ctx *ctx, const struct cmd *cmd, struct arena *arena,
                       const struct opt_list *words, struct err *err) {
    struct globals g = {0};
    char *opts = arena_calloc(arena, 1, cmd->opts_size);
    struct opt_target targets[CMD_GROUPS + 1] = {{global_opts, &g}};
    size_t n = 1;
    for (const struct opt_group *group = cmd->groups; group->rows; group++)
        targets[n++] = (struct opt_target){group->rows, opts + group->at};

    struct opt_parser parser = {.arena = arena, .targets = targets, .target_count = n};
    struct cmd_call call = {.ctx = ctx, .arena = arena, .opts = opts};
    int rc = opt_parse(&parser, words, &call.args, err);
    if (g.help)
        return run_help(ctx, cmd, err);
    if (rc < 0 || check_args(cmd, &call.args, err) < 0)
        return -1;
    set_up_log(ctx, &g);
    return cmd->run(&call, err);
}

/* The words without the command's name; options of all commands may stand before it. */
static struct opt_list without(struct arena *arena, const struct opt_list *words, size_t name_at) {
    struct opt_list rest = {0};
    for (size_t i = 0; i < words->n; i++)
        if (i != name_at)
            opt_list_add(arena, &rest, words->v[i]);
    return rest;
}

static int dispatch(struct cmd_ctx *ctx, struct arena *arena, const struct opt_list *words,
                    const struct cmd **cmd, struct err *err) {
    struct globals g = {0};
    struct instead instead = {0};
    struct opt_target targets[] = {{global_opts, &g}, {instead_opts, &instead}};
    struct opt_parser parser = {
        .arena = arena, .targets = targets, .target_count = 2, .stop_at_argument = true};
    struct opt_list rest = {0};
    int rc = opt_parse(&parser, words, &rest, err);
    if (rc < 0 && !g.help)
        return -1;
    if (instead.version && !g.help)
        return run_command(ctx, &cmd_version, arena, &(struct opt_list){0}, err);
    if (rest.n == 0)
        return run_help(ctx, NULL, err);
    *cmd = cmd_find(rest.v[0]);
    if (!*cmd) {
        err_set(err, ERR_USAGE, "unknown command \"%.*s\" for \"%s\"", STR_ARG(rest.v[0]),
                ctx->program);
        return cmd_suggest(rest.v[0], err);
    }
    struct opt_list own = without(arena, words, words->n - rest.n);
    return run_command(ctx, *cmd, arena, &own, err);
}

int cmd_main(struct cmd_ctx *ctx, const struct opt_list *words) {
    AUTO(arena_release) struct arena arena = {0};
    const struct cmd *cmd = NULL;
    struct err err;
    int rc = dispatch(ctx, &arena, words, &cmd, &err);
    if (rc >= 0)
        return rc;
    cmd_report(ctx, cmd, &err);
    return CMD_FAILED;
}

static int complete(struct cmd_ctx *ctx, const struct opt_list *words) {
    AUTO(buf_release) struct buf text = BUF_INIT(HELP_MOST_BYTES);
    complete_words(words, &text);
    return io_write(ctx->out, buf_view(&text), NULL) < 0 ? CMD_FAILED : CMD_GOOD;
}

int cmd_main_as(struct cmd_ctx *ctx, struct str path, const struct opt_list *words) {
    size_t slash = path.n;
    while (slash && path.p[slash - 1] != '/')
        slash--;
    struct str name = str_sub(path, slash, path.n);
    if (str_is(name, "kubectl_complete-berth"))
        return complete(ctx, words);
    if (str_is(name, "kubectl-berth"))
        ctx->program = "kubectl berth";
    return cmd_main(ctx, words);
}
