/*
 * SchedulingGates: a pod with scheduling gates does not enter the queue until all are gone. Gates
 * can only be removed, so nothing but a change of the pod itself wakes it.
 */
#include "sched/queue_int.h"

static bool runs(const struct sched_order *order) {
    for (size_t i = 0; i < order->n; i++)
        if (order->v[i] == SCHED_SCHEDULING_GATES)
            return true;
    return false;
}

static const struct api_pod_scheduling_gate_list *gates_of(const struct sched_pod *pod) {
    const struct api_pod *body = pod->object->body;
    return &body->spec.scheduling_gates;
}

bool sched__gates_hold(const struct sched_pod *pod) {
    return gates_of(pod)->n > 0 && runs(&pod->cls->profile->points[SCHED_PRE_ENQUEUE]);
}

void sched__gates_write(const struct sched_pod *pod, struct buf *out) {
    const struct api_pod_scheduling_gate_list *gates = gates_of(pod);
    buf_add(out, STR("waiting for scheduling gates: ["));
    for (size_t i = 0; i < gates->n; i++) {
        if (i)
            buf_add_char(out, ' ');
        buf_add(out, gates->v[i].name);
    }
    buf_add_char(out, ']');
}

const struct sched__plugin sched__scheduling_gates = {
    .scope = SCHED__SCOPE_NODE,
    .events = SCHED__POD_GATES,
};
