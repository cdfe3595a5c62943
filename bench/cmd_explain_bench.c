/*
 * Explanations on a made-up cluster of 5,000 nodes with 10,000 pods, all as unlike each other as
 * pods make nodes: the time to explain a pod that fits nowhere, and to find the smallest changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/object.h"
#include "base/clock.h"
#include "cmd/report/explain_report.h"
#include "feature/feature.h"
#include "tolexpr/tolexpr.h"

enum { NODES = 5000, PODS_EACH = 2, ROUNDS = 20, LONGEST = 4096 };

static void fail(const char *what) {
    fprintf(stderr, "cmd_explain_bench: %s\n", what);
    exit(1);
}

/* Objects are written with ' for ". */
static const struct api_object *object(char *text, const struct feature_set *gates) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (json_parse(&a, str_of(text), NULL, &tree, NULL) < 0 ||
        api_object_decode(&tree, NULL, &o, NULL) < 0)
        fail("an object cannot be decoded");
    api_object_default(o, gates);
    arena_release(&a);
    return api_publish(o);
}

static void add_node(struct sched *s, unsigned i, const struct feature_set *gates) {
    char text[LONGEST];
    snprintf(text, sizeof text,
             "{'apiVersion':'v1','kind':'Node','metadata':{'name':'node-%u','labels':{"
             "'kubernetes.io/hostname':'node-%u','topology.kubernetes.io/zone':'zone-%u'}},"
             "'spec':{'taints':[{'key':'sla','value':'%u','effect':'NoSchedule'}]},"
             "'status':{'allocatable':{'cpu':'8','memory':'32Gi','pods':'110'}}}",
             i, i, i % 10, 900 + i % 50);
    const struct api_object *o = object(text, gates);
    sched_set(s, o);
    api_object_unref(o);
}

static void add_pod(struct sched *s, unsigned i, const struct feature_set *gates) {
    char text[LONGEST];
    snprintf(text, sizeof text,
             "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'pod-%u','namespace':'default',"
             "'labels':{'app':'web'}},'spec':{'nodeName':'node-%u','containers':[{'name':'c',"
             "'image':'i','resources':{'requests':{'cpu':'%um','memory':'1Gi'}}}]}}",
             i, i % NODES, 600 + i * 7919 % 3000);
    const struct api_object *o = object(text, gates);
    sched_set(s, o);
    api_object_unref(o);
}

#define SELECT_WEB "'labelSelector':{'matchLabels':{'app':'web'}}"
#define TOLERATE   "'tolerations':[{'key':'sla','operator':'Exists'}],"

static const struct question {
    const char *name, *cpu, *spec;
} questions[] = {
    {"cpu", "7", TOLERATE},
    {"Gt", "1", "'tolerations':[{'key':'sla','operator':'Gt','value':'950'}],"},
    {"expression", "1",
     "'tolerations':[{'expression':'taint.key == \\\"sla\\\" && int(taint.value) > 950'}],"},
    {"node affinity", "1", TOLERATE "'nodeSelector':{'disk':'ssd'},"},
    {"pod anti-affinity", "1",
     TOLERATE "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
              "'topologyKey':'kubernetes.io/hostname'," SELECT_WEB "}]}},"},
    {"all of it, and spreading", "7",
     "'tolerations':[{'key':'sla','operator':'Gt','value':'950'}],'nodeSelector':{'disk':'ssd'},"
     "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'topology.kubernetes.io/zone',"
     "'whenUnsatisfiable':'DoNotSchedule'," SELECT_WEB "}],"
     "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
     "'topologyKey':'kubernetes.io/hostname'," SELECT_WEB "}]}},"},
};

static double now_ms(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static double least(double a, double b) {
    return a < b ? a : b;
}

/* Explains, suggests and writes; the best time of each over all rounds. */
static void ask(struct sched *s, const struct question *q, const struct feature_set *gates) {
    char text[LONGEST];
    snprintf(text, sizeof text,
             "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default',"
             "'labels':{'app':'web'}},'spec':{%s'containers':[{'name':'c','image':'i','resources':{"
             "'requests':{'cpu':'%s','memory':'1Gi'}}}]}}",
             q->spec, q->cpu);
    const struct api_object *pod = object(text, gates);
    double explained = 1e9, suggested = 1e9, written = 1e9;
    size_t groups = 0, changes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        AUTO(arena_release) struct arena a = {0};
        AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
        struct sched_explanation e;
        struct sched_suggestions list;
        double start = now_ms();
        sched_explain(s, pod, false, &a, &e);
        double then = now_ms();
        explained = least(explained, then - start);
        sched_suggest(&e, SIZE_MAX, &a, &list);
        suggested = least(suggested, now_ms() - then);
        then = now_ms();
        explain_report_write_json(
            &out,
            &(struct explain_report){
                .e = &e, .suggestions = &list, .pod = pod, .node = SIZE_MAX, .most = SIZE_MAX});
        written = least(written, now_ms() - then);
        groups = e.group_count;
        changes = list.n;
        sched_suggestions_release(&list);
    }
    printf("| %s | %zu | %zu | %.1f | %.1f | %.1f |\n", q->name, groups, changes, explained,
           suggested, written);
    api_object_unref(pod);
}

int main(void) {
    struct feature_set gates = {0};
    struct clock_manual clock;
    for (enum feature f = 0; f < FEATURE_COUNT; f++)
        feature_set_put(&gates, f, feature_spec_at(f, FEATURE_NEWEST, FEATURE_NEWEST)->on);
    feature_set_put(&gates, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&gates, FEATURE_TaintTolerationCEL, true);
    clock_manual_init(&clock, 0);
    struct tolexpr *expressions = tolexpr_new(
        &(struct tolexpr_opts){.compat = FEATURE_NEWEST, .clock = &clock.clock, .seed = 7});
    struct sched *s = sched_new(&(struct sched_opts){.gates = &gates,
                                                     .engine = tolexpr_match_engine(expressions),
                                                     .clock = &clock.clock,
                                                     .seed = 7});
    for (unsigned i = 0; i < NODES; i++)
        add_node(s, i, &gates);
    for (unsigned i = 0; i < NODES * PODS_EACH; i++)
        add_pod(s, i, &gates);
    printf("| pod rejected by | groups | changes | explain, ms | suggest, ms | write, ms |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask(s, &questions[i], &gates);
    sched_free(s);
    tolexpr_free(expressions);
    return 0;
}
