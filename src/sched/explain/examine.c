/* sched_examine: the whole table of verdicts and scores, for explanations and tests. */
#include "base/alloc.h"
#include "sched/explain/explain_int.h"
#include "sched/topology/count_int.h"

static void report_nodes(struct sched__cycle *cy, struct sched_report *out) {
    const struct sched__nodes *nodes = &cy->s->nodes;
    out->nodes = arena_array(cy->arena, struct sched_node_report, nodes->live);
    for (uint32_t slot = 0; slot < nodes->n; slot++) {
        if (!(nodes->state[slot] & SCHED__NODE_THERE))
            continue;
        struct sched_node_report *r = &out->nodes[out->node_count++];
        r->node = intern_text(nodes->v[slot].name);
        r->slot = slot;
        if (!cy->verdict) /* PreFilter ended it */
            continue;
        r->status = sched__cycle_status(cy, slot);
        r->absent = cy->verdict[slot] == SCHED__ABSENT;
    }
}

static void report_scores(struct sched__cycle *cy, struct sched_report *out) {
    int64_t *columns[SCHED_PLUGIN_COUNT];
    if (sched__cycle_score(cy, columns) < 0)
        return;
    out->scored = true;
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++) {
        if (!columns[p])
            continue;
        out->scoring[p] = true;
        for (size_t i = 0; i < out->node_count; i++) {
            struct sched_node_report *r = &out->nodes[i];
            if (r->status.code != SCHED_CODE_SUCCESS)
                continue;
            r->scores[p] = columns[p][r->slot];
            r->total += cy->profile->weights[p] * r->scores[p];
        }
    }
}

static void report_choice(struct sched__cycle *cy, struct sched_report *out) {
    uint32_t start = cy->s->next_start;
    uint64_t ties = cy->s->tie_state;
    uint32_t best = sched__cycle_choose(cy);
    cy->s->next_start = start;
    cy->s->tie_state = ties;
    for (size_t i = 0; i < out->node_count; i++)
        if (out->nodes[i].slot == best)
            out->best = i;
}

void sched__report_cycle(struct sched__cycle *cy, struct sched_report *out) {
    sched__cycle_filter(cy);
    out->rejected = cy->rejected;
    report_nodes(cy, out);
    out->feasible = cy->feasible;
    out->nominated = cy->nominated;
    if (cy->feasible > 1 && !cy->error.p)
        report_scores(cy, out);
    if (cy->feasible && !cy->error.p)
        report_choice(cy, out);
    out->error = cy->error;
    if (!cy->feasible && !cy->error.p)
        out->message = sched__cycle_message(cy);
}

void sched__trial_start(struct sched__trial *t, struct sched *s, const struct api_object *pod,
                        struct arena *a) {
    t->pod = (struct sched_pod){
        .key =
            arena_printf(a, "%.*s/%.*s", STR_ARG(pod->meta->namespace), STR_ARG(pod->meta->name)),
        .cls = sched__pod_class_get_pending(s, pod),
        .node = SCHED__NONE,
        .nominated = SCHED__NONE,
    };
    sched__pod_read(s, &t->pod, pod);
    t->cycle = (struct sched__cycle){
        .s = s, .pod = &t->pod, .cls = t->pod.cls, .profile = t->pod.cls->profile, .arena = a};
}

void sched__trial_nominate(struct sched__trial *t) {
    if (t->pod.nominated_node_name)
        t->pod.nominated = sched__node_find(t->cycle.s, intern_text(t->pod.nominated_node_name));
}

void sched__trial_end(struct sched__trial *t) {
    intern_unref(t->pod.nominated_node_name);
    sched__pod_class_unref(t->cycle.s, t->pod.cls);
}

void sched_examine(struct sched *s, const struct api_object *pod, struct arena *a,
                   struct sched_report *out) {
    struct sched__trial trial;
    sched__tallies_sweep(s);
    sched__trial_start(&trial, s, pod, a);
    *out = (struct sched_report){0};
    sched__trial_nominate(&trial);
    out->error = sched__pod_class_objection(trial.cycle.cls, a);
    if (!out->error.p)
        sched__report_cycle(&trial.cycle, out);
    sched__trial_end(&trial);
}
