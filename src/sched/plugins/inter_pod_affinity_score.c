/*
 * InterPodAffinity's scores: a node gets the weight of each preferred term for each pod in its
 * domain that the term matches, and of each term of a pod there that matches the pod itself.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity,
 * func (*InterPodAffinity) PreScore, func (*InterPodAffinity) Score,
 * func (*InterPodAffinity) NormalizeScore.
 */
#include "sched/plugins/inter_pod_affinity_int.h"

/* A tally that counts for scores. */
struct part {
    const struct sched__topology *topology;
    const struct sched__tally *tally;
    int64_t weight;
};

struct scoring {
    struct part *v;
    size_t n;
    int64_t matches; /* of terms and pods, each with each */
};

static void add_part(struct scoring *state, const struct sched__topology *topology,
                     const struct sched__tally *tally, int64_t weight, int sign) {
    if (!tally->total)
        return;
    state->v[state->n++] = (struct part){topology, tally, sign * weight};
    state->matches += sign * tally->total;
}

static int64_t weight_of(const struct sched__cycle *cy, const struct sched__existing_term *t) {
    if (t->kind == SCHED__REQUIRED_ANTI)
        return 0;
    bool required = t->kind == SCHED__REQUIRED_AFFINITY;
    return (int64_t)t->times * (required ? cy->profile->hard_pod_affinity_weight : t->weight);
}

/* Nothing anywhere that counts: no scores. */
bool sched__affinity_pre_score(struct sched__cycle *cy) {
    const struct sched__affinity *d = cy->cls->data[SCHED_INTER_POD_AFFINITY];
    if (!d->preferred.n &&
        (cy->profile->ignore_preferred_terms_of_existing_pods || !cy->cls->matching_terms.n))
        return false;
    struct scoring *state = arena_new(cy->arena, struct scoring);
    state->v = arena_array(cy->arena, struct part, d->preferred.n + cy->cls->matching_terms.n);
    for (size_t i = 0; i < d->preferred.n; i++) {
        const struct sched__affinity_term *t = &d->preferred.v[i];
        sched__tally_refresh(t->tally);
        add_part(state, t->topology, t->tally, t->weight, 1);
    }
    for (size_t i = 0; i < cy->cls->matching_terms.n; i++) {
        const struct sched__existing_term *t = cy->cls->matching_terms.v[i].other->owner;
        if (weight_of(cy, t)) /* one with a base takes back what that says */
            add_part(state, t->topology, t->tally, weight_of(cy, t), t->base ? -1 : 1);
    }
    cy->data[SCHED_INTER_POD_AFFINITY] = state;
    return state->matches > 0;
}

void sched__affinity_score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct scoring *state = cy->data[SCHED_INTER_POD_AFFINITY];
    for (uint32_t i = from; i < to; i++)
        scores[i] = 0;
    for (size_t k = 0; k < state->n; k++) {
        const uint32_t *domain = state->v[k].topology->domain;
        const int32_t *count = state->v[k].tally->count;
        int64_t weight = state->v[k].weight;
        for (uint32_t i = from; i < to; i++)
            scores[i] += weight * count[domain[i]];
    }
}

void sched__affinity_normalize(const struct sched__cycle *cy, int64_t *scores) {
    int64_t min = INT64_MAX, max = INT64_MIN;
    uint32_t n = cy->s->nodes.n;
    for (uint32_t i = 0; i < n; i++) {
        if (cy->verdict[i])
            continue;
        min = scores[i] < min ? scores[i] : min;
        max = scores[i] > max ? scores[i] : max;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!cy->verdict[i])
            scores[i] = max > min
                            ? (int64_t)(100.0 * ((double)(scores[i] - min) / (double)(max - min)))
                            : 0;
}
