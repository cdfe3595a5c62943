/*
 * A scheduler that lived through many events must know what a new one knows that is only told how
 * things are: what is remembered per class, per node and per domain is never old. Questions leave
 * no trace, and the seeds of hash tables do not show.
 *
 * Bytes choose the events, four for each. Two schedulers with different seeds are told the same,
 * one of them is also asked to examine, explain and suggest. Their decisions are compared with each
 * other and with that of a new scheduler (walk_fresh.h), and so is, after some of the events, what
 * they make of pods, which walk_naive.h judges, too.
 */
#ifndef TEST_SCHED_WALK_H
#define TEST_SCHED_WALK_H

#include "sched/explain.h"
#include "sched/topology/count_int.h"
#include "walk_fresh.h"
#include "walk_naive.h"

/* So many events come before all is compared again, in walks that are short. */
enum { WALK_STRIDE = 8 };

/* One event. What a, b and c stand for is the operation's. */
struct walk_record {
    uint8_t op, a, b, c;
};

/* ---- start and end ---- */

static inline void walk_start_config(struct walk *w) {
    static const char text[] =
        "{\"apiVersion\":\"kubescheduler.config.k8s.io/"
        "v1\",\"kind\":\"KubeSchedulerConfiguration\","
        "\"profiles\":[{\"schedulerName\":\"default-scheduler\"},{\"schedulerName\":\"packer\","
        "\"pluginConfig\":[{\"name\":\"NodeResourcesFit\",\"args\":{\"ignoredResources\":"
        "[\"ex.io/fpga\"],\"scoringStrategy\":{\"type\":\"MostAllocated\",\"resources\":["
        "{\"name\":\"cpu\",\"weight\":1},{\"name\":\"ex.io/gpu\",\"weight\":3}]}}},"
        "{\"name\":\"NodeAffinity\",\"args\":{\"addedAffinity\":{"
        "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":5,\"preference\":{"
        "\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Exists\"}]}}]}}},"
        "{\"name\":\"PodTopologySpread\",\"args\":{\"defaultingType\":\"List\","
        "\"defaultConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
        "\"DoNotSchedule\"}]}}]}]}";
    struct json tree;
    struct err err;
    if (json_parse(&w->arena, str_of(text), NULL, &tree, &err) < 0 ||
        sched_config_read(&w->arena, &tree, &w->config, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
}

/* Gates that change what objects mean, one bit each. */
static inline void walk_start_gates(struct walk *w, uint8_t off) {
    static const enum feature gates[] = {FEATURE_TaintTolerationComparisonOperators,
                                         FEATURE_TolerationAffinitySemverOperators,
                                         FEATURE_TaintTolerationCEL,
                                         FEATURE_VolumeLimitScaling,
                                         FEATURE_PodLevelResources,
                                         FEATURE_NodeDeclaredFeatures,
                                         FEATURE_GenericWorkload,
                                         FEATURE_DRANodeAllocatableResources};
    feature_config_init(&w->gates, FEATURE_NEWEST);
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        feature_set_put(&w->gates.enabled, gates[i], !(off >> i & 1));
}

/* Names, and the bytes that stand for them. */
static inline void walk_start_entries(struct walk *w) {
    size_t chosen = 0;
    for (unsigned kind = 0; kind < WALK_KINDS; kind++) {
        w->first[kind] = w->entry_count;
        for (unsigned i = 0; i < walk_kinds[kind].numbers; i++) {
            struct walk_entry *e = &w->entries[w->entry_count++];
            e->spec = (struct walk_spec){.kind = (uint8_t)kind, .number = (uint8_t)i};
            for (unsigned k = 0; k < walk_kinds[kind].weight; k++)
                w->chosen[chosen++] = e;
        }
    }
    for (size_t i = chosen; i <= UINT8_MAX; i++)
        w->chosen[i] = w->chosen[i - chosen];
}

static inline void walk_start(struct walk *w, struct walk_record first) {
    memset(w, 0, sizeof *w);
    w->trace = getenv("WALK_TRACE");
    w->stride = WALK_STRIDE;
    clock_manual_init(&w->clock, 1800000000 * CLOCK_SECOND);
    walk_start_config(w);
    walk_start_gates(w, first.op);
    walk_start_entries(w);
    for (size_t k = 0; k < WALKERS; k++)
        w->s[k] = walk_sched(w, 1000 * k);
    for (unsigned i = 0; i < walk_kinds[WALK_PROBE].numbers; i++)
        walk_set_seed(w, walk_entry(w, WALK_PROBE, i), (uint8_t)(first.a + i));
    for (unsigned i = 0; i < 5; i++)
        walk_set_seed(w, walk_entry(w, WALK_NODE, i), (uint8_t)(first.b + i));
    walk_set_seed(w, walk_entry(w, WALK_POD, 0), first.c);
}

static inline void walk_end(struct walk *w) {
    for (size_t i = 0; i < w->entry_count; i++)
        walk_drop(w, &w->entries[i]);
    for (size_t k = 0; k < WALKERS; k++)
        sched_free(w->s[k]);
    arena_release(&w->arena);
}

/* ---- comparing ---- */

/* What a pod makes of both schedulers, and of a new one if there is one. */
static inline void walk_compare_pod(struct walk *w, struct sched *fresh,
                                    const struct api_object *pod, bool both) {
    struct arena a = {0};
    struct sched_report mine, other, new;
    sched_examine(w->s[0], pod, &a, &mine);
    sched_examine(fresh, pod, &a, &new);
    bool same = walk_same_report(&mine, &new);
    if (both) {
        sched_examine(w->s[1], pod, &a, &other);
        same = same && walk_same_report(&mine, &other);
    }
    if (!same) {
        walk_print_object("pod", pod);
        walk_print_report("remembered", &mine);
        walk_print_report("made anew", &new);
        if (both)
            walk_print_report("never asked", &other);
        abort();
    }
    walk_naive_check(w, pod, &mine);
    w->stats.comparisons++;
    w->stats.scored += mine.scored;
    arena_release(&a);
}

static inline bool walk_is_pending(const struct walk_entry *e) {
    if (e->spec.kind != WALK_POD || !e->object)
        return false;
    const struct api_pod *pod = e->object->body;
    return !e->assumed && !pod->spec.node_name.n;
}

static inline void walk_write_pods(struct buf *out, struct sched_pod *const *pods, size_t n) {
    for (size_t i = 0; i < n; i++)
        buf_addf(out, " %.*s", STR_ARG(pods[i]->key));
}

/* Which nodes there are, and which pods on them, in the order in which decisions look at them. */
static inline void walk_write_order(struct buf *out, const struct sched *s) {
    buf_clear(out);
    for (uint32_t slot = 0; slot < s->nodes.n; slot++) {
        const struct sched__node *node = &s->nodes.v[slot];
        if (!node->name)
            continue;
        buf_addf(out, "%.*s:", STR_ARG(intern_text(node->name)));
        walk_write_pods(out, node->pods.v, node->pods.n);
        buf_add(out, STR("; for"));
        walk_write_pods(out, node->nominated.v, node->nominated.n);
        buf_add_char(out, '\n');
    }
}

static inline void walk_compare_order(struct walk *w) {
    struct buf texts[WALKERS] = {BUF_INIT(WALK_MOST_TEXT), BUF_INIT(WALK_MOST_TEXT)};
    for (size_t k = 0; k < WALKERS; k++)
        walk_write_order(&texts[k], w->s[k]);
    if (!str_eq(buf_view(&texts[0]), buf_view(&texts[1]))) {
        fprintf(stderr, "after questions:\n%.*snever asked:\n%.*s", STR_ARG(buf_view(&texts[0])),
                STR_ARG(buf_view(&texts[1])));
        abort();
    }
    for (size_t k = 0; k < WALKERS; k++)
        buf_release(&texts[k]);
}

/* Each partition lists the domains that have nodes, once. */
static inline void walk_check_partitions(const struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));) {
        const struct sched__partition *g = e->value;
        size_t listed = 0, there = 0;
        for (size_t i = 0; i < g->domains.n; i++)
            for (size_t k = 0; k < g->domains.n; k++)
                listed += g->domains.v[i] == g->domains.v[k];
        for (uint32_t domain = 1; domain < g->domain_cap; domain++)
            there += g->nodes[domain] > 0;
        if (listed != g->domains.n || there != g->domains.n)
            abort();
    }
}

