/* A plain loop over lines: editing and history are the terminal's, or rlwrap's. */
#include "cmd/expr/cel_prompt.h"

#include "api/types.h"
#include "cli/io.h"
#include "cmd/input/lines.h"
#include "cmd/input/match_args.h"

enum { LONGEST_LINE = 1 << 20, LONGEST_OUTPUT = 64 << 20 };

static const char help[] = "Type an expression, or one of\n"
                           "  :taint TAINT   hold expressions against this taint too, such as "
                           "sla=950:NoSchedule\n"
                           "  :clear         against no taint\n"
                           "  :tree          print trees, or no longer\n"
                           "  :explain       print what each part gives, or no longer\n"
                           "  :quit          leave; as does the end of the input\n";

struct prompt {
    struct cmd_ctx *ctx;
    struct cel_env *env;
    struct arena arena; /* of the taints */
    VEC(struct expr_taint) taints;
    bool tree, explain;
    struct buf out;
};

static void add_taint(struct prompt *p, struct str text) {
    struct api_taint *taint = arena_new(&p->arena, struct api_taint);
    struct err why;
    if (match_args_taint(&p->arena, str_trim(text), taint, &why) < 0)
        buf_addf(&p->out, "error: %s\n", why.msg);
    else
        vec_push(&p->taints, (struct expr_taint){.taint = taint});
}

static void evaluate(struct prompt *p, struct str text) {
    AUTO(arena_release) struct arena a = {0};
    struct expr e;
    struct expr_parts parts;
    expr_init(&e, p->env, &a, text, p->ctx->clock);
    expr_parts_init(&parts, p->env, &a, p->explain ? &e : NULL, p->ctx->clock);
    struct expr_report report = {.clock = p->ctx->clock,
                                 .expr = &e,
                                 .parts = &parts,
                                 .taints = p->taints.v,
                                 .taint_count = p->taints.n,
                                 .ast = p->tree};
    expr_report_write_text(&p->out, &report);
    expr_parts_release(&parts);
    expr_release(&e);
}

/* One line that was typed; false ends the loop. */
static bool obey(struct prompt *p, struct str line) {
    struct str word, rest;
    str_cut(line, ' ', &word, &rest);
    if (str_is(word, ":quit"))
        return false;
    if (str_is(word, ":taint"))
        add_taint(p, rest);
    else if (str_is(word, ":clear"))
        vec_clear(&p->taints);
    else if (str_is(word, ":tree"))
        p->tree = !p->tree;
    else if (str_is(word, ":explain"))
        p->explain = !p->explain;
    else if (str_starts(word, STR(":")))
        buf_add(&p->out, str_of(help));
    else if (line.n)
        evaluate(p, line);
    return true;
}

static int ask(struct prompt *p, struct lines *in, struct err *err) {
    struct str line;
    bool cut, more = true;
    int rc = 0;
    while (more && rc >= 0) {
        (void)io_write(p->ctx->err, STR("cel> "), NULL);
        rc = lines_next(in, &line, &cut, err);
        if (rc <= 0)
            break;
        if (cut)
            buf_add(&p->out, STR("error: the line is too long\n"));
        else
            more = obey(p, str_trim(line));
        rc = io_write(p->ctx->out, buf_view(&p->out), err);
        buf_clear(&p->out);
    }
    if (more && rc == 0)
        (void)io_write(p->ctx->err, STR("\n"), NULL);
    return rc < 0 ? -1 : CMD_GOOD;
}

int cel_prompt(struct cmd_ctx *ctx, const struct cel_prompt_opts *start, struct err *err) {
    struct prompt p = {.ctx = ctx,
                       .env = expr_env_new(),
                       .tree = start->tree,
                       .explain = start->explain,
                       .out = BUF_INIT(LONGEST_OUTPUT)};
    struct lines in;
    for (size_t i = 0; i < start->taint_count; i++)
        vec_push(&p.taints, start->taints[i]);
    lines_init(&in, ctx->in, LONGEST_LINE);
    (void)io_write(ctx->err,
                   STR("CEL expressions over taint.key, taint.value and taint.effect; "
                       ":help for more.\n"),
                   NULL);
    int rc = ask(&p, &in, err);
    lines_release(&in);
    buf_release(&p.out);
    vec_release(&p.taints);
    arena_release(&p.arena);
    cel_env_free(p.env);
    return rc;
}
