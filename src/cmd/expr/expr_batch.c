/*
 * Expressions of another program, one JSON object on a line, each answered by one on a line: what
 * the real engine is compared with, and what a test suite can be built on.
 */
#include <inttypes.h>

#include "api/types.h"
#include "cli/io.h"
#include "cmd/expr/expr.h"
#include "cmd/input/lines.h"
#include "codec/json.h"

enum { LONGEST_LINE = 1 << 20, BLOCK = 1 << 16, MOST_OUTPUT = 256 << 20 };

/* What an expression is held against when its line names no taint. */
static const struct api_taint usual_taint = {.key = STR_INIT("env.example.com/dev"),
                                             .value = STR_INIT("5.15.0"),
                                             .effect = STR_INIT("NoSchedule")};

struct batch {
    struct cmd_ctx *ctx;
    const struct cel_env *env;
    struct lines in;
    struct buf out;
    struct arena arena; /* of the line */
    bool all_read;
};

static int read_str(const struct json *object, struct str key, struct str *out, struct err *err) {
    const struct json *v = json_get(object, key);
    if (v && v->kind != JSON_STRING)
        return err_set(err, ERR_INVALID, "\"%.*s\" must be a string", STR_ARG(key));
    *out = v ? json_str(v) : STR("");
    return 0;
}

static int read_taint(const struct json *line, struct api_taint *out, struct err *err) {
    const struct json *v = json_get(line, STR("taint"));
    *out = usual_taint;
    if (!v || v->kind == JSON_NULL)
        return 0;
    if (v->kind != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "\"taint\" must be an object");
    return read_str(v, STR("key"), &out->key, err) < 0 ||
                   read_str(v, STR("value"), &out->value, err) < 0
               ? -1
               : read_str(v, STR("effect"), &out->effect, err);
}

static int read_line(struct batch *b, struct str text, struct str *expr, struct api_taint *taint,
                     struct err *err) {
    struct json line;
    if (json_parse(&b->arena, text, NULL, &line, err) < 0)
        return -1;
    if (line.kind != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "the line must be an object");
    if (!json_get(&line, STR("expr")))
        return err_set(err, ERR_INVALID, "\"expr\" is missing");
    return read_str(&line, STR("expr"), expr, err) < 0 ? -1 : read_taint(&line, taint, err);
}

static void add(struct batch *b, struct json *to, const char *key, struct str value) {
    json_add(&b->arena, to, str_of(key), json_of_str(value));
}

static void add_outcome(struct batch *b, const struct expr *e, const struct api_taint *taint,
                        struct json *to) {
    struct expr_outcome o = expr_eval(e, taint, 1, &b->arena, b->ctx->clock);
    if (o.error.n) {
        add(b, to, "eval_error", o.error);
    } else {
        add(b, to, "result", o.result);
        add(b, to, "result_type", o.type);
    }
    json_add(&b->arena, to, STR("cost"), json_of_u64(o.cost));
}

static void add_answer(struct batch *b, struct str text, const struct api_taint *taint,
                       struct json *to) {
    struct expr e;
    expr_init(&e, b->env, &b->arena, text, b->ctx->clock);
    if (e.issues.n) {
        add(b, to, "issues", e.issues);
        return;
    }
    add(b, to, "type", e.type);
    add(b, to, "est_min", arena_printf(&b->arena, "%" PRIu64, e.cost.min));
    add(b, to, "est_max", arena_printf(&b->arena, "%" PRIu64, e.cost.max));
    if (e.program)
        add_outcome(b, &e, taint, to);
    else
        add(b, to, "program_error", e.plan_error);
    expr_release(&e);
}

static void answer(struct batch *b, struct str text, bool cut) {
    struct json out = {.kind = JSON_OBJECT};
    struct api_taint taint;
    struct str expr;
    struct err why;
    int rc = cut ? err_set(&why, ERR_TOO_LARGE, "the line is longer than %d bytes", LONGEST_LINE)
                 : read_line(b, text, &expr, &taint, &why);
    if (rc == 0)
        add_answer(b, expr, &taint, &out);
    else
        add(b, &out, "error", arena_str(&b->arena, str_of(why.msg)));
    b->all_read &= rc == 0;
    json_write(&b->out, &out, &(struct json_style){.raw_html = true});
    buf_add_char(&b->out, '\n');
    arena_reset(&b->arena);
}

/* Writes what waits before more is read, so that a program may ask again after each answer. */
static int flush(struct batch *b, struct err *err) {
    if (b->out.n < BLOCK && lines_ready(&b->in))
        return 0;
    int rc = io_write(b->ctx->out, buf_view(&b->out), err);
    buf_clear(&b->out);
    return rc;
}

int expr_batch(struct cmd_ctx *ctx, struct err *err) {
    struct cel_env *env = expr_env_new();
    struct batch b = {.ctx = ctx, .env = env, .out = BUF_INIT(MOST_OUTPUT), .all_read = true};
    struct str text;
    bool cut;
    int rc;
    lines_init(&b.in, ctx->in, LONGEST_LINE);
    while ((rc = lines_next(&b.in, &text, &cut, err)) > 0) {
        if (cut || str_trim(text).n)
            answer(&b, text, cut);
        if ((rc = flush(&b, err)) < 0)
            break;
    }
    if (rc == 0)
        rc = io_write(ctx->out, buf_view(&b.out), err);
    lines_release(&b.in);
    buf_release(&b.out);
    arena_release(&b.arena);
    cel_env_free(env);
    return rc < 0 ? -1 : b.all_read ? CMD_GOOD : CMD_BAD_VERDICT;
}
