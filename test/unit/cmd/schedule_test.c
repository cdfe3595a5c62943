/*
 * Random clusters, each scheduled twice: the seeds of all hash tables are drawn anew for every run,
 * and the output must be the same to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/cmd.h"
#include "world.h"

enum { CLUSTERS = 1000, NODE_CPUS = 4 };

/* ---- random numbers: the same ones on every machine ---- */

struct lots {
    uint64_t state;
};

static uint32_t draw(struct lots *l, uint32_t below) {
    l->state = l->state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(l->state >> 33) % below;
}

static bool chance(struct lots *l, uint32_t percent) {
    return draw(l, 100) < percent;
}

/* ---- a cluster as YAML, one object to a line ---- */

static void add_node(struct buf *out, struct lots *l, uint32_t i) {
    buf_addf(out,
             "{apiVersion: v1, kind: Node, metadata: {name: n%u, labels: {kubernetes.io/hostname: "
             "n%u, zone: z%u, kernel: 5.%u.0}}, spec: {unschedulable: %s",
             i, i, draw(l, 3), draw(l, 4), chance(l, 5) ? "true" : "false");
    if (chance(l, 40))
        buf_addf(out, ", taints: [{key: sla, value: \"%u\", effect: %s}]", 900 + draw(l, 5),
                 chance(l, 70) ? "NoSchedule" : "PreferNoSchedule");
    buf_addf(out, "}, status: {capacity: {cpu: %d, memory: 8Gi, pods: %u}}}\n---\n", NODE_CPUS,
             3 + draw(l, 5));
}

static void add_constraints(struct buf *out, struct lots *l) {
    if (chance(l, 50))
        buf_addf(out, "tolerations: [{key: sla, operator: %s, value: \"%u\"}], ",
                 chance(l, 50) ? "Gt" : "Equal", 900 + draw(l, 5));
    if (chance(l, 20))
        buf_addf(out, "nodeSelector: {zone: z%u}, ", draw(l, 3));
    if (chance(l, 20))
        buf_addf(out,
                 "topologySpreadConstraints: [{maxSkew: %u, topologyKey: %s, whenUnsatisfiable: "
                 "%s, labelSelector: {matchLabels: {app: a%u}}}], ",
                 1 + draw(l, 2), chance(l, 50) ? "zone" : "kubernetes.io/hostname",
                 chance(l, 50) ? "DoNotSchedule" : "ScheduleAnyway", draw(l, 3));
    if (chance(l, 25))
        buf_addf(out,
                 "affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
                 "{matchLabels: {app: a%u}}, topologyKey: %s}]}}, ",
                 chance(l, 50) ? "podAffinity" : "podAntiAffinity", draw(l, 3),
                 chance(l, 50) ? "zone" : "kubernetes.io/hostname");
    if (chance(l, 5))
        buf_add(out, STR("schedulingGates: [{name: wait}], "));
    if (chance(l, 30))
        buf_addf(out, "priorityClassName: %s, ", chance(l, 50) ? "high" : "low");
}

static void add_pod_spec(struct buf *out, struct lots *l) {
    add_constraints(out, l);
    buf_addf(out, "containers: [{name: c, image: i, resources: {requests: {cpu: %u00m}}}]",
             1 + draw(l, 20));
}

static void add_pod(struct buf *out, struct lots *l, uint32_t i, uint32_t nodes) {
    buf_addf(out, "{apiVersion: v1, kind: Pod, metadata: {name: p%u, labels: {app: a%u}}, spec: {",
             i, draw(l, 3));
    if (chance(l, 40))
        buf_addf(out,
                 "nodeName: n%u, containers: [{name: c, image: i, resources: {requests: {cpu: "
                 "%u00m}}}]",
                 draw(l, nodes), 1 + draw(l, 30));
    else
        add_pod_spec(out, l);
    buf_add(out, STR("}}\n---\n"));
}

static void add_deployment(struct buf *out, struct lots *l, uint32_t i) {
    buf_addf(out,
             "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%u}, spec: {replicas: %u, "
             "selector: {matchLabels: {app: a%u}}, template: {metadata: {labels: {app: a%u}}, "
             "spec: {",
             i, draw(l, 5), i, i);
    add_pod_spec(out, l);
    buf_add(out, STR("}}}}\n---\n"));
}

static void write_cluster(struct buf *out, uint64_t seed) {
    struct lots l = {seed};
    uint32_t nodes = 1 + draw(&l, 8), pods = draw(&l, 16), deployments = draw(&l, 3);
    buf_add(out, STR("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
                     "high}, value: 1000}\n---\n{apiVersion: scheduling.k8s.io/v1, kind: "
                     "PriorityClass, metadata: {name: low}, value: -10}\n---\n"));
    for (uint32_t i = 0; i < nodes; i++)
        add_node(out, &l, i);
    for (uint32_t i = 0; i < pods; i++)
        add_pod(out, &l, i, nodes);
    for (uint32_t i = 0; i < deployments; i++)
        add_deployment(out, &l, i);
}

/* ---- runs ---- */

/* What the program says about the text, output and remarks together, as a copy in the arena. */
static struct str schedule(struct arena *a, struct str text, const char *format) {
    struct world w;
    struct opt_list words = {0};
    const char *const line[] = {
        "schedule", "-f",   "-",
        "-o",       format, "--feature-gates=TaintTolerationComparisonOperators=true"};
    world_init(&w);
    w.text.max = 16 << 20;
    w.ctx.in = memfd_create("in", 0);
    assert_int_equal(write(w.ctx.in, text.p, text.n), (ssize_t)text.n);
    lseek(w.ctx.in, 0, SEEK_SET);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        opt_list_add(a, &words, str_of(line[i]));
    int code = cmd_main(&w.ctx, &words);
    assert_in_range(code, CMD_GOOD, CMD_BAD_VERDICT);
    struct str out = arena_str(a, str_of(world_taken(&w, w.out)));
    struct str all = arena_printf(a, "%d %.*s%s", code, STR_ARG(out), world_taken(&w, w.err));
    close(w.ctx.in);
    world_release(&w);
    return all;
}

static size_t count(struct str text, const char *word) {
    size_t n = 0;
    for (size_t at; (at = str_find(text, str_of(word))) != STR_NONE; n++)
        text = str_sub(text, at + 1, text.n);
    return n;
}

static void the_same_cluster_gives_the_same_bytes(void **state) {
    (void)state;
    struct arena a = {0};
    struct buf text = BUF_INIT(1 << 20);
    size_t scheduled = 0, rejected = 0, preempted = 0, gated = 0;
    for (uint64_t seed = 0; seed < CLUSTERS; seed++) {
        buf_clear(&text);
        write_cluster(&text, seed);
        const char *format = seed % 2 ? "json" : "table";
        struct str first = schedule(&a, buf_view(&text), format);
        struct str second = schedule(&a, buf_view(&text), format);
        if (!str_eq(first, second))
            fail_msg("cluster %llu:\n%s\n%s", (unsigned long long)seed, first.p, second.p);
        scheduled += count(first, " Scheduled");
        rejected += count(first, " Unschedulable");
        preempted += count(first, " Preempted");
        gated += count(first, " Gated");
        arena_reset(&a);
    }
    /* The clusters have something of everything. */
    assert_true(scheduled > CLUSTERS);
    assert_true(rejected > CLUSTERS / 2);
    assert_true(preempted > CLUSTERS / 20);
    assert_true(gated > CLUSTERS / 20);
    buf_release(&text);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_cluster_gives_the_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
