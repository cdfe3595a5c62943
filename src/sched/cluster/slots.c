/* Free slots, as a binary heap: the lowest one is taken first, so that equal histories give equal
 * slots and the columns stay short. */
#include "sched/nodes_int.h"

static void swap(uint32_t *v, size_t a, size_t b) {
    uint32_t x = v[a];
    v[a] = v[b];
    v[b] = x;
}

static size_t lower_child(const struct sched__nodes *nodes, size_t i) {
    size_t left = 2 * i + 1, right = left + 1;
    return right < nodes->free.n && nodes->free.v[right] < nodes->free.v[left] ? right : left;
}

uint32_t sched__slot_take(struct sched__nodes *nodes) {
    uint32_t *v = nodes->free.v;
    if (!nodes->free.n)
        return SCHED__NONE;
    uint32_t slot = v[0];
    if (slot >= nodes->n) { /* so are all others */
        vec_release(&nodes->free);
        return SCHED__NONE;
    }
    v[0] = v[--nodes->free.n];
    for (size_t i = 0, child; (child = lower_child(nodes, i)) < nodes->free.n && v[child] < v[i];
         i = child)
        swap(v, i, child);
    return slot;
}

void sched__slot_give(struct sched__nodes *nodes, uint32_t slot) {
    vec_push(&nodes->free, slot);
    uint32_t *v = nodes->free.v;
    for (size_t i = nodes->free.n - 1; i && v[i] < v[(i - 1) / 2]; i = (i - 1) / 2)
        swap(v, i, (i - 1) / 2);
}