/* A pod like this one but for one choice. If the key of classes misses what they differ in, it is
 * taken for this one, whose class is held. */
static inline void walk_compare_twin(struct walk *w, struct sched *fresh,
                                     const struct walk_entry *e, uint64_t chance) {
    struct walk_choices choices;
    struct walk_spec spec = e->spec;
    walk_vary(&spec, &e->choices, chance);
    const struct api_object *twin = api_publish(walk_object(&spec, &choices, &w->gates.enabled));
    walk_compare_pod(w, fresh, twin, false);
    api_object_unref(twin);
}

/* All probes and all pods that wait, and a twin of each. */
static inline void walk_compare(struct walk *w) {
    walk_compare_order(w);
    walk_check_partitions(w->s[0]);
    walk_note(w);
    struct sched *fresh = walk_fresh(w, NULL);
    for (size_t i = 0; i < w->entry_count; i++) {
        struct walk_entry *e = &w->entries[i];
        if (e->spec.kind != WALK_PROBE && !walk_is_pending(e))
            continue;
        walk_compare_pod(w, fresh, e->object, i % 4 == w->stats.steps / w->stride % 4);
        walk_compare_twin(w, fresh, e, walk_mix(w->stats.steps << 8 | i));
    }
    sched_free(fresh);
}

/* ---- operations ---- */

