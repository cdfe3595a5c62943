/*
 * Scores, their sum, and the node that is taken.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func prioritizeNodes.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/runtime, func (*frameworkImpl) RunScorePlugins.
 */
#include <string.h>

#include "sched/eval_int.h"
#include "sched/times_int.h"

/* ---- the general way: any plug-ins, any choice ---- */

/* A column to sum up in, which starts with the scores that need no scale. */
static int64_t *start_totals(const struct sched__cycle *cy) {
    const struct sched__eval *ev = cy->cls->eval;
    return arena_copy(cy->arena, ev->fixed, cy->s->nodes.n * sizeof *ev->fixed);
}

/* Adds the scores of plug-ins that depend on pods elsewhere; NULL: there are none. */
static int64_t *add_cluster_scores(struct sched__cycle *cy) {
    const struct sched_order *order = &cy->profile->points[SCHED_SCORE];
    int64_t *totals = NULL;
    for (size_t i = 0; i < order->n; i++) {
        enum sched_plugin p = order->v[i];
        const struct sched__plugin *plugin = sched__plugin_at(p);
        if (plugin->scope != SCHED__SCOPE_CLUSTER || !plugin->score || !cy->cls->data[p] ||
            !sched__ask_pre_score(cy, p))
            continue;
        totals = totals ? totals : start_totals(cy);
        int64_t weight = cy->profile->weights[p];
        int64_t *scores = cy->s->scores;
        int64_t start = sched__time_start(cy);
        plugin->score(cy, scores, 0, cy->s->nodes.n);
        plugin->normalize(cy, scores);
        sched__time_stop(cy, SCHED_SCORE, p, start);
        for (uint32_t k = 0; k < cy->s->nodes.n; k++)
            if (!cy->verdict[k])
                totals[k] += weight * scores[k];
    }
    return totals;
}

static int64_t largest(const struct sched__cycle *cy, const int64_t *scores) {
    int64_t max = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        if (!cy->verdict[i] && scores[i] > max)
            max = scores[i];
    return max;
}

/* Adds remembered scores that have a scale: they are measured among the nodes that fit in this
 * cycle. */
static void add_scaled_scores(struct sched__cycle *cy, const struct sched__eval *ev,
                              int64_t *totals) {
    for (size_t k = 0; k < ev->scaled_count; k++) {
        const struct sched__scaled *scaled = &ev->scaled[k];
        enum sched__scale scale = sched__plugin_at(scaled->plugin)->scale;
        int64_t max = largest(cy, scaled->raw);
        if (!max)
            continue; /* the same for all */
        int64_t weight = cy->profile->weights[scaled->plugin];
        for (uint32_t i = 0; i < cy->s->nodes.n; i++)
            if (!cy->verdict[i])
                totals[i] += weight * sched__scale(scale, scaled->raw[i], max);
    }
}

/* xorshift64*: of ties only, and only if asked for. */
static uint64_t next_random(struct sched *s) {
    uint64_t x = s->tie_state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    s->tie_state = x;
    return x * UINT64_C(2685821657736338717);
}

static uint32_t best_slot(struct sched__cycle *cy, const int64_t *totals) {
    uint32_t best = SCHED__NONE, ties = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++) {
        if (cy->verdict[i] || (best != SCHED__NONE && totals[i] < totals[best]))
            continue;
        if (best == SCHED__NONE || totals[i] > totals[best]) {
            best = i;
            ties = 1;
        } else if (cy->s->tie_state && next_random(cy->s) % ++ties == 0) {
            best = i;
        }
    }
    return best;
}

static uint32_t only_slot(const struct sched__cycle *cy) {
    const uint8_t *found = memchr(cy->verdict, SCHED__FITS, cy->s->nodes.n);
    return (uint32_t)(found - cy->verdict);
}

uint32_t sched__cycle_choose(struct sched__cycle *cy) {
    const struct sched__eval *ev = cy->cls->eval;
    sched__cycle_sample(cy);
    if (cy->feasible == 1)
        return only_slot(cy);
    if (ev->score_error.p) {
        cy->error = ev->score_error;
        return SCHED__NONE;
    }
    int64_t *totals = add_cluster_scores(cy);
    if (cy->error.p)
        return SCHED__NONE;
    if (!totals && cy->verdict == ev->verdict && !cy->s->tie_state)
        return ev->winner;
    totals = totals ? totals : start_totals(cy);
    add_scaled_scores(cy, ev, totals);
    return best_slot(cy, totals);
}

/* ---- for reports: every plug-in's own column ---- */

static void normalize(const struct sched__cycle *cy, const struct sched__plugin *plugin,
                      int64_t *scores) {
    if (plugin->scope == SCHED__SCOPE_CLUSTER) {
        plugin->normalize(cy, scores);
        return;
    }
    if (plugin->scale == SCHED__SCALE_NONE)
        return;
    int64_t max = largest(cy, scores);
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        if (!cy->verdict[i])
            scores[i] = sched__scale(plugin->scale, scores[i], max);
}

int sched__cycle_score(struct sched__cycle *cy, int64_t *columns[SCHED_PLUGIN_COUNT]) {
    const struct sched_order *order = &cy->profile->points[SCHED_SCORE];
    memset(columns, 0, SCHED_PLUGIN_COUNT * sizeof *columns);
    for (size_t i = 0; i < order->n; i++) {
        enum sched_plugin p = order->v[i];
        const struct sched__plugin *plugin = sched__plugin_at(p);
        if (!plugin->score || (plugin->compile && !cy->cls->data[p]) ||
            (plugin->pre_score && !plugin->pre_score(cy)))
            continue;
        if (cy->error.p)
            return -1;
        columns[p] = arena_array(cy->arena, int64_t, cy->s->nodes.n);
        plugin->score(cy, columns[p], 0, cy->s->nodes.n);
        normalize(cy, plugin, columns[p]);
    }
    return cy->error.p ? -1 : 0;
}
