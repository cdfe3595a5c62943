/*
 * PodTopologySpread's scores: nodes whose domains have fewer matching pods are better. Domains of a
 * label with few values weigh less than those of one with many.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread,
 * func (*PodTopologySpread) PreScore, func (*PodTopologySpread) Score,
 * func (*PodTopologySpread) NormalizeScore.
 */
#include <math.h>

#include "sched/plugins/pod_topology_spread_int.h"

/* Of a node that lacks a label: it is not compared with others, and gets 0. */
enum { LEFT_OUT = -1 };

struct scoring {
    const struct sched__spread *spread;
    bool *left_out;  /* by slot: the node lacks a label; NULL: that is no reason */
    double *weights; /* by rule */
};

static bool is_left_out(const struct scoring *state, uint32_t slot) {
    return state->left_out && state->left_out[slot];
}

static void leave_out(const struct sched__cycle *cy, struct scoring *state) {
    const struct sched__spread_rules *rules = &state->spread->soft;
    if (!state->spread->strict)
        return;
    state->left_out = arena_array(cy->arena, bool, cy->s->nodes.n);
    for (size_t k = 0; k < rules->n; k++) {
        const uint32_t *domain = rules->v[k].topology->domain;
        for (uint32_t i = 0; i < cy->s->nodes.n; i++)
            state->left_out[i] |= !domain[i];
    }
}

/* Domains of nodes that fit. Without a label counts as one of them if that is no reason to leave a
 * node out. */
static size_t count_domains(const struct sched__cycle *cy, const struct scoring *state,
                            const struct sched__spread_rule *rule) {
    uint8_t *seen = arena_array(cy->arena, uint8_t, rule->topology->values.n + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++) {
        if (cy->verdict[i] || seen[rule->topology->domain[i]] || is_left_out(state, i))
            continue;
        seen[rule->topology->domain[i]] = 1;
        n++;
    }
    return n;
}

static size_t count_nodes(const struct sched__cycle *cy, const struct scoring *state) {
    size_t n = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        n += !cy->verdict[i] && !is_left_out(state, i);
    return n;
}

bool sched__spread_pre_score(struct sched__cycle *cy) {
    const struct sched__spread *d = sched__spread_refresh(cy->s, cy->cls);
    if (d->soft.error.p) {
        cy->error = arena_printf(cy->arena,
                                 "running PreScore plugin \"PodTopologySpread\": calculating "
                                 "preScoreState: obtaining pod's soft topology spread constraints: "
                                 "%.*s",
                                 STR_ARG(d->soft.error));
        return false;
    }
    if (!d->soft.n)
        return false;
    struct scoring *state = arena_new(cy->arena, struct scoring);
    state->spread = d;
    leave_out(cy, state);
    state->weights = arena_array(cy->arena, double, d->soft.n);
    for (size_t i = 0; i < d->soft.n; i++) {
        const struct sched__spread_rule *rule = &d->soft.v[i];
        sched__tally_refresh(rule->tally);
        size_t n = rule->by_host ? count_nodes(cy, state) : count_domains(cy, state, rule);
        state->weights[i] = log((double)(n + 2));
    }
    cy->data[SCHED_SPREAD] = state;
    return true;
}

/* A node may not have the label: then the rule says nothing of it. */
static double score_node(const struct scoring *state, uint32_t slot) {
    double score = 0;
    for (size_t i = 0; i < state->spread->soft.n; i++) {
        const struct sched__spread_rule *rule = &state->spread->soft.v[i];
        uint32_t domain = rule->topology->domain[slot];
        if (!domain)
            continue;
        double n = rule->tally->count[rule->by_host ? slot + 1 : domain];
        score += n * state->weights[i] + ((double)rule->max_skew - 1);
    }
    return score;
}

void sched__spread_score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct scoring *state = cy->data[SCHED_SPREAD];
    for (uint32_t i = from; i < to; i++) {
        if (cy->verdict[i])
            continue;
        scores[i] = is_left_out(state, i) ? LEFT_OUT : llround(score_node(state, i));
    }
}

void sched__spread_normalize(const struct sched__cycle *cy, int64_t *scores) {
    int64_t min = INT64_MAX, max = 0;
    uint32_t n = cy->s->nodes.n;
    for (uint32_t i = 0; i < n; i++) {
        if (cy->verdict[i] || scores[i] == LEFT_OUT)
            continue;
        min = scores[i] < min ? scores[i] : min;
        max = scores[i] > max ? scores[i] : max;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (cy->verdict[i])
            continue;
        if (scores[i] == LEFT_OUT)
            scores[i] = 0;
        else
            scores[i] = max ? 100 * (max + min - scores[i]) / max : 100;
    }
}
