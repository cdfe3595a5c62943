/*
 * The scheduler's core on made-up clusters, without a network: pods per second, time per pod and
 * node, memory. Each row runs in a process of its own, so that its peak memory is its own.
 *
 * An argument picks the rows that have it in their names. For tools/bench-upstream, `raw WORKLOAD
 * PODS` prints the ns per pod, the same without queueing, how many are scheduled and the peak KiB;
 * `cases WORKLOAD PODS` prints the nodes and pods of that, one a line.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/object.h"
#include "base/clock.h"
#include "feature/feature.h"
#include "sched/sched.h"
#include "tolexpr/tolexpr.h"

enum { LONGEST = 8192, VALUES = 50, BATCH = 500 };

/* ---- objects ---- */

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "cmd_schedule_bench: %s\n", what);
    exit(1);
}

static const struct api_object *object(const char *text, const struct feature_set *gates) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o;
    if (json_parse(&a, str_of(text), NULL, &tree, NULL) < 0 ||
        api_object_decode(&tree, NULL, &o, NULL) < 0)
        fail("an object cannot be decoded");
    api_object_default(o, gates);
    arena_release(&a);
    return api_publish(o);
}

/* What a node's taint is: every fifth node (tainted) or all of them. */
enum taints { NONE, ALL_NUMBERS, ALL_VERSIONS, FIFTH };

static const char *taint_of(enum taints kind, unsigned i, char *out) {
    out[0] = '\0';
    if (kind == ALL_NUMBERS)
        sprintf(out, "{\"key\":\"sla\",\"value\":\"%u\",\"effect\":\"NoSchedule\"}",
                950 + i % VALUES);
    else if (kind == ALL_VERSIONS)
        sprintf(out, "{\"key\":\"sla\",\"value\":\"5.15.%u\",\"effect\":\"NoSchedule\"}",
                i % VALUES);
    else if (kind == FIFTH && i % 5 == 0)
        sprintf(out, "{\"key\":\"sla\",\"value\":\"x\",\"effect\":\"NoSchedule\"}");
    return out;
}

static void write_node(char text[LONGEST], unsigned i, enum taints kind) {
    char taint[256];
    snprintf(text, LONGEST,
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%u\","
             "\"labels\":{\"kubernetes.io/hostname\":\"node-%u\",\"kubernetes.io/os\":\"linux\","
             "\"kubernetes.io/arch\":\"amd64\",\"disk\":\"%s\","
             "\"topology.kubernetes.io/zone\":\"zone-%u\"}},\"spec\":{\"taints\":[%s]},\"status\":{"
             "\"allocatable\":{\"cpu\":\"32\",\"memory\":\"256Gi\",\"pods\":\"110\"}}}",
             i, i, i % 2 ? "ssd" : "hdd", i % 10, taint_of(kind, i, taint));
}

static void write_pod(char text[LONGEST], unsigned i, unsigned cpu, const char *spec) {
    snprintf(text, LONGEST,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%u\","
             "\"namespace\":\"default\",\"labels\":{\"app\":\"web\"}},\"spec\":{%s\"containers\":[{"
             "\"name\":\"c\","
             "\"image\":\"registry.example.com/app:1\",\"resources\":{\"requests\":{\"cpu\":"
             "\"%um\",\"memory\":\"500Mi\"}}}]}}",
             i, spec, cpu);
}

/* ---- workloads ---- */

#define TOLERATE(rest) "\"tolerations\":[{" rest "}],"
#define SELECT_APP     "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}"
#define HOSTNAME       "\"topologyKey\":\"kubernetes.io/hostname\""
#define ZONE           "\"topologyKey\":\"topology.kubernetes.io/zone\""
#define NODE_AFFINITY                                                                        \
    "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"                 \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"                                \
    "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"zone-1\",\"zone-2\"," \
    "\"zone-3\",\"zone-4\"]}]}]}}"
#define SPREAD(more)                                      \
    "\"topologySpreadConstraints\":[{\"maxSkew\":5," ZONE \
    ",\"whenUnsatisfiable\":\"DoNotSchedule\"," SELECT_APP more "}],"
