/*
 * SchedulingGates: a pod with scheduling gates does not enter the queue until all are gone. Gates
 * can only be removed, so nothing but a change of the pod itself wakes it.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/schedulinggates,
 * func (*SchedulingGates) PreEnqueue.
 */
#include "sched/queue/queue_int.h"

bool sched__gates_hold(const struct sched_pod *pod) {
    return pod->cls->pod->spec.scheduling_gates.n > 0 &&
           sched_order_has(&pod->cls->profile->points[SCHED_PRE_ENQUEUE], SCHED_SCHEDULING_GATES);
}

const struct sched__plugin sched__scheduling_gates = {
    .scope = SCHED__SCOPE_NODE,
    .events = SCHED__POD_GATES,
};
