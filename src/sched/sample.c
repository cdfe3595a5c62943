/*
 * percentageOfNodesToScore: upstream stops looking for nodes when it has found enough, and begins
 * the next search where this one ended. Here all verdicts are known anyway; on request the nodes
 * that such a search would not have reached are left out of the choice.
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

/* Slots in the order of upstream's node tree: one node per zone in turn. */
static uint32_t *tree_order(struct sched__cycle *cy) {
    struct sched *s = cy->s;
    const struct sched__topology *zones =
        sched__topology_get(s, STR("topology.kubernetes.io/zone"));
    uint32_t count = (uint32_t)zones->values.n + 1, n = 0;
    uint32_t *order = arena_array(cy->arena, uint32_t, s->nodes.n + 1U);
    uint32_t *next = arena_array(cy->arena, uint32_t, count); /* slot to look at, by zone */
    while (n < s->nodes.live)
        for (uint32_t zone = 0; zone < count; zone++) {
            uint32_t i = next[zone];
            while (i < s->nodes.n &&
                   (!(s->nodes.state[i] & SCHED__NODE_THERE) || zones->domain[i] != zone))
                i++;
            if (i < s->nodes.n)
                order[n++] = i++;
            next[zone] = i;
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
