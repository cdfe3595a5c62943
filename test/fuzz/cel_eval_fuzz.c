/*
 * Any text as an expression: compiled, estimated, planned and evaluated against a taint; written
 * back, it must read as the same text again and give the same value at the same cost.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cel/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_EXPRESSION = 10240 };

static const struct cel_var fields[] = {{STR_INIT("key"), STR_INIT("string[317]")},
                                        {STR_INIT("value"), STR_INIT("string[63]")},
                                        {STR_INIT("effect"), STR_INIT("string[16]")}};
static const struct cel_object taint_object = {STR_INIT("kubernetes.Taint"), fields, 3};
static const struct cel_var taint = {STR_INIT("taint"), STR_INIT("kubernetes.Taint")};

static struct str evaluate(const struct cel_ast *ast, struct arena *a, uint64_t *cost) {
    struct str error;
    *cost = 0;
    struct cel_program *program = cel_program_new(ast, &error);
    if (!program)
        return error;
    struct cel_entry entries[] = {
        {cel_of_str(STR("key")), cel_of_str(STR("env.example.com/dev"))},
        {cel_of_str(STR("value")), cel_of_str(STR("5.15.0"))},
        {cel_of_str(STR("effect")), cel_of_str(STR("NoSchedule"))},
    };
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value v = cel_of_map(&map);
    struct cel_result r = cel_eval(program, &v, a, CEL_COST_LIMIT / 10);
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel_write(&text, r.value);
    *cost = r.cost;
    cel_program_free(program);
    return arena_str(a, buf_view(&text));
}

static struct str written(const struct cel_ast *ast, struct arena *a) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    cel_ast_write(&text, ast);
    return arena_str(a, buf_view(&text));
}

static void check(const struct cel_env *env, struct arena *a, struct str text) {
    const struct cel_ast *ast = cel_compile(env, a, text, 0);
    if (cel_ast_issues(ast).n)
        return;
    cel_estimate(ast);
    uint64_t cost, again_cost;
    struct str once = written(ast, a), value = evaluate(ast, a, &cost);
    const struct cel_ast *again = cel_compile(env, a, once, 0);
    if (cel_ast_issues(again).n || !str_eq(written(again, a), once))
        abort();
    if (!str_eq(evaluate(again, a, &again_cost), value) || again_cost != cost)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct cel_env *env; /* made once: it never changes */
    if (!env) {
        struct cel_env_opts opts = {.libs = cel_libs_at(37) | 1U << CEL_LIB_BIND,
                                    .objects = &taint_object,
                                    .object_count = 1,
                                    .vars = &taint,
                                    .var_count = 1};
        env = cel_env_new(&opts);
    }
    if (size > MAX_EXPRESSION)
        return 0;
    struct arena a = {0};
    check(env, &a, (struct str){(const char *)data, size});
    arena_release(&a);
    return 0;
}
