/* cel_vectors.jsonl: an expression compiled, estimated, planned and evaluated against one taint; or
 * one that selects devices, compiled as validation does it. */
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cel/cel.h"
#include "members.h"
#include "tolexpr/tolexpr.h"
#include "valid/valid.h"
#include "vectors.h"

static const struct cel_var fields[] = {
    {STR_INIT("key"), STR_INIT("string[317]")},
    {STR_INIT("value"), STR_INIT("string[63]")},
    {STR_INIT("effect"), STR_INIT("string[16]")},
};

static const struct cel_object taint_object = {STR_INIT("kubernetes.Taint"), fields, 3};
static const struct cel_var taint = {STR_INIT("taint"), STR_INIT("kubernetes.Taint")};

static struct cel_env *env_of(struct str name) {
    struct cel_env_opts opts = {.libs = cel_libs_at(36),
                                .objects = &taint_object,
                                .object_count = 1,
                                .vars = &taint,
                                .var_count = 1};
    if (str_starts(name, STR("new@1.37")))
        opts.libs = cel_libs_at(37) | 1U << CEL_LIB_BIND;
    return cel_env_new(&opts);
}

/* Syntax errors: recovery differs, so the first error alone counts. */
static struct str first_line(struct str s) {
    struct str line, rest;
    str_cut(s, '\n', &line, &rest);
    return line;
}

static void add(struct arena *a, struct json *got, const char *key, struct str value) {
    json_add(a, got, str_of(key), json_of_str(value));
}

/* As a number of 64 bits without sign, which only the reader of JSON makes. */
static void add_cost(struct arena *a, struct json *got, uint64_t cost) {
    struct json number;
    struct err err;
    if (json_parse(a, arena_printf(a, "%llu", (unsigned long long)cost), NULL, &number, &err) == 0)
        json_add(a, got, STR("cost"), number);
}

static void add_value(struct arena *a, struct json *got, struct cel_value v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    cel_write(&text, v);
    add(a, got, "result", arena_str(a, buf_view(&text)));
    add(a, got, "result_type", cel_type_name_of(v));
}

/* The field of the line's taint, or of the one that all recorded expressions were shown. */
static struct cel_entry field_of(const struct json *line, const char *name, const char *usual) {
    const struct json *value = json_get(json_get(line, STR("taint")), str_of(name));
    return (struct cel_entry){cel_of_str(str_of(name)),
                              cel_of_str(value ? json_str(value) : str_of(usual))};
}

static void evaluate(struct arena *a, const struct json *line, const struct cel_program *program,
                     struct json *got) {
    struct cel_entry entries[] = {
        field_of(line, "key", "env.example.com/dev"),
        field_of(line, "value", "5.15.0"),
        field_of(line, "effect", "NoSchedule"),
    };
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value vars[] = {cel_of_map(&map)};
    struct cel_result r = cel_eval(program, vars, a, CEL_COST_LIMIT);
    if (r.value.kind == CEL_ERROR)
        add(a, got, "eval_error", cel_str(r.value));
    else
        add_value(a, got, r.value);
    add_cost(a, got, r.cost);
}

static void plan(struct arena *a, const struct json *line, const struct cel_ast *ast,
                 struct json *got) {
    struct cel_range r = cel_estimate(ast);
    add(a, got, "type", cel_ast_type(ast, a));
    add(a, got, "est_min", arena_printf(a, "%llu", (unsigned long long)r.min));
    add(a, got, "est_max", arena_printf(a, "%llu", (unsigned long long)r.max));
    struct str error;
    struct cel_program *program = cel_program_new(ast, &error);
    if (!program) {
        add(a, got, "program_error", error);
        return;
    }
    evaluate(a, line, program, got);
    cel_program_free(program);
}

/* The first syntax error: where it is and what it says. */
static struct str first_syntax_error(struct str issues) {
    size_t begin = str_find(issues, STR(": Syntax error"));
    if (begin == STR_NONE)
        return issues;
    while (begin > 0 && issues.p[begin - 1] != '\n')
        begin--;
    return first_line(str_sub(issues, begin, issues.n));
}

