/*
 * percentageOfNodesToScore: upstream stops looking for nodes when it has found enough, and begins
 * the next search where this one ended. Here all verdicts are known anyway; on request the nodes
 * that such a search would not have reached are left out of the choice.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) numFeasibleNodesToFind,
 * func (*Scheduler) findNodesThatPassFilters.
 */
#include "sched/plugin_int.h"

enum { LEAST_NODES = 100, LEAST_PERCENT = 5 };

static uint32_t nodes_to_find(const struct sched__cycle *cy) {
    uint32_t all = cy->s->nodes.live;
    int32_t percent = cy->profile->percentage_of_nodes_to_score;
    if (!percent)
        percent = cy->s->config->percentage_of_nodes_to_score;
    if (all < LEAST_NODES || percent >= 100)
        return all;
    if (!percent) {
        percent = 50 - (int32_t)(all / 125);
        if (percent < LEAST_PERCENT)
            percent = LEAST_PERCENT;
    }
    uint32_t found = all * (uint32_t)percent / 100;
    return found < LEAST_NODES ? LEAST_NODES : found;
}

/* Nodes by zone: the first of each zone, in the order of these first ones, and who comes next. */
struct zones {
    uint32_t *first; /* slots */
    uint32_t count;
    uint32_t *next; /* by slot; SCHED__NONE: it is the last of its zone */
};

static struct zones list_zones(struct sched__cycle *cy) {
    struct sched *s = cy->s;
    const struct sched__topology *label =
        sched__topology_get(s, STR("topology.kubernetes.io/zone"));
    struct zones z = {.first = arena_array(cy->arena, uint32_t, s->nodes.live),
                      .next = arena_array(cy->arena, uint32_t, s->nodes.n)};
    uint32_t *last1 = arena_array(cy->arena, uint32_t, label->values.n + 1); /* slot + 1, by zone */
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (!(s->nodes.state[i] & SCHED__NODE_THERE))
            continue;
        uint32_t *last = &last1[label->domain[i]];
        if (*last)
            z.next[*last - 1] = i;
        else
            z.first[z.count++] = i;
        z.next[i] = SCHED__NONE;
        *last = i + 1;
    }
    return z;
}

/* Slots in the order of upstream's node tree: one node per zone in turn. */
static uint32_t *tree_order(struct sched__cycle *cy) {
    struct zones z = list_zones(cy);
    uint32_t *order = arena_array(cy->arena, uint32_t, cy->s->nodes.live), n = 0;
    while (z.count) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < z.count; i++) {
            uint32_t slot = z.first[i];
            order[n++] = slot;
            if (z.next[slot] != SCHED__NONE)
                z.first[left++] = z.next[slot];
        }
        z.count = left;
    }
    return order;
}

void sched__cycle_sample(struct sched__cycle *cy) {
    struct sched *s = cy->s;
    uint32_t all = s->nodes.live, most = nodes_to_find(cy), found = 0, looked = 0;
    bool asked_before = false; /* the pod's nominated node, which the search did not reach */
    if (!s->config->sample_nodes || cy->feasible <= 1 || !all)
        return;
    const uint32_t *order = tree_order(cy);
    sched__cycle_own_verdicts(cy);
    for (; looked < all && found < most; looked++)
        found += !cy->verdict[order[(s->next_start + looked) % all]];
    for (uint32_t i = looked; i < all; i++) {
        uint32_t slot = order[(s->next_start + i) % all];
        asked_before = asked_before || slot == cy->pod->nominated;
        if (!cy->verdict[slot])
            cy->verdict[slot] = SCHED__GONE;
    }
    s->next_start = (s->next_start + looked + asked_before) % all;
    cy->feasible = found;
}
