/*
 * What matching costs: one toleration against one taint by operator, without the memory of
 * outcomes; a pod's list against a node's with it and without; and terms of node affinity.
 *
 * The rows of a table are measured in turns, so that whatever else the machine does hits all alike;
 * the median of the turns counts, and "times" is the median of the ratios within a turn.
 *
 * The instructions are counted by the processor where the system allows it (perf_event_open);
 * elsewhere the column shows a dash, and
 *     valgrind --tool=callgrind --toggle-collect=check_pair PROGRAM 'Gt, half match'
 * counts those of 43,008 questions in that row.
 *
 * For tools/bench-upstream, `cases` prints what is matched, and `raw` the times, of the best turn
 * as a nanosecond is easily disturbed, and how many of the taints match.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/types.h"
#include "base/alloc.h"
#include "feature/feature.h"
#include "match/match.h"

enum { ROUNDS = 2048000, TURNS = 21, MOST_ROWS = 16 };

/* ---- measuring ---- */

static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* others may be using the machine */
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int open_counter(void) {
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static long long read_counter(int fd) {
    long long count = 0;
    return fd >= 0 && read(fd, &count, sizeof count) == sizeof count ? count : -1;
}

/* Does something n times; what it returns keeps the compiler from leaving it out. */
typedef unsigned work_fn(const void *arg, int n);

struct row {
    const char *name;
    work_fn *work;
    const void *arg;
    double ns[TURNS], times[TURNS], instructions; /* per round; < 0 when not counted */
};

static void take_turn(struct row *row, int turn, int rounds, int counter) {
    static volatile unsigned sink;
    long long counted = read_counter(counter);
    double start = now_ns();
    sink += row->work(row->arg, rounds);
    (void)sink;
    row->ns[turn] = (now_ns() - start) / rounds;
    row->instructions = counted < 0 ? -1 : (double)(read_counter(counter) - counted) / rounds;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v) {
    qsort(v, TURNS, sizeof *v, by_size);
    return v[TURNS / 2];
}

static void print_row(struct row *row) {
    char instructions[32] = "-";
    if (row->instructions >= 0)
        snprintf(instructions, sizeof instructions, "%.1f", row->instructions);
    printf("| %-34s | %8.2f | %8s | %5.2f |\n", row->name, median(row->ns), instructions,
           median(row->times));
}

static void run_rows(struct row *rows, size_t n, int rounds) {
    int counter = open_counter();
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < n; i++) {
            take_turn(&rows[i], turn, rounds, counter);
            rows[i].times[turn] = rows[i].ns[turn] / rows[0].ns[turn];
        }
    if (counter >= 0)
        close(counter);
}

/* Measures the rows in turns, and prints them beside the first one. */
static void run_table(const char *what, struct row *rows, size_t n, int rounds) {
    run_rows(rows, n, rounds);
    printf("\n| %s | ns | instructions | times %s |\n|---|---:|---:|---:|\n", what, rows[0].name);
    for (size_t i = 0; i < n; i++)
        print_row(&rows[i]);
}

/* ---- context ---- */

static struct intern *atoms;

static struct match *new_match(void) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    feature_set_put(&config.enabled, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&config.enabled, FEATURE_TolerationAffinitySemverOperators, true);
    atoms = intern_new(1);
    return match_new(atoms, &config.enabled, NULL, 1);
}

/* ---- one toleration, one taint ---- */

/* Taints that a loop goes over, so that no branch is learned by heart. */
enum { TAINTS = 64 };

struct pair {
    const struct match_toleration *toleration;
    const struct match_taints *taints;
};

static unsigned check_pair(const void *arg, int n) {
    const struct pair *p = arg;
    const struct match_toleration *t = p->toleration;
    const struct match_taint *first = p->taints->v, *end = first + TAINTS;
    unsigned matches = 0;
    for (int i = 0; i < n; i += TAINTS)
        for (const struct match_taint *taint = first; taint < end; taint++)
            matches += match_tolerates(t, taint);
    return matches;
}

static struct match_taints *make_taints(struct match *m, const char *format) {
    struct api_taint v[TAINTS];
    char texts[TAINTS][32];
    for (int i = 0; i < TAINTS; i++) {
        snprintf(texts[i], sizeof texts[i], format, i);
        v[i] = (struct api_taint){.key = STR("node.example.com/key"),
                                  .value = str_of(texts[i]),
                                  .effect = STR("NoExecute")};
    }
    return match_taints_get(m, &(struct api_taint_list){v, TAINTS});
}