static inline void walk_op_set(struct walk *w, struct walk_record r) {
    walk_set_seed(w, w->chosen[r.a], r.c);
}

/* One choice is another one from now on; nobody is told yet. */
static inline void walk_op_defer(struct walk *w, struct walk_record r) {
    struct walk_entry *e = w->chosen[r.a];
    if (e->choices.n)
        walk_change(&e->spec, e->choices.v[r.b % e->choices.n], r.c);
}

static inline void walk_op_change(struct walk *w, struct walk_record r) {
    walk_op_defer(w, r);
    walk_tell(w, w->chosen[r.a], w->chosen[r.a]->spec);
}

static inline void walk_op_delete(struct walk *w, struct walk_record r) {
    walk_delete(w, w->chosen[r.a]);
}

/* Under the same name with another uid and something changed; its end may go untold. */
static inline void walk_op_recreate(struct walk *w, struct walk_record r) {
    struct walk_entry *e = w->chosen[r.a];
    walk_op_defer(w, r);
    struct walk_spec spec = e->spec;
    spec.life = spec.life ? 0 : 1;
    if (r.op & 16)
        walk_delete(w, e);
    e->bound = 0;
    walk_tell(w, e, spec);
}

/* An object of the same kind; pods and probes are like each other. */
static inline const struct walk_entry *walk_model_of(struct walk *w, const struct walk_entry *e,
                                                     unsigned n) {
    unsigned pods = walk_kinds[WALK_POD].numbers, probes = walk_kinds[WALK_PROBE].numbers;
    if (e->spec.kind != WALK_POD && e->spec.kind != WALK_PROBE)
        return walk_entry(w, e->spec.kind, n % walk_kinds[e->spec.kind].numbers);
    return walk_entry(w, WALK_POD, n % (pods + probes));
}

/* Like another object but for one choice; a pod that was placed is so on some other node. */
static inline void walk_op_twin(struct walk *w, struct walk_record r) {
    struct walk_entry *e = w->chosen[r.a];
    const struct walk_entry *like = walk_model_of(w, e, r.b);
    struct walk_spec spec = like->spec;
    spec.kind = e->spec.kind;
    spec.number = e->spec.number;
    spec.life = e->spec.life;
    spec.version = e->spec.version;
    spec.era = walk_era(w);
    if (like->choices.n)
        walk_change(&spec, like->choices.v[r.c % like->choices.n], r.op / 16);
    e->bound =
        like->bound ? spec.era * WALK_NODES_OF_ERA + 1 + r.c % walk_kinds[WALK_NODE].numbers : 0;
    walk_tell(w, e, spec);
}

/* Sweeps at once what a scheduler would sweep when there is more of it. */
static inline void walk_sweep(struct sched *s) {
    match_sweep(s->match);
    intern_sweep(s->atoms);
    s->idle.made = SIZE_MAX;
}