#define REQUIRED(key) \
    "{\"requiredDuringSchedulingIgnoredDuringExecution\":[{" key "," SELECT_APP "}]}"

struct workload {
    const char *name;
    unsigned nodes, pods;
    enum taints taints;
    const char *spec;
    bool distinct; /* every pod is a class of its own: nothing is remembered */
};

static const struct workload workloads[] = {
    {"one pod over all nodes, plain", 5000, 300, NONE, "", true},
    {"one pod over all nodes: affinity, spread and taints", 5000, 300, ALL_NUMBERS,
     SPREAD("") TOLERATE(
         "\"key\":\"sla\",\"operator\":\"Gt\",\"value\":\"940\"") "\"affinity\":{" NODE_AFFINITY
                                                                  "},",
     true},
    {"basic", 5000, 10000, NONE, "", false},
    {"taint on each node, Exists", 5000, 10000, ALL_NUMBERS,
     TOLERATE("\"key\":\"sla\",\"operator\":\"Exists\""), false},
    {"taint on each node, Gt", 5000, 10000, ALL_NUMBERS,
     TOLERATE("\"key\":\"sla\",\"operator\":\"Gt\",\"value\":\"960\""), false},
    {"taint on each node, SemverGt", 5000, 10000, ALL_VERSIONS,
     TOLERATE("\"key\":\"sla\",\"operator\":\"SemverGt\",\"value\":\"5.15.10\""), false},
    {"taint on each node, expression", 5000, 10000, ALL_NUMBERS,
     TOLERATE("\"expression\":\"taint.key == 'sla' && int(taint.value) > 960\""), false},
    {"node affinity", 5000, 10000, NONE, "\"affinity\":{" NODE_AFFINITY "},", false},
    {"required pod affinity", 5000, 10000, NONE,
     "\"affinity\":{\"podAffinity\":" REQUIRED(ZONE) "},", false},
    {"required pod anti-affinity", 5000, 4000, NONE,
     "\"affinity\":{\"podAntiAffinity\":" REQUIRED(HOSTNAME) "},", false},
    {"topology spreading", 5000, 10000, NONE, SPREAD(""), false},
    {"spreading, a fifth tainted, nodeTaintsPolicy Honor", 5000, 10000, FIFTH,
     SPREAD(",\"nodeTaintsPolicy\":\"Honor\""), false},
    {"unschedulable pods", 5000, 100000, NONE, "\"nodeSelector\":{\"disk\":\"tape\"},", false},
    {"basic", 1000, 10000, NONE, "", false},
    {"basic", 10000, 10000, NONE, "", false},
    {"basic", 50000, 10000, NONE, "", false},
    {"basic", 50000, 500000, NONE, "", false},
};

/* ---- one run ---- */

static double now_us(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

struct bench {
    struct feature_set gates;
    struct tolexpr *expressions;
    struct clock_manual clock;
    struct sched *sched;
};

static void open_bench(struct bench *b) {
    const struct feature_spec *spec;
    memset(b, 0, sizeof *b);
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        spec = feature_spec_at(f, FEATURE_NEWEST, FEATURE_NEWEST);
        feature_set_put(&b->gates, f, spec->on);
    }
    feature_set_put(&b->gates, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&b->gates, FEATURE_TolerationAffinitySemverOperators, true);
    feature_set_put(&b->gates, FEATURE_TaintTolerationCEL, true);
    clock_manual_init(&b->clock, INT64_C(1700000000) * CLOCK_SECOND);
    b->expressions = tolexpr_new(
        &(struct tolexpr_opts){.compat = FEATURE_NEWEST, .clock = &b->clock.clock, .seed = 7});
    b->sched = sched_new(&(struct sched_opts){.gates = &b->gates,
                                              .engine = tolexpr_match_engine(b->expressions),
                                              .clock = &b->clock.clock,
                                              .seed = 7});
}

static void write_pod_of(char text[LONGEST], const struct workload *w, unsigned i) {
    write_pod(text, i, w->distinct ? 101 + i : 100, w->spec);
}