static const struct {
    const char *name, *op, *value, *taints;
} specs[] = {
    {"Equal", "Equal", "32", "%d"},
    {"Exists", "Exists", "", "%d"},
    {"Gt, half match", "Gt", "31", "%d"},
    {"Lt, half match", "Lt", "32", "%d"},
    {"Gt, taint is no number", "Gt", "31", "x%d"},
    {"SemverGt, minor decides", "SemverGt", "5.31.0", "5.%d.0"},
    {"SemverGt, patch decides", "SemverGt", "v5.10.31", "5.10.%d"},
    {"SemverGt, pre-release decides", "SemverGt", "5.15.0-31-generic", "5.15.0-%d-generic"},
    {"SemverGt, its 14th byte decides", "SemverGt", "5.15.0-generic-azure.31",
     "5.15.0-generic-azure.%d"},
    {"SemverEq", "SemverEq", "5.31.0", "5.%d.0"},
    {"Foo (unknown)", "Foo", "5.31.0", "5.%d.0"},
};
enum { SPECS = sizeof specs / sizeof *specs };

static void print_cases(void) {
    for (size_t i = 0; i < SPECS; i++)
        printf("%s\t%s\t%s\t%s\n", specs[i].name, specs[i].op, specs[i].value, specs[i].taints);
}

static double best(const double *v) {
    double least = v[0];
    for (size_t i = 1; i < TURNS; i++)
        if (v[i] < least)
            least = v[i];
    return least;
}

static void print_raw(struct row *rows, size_t n) {
    run_rows(rows, n, ROUNDS);
    for (size_t i = 0; i < n; i++)
        printf("%s\t%.2f\t%u\n", rows[i].name, best(rows[i].ns), rows[i].work(rows[i].arg, TAINTS));
}

/* All rows, or the one with this name. */
static void bench_operators(struct match *m, const char *only, bool raw) {
    struct row rows[MOST_ROWS] = {0};
    struct pair pairs[MOST_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < SPECS; i++) {
        if (only && strcmp(only, specs[i].name) != 0)
            continue;
        struct api_toleration t = {.key = STR("node.example.com/key"),
                                   .operator= str_of(specs[i].op),
                                   .value = str_of(specs[i].value),
                                   .effect = STR("NoExecute")};
        const struct match_tolerations *list =
            match_tolerations_get(m, &(struct api_toleration_list){&t, 1});
        pairs[n] = (struct pair){&list->v[0], make_taints(m, specs[i].taints)};
        rows[n] = (struct row){.name = specs[i].name, .work = check_pair, .arg = &pairs[n]};
        n++;
    }
    if (raw)
        print_raw(rows, n);
    else if (n)
        run_table("one toleration, one taint", rows, n, only ? ROUNDS / 1000 : ROUNDS);
}

/* ---- a pod's list, a node's list ---- */

struct lists {
    struct match *m;
    const struct match_tolerations *tolerations;
    const struct match_taints *taints;
};

static unsigned compute_fit(const void *arg, int n) {
    const struct lists *l = arg;
    unsigned matches = 0;
    for (int i = 0; i < n; i++)
        matches += match_fit_compute(l->tolerations, l->taints).untolerated == MATCH_NONE;
    return matches;
}

static unsigned find_fit(const void *arg, int n) {
    const struct lists *l = arg;
    unsigned matches = 0;
    for (int i = 0; i < n; i++)
        matches += match_fit(l->m, l->tolerations, l->taints).untolerated == MATCH_NONE;
    return matches;
}

#define TOLERATION(k, o, v, e) \
    { .key = STR_INIT(k), .operator= STR_INIT(o), .value = STR_INIT(v), .effect = STR_INIT(e) }

