/* What CEL costs: compiling and evaluating the expressions that tolerations are made of. */
#include <stdio.h>

#include "base/clock.h"
#include "cel/cel.h"

static const struct cel_field fields[] = {{STR_INIT("key"), &cel_type_string, 317},
                                          {STR_INIT("value"), &cel_type_string, 63},
                                          {STR_INIT("effect"), &cel_type_string, 16}};
static const struct cel_var taint = {STR_INIT("taint"), STR_INIT("kubernetes.Taint"), fields, 3};

static const char *const expressions[] = {
    "true",
    "taint.key == 'a'",
    "taint.key.startsWith('env.example.com/')",
    "taint.key == 'env.example.com/dev' && semver(taint.value).isGreaterThan(semver('5.10.0'))",
    "taint.key.matches('^env[.]example[.]com/(dev|test)$')",
    "taint.effect in ['NoSchedule', 'NoExecute'] && taint.key.startsWith('env.')",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x, x > 0)",
    "lists.range(100).all(x, lists.range(100).all(y, x + y >= 0))",
};

enum { LEAST_NS = 200000000 };

static double per_round(int64_t ns, uint64_t rounds) {
    return (double)ns / (double)rounds;
}

static double measure_compile(const struct cel_env *env, struct str text) {
    struct arena a = {0};
    struct str error;
    uint64_t rounds = 0;
    int64_t start = clock_mono(&clock_system), now;
    do {
        arena_reset(&a);
        cel_program_free(cel_program_new(cel_compile(env, &a, text, 0), &error));
        rounds++;
        now = clock_mono(&clock_system);
    } while (now - start < LEAST_NS);
    arena_release(&a);
    return per_round(now - start, rounds);
}

static double measure_eval(const struct cel_program *program, uint64_t *cost) {
    struct cel_entry entries[] = {
        {cel_of_str(STR("key")), cel_of_str(STR("env.example.com/dev"))},
        {cel_of_str(STR("value")), cel_of_str(STR("5.15.0"))},
        {cel_of_str(STR("effect")), cel_of_str(STR("NoSchedule"))},
    };
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value v = cel_of_map(&map);
    struct arena a = {0};
    uint64_t rounds = 0;
    int64_t start = clock_mono(&clock_system), now;
    do {
        for (int i = 0; i < 64; i++, rounds++) {
            arena_reset(&a);
            *cost = cel_eval(program, &v, &a, CEL_COST_LIMIT).cost;
        }
        now = clock_mono(&clock_system);
    } while (now - start < LEAST_NS);
    arena_release(&a);
    return per_round(now - start, rounds);
}

int main(void) {
    struct cel_env_opts opts = {.libs = cel_libs_at(36), .vars = &taint, .var_count = 1};
    struct cel_env *env = cel_env_new(&opts);
    printf("| expression | compile, check, plan (us) | evaluate (ns) | cost | program (bytes) |\n");
    printf("|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct arena a = {0};
        struct str error;
        struct cel_program *program =
            cel_program_new(cel_compile(env, &a, str_of(expressions[i]), 0), &error);
        uint64_t cost;
        double eval = measure_eval(program, &cost);
        printf("| `%.60s` | %.2f | %.1f | %llu | %zu |\n", expressions[i],
               measure_compile(env, str_of(expressions[i])) / 1000, eval, (unsigned long long)cost,
               cel_program_bytes(program));
        cel_program_free(program);
        arena_release(&a);
    }
    cel_env_free(env);
    return 0;
}
