/*
 * NodeResourcesBalancedAllocation: prefers nodes whose resources would be used more evenly.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources,
 * func (*BalancedAllocation) Score, func balancedResourceScorer.
 */
#include <math.h>

#include "sched/plugins/node_resources_int.h"

static void *compile(struct sched *s, struct sched__pod_class *c) {
    if (!c->profile)
        return NULL;
    struct sched__scored_list *d = arena_new(&c->arena, struct sched__scored_list);
    *d = sched__scored_list(s, c, c->profile->balanced_resources,
                            c->profile->balanced_resource_count, false);
    return d->any ? d : NULL; /* pods that request nothing would all go to one node */
}

/* What a resource is used to, 0 to 1; negative: the node has none of it. */
static double fraction(const struct sched__nodes *nodes, const struct sched__scored *scored,
                       uint32_t slot, bool with_pod) {
    const struct sched__resource *r = &nodes->resources.v[scored->resource];
    if (!r->alloc[slot])
        return -1;
    int64_t used = wrap_add_i64(r->used[slot], with_pod ? scored->request : 0);
    double part = (double)used / (double)r->alloc[slot];
    return part > 1 ? 1 : part;
}

/* The population's standard deviation, for which two values need no square root. */
static double deviation(const struct sched__nodes *nodes, const struct sched__scored_list *d,
                        uint32_t slot, bool with_pod) {
    double values[2] = {0}, total = 0, sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < d->n; k++) {
        double part = fraction(nodes, &d->v[k], slot, with_pod);
        if (part < 0)
            continue;
        if (n < 2)
            values[n] = part;
        total += part;
        n++;
    }
    if (n < 2)
        return 0;
    if (n == 2)
        return fabs((values[0] - values[1]) / 2);
    double mean = total / (double)n;
    for (size_t k = 0; k < d->n; k++) {
        double part = fraction(nodes, &d->v[k], slot, with_pod);
        if (part >= 0)
            sum += (part - mean) * (part - mean);
    }
    return sqrt(sum / (double)n);
}

static int64_t evenness(const struct sched__nodes *nodes, const struct sched__scored_list *d,
                        uint32_t slot, bool with_pod) {
    return (int64_t)((1 - deviation(nodes, d, slot, with_pod)) * 100);
}

/* 75 for a pod that changes nothing; more if it evens the use out. */
static int64_t score_of(int64_t with, int64_t without) {
    return 50 + wrap_sub_i64(wrap_add_i64(50, with), without) / 2;
}

static int64_t score_slot(const struct sched__nodes *nodes, const struct sched__scored_list *d,
                          uint32_t slot) {
    return score_of(evenness(nodes, d, slot, true), evenness(nodes, d, slot, false));
}

static double at_most_one(double part) {
    return part > 1 ? 1 : part;
}

static int64_t evenness_of_two(double a, double b) {
    return (int64_t)((1 - fabs((at_most_one(a) - at_most_one(b)) / 2)) * 100);
}

/* The usual case, two resources that the node has. */
static void score_pairs(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct sched__scored_list *d = cy->cls->data[SCHED_BALANCED];
    const struct sched__nodes *nodes = &cy->s->nodes;
    const struct sched__resource *a = &nodes->resources.v[d->v[0].resource];
    const struct sched__resource *b = &nodes->resources.v[d->v[1].resource];
    double more_a = (double)d->v[0].request, more_b = (double)d->v[1].request;
    for (uint32_t i = from; i < to; i++) {
        if (cy->verdict[i])
            continue;
        if (!a->alloc[i] || !b->alloc[i]) {
            scores[i] = score_slot(nodes, d, i);
            continue;
        }
        double alloc_a = (double)a->alloc[i], alloc_b = (double)b->alloc[i];
        double used_a = (double)a->used[i], used_b = (double)b->used[i];
        int64_t with = evenness_of_two((used_a + more_a) / alloc_a, (used_b + more_b) / alloc_b);
        int64_t without = evenness_of_two(used_a / alloc_a, used_b / alloc_b);
        scores[i] = score_of(with, without);
    }
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct sched__scored_list *d = cy->cls->data[SCHED_BALANCED];
    if (d->n == 2) {
        score_pairs(cy, scores, from, to);
        return;
    }
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i])
            scores[i] = score_slot(&cy->s->nodes, d, i);
}

const struct sched__plugin sched__node_resources_balanced_allocation = {
    .compile = compile,
    .score = score,
};
