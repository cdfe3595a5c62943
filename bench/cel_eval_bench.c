/*
 * What an expression costs: compiling it (parse, check, estimate, plan), its program's memory, and
 * an evaluation with its allocations. The expressions stand in bench/cel_expressions.tsv; with the
 * argument `raw` the times are printed for tools/bench-cel, which compares them with other engines.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cel/cel.h"

#define EXPRESSIONS "bench/cel_expressions.tsv"

enum { COLUMNS = 5 };
static const double share = 60e6; /* ns that one measurement takes */

/* ---- counting allocations, and bytes in use: C++ allocates by malloc as well ---- */

static unsigned long allocations;
static size_t in_use;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void __libc_free(void *p);

static void *count(void *p) {
    allocations++;
    in_use += malloc_usable_size(p);
    return p;
}

void *malloc(size_t n) {
    return count(__libc_malloc(n));
}
void *calloc(size_t n, size_t size) {
    return count(__libc_calloc(n, size));
}
void *realloc(void *p, size_t n) {
    in_use -= malloc_usable_size(p);
    return count(__libc_realloc(p, n));
}
void free(void *p) {
    in_use -= malloc_usable_size(p);
    __libc_free(p);
}

/* ---- one expression ---- */

struct question {
    struct str name, taint[3], expr;
    const struct cel_env *env;
    const struct cel_program *program;
    struct arena arena;
};

static struct cel_env *new_env(void) {
    static const struct cel_var fields[] = {
        {STR_INIT("key"), STR_INIT("string[317]")},
        {STR_INIT("value"), STR_INIT("string[63]")},
        {STR_INIT("effect"), STR_INIT("string[16]")},
    };
    static const struct cel_object taint_object = {STR_INIT("kubernetes.Taint"), fields, 3};
    static const struct cel_var taint = {STR_INIT("taint"), STR_INIT("kubernetes.Taint")};
    return cel_env_new(&(struct cel_env_opts){.libs = cel_libs_at(36),
                                              .objects = &taint_object,
                                              .object_count = 1,
                                              .vars = &taint,
                                              .var_count = 1});
}

static struct cel_program *compile(struct question *q) {
    struct str error;
    const struct cel_ast *ast = cel_compile(q->env, &q->arena, q->expr, 0);
    if (cel_ast_issues(ast).n || cel_estimate(ast).max > CEL_COST_LIMIT)
        return NULL;
    return cel_program_new(ast, &error);
}

/* With the taint handed over anew, as a scheduler does for each taint. */
static bool eval(struct question *q) {
    static const struct str names[] = {STR_INIT("key"), STR_INIT("value"), STR_INIT("effect")};
    struct cel_entry entries[3];
    for (int i = 0; i < 3; i++)
        entries[i] = (struct cel_entry){cel_of_str(names[i]), cel_of_str(q->taint[i])};
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value var = cel_of_map(&map);
    struct cel_result r = cel_eval(q->program, &var, &q->arena, CEL_COST_LIMIT);
    bool yes = r.value.kind == CEL_BOOL && r.value.b;
    arena_reset(&q->arena);
    return yes;
}

static bool compile_and_free(struct question *q) {
    struct cel_program *program = compile(q);
    bool done = program != NULL;
    cel_program_free(program);
    arena_reset(&q->arena);
    return done;
}

/* ---- measuring ---- */

typedef bool work_fn(struct question *q);

/* Processor time, so that other work on the machine does not count. */
static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double measure(work_fn *work, struct question *q) {
    for (long n = 1;; n *= 2) {
        double start = now_ns();
        for (long i = 0; i < n; i++)
            work(q);
        double ns = now_ns() - start;
        if (ns >= share)
            return ns / (double)n;
    }
}

static double count_allocations(work_fn *work, struct question *q) {
    enum { TIMES = 10 };
    unsigned long before = allocations;
    for (int i = 0; i < TIMES; i++)
        work(q);
    return (double)(allocations - before) / TIMES;
}

static int complain(const char *what, struct str name) {
    fprintf(stderr, "cel_eval_bench: %.*s: %s\n", STR_ARG(name), what);
    return -1;
}

/* What stays allocated for a program that has been used once: RE2 goes on allocating until then. */
static size_t held_bytes(struct question *q) {
    arena_release(&q->arena);
    size_t before = in_use;
    struct cel_program *program = compile(q);
    q->program = program;
    eval(q);
    arena_release(&q->arena);
    size_t bytes = in_use - before;
    cel_program_free(program);
    return bytes;
}

static int report(struct question *q, bool raw) {
    struct cel_program *program = compile(q);
    if (!program)
        return complain("does not compile, or is too costly", q->name);
    size_t held = held_bytes(q);
    q->program = program;
    int rc = eval(q) ? 0 : complain("is not true", q->name);
    double eval_ns = measure(eval, q), compile_ns = measure(compile_and_free, q);
    if (raw)
        printf("berth\t%.*s\t%.1f\t%.1f\n", STR_ARG(q->name), eval_ns, compile_ns);
    else
        printf("| %.*s | %.0f ns | %.1f | %.1f µs | %.1f | %zu | %zu |\n", STR_ARG(q->name),
               eval_ns, count_allocations(eval, q), compile_ns / 1e3,
               count_allocations(compile_and_free, q), cel_program_bytes(program), held);
    cel_program_free(program);
    arena_release(&q->arena);
    return rc;
}

/* A line: name, key, value and effect of the taint, expression. */
static int report_line(const struct cel_env *env, char *line, bool raw) {
    struct str columns[COLUMNS] = {0};
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < COLUMNS; i++) {
        char *column = strsep(&line, "\t");
        if (!column)
            return complain("fewer columns than there should be", columns[0]);
        columns[i] = str_of(column);
    }
    struct question q = {.name = columns[0],
                         .taint = {columns[1], columns[2], columns[3]},
                         .expr = columns[4],
                         .env = env};
    return report(&q, raw);
}

int main(int argc, char **argv) {
    bool raw = argc > 1 && str_is(str_of(argv[1]), "raw");
    FILE *f = fopen(EXPRESSIONS, "re");
    if (!f)
        return complain("cannot be opened", STR(EXPRESSIONS)) < 0;
    if (!raw)
        puts("| expression | evaluation | allocations | compilation | allocations | program, bytes "
             "| "
             "heap, bytes |\n|---|---|---|---|---|---|---|");
    struct cel_env *env = new_env();
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    while (rc == 0 && getline(&line, &room, f) > 0)
        rc = report_line(env, line, raw);
    free(line);
    cel_env_free(env);
    fclose(f);
    return rc < 0;
}