static bool same_issues(struct str want, struct str got, bool syntax_only) {
    if (str_eq(want, got))
        return true;
    if (str_find(want, STR("Syntax error")) == STR_NONE)
        return false;
    return syntax_only ? str_eq(first_syntax_error(want), first_syntax_error(got))
                       : str_eq(first_line(want), first_line(got));
}

static int check_issues(const struct json *line, struct str issues, struct buf *why) {
    struct str want = vectors_text(line, STR("issues"));
    const struct json *syntax_only = json_get(line, STR("first_syntax_error"));
    if (same_issues(want, issues, syntax_only && syntax_only->b))
        return 0;
    buf_addf(why, "issues: %.*s", STR_ARG(issues));
    return -1;
}

static const char *const keys[] = {"type",          "est_min", "est_max",
                                   "program_error", "result",  "result_type",
                                   "eval_error",    "cost",    "refused"};

/* Upstream crashed on some; ours must answer with an error. */
static int check_outcome(const struct json *line, const struct json *got, struct buf *why) {
    if (json_get(line, STR("panic"))) {
        bool error = json_get(got, STR("program_error")) || json_get(got, STR("eval_error"));
        return error ? 0 : -1;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json *w = json_get(line, str_of(keys[i])), *g = json_get(got, str_of(keys[i]));
        if ((!w && !g) || (w && g && json_equal(w, g)))
            continue;
        buf_addf(why, "%s: ", keys[i]);
        json_write(why, got, NULL);
        return -1;
    }
    return 0;
}

/* ---- devices ---- */

static struct valid_cel_answer ask_device(struct arena *a, const struct json *line) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    feature_set_put(&config.enabled, FEATURE_DRAConsumableCapacity, true);
    feature_set_put(&config.enabled, FEATURE_DRAListTypeAttributes,
                    str_ends(vectors_text(line, STR("env")), STR("+lists")));
    struct valid_cel_ask ask = {.place = VALID_CEL_DEVICE_SELECTOR,
                                .expression = vectors_text(line, STR("expr")),
                                .gates = &config.enabled};
    size_t spent = 0;
    struct tolexpr *x = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    const struct valid_cel *cel = tolexpr_valid_cel(x);
    struct valid_cel_answer r = cel->check(cel->ctx, &ask, a, &spent);
    tolexpr_free(x);
    return r;
}

static int check_device(struct arena *a, const struct json *line, struct buf *why) {
    struct json got = {.kind = JSON_OBJECT};
    struct valid_cel_answer r = ask_device(a, line);
    if (check_issues(line, r.fault == VALID_CEL_COMPILE ? r.text : STR(""), why) < 0)
        return -1;
    if (r.fault == VALID_CEL_TYPE)
        add(a, &got, "refused", r.text);
    else if (r.fault == VALID_CEL_PROGRAM)
        add(a, &got, "refused",
            arena_printf(a, "program instantiation failed: %.*s", STR_ARG(r.text)));
    else if (r.fault != VALID_CEL_COMPILE)
        add(a, &got, "est_max", arena_printf(a, "%llu", (unsigned long long)r.cost));
    return check_outcome(line, &got, why);
}

int vectors_check_cel(struct arena *a, const struct json *line, struct buf *why) {
    if (str_starts(vectors_text(line, STR("env")), STR("device")))
        return check_device(a, line, why);
    struct cel_env *env = env_of(vectors_text(line, STR("env")));
    const struct cel_ast *ast = cel_compile(env, a, vectors_text(line, STR("expr")), 0);
    struct json got = {.kind = JSON_OBJECT};
    int rc = check_issues(line, cel_ast_issues(ast), why);
    if (rc == 0 && cel_ast_issues(ast).n == 0) {
        plan(a, line, ast, &got);
        rc = check_outcome(line, &got, why);
    }
    cel_env_free(env);
    return rc;
}
