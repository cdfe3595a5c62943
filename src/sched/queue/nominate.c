/*
 * Nominations: pods that preemption makes room for on a node. Until they are there, others that are
 * not more important must leave that room alone.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/backend/queue, func (*nominator) addNominatedPod,
 * func (*nominator) DeleteNominatedPodIfExists.
 */
#include "sched/queue/queue_int.h"

void sched__nominate(struct sched *s, struct sched_pod *pod, uint32_t slot) {
    sched__unnominate(s, pod);
    pod->nominated = slot;
    vec_push(&s->nodes.v[slot].nominated, pod);
    s->nominated++;
    sched__beside_count(s, pod, slot, 1);
    sched__node_touch(s, slot);
}

void sched__unnominate(struct sched *s, struct sched_pod *pod) {
    if (pod->nominated == SCHED__NONE)
        return;
    uint32_t slot = pod->nominated;
    struct sched__node *node = &s->nodes.v[slot];
    size_t i = 0;
    while (node->nominated.v[i] != pod)
        i++;
    node->nominated.n--;
    memmove(&node->nominated.v[i], &node->nominated.v[i + 1],
            (node->nominated.n - i) * sizeof *node->nominated.v);
    s->nominated--;
    sched__beside_count(s, pod, slot, -1);
    pod->nominated = SCHED__NONE;
    sched__node_touch(s, slot);
    sched__node_drop_idle(s, slot);
}
