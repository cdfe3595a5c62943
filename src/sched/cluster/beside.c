/*
 * What the pods that are nominated to a node ask for, summed up: a pod that looks at nothing else
 * of them can be tried beside all of them as cheaply as beside one.
 */
#include "sched/sched_int.h"

static void count(struct sched__beside *b, const struct sched_pod *p, int sign) {
    const struct sched__amounts *requests = &p->cls->requests;
    for (size_t i = 0; i < requests->n; i++) {
        while (b->amounts.n <= requests->v[i].resource)
            vec_push(&b->amounts, 0);
        int64_t *sum = &b->amounts.v[requests->v[i].resource];
        *sum = wrap_add_i64(*sum, wrap_mul_i64(sign, requests->v[i].amount));
    }
    b->pods += sign;
}

void sched__beside_count(struct sched *s, const struct sched_pod *p, uint32_t slot, int sign) {
    struct sched__beside *b = &s->nodes.v[slot].beside;
    if (b->known && p->priority >= b->priority)
        count(b, p, sign);
}

void sched__beside_forget(struct sched *s, uint32_t slot) {
    s->nodes.v[slot].beside.known = false;
}

const struct sched__beside *sched__beside_get(struct sched *s, uint32_t slot, int32_t priority) {
    struct sched__node *node = &s->nodes.v[slot];
    struct sched__beside *b = &node->beside;
    if (b->known && b->priority == priority)
        return b;
    vec_clear(&b->amounts);
    b->known = true;
    b->priority = priority;
    b->pods = 0;
    for (size_t i = 0; i < node->nominated.n; i++)
        if (node->nominated.v[i]->priority >= priority)
            count(b, node->nominated.v[i], 1);
    return b;
}