/* Time passes, and the first scheduler gives back what came and went: nothing shows that. */
static inline void walk_op_clock(struct walk *w, struct walk_record r) {
    static const int64_t seconds[] = {1, 2, 10, 31, 61, 400};
    if (r.b % 2)
        walk_sweep(w->s[0]);
    clock_manual_advance(&w->clock,
                         seconds[r.a % (sizeof seconds / sizeof *seconds)] * CLOCK_SECOND);
}

static inline void walk_suggest(const struct sched_explanation *e, size_t node) {
    struct arena a = {0};
    struct sched_suggestions list;
    sched_suggest(e, node, &a, &list);
    sched_suggestions_release(&list);
    arena_release(&a);
}

enum { WALK_EXAMINE = 1, WALK_REDACT = 2, WALK_ANYWHERE = 4 };

static inline void walk_ask(struct walk *w, const struct api_object *pod, uint8_t how,
                            uint8_t node) {
    struct arena a = {0};
    struct sched_report report;
    struct sched_explanation explanation;
    walk_trace(w, how & WALK_EXAMINE ? "examine" : "suggest", pod);
    if (how & WALK_EXAMINE) {
        sched_examine(w->s[0], pod, &a, &report);
    } else {
        sched_explain(w->s[0], pod, how & WALK_REDACT, &a, &explanation);
        size_t n = explanation.group_count ? explanation.report.node_count : 0;
        walk_suggest(&explanation, how & WALK_ANYWHERE || !n ? SIZE_MAX : node % n);
    }
    arena_release(&a);
}

/* Only the first scheduler is asked: the other one shows whether that left a trace. */
static inline void walk_op_ask(struct walk *w, struct walk_record r) {
    struct walk_entry *e = w->chosen[r.a];
    if (e->spec.kind != WALK_POD || !e->object)
        e = walk_entry(w, WALK_PROBE, r.a % walk_kinds[WALK_PROBE].numbers);
    walk_ask(w, e->object, r.b, r.c);
}

/* A pod comes to a node that nobody knows, and goes. What is remembered of the others outlives the
 * slot that was there meanwhile. */
static inline void walk_visit(struct walk *w, struct walk_record r) {
    enum { UNKNOWN = 9 };
    struct walk_entry *e = walk_entry(w, WALK_POD, r.a % walk_kinds[WALK_POD].numbers);
    unsigned probe = r.b % walk_kinds[WALK_PROBE].numbers;
    if (e->object)
        return;
    struct walk_spec spec = e->spec;
    spec.seed = r.c;
    spec.era = walk_era(w);
    walk_ask(w, walk_entry(w, WALK_PROBE, probe)->object, WALK_EXAMINE, 0);
    e->bound = spec.era * WALK_NODES_OF_ERA + UNKNOWN + 1;
    walk_tell(w, e, spec);
    walk_delete(w, e);
    walk_ask(w, walk_entry(w, WALK_PROBE, probe)->object, WALK_EXAMINE, 0);
}

/* All pods go, and all nodes but one, which come back: columns get shorter and longer again. */
static inline void walk_start_over(struct walk *w, struct walk_record r) {
    unsigned numbers = walk_kinds[WALK_NODE].numbers;
    bool was_there[UINT8_MAX] = {0};
    for (unsigned i = 0; i < walk_kinds[WALK_POD].numbers; i++)
        walk_delete(w, walk_entry(w, WALK_POD, i));
    for (unsigned i = 0; i < numbers; i++) {
        struct walk_entry *e = walk_entry(w, WALK_NODE, i);
        was_there[i] = e->object && i != r.a % numbers;
        if (was_there[i])
            walk_delete(w, e);
    }
    for (unsigned i = 0; i < numbers; i++) {
        struct walk_entry *e = walk_entry(w, WALK_NODE, (i + r.c) % numbers);
        if (was_there[e->spec.number])
            walk_tell(w, e, e->spec);
    }
}

static inline void walk_op_pass(struct walk *w, struct walk_record r) {
    if (r.b / 4 % 16 == 0)
        walk_start_over(w, r);
    else
        walk_visit(w, r);
}

/* ---- decisions ---- */

static inline void walk_require_result(const struct sched_result *a, const struct sched_result *b,
                                       const char *who) {
    if (walk_same_result(a, b))
        return;
    walk_print_result("remembered", a);
    walk_print_result(who, b);
    abort();
}

