/* From text to program to outcome, with the time that each step takes. */
#include "cmd/expr/expr.h"

#include <inttypes.h>

#include "api/types.h"
#include "base/limits.h"
#include "base/map.h"
#include "feature/feature.h"
#include "tolexpr/tolexpr.h"

/* The greatest sizes that validation allows; the estimate counts with them. */
static const struct cel_var fields[] = {
    {STR_INIT("key"), STR_INIT("string[317]")},
    {STR_INIT("value"), STR_INIT("string[63]")},
    {STR_INIT("effect"), STR_INIT("string[16]")},
};

static const struct cel_object taint_object = {STR_INIT("kubernetes.Taint"), fields,
                                               sizeof fields / sizeof *fields};
static const struct cel_var taint_var = {STR_INIT("taint"), STR_INIT("kubernetes.Taint")};

struct cel_env *expr_env_new(void) {
    /* New expressions may use what the version before has too, so that a rollback can read them. */
    unsigned minor = (unsigned)FEATURE_NEWEST.minor - 1;
    struct cel_env_opts opts = {.libs = cel_libs_at(minor),
                                .objects = &taint_object,
                                .object_count = 1,
                                .vars = &taint_var,
                                .var_count = 1,
                                .seed = map_random_seed()};
    return cel_env_new(&opts);
}

static struct str why_unusable(const struct expr *e, struct arena *a) {
    if (e->issues.n)
        return STR("it does not compile");
    if (e->text.n > LIMIT_TOLERATION_EXPRESSION_BYTES)
        return arena_printf(a, "it is longer than %u bytes", LIMIT_TOLERATION_EXPRESSION_BYTES);
    if (!cel_ast_is_bool(e->ast))
        return arena_printf(a, "its type is %.*s, not bool", STR_ARG(e->type));
    if (e->cost.max > CEL_COST_LIMIT)
        return arena_printf(a, "it may cost more than %" PRIu64, CEL_COST_LIMIT);
    return e->plan_error.n ? STR("a constant part of it fails") : STR("");
}

void expr_init(struct expr *e, const struct cel_env *env, struct arena *a, struct str text,
               const struct clock *clock) {
    int64_t start = clock_mono(clock);
    *e = (struct expr){.text = text, .ast = cel_compile(env, a, text, 0)};
    e->issues = cel_ast_issues(e->ast);
    if (e->issues.n == 0) {
        e->type = cel_ast_type(e->ast, a);
        e->cost = cel_estimate(e->ast);
        e->program = cel_program_new(e->ast, &e->plan_error);
    }
    e->compile_ns = clock_mono(clock) - start;
    e->unusable = why_unusable(e, a);
}

void expr_release(struct expr *e) {
    cel_program_free(e->program);
    e->program = NULL;
}

static void write_result(struct expr_outcome *out, struct cel_value v, struct arena *a) {
    AUTO(buf_release) struct buf text = BUF_INIT(EXPR_MOST_RESULT);
    cel_write(&text, v);
    if (text.full) {
        out->error = STR("the result is too long to print");
        return;
    }
    out->result = arena_str(a, buf_view(&text));
    out->type = arena_str(a, cel_type_name_of(v));
    out->holds = v.kind != CEL_BOOL || v.b;
}

struct expr_outcome expr_eval(const struct expr *e, const struct api_taint *taint,
                              uint64_t evaluations, struct arena *a, const struct clock *clock) {
    AUTO(arena_release) struct arena scratch = {0};
    struct cel_entry entries[] = {
        {cel_of_str(STR("key")), cel_of_str(taint->key)},
        {cel_of_str(STR("value")), cel_of_str(taint->value)},
        {cel_of_str(STR("effect")), cel_of_str(taint->effect)},
    };
    struct cel_map map = {.entries = entries, .n = sizeof entries / sizeof *entries};
    struct cel_value vars[] = {cel_of_map(&map)};
    int64_t start = clock_mono(clock);
    struct cel_result r = cel_eval(e->program, vars, &scratch, tolexpr_share(evaluations));
    struct expr_outcome out = {.cost = r.cost, .ns = clock_mono(clock) - start};
    if (r.value.kind == CEL_ERROR)
        out.error = arena_str(a, cel_str(r.value));
    else
        write_result(&out, r.value, a);
    return out;
}
