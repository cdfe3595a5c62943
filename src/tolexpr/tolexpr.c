/* Expressions over a taint: compiled through the cache, for matching and for validation; and the
 * context itself. */
#include "tolexpr/tolexpr_int.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"

static const struct cel_env *env_of(struct tolexpr *x, enum tolexpr__env env) {
    uint32_t stored = env == TOLEXPR__STORED;
    return tolexpr__env(x, 1U << TOLEXPR__TAINT | stored << TOLEXPR__STORED_PART);
}

const struct cel_env *tolexpr__stored_env(struct tolexpr *x) {
    return env_of(x, TOLEXPR__STORED);
}

/* ---- compiling ---- */

/* The order of the questions is that of upstream's compilers. Only new expressions are asked for
 * their estimate: one that is stored is stopped when it has cost too much. */
static struct tolexpr__entry *judge(struct tolexpr *x, enum tolexpr__env env, struct str expression,
                                    const struct cel_ast *ast) {
    struct arena *a = &x->compiling;
    struct str text = cel_ast_issues(ast);
    if (text.n)
        return tolexpr__entry_new(expression, VALID_CEL_COMPILE, text, NULL);
    if (!tolexpr__has_type(&tolexpr__places[VALID_CEL_TOLERATION], ast, a, &text))
        return tolexpr__entry_new(expression, VALID_CEL_TYPE, text, NULL);
    struct cel_program *program = cel_program_new(ast, &text);
    if (!program)
        return tolexpr__entry_new(expression, VALID_CEL_PROGRAM, text, NULL);
    if (env == TOLEXPR__NEW && cel_estimate(ast).max > CEL_COST_LIMIT) {
        cel_program_free(program);
        return tolexpr__entry_new(expression, VALID_CEL_COST, STR(""), NULL);
    }
    return tolexpr__entry_new(expression, VALID_CEL_GOOD, STR(""), program);
}

static struct tolexpr__entry *compile(struct tolexpr *x, enum tolexpr__env env,
                                      struct str expression) {
    int64_t start = clock_mono(x->clock);
    const struct cel_ast *ast = cel_compile(env_of(x, env), &x->compiling, expression, 0);
    struct tolexpr__entry *e = judge(x, env, expression, ast);
    size_t weight = cel_ast_weight(ast);
    e->weight = weight > LIMIT_TOLERATION_COMPILE_LEAST ? weight : LIMIT_TOLERATION_COMPILE_LEAST;
    arena_reset(&x->compiling);
    x->cache.stats[env].compile_ns += (uint64_t)(clock_mono(x->clock) - start);
    return e;
}

/* What became of the expression; borrowed until the next call. NULL when the expressions before it
 * have spent what they may: those in the cache count as well, so that answers do not depend on it.
 */
static struct tolexpr__entry *get(struct tolexpr *x, enum tolexpr__env env, struct str expression,
                                  size_t *spent) {
    if (*spent >= LIMIT_TOLERATION_COMPILE_BYTES) {
        *spent = SIZE_MAX;
        return NULL;
    }
    struct tolexpr__entry *e = tolexpr__cache_find(&x->cache, env, expression);
    if (!e) {
        e = compile(x, env, expression);
        tolexpr__cache_add(&x->cache, env, e);
    }
    *spent += e->weight;
    return e;
}

/* ---- for validation ---- */

static struct valid_cel_answer check(void *ctx, const struct valid_cel_ask *ask, struct arena *a,
                                     size_t *spent) {
    if (ask->place != VALID_CEL_TOLERATION)
        return tolexpr__check_place(ctx, ask, a, spent);
    const struct tolexpr__entry *e = get(ctx, TOLEXPR__NEW, ask->expression, spent);
    if (!e)
        return (struct valid_cel_answer){.fault = VALID_CEL_TOO_MUCH};
    return (struct valid_cel_answer){.fault = e->fault, .text = arena_str(a, e->text)};
}

static void *variables_new(void *ctx) {
    const struct tolexpr *x = ctx;
    return cel_fields_new(STR(TOLEXPR__VARIABLES_TYPE), x->seed);
}

static void variables_free(void *ctx, void *variables) {
    (void)ctx;
    cel_fields_free(variables);
}

/* ---- for matching ---- */

/* Explanations are sentences: the first line of the issues, without the source below it. */
static int explain(const struct tolexpr__entry *e, struct err *err) {
    struct str line, rest;
    if (!str_cut(e->text, '\n', &line, &rest))
        line = e->text;
    return err_set(err, ERR_INVALID, "%.*s", STR_ARG(line));
}