/* A scheduler that knows all but what was decided must decide the same. */
static inline void walk_compare_decision(struct walk *w, struct walk_entry *pod,
                                         const struct sched_result *result) {
    struct sched *fresh = walk_fresh(w, pod);
    struct sched_result new;
    if (!sched_next(fresh, &new))
        abort();
    walk_require_result(result, &new, "made anew");
    sched_free(fresh);
}

static inline void walk_follow(struct walk *w, struct walk_entry *e, const struct sched_result *r,
                               uint8_t how) {
    if (r->outcome == SCHED_SCHEDULED)
        walk_assume(e, r->node);
    if (r->outcome == SCHED_SCHEDULED && how & 1)
        walk_bind(w, e);
    if (r->outcome == SCHED_SCHEDULED && how % 16 == 4)
        walk_forget(w, e);
    for (size_t i = 0; how & 2 && i < r->victim_count; i++)
        walk_delete(w, walk_pod_named(w, r->victims[i].name));
}

/* Goes on to when there is something to decide. */
static inline void walk_wait(struct walk *w) {
    int64_t left = sched_next_time(w->s[0]) - w->clock.wall_ns;
    if (left > 0 && left < 1000 * CLOCK_SECOND)
        clock_manual_advance(&w->clock, left);
}

static inline void walk_op_next(struct walk *w, struct walk_record r) {
    struct sched_result results[WALKERS];
    if (r.c % 4 == 0)
        walk_wait(w);
    walk_note(w);
    bool any = sched_next(w->s[0], &results[0]);
    if (sched_next(w->s[1], &results[1]) != any)
        abort();
    if (!any)
        return;
    w->stats.decisions++;
    if (w->trace)
        walk_print_result("next", &results[0]);
    w->stats.placed += results[0].outcome == SCHED_SCHEDULED;
    w->stats.victims += results[0].victim_count;
    walk_require_result(&results[0], &results[1], "never asked");
    struct walk_entry *e = walk_pod_named(w, results[0].pod.name);
    if (!e->open)
        abort();
    if (r.b % 4 != 3 && w->stats.steps % w->stride < WALK_STRIDE)
        walk_compare_decision(w, e, &results[0]);
    walk_follow(w, e, &results[0], r.a);
}

/* An object is told of once more as it is, as by a watch that begins again. */
static inline void walk_echo(struct walk *w, struct walk_entry *e) {
    const struct api_object *last = e->news.object ? e->news.object : e->object;
    if (!last || e->spec.kind == WALK_PROBE)
        return;
    walk_trace(w, "echo", last);
    for (size_t k = 0; k < WALKERS; k++)
        sched_set(w->s[k], last);
}

/* The binding of a pod is confirmed, or has failed; if there is none, something comes again. */
static inline void walk_op_confirm(struct walk *w, struct walk_record r) {
    struct walk_entry *e = walk_entry(w, WALK_POD, r.a % walk_kinds[WALK_POD].numbers);
    if (e->assumed && r.b % 2)
        walk_forget(w, e);
    else if (e->assumed)
        walk_bind(w, e);
    else
        walk_echo(w, w->chosen[r.c]);
}

/* ---- all of it ---- */

static inline void walk_step(struct walk *w, struct walk_record r) {
    typedef void walk_op(struct walk * w, struct walk_record r);
    static walk_op *const ops[] = {
        walk_op_set,    walk_op_set,      walk_op_twin, walk_op_twin,
        walk_op_change, walk_op_change,   walk_op_pass, walk_op_defer,
        walk_op_delete, walk_op_recreate, walk_op_next, walk_op_next,
        walk_op_next,   walk_op_clock,    walk_op_ask,  walk_op_confirm,
    };
    ops[r.op % (sizeof ops / sizeof *ops)](w, r);
    if (++w->stats.steps % w->stride == 0)
        walk_compare(w);
}

static inline void walk_all(struct walk *w, const uint8_t *bytes, size_t n) {
    struct walk_record r = {0};
    size_t records = n / sizeof r;
    if (records)
        memcpy(&r, bytes, sizeof r);
    walk_start(w, r);
    for (size_t i = 1; i < records; i++) {
        memcpy(&r, bytes + i * sizeof r, sizeof r);
        walk_step(w, r);
    }
    walk_compare(w);
    walk_end(w);
}

#endif
