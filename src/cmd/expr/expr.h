/*
 * An expression of `berth cel` on its way through the engine: compiled once, held against taints,
 * and reported. The environment is that of a toleration: Kubernetes' libraries and one variable,
 * `taint`.
 */
#ifndef CMD_EXPR_EXPR_H
#define CMD_EXPR_EXPR_H

#include "base/vec.h"
#include "cel/cel.h"
#include "cmd/cmd.h"

struct api_taint;
struct json;

/* One result printed; a longer one is an error. */
enum { EXPR_MOST_RESULT = 16 << 20 };

/* A new environment; free it with cel_env_free. */
struct cel_env *expr_env_new(void);

/* What is known of an expression before there is a taint. */
struct expr {
    struct str text;
    struct str issues; /* why it does not compile, with snippets; empty: it does */
    struct str type;
    struct cel_range cost; /* estimated */
    struct str plan_error; /* why there is no program for it; empty: there is */
    struct str unusable;   /* why no toleration can have it; empty: it can */
    int64_t compile_ns;
    const struct cel_ast *ast;
    struct cel_program *program; /* NULL: it cannot be evaluated */
};

/* Compiles text. Everything lives in the arena but the program: expr_release. */
void expr_init(struct expr *e, const struct cel_env *env, struct arena *a, struct str text,
               const struct clock *clock);
void expr_release(struct expr *e);

/* What came of an expression and a taint. */
struct expr_outcome {
    struct str result, type; /* as CEL literal; absent when it failed */
    struct str error;        /* empty: it did not fail */
    uint64_t cost;
    int64_t ns;
    bool holds; /* neither an error nor false */
};

/* A taint and the node that has it. */
struct expr_taint {
    struct str node; /* empty: from the command line */
    const struct api_taint *taint;
    size_t count; /* taints of the node, which share what an evaluation may cost; 0: it is alone */
};

/* Evaluates with the share of one in `evaluations`, as a scheduler would; e must have a program.
 * The texts live in the arena. */
struct expr_outcome expr_eval(const struct expr *e, const struct api_taint *taint,
                              uint64_t evaluations, struct arena *a, const struct clock *clock);

/* ---- expr_parts.c ---- */

/* A sub-expression, to be evaluated on its own. */
struct expr_part {
    struct expr expr;
    uint32_t depth;
};

struct expr_parts {
    const struct cel_env *env;
    const struct clock *clock;
    struct arena *arena;
    VEC(struct expr_part) list;
    size_t bytes;   /* of the texts of those that were compiled */
    size_t omitted; /* parts behind LIMIT_CEL_PARTS_BYTES */
};

/* The parts of e that say something: no literals, no bare names, nothing inside a macro. None when
 * e is NULL. */
void expr_parts_init(struct expr_parts *p, const struct cel_env *env, struct arena *a,
                     const struct expr *e, const struct clock *clock);
void expr_parts_release(struct expr_parts *p);

/* ---- expr_report.c ---- */

struct expr_report {
    const struct clock *clock;
    const struct expr *expr;
    const struct expr_parts *parts; /* NULL: no explanation is wanted */
    const struct expr_taint *taints;
    size_t taint_count;
    bool ast;
};

/* Evaluates against every taint and appends what comes of it, as lines of text or as one JSON
 * object. True when the expression is good and holds for all of them. */
bool expr_report_write_text(struct buf *out, const struct expr_report *r);
bool expr_report_write_json(struct buf *out, const struct expr_report *r);

/* ---- expr_batch.c ---- */

/* Answers every line of standard input with a line. An exit code, or -1. */
int expr_batch(struct cmd_ctx *ctx, struct err *err);

#endif