static void add_nodes(struct bench *b, const struct workload *w) {
    char text[LONGEST];
    for (unsigned i = 0; i < w->nodes; i++) {
        write_node(text, i, w->taints);
        const struct api_object *o = object(text, &b->gates);
        sched_set(b->sched, o);
        api_object_unref(o);
    }
}

/* Tells of pods [from, to), whose objects are gone afterwards; the time that sched_set took. */
static double add_batch(struct bench *b, const struct workload *w, unsigned from, unsigned to) {
    char text[LONGEST];
    const struct api_object *pods[BATCH];
    for (unsigned i = from; i < to; i++) {
        write_pod_of(text, w, i);
        pods[i - from] = object(text, &b->gates);
    }
    double start = now_us();
    for (unsigned i = from; i < to; i++)
        sched_set(b->sched, pods[i - from]);
    double us = now_us() - start;
    for (unsigned i = from; i < to; i++)
        api_object_unref(pods[i - from]);
    return us;
}

static double add_pods(struct bench *b, const struct workload *w) {
    double us = 0;
    for (unsigned from = 0; from < w->pods; from += BATCH)
        us += add_batch(b, w, from, from + BATCH < w->pods ? from + BATCH : w->pods);
    return us;
}

static unsigned decide_all(struct sched *s, unsigned pods) {
    struct sched_result r;
    unsigned scheduled = 0;
    for (unsigned tried = 0; tried < pods && sched_next(s, &r); tried++)
        scheduled += r.outcome == SCHED_SCHEDULED;
    return scheduled;
}

static void run(const struct workload *w, bool raw) {
    struct bench b;
    open_bench(&b);
    add_nodes(&b, w);
    size_t before = mallinfo2().uordblks;
    double queueing = add_pods(&b, w), start = now_us();
    unsigned scheduled = decide_all(b.sched, w->pods);
    double deciding = now_us() - start, us = deciding + (w->distinct ? 0 : queueing);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (raw)
        printf("%.0f\t%.0f\t%u\t%ld\n", (deciding + queueing) / w->pods * 1e3,
               deciding / w->pods * 1e3, scheduled, usage.ru_maxrss);
    else
        printf("| %s | %u | %u | %u | %.0f | %.2f | %.1f | %.0f | %zu |\n", w->name, w->nodes,
               w->pods, scheduled, w->pods / us * 1e6, us / w->pods, us * 1e3 / w->pods / w->nodes,
               (double)usage.ru_maxrss / 1024, (mallinfo2().uordblks - before) / w->pods);
    fflush(stdout);
    _exit(0); /* the memory goes with the process */
}

static int print_cases(const struct workload *w) {
    char text[LONGEST];
    for (unsigned i = 0; i < w->nodes; i++) {
        write_node(text, i, w->taints);
        puts(text);
    }
    for (unsigned i = 0; i < w->pods; i++) {
        write_pod_of(text, w, i);
        puts(text);
    }
    return 0;
}

static int for_upstream(bool raw, const char *name, const char *pods) {
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        struct workload w = workloads[i];
        if (strcmp(w.name, name) != 0)
            continue;
        w.pods = (unsigned)strtoul(pods, NULL, 10);
        if (!raw)
            return print_cases(&w);
        run(&w, true);
    }
    fail("there is no such workload");
}

int main(int argc, char **argv) {
    if (argc == 4)
        return for_upstream(strcmp(argv[1], "raw") == 0, argv[2], argv[3]);
    const char *only = argc > 1 ? argv[1] : "";
    printf("| workload | nodes | pods | scheduled | pods/s | µs per pod | ns per pod and node | "
           "peak MiB | "
           "bytes per pod |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    fflush(stdout);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        int status;
        if (!strstr(workloads[i].name, only))
            continue;
        pid_t child = fork();
        if (child == 0)
            run(&workloads[i], false);
        if (child < 0 || waitpid(child, &status, 0) < 0 || status)
            fail(workloads[i].name);
    }
    return 0;
}
