/*
 * PrioritySort: pods of higher priority first, of equal ones those that wait longer. Upstream
 * leaves pods of the same nanosecond in any order; here it is the order in which they came.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/queuesort, func (*PrioritySort) Less.
 */
#include "sched/queue/queue_int.h"

bool sched__sort_before(const struct sched__queued *a, const struct sched__queued *b) {
    if (a->pod->priority != b->pod->priority)
        return a->pod->priority > b->pod->priority;
    if (a->timestamp != b->timestamp)
        return a->timestamp < b->timestamp;
    return a->order < b->order;
}

const struct sched__plugin sched__priority_sort = {.scope = SCHED__SCOPE_NODE};