static void bench_lists(struct match *m) {
    struct api_toleration tolerations[] = {
        TOLERATION("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
        TOLERATION("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
        TOLERATION("dedicated", "Equal", "ml", "NoSchedule"),
        TOLERATION("sla", "Gt", "950", ""),
        TOLERATION("kernel", "SemverGt", "5.10.0", "NoSchedule"),
    };
    struct api_taint taints[] = {
        {.key = STR_INIT("dedicated"), .value = STR_INIT("ml"), .effect = STR_INIT("NoSchedule")},
        {.key = STR_INIT("sla"), .value = STR_INIT("990"), .effect = STR_INIT("NoExecute")},
        {.key = STR_INIT("kernel"), .value = STR_INIT("5.15.0"), .effect = STR_INIT("NoSchedule")},
    };
    struct lists lists = {m,
                          match_tolerations_get(m, &(struct api_toleration_list){tolerations, 5}),
                          match_taints_get(m, &(struct api_taint_list){taints, 3})};
    struct row rows[] = {
        {.name = "computed", .work = compute_fit, .arg = &lists},
        {.name = "remembered", .work = find_fit, .arg = &lists},
    };
    run_table("five tolerations, three taints", rows, 2, ROUNDS / 4);
}

/* ---- node affinity ---- */

struct wish {
    struct match_affinity *affinity;
    const struct match_node *node;
};

static unsigned check_required(const void *arg, int n) {
    const struct wish *w = arg;
    unsigned matches = 0;
    for (int i = 0; i < n; i++)
        matches += match_affinity_required(w->affinity, w->node, NULL);
    return matches;
}

enum { LABELS = 24 };

static struct match_node *make_node(struct match *m) {
    static struct label v[LABELS] = {
        {STR_INIT("a"), STR_INIT("x")},
        {STR_INIT("cores"), STR_INIT("64")},
        {STR_INIT("kernel"), STR_INIT("5.15.0")},
        {STR_INIT("zone"), STR_INIT("eu-1")},
    };
    static char keys[LABELS][48];
    for (int i = 4; i < LABELS; i++) {
        snprintf(keys[i], sizeof keys[i], "feature.node.example.com/some-feature-%02d", i);
        v[i] = (struct label){str_of(keys[i]), STR("true")};
    }
    struct labels labels = {v, LABELS};
    return match_node_new(m, STR("node-1"), &labels);
}

#define ONE(text) \
    { (struct str[]){STR_INIT(text)}, 1 }

static void bench_affinity(struct match *m) {
    struct str zones[] = {STR("us-1"), STR("us-2"), STR("eu-1")};
    struct api_node_selector_requirement expressions[] = {
        {.key = STR_INIT("zone"), .operator= STR_INIT("In"), .values = {zones, 3}},
        {.key = STR_INIT("cores"), .operator= STR_INIT("Gt"), .values = ONE("32")},
        {.key = STR_INIT("kernel"), .operator= STR_INIT("SemverGt"), .values = ONE("5.10.0")},
        {.key = STR_INIT("gpu"), .operator= STR_INIT("DoesNotExist")},
    };
    static const char *const names[] = {"In", "Gt", "SemverGt", "DoesNotExist", "all four"};
    enum { TERMS = sizeof names / sizeof *names };
    struct match_node *node = make_node(m);
    struct wish wishes[TERMS];
    struct row rows[TERMS] = {0};
    for (size_t i = 0; i < TERMS; i++) {
        struct api_node_selector_term term = {
            .match_expressions =
                i < 4 ? (struct api_node_selector_requirement_list){&expressions[i], 1}
                      : (struct api_node_selector_requirement_list){expressions, 4}};
        struct api_node_selector required = {.node_selector_terms = {&term, 1}};
        struct api_node_affinity spec = {.required = &required};
        wishes[i] = (struct wish){match_affinity_new(m, NULL, &spec), node};
        if (!match_affinity_required(wishes[i].affinity, node, NULL))
            BUG("the node should match");
        rows[i] = (struct row){.name = names[i], .work = check_required, .arg = &wishes[i]};
    }
    run_table("one term, 24 labels", rows, TERMS, ROUNDS / 4);
    for (size_t i = 0; i < TERMS; i++)
        match_affinity_free(wishes[i].affinity);
    match_node_free(node);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    bool raw = only && strcmp(only, "raw") == 0;
    if (only && strcmp(only, "cases") == 0)
        return print_cases(), 0;
    struct match *m = new_match();
    bench_operators(m, raw ? NULL : only, raw);
    if (!only) {
        bench_lists(m);
        bench_affinity(m);
    }
    match_free(m);
    intern_free(atoms);
    return 0;
}
