/* Scores, their sum, and the node that is taken. */
#include <string.h>

#include "sched/eval_int.h"

/* ---- the general way: any plug-ins, any choice ---- */

/* Are there plug-ins whose scores depend on pods elsewhere? If so sums all scores of theirs. */
static bool add_cluster_scores(struct sched__cycle *cy, int32_t **totals) {
    const struct sched_order *order = &cy->profile->points[SCHED_SCORE];
    bool any = false;
    for (size_t i = 0; i < order->n; i++) {
        enum sched_plugin p = order->v[i];
        const struct sched__plugin *plugin = sched__plugin_at(p);
        if (plugin->scope != SCHED__SCOPE_CLUSTER || !plugin->score || !cy->cls->data[p] ||
            !plugin->pre_score(cy))
            continue;
        if (!any)
            *totals = arena_array(cy->arena, int32_t, cy->s->nodes.n);
        any = true;
        int64_t *scores = cy->s->scores;
        plugin->score(cy, scores, 0, cy->s->nodes.n);
        plugin->normalize(cy, scores);
        for (uint32_t k = 0; k < cy->s->nodes.n; k++)
            if (!cy->verdict[k])
                (*totals)[k] += cy->profile->weights[p] * (int32_t)scores[k];
    }
    return any;
}

static int64_t largest(const struct sched__cycle *cy, const int64_t *scores) {
    int64_t max = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        if (!cy->verdict[i] && scores[i] > max)
            max = scores[i];
    return max;
}

/* Remembered scores; those that have a scale are measured among the nodes that fit in this cycle.
 */
static void add_node_scores(struct sched__cycle *cy, const struct sched__eval *ev,
                            int32_t *totals) {
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        totals[i] += ev->fixed[i];
    for (size_t k = 0; k < ev->scaled_count; k++) {
        const struct sched__scaled *scaled = &ev->scaled[k];
        enum sched__scale scale = sched__plugin_at(scaled->plugin)->scale;
        int64_t max = largest(cy, scaled->raw);
        if (!max)
            continue; /* the same for all */
        int32_t weight = cy->profile->weights[scaled->plugin];
        for (uint32_t i = 0; i < cy->s->nodes.n; i++)
            if (!cy->verdict[i])
                totals[i] += weight * (int32_t)sched__scale(scale, scaled->raw[i], max);
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

static uint32_t best_slot(struct sched__cycle *cy, const int32_t *totals) {
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
    uint32_t i = 0;
    while (cy->verdict[i])
        i++;
    return i;
}

uint32_t sched__cycle_choose(struct sched__cycle *cy) {
    const struct sched__eval *ev = cy->cls->eval;
    uint32_t nominated = cy->pod->nominated;
    if (nominated != SCHED__NONE && !cy->verdict[nominated])
        return nominated;
    sched__cycle_sample(cy);
    if (cy->feasible == 1)
        return only_slot(cy);
    if (ev->score_error.p) {
        cy->error = ev->score_error;
        return SCHED__NONE;
    }
    int32_t *totals = NULL;
    bool summed = add_cluster_scores(cy, &totals);
    if (cy->error.p)
        return SCHED__NONE;
    if (!summed && cy->verdict == ev->verdict && !cy->s->tie_state)
        return ev->winner;
    if (!summed)
        totals = arena_array(cy->arena, int32_t, cy->s->nodes.n);
    add_node_scores(cy, ev, totals);
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
