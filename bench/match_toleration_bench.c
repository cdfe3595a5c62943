/*
 * What matching costs: one toleration against one taint by operator, without the memory of
 * outcomes; a pod's list against a node's with it and without; and terms of node affinity.
 *
 * The instructions are counted by the processor where the system allows it (perf_event_open);
 * elsewhere the column shows a dash, and
 *     valgrind --tool=callgrind --toggle-collect=match_toleration_check PROGRAM 'Gt, half match'
 * counts those of 100,064 calls in that row.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/types.h"
#include "base/alloc.h"
#include "feature/feature.h"
#include "match/match.h"

enum { ROUNDS = 20000000, BEST_OF = 5 };

static int rounds = ROUNDS;

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

struct cost {
    double ns, instructions; /* per round; instructions < 0 when not counted */
};

typedef unsigned work_fn(const void *arg, int n);

static struct cost measure(work_fn *work, const void *arg) {
    static volatile unsigned sink;
    struct cost best = {1e9, -1};
    int fd = open_counter();
    for (int i = 0; i < BEST_OF; i++) {
        long long counted = read_counter(fd);
        double start = now_ns();
        sink += work(arg, rounds);
        double ns = (now_ns() - start) / rounds;
        if (ns < best.ns)
            best.ns = ns;
        if (counted >= 0)
            best.instructions = (double)(read_counter(fd) - counted) / rounds;
    }
    if (fd >= 0)
        close(fd);
    return best;
}

static void print_row(const char *name, struct cost cost, struct cost base) {
    char instructions[32] = "-";
    if (cost.instructions >= 0)
        snprintf(instructions, sizeof instructions, "%.1f", cost.instructions);
    printf("| %-34s | %8.2f | %8s | %5.2f |\n", name, cost.ns, instructions, cost.ns / base.ns);
}

static void print_head(const char *what, const char *base) {
    printf("\n| %s | ns | instructions | times %s |\n|---|---:|---:|---:|\n", what, base);
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
    unsigned matches = 0;
    for (int i = 0; i < n; i++)
        matches += match_toleration_check(p->toleration, &p->taints->v[i % TAINTS]) == MATCH_YES;
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

/* All rows, or the one with this name. */
static void bench_operators(struct match *m, const char *only) {
    static const struct {
        const char *name, *op, *value, *taints;
    } rows[] = {
        {"Equal", "Equal", "32", "%d"},
        {"Exists", "Exists", "", "%d"},
        {"Gt, half match", "Gt", "31", "%d"},
        {"Lt, half match", "Lt", "32", "%d"},
        {"Gt, taint is no number", "Gt", "31", "x%d"},
        {"SemverGt, minor decides", "SemverGt", "5.31.0", "5.%d.0"},
        {"SemverGt, patch decides", "SemverGt", "v5.10.31", "5.10.%d"},
        {"SemverGt, pre-release decides", "SemverGt", "5.15.0-31-generic", "5.15.0-%d-generic"},
        {"SemverEq", "SemverEq", "5.31.0", "5.%d.0"},
        {"Foo (unknown)", "Foo", "5.31.0", "5.%d.0"},
    };
    struct cost equal = {0};
    print_head("one toleration, one taint", "Equal");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (only && strcmp(only, rows[i].name) != 0)
            continue;
        struct api_toleration t = {.key = STR("node.example.com/key"),
                                   .operator= str_of(rows[i].op),
                                   .value = str_of(rows[i].value),
                                   .effect = STR("NoExecute")};
        const struct match_tolerations *list =
            match_tolerations_get(m, &(struct api_toleration_list){&t, 1});
        struct pair pair = {&list->v[0], make_taints(m, rows[i].taints)};
        check_pair(&pair, TAINTS); /* values are read the first time they are asked for */
        struct cost cost = measure(check_pair, &pair);
        if (i == 0 || only)
            equal = cost;
        print_row(rows[i].name, cost, equal);
    }
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
    rounds /= 4;
    struct cost computed = measure(compute_fit, &lists);
    print_head("five tolerations, three taints", "computed");
    print_row("computed", computed, computed);
    print_row("remembered", measure(find_fit, &lists), computed);
}

/* ---- node affinity ---- */

struct wish {
    const struct match_affinity *affinity;
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
    static const char *const names[] = {"In, three values", "Gt", "SemverGt", "DoesNotExist"};
    struct match_node *node = make_node(m);
    struct cost in = {0};
    print_head("one term, 24 labels", "In");
    for (size_t i = 0; i < 5; i++) {
        struct api_node_selector_term term = {
            .match_expressions =
                i < 4 ? (struct api_node_selector_requirement_list){&expressions[i], 1}
                      : (struct api_node_selector_requirement_list){expressions, 4}};
        struct api_node_selector required = {.node_selector_terms = {&term, 1}};
        struct api_node_affinity spec = {.required = &required};
        struct match_affinity *affinity = match_affinity_new(m, NULL, &spec);
        struct wish wish = {affinity, node};
        if (!match_affinity_required(affinity, node, NULL))
            BUG("the node should match");
        struct cost cost = measure(check_required, &wish);
        if (i == 0)
            in = cost;
        print_row(i < 4 ? names[i] : "all four", cost, in);
        match_affinity_free(affinity);
    }
    match_node_free(node);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    struct match *m = new_match();
    if (only)
        rounds /= 1000;
    bench_operators(m, only);
    if (!only) {
        bench_lists(m);
        bench_affinity(m);
    }
    match_free(m);
    intern_free(atoms);
    return 0;
}
