/* berth cel: what an expression is, costs, and gives for a taint. */
#include "cmd/cmd.h"

#include "api/object.h"
#include "cli/io.h"
#include "cmd/expr/cel_prompt.h"
#include "cmd/expr/expr.h"
#include "cmd/input/input.h"
#include "cmd/input/match_args.h"
#include "cmd/match_pairs.h"
#include "cmd/rows.h"

enum { LONGEST_OUTPUT = 256 << 20 };

struct cel_opts {
    struct input_opts input;
    struct opt_list taints;
    bool ast, batch, explain;
    int output; /* enum text_or_json */
};

static const struct opt cel_opts[] = {
    {.name = "ast",
     .kind = OPT_FLAG,
     .help = "Print the tree of the expression, with the type of each node.",
     .offset = offsetof(struct cel_opts, ast)},
    {.name = "batch",
     .kind = OPT_FLAG,
     .help = "Answer each line of standard input, a JSON object with \"expr\" and perhaps "
             "\"taint\", with a line.",
     .offset = offsetof(struct cel_opts, batch)},
    {.name = "explain",
     .kind = OPT_FLAG,
     .help = "Tell for each taint what every part of the expression gives on its own.",
     .offset = offsetof(struct cel_opts, explain)},
    ROW_TEXT_OR_JSON(offsetof(struct cel_opts, output)),
    ROW_TAINT(offsetof(struct cel_opts, taints)),
    {0},
};

/* ---- taints ---- */

struct taints {
    struct arena *arena;
    VEC(struct expr_taint) list;
};

static int add_words(struct taints *t, const struct opt_list *texts, struct err *err) {
    for (size_t i = 0; i < texts->n; i++) {
        struct api_taint *taint = arena_new(t->arena, struct api_taint);
        if (match_args_taint(t->arena, texts->v[i], taint, err) < 0)
            return -1;
        vec_push(&t->list, (struct expr_taint){.taint = taint, .count = texts->n});
    }
    return 0;
}

static void add_node(void *taints, const struct api_object *o) {
    struct taints *t = taints;
    struct arena *a = t->arena;
    if (o->type != &api_types[API_T_node])
        return;
    struct api_taint_list list = match_node_taints(a, &((const struct api_node *)o->body)->spec);
    struct str name = arena_str(a, o->meta->name);
    for (size_t i = 0; i < list.n; i++) {
        struct api_taint *taint = &list.v[i];
        taint->key = arena_str(a, taint->key);
        taint->value = arena_str(a, taint->value);
        taint->effect = arena_str(a, taint->effect);
        vec_push(&t->list, (struct expr_taint){.node = name, .taint = taint, .count = list.n});
    }
}

/* ---- the answer ---- */

static bool write_report(struct buf *out, const struct expr_report *r, enum text_or_json format) {
    return format == AS_JSON ? expr_report_write_json(out, r) : expr_report_write_text(out, r);
}

static int answer(struct cmd_call *call, const struct taints *t, struct err *err) {
    const struct cel_opts *opts = call->opts;
    struct cel_env *env = expr_env_new();
    AUTO(buf_release) struct buf out = BUF_INIT(LONGEST_OUTPUT);
    struct expr e;
    struct expr_parts parts;
    expr_init(&e, env, call->arena, call->args.v[0], call->ctx->clock);
    expr_parts_init(&parts, env, call->arena, opts->explain ? &e : NULL, call->ctx->clock);
    struct expr_report report = {.clock = call->ctx->clock,
                                 .expr = &e,
                                 .parts = opts->explain ? &parts : NULL,
                                 .taints = t->list.v,
                                 .taint_count = t->list.n,
                                 .ast = opts->ast};
    bool good = write_report(&out, &report, (enum text_or_json)opts->output);
    expr_parts_release(&parts);
    expr_release(&e);
    cel_env_free(env);
    if (out.full)
        return err_set(err, ERR_TOO_LARGE, "the output needs more than %d MiB",
                       LONGEST_OUTPUT >> 20);
    if (io_write(call->ctx->out, buf_view(&out), err) < 0)
        return -1;
    return good ? CMD_GOOD : CMD_BAD_VERDICT;
}

static int ask(struct cmd_call *call, const struct taints *t, struct err *err) {
    const struct cel_opts *opts = call->opts;
    struct cel_prompt_opts start = {
        .taints = t->list.v, .taint_count = t->list.n, .tree = opts->ast, .explain = opts->explain};
    return cel_prompt(call->ctx, &start, err);
}

static int check_usage(const struct cmd_call *call, struct err *err) {
    const struct cel_opts *opts = call->opts;
    bool taints = opts->taints.n || opts->input.filenames.n;
    if (opts->batch && (taints || opts->ast || opts->explain || call->args.n))
        return err_set(err, ERR_USAGE,
                       "--batch takes no expression, no taints, no --ast and no --explain");
    if (!opts->batch && !call->args.n && !call->ctx->in_is_tty)
        return err_set(err, ERR_USAGE, "no expression: name one, or give lines with --batch");
    if (!opts->batch && !call->args.n && opts->output != AS_TEXT)
        return err_set(err, ERR_USAGE, "without an expression the output is text");
    if (opts->explain && !taints && call->args.n)
        return err_set(err, ERR_USAGE, "--explain needs --taint, or -f with a node");
    return 0;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct cel_opts *opts = call->opts;
    struct taints t = {.arena = call->arena};
    if (check_usage(call, err) < 0)
        return -1;
    if (opts->batch)
        return expr_batch(call->ctx, err);
    int rc = add_words(&t, &opts->taints, err);
    if (rc == 0)
        rc = input_each(call->ctx, &opts->input, add_node, &t, err);
    if (rc == 0 && call->args.n)
        rc = answer(call, &t, err);
    else if (rc == 0)
        rc = ask(call, &t, err);
    vec_release(&t.list);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Would a toleration accept this expression?", "berth cel \"taint.key.startsWith('gpu.')\""},
    {"What does it give for a taint, and why?",
     "berth cel \"int(taint.value) > 950\" --taint sla=990:NoSchedule --explain"},
    {"For every taint of a cluster",
     "kubectl get nodes -o json | berth cel \"taint.effect == 'NoExecute'\" -f -"},
    {0},
};

const struct cmd cmd_cel = {
    .name = "cel",
    .summary = "Check, estimate and evaluate a CEL expression against taints",
    .about =
        "Compile an expression in the environment of a toleration's expression (KEP-5500), and "
        "print its type, its estimated cost and whether a toleration may have it; errors come with "
        "the place they are at. With taints, from --taint or from the nodes of -f, also print what "
        "the expression gives for each, and what that cost. Without an expression on a terminal, "
        "ask for one after the other.\n\n"
        "Exits with 0 when a toleration may have the expression and it holds for every taint, 1 "
        "when it is bad, or false or an error for some taint, 2 when an input cannot be read. With "
        "--batch the answers are data: 1 only when a line could not be read.",
    .usage = "[EXPR | --batch] [--taint TAINT...] [-f FILE...] [options]",
    .examples = examples,
    .groups = {{"Options", cel_opts, 0},
               {"Input Options", input_opts, offsetof(struct cel_opts, input)}},
    .opts_size = sizeof(struct cel_opts),
    .most_args = 1,
    .args_hint = "the expression is one argument, so quote it",
    .run = run,
};