static void *compile_stored(void *ctx, struct str expression, size_t *spent, struct err *err) {
    if (expression.n > LIMIT_TOLERATION_EXPRESSION_BYTES) {
        err_set(err, ERR_TOO_LARGE, "may not be more than %u bytes",
                LIMIT_TOLERATION_EXPRESSION_BYTES);
        return NULL;
    }
    struct tolexpr__entry *e = get(ctx, TOLEXPR__STORED, expression, spent);
    if (!e || !e->program) {
        if (e)
            explain(e, err);
        else
            err_set(err, ERR_TOO_LARGE,
                    "the expressions of a pod may take %u bytes together, each counted as %u at "
                    "least; join or shorten them",
                    LIMIT_TOLERATION_COMPILE_BYTES, LIMIT_TOLERATION_COMPILE_LEAST);
        return NULL;
    }
    e->refs++;
    return e;
}

/* In the order of the fields of their type. */
enum { TAINT_FIELDS = 3 };

static void fill_taint(struct cel_entry entries[TAINT_FIELDS], const struct match_taint *taint) {
    static const char *const names[TAINT_FIELDS] = {"key", "value", "effect"};
    const struct atom *const values[TAINT_FIELDS] = {taint->key, taint->value, taint->effect};
    for (size_t i = 0; i < TAINT_FIELDS; i++)
        entries[i] =
            (struct cel_entry){cel_of_str(str_of(names[i])), cel_of_str(intern_text(values[i]))};
}

/* Each evaluation of a pod's expressions on a node's taints has the same share, so that an answer
 * does not depend on what was asked before. */
uint64_t tolexpr_share(uint64_t evaluations) {
    uint64_t share = LIMIT_TOLERATION_COST / (evaluations ? evaluations : 1);
    return share < CEL_COST_LIMIT ? share : CEL_COST_LIMIT;
}

static int fail(struct str text, bool over_share, uint64_t evaluations, struct err *err) {
    if (!over_share)
        return err_set(err, ERR_INVALID, "%.*s", STR_ARG(text));
    return err_set(err, ERR_INVALID, "%.*s (%" PRIu64 " evaluations share %d)", STR_ARG(text),
                   evaluations, LIMIT_TOLERATION_COST);
}

static int eval(void *ctx, void *program, const struct match_taint *taint, uint64_t evaluations,
                struct err *err) {
    struct tolexpr *x = ctx;
    const struct tolexpr__entry *e = program;
    struct cel_entry entries[TAINT_FIELDS];
    struct cel_map map = {.entries = entries, .n = TAINT_FIELDS};
    struct cel_value var = cel_of_map(&map);
    uint64_t share = tolexpr_share(evaluations);
    if (share == 0)
        return fail(STR("operation cancelled: actual cost limit exceeded"), true, evaluations, err);
    fill_taint(entries, taint);
    struct cel_result r = cel_eval(e->program, &var, &x->evaluating, share);
    int verdict =
        r.value.kind == CEL_BOOL
            ? r.value.b
            : fail(cel_str(r.value), share < CEL_COST_LIMIT && r.cost > share, evaluations, err);
    arena_reset(&x->evaluating);
    return verdict;
}

static void release(void *ctx, void *program) {
    (void)ctx;
    tolexpr__entry_unref(program);
}

static void stored_stats(void *ctx, struct match_cache_stats *out) {
    const struct tolexpr *x = ctx;
    *out = x->cache.stats[TOLEXPR__STORED];
}

/* ---- all of it ---- */

struct tolexpr *tolexpr_new(const struct tolexpr_opts *opts) {
    struct tolexpr *x = xcalloc(1, sizeof *x);
    x->libs = cel_libs_at((unsigned)opts->compat.minor);
    x->clock = opts->clock;
    x->seed = opts->seed;
    tolexpr__cache_init(&x->cache,
                        opts->cache_bytes ? opts->cache_bytes : LIMIT_TOLERATION_CACHE_BYTES,
                        opts->seed);
    x->engine =
        (struct match_engine){x, compile_stored, eval, release, tolexpr__find_false, stored_stats};
    x->valid = (struct valid_cel){x, check, variables_new, variables_free};
    return x;
}

void tolexpr_free(struct tolexpr *x) {
    if (!x)
        return;
    tolexpr__cache_release(&x->cache);
    for (size_t i = 0; i < x->envs.n; i++)
        cel_env_free(x->envs.v[i].env);
    vec_release(&x->envs);
    arena_release(&x->compiling);
    arena_release(&x->evaluating);
    arena_release(&x->conditions.arena);
    vec_release(&x->conditions.texts);
    free(x);
}

const struct match_engine *tolexpr_match_engine(const struct tolexpr *x) {
    return &x->engine;
}

const struct valid_cel *tolexpr_valid_cel(const struct tolexpr *x) {
    return &x->valid;
}
