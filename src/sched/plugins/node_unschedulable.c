/*
 * NodeUnschedulable: cordoned nodes are for pods that tolerate the taint cordoning stands for.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeunschedulable,
 * func (*NodeUnschedulable) Filter.
 */
#include "sched/findings_int.h"

static bool tolerates(struct sched *s, const struct match_tolerations *tolerations) {
    return match_fit(s->match, tolerations, match_taints_unschedulable(s->match)).untolerated ==
           MATCH_NONE;
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    return tolerates(s, c->tolerations) ? NULL : c;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const uint8_t *state = cy->s->nodes.state;
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && state[i] & SCHED__NODE_CLOSED)
            cy->verdict[i] = SCHED__REASON_UNSCHEDULABLE;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    (void)cy;
    (void)slot;
    sched__finding_start(out, SCHED_FINDING_CORDONED, sched__field(SCHED_FIELD_TOLERATIONS));
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(STR("spec.unschedulable")));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT, sched__text(STR("true")));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__text(STR("false")));
    sched__finding_add(out, SCHED_OPERAND_TAINT,
                       sched__text(STR("node.kubernetes.io/unschedulable:NoSchedule")));
}

static bool is_closed(const struct api_object *node) {
    return ((const struct api_node *)node->body)->spec.unschedulable;
}

/* A node was opened, or the pod's tolerations grew. */
static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    if (event->bits & SCHED__POD_TOLERATION)
        return tolerates(s, pod->cls->tolerations);
    return event->after && !is_closed(event->after) && (!event->before || is_closed(event->before));
}

const struct sched__plugin sched__node_unschedulable = {
    .compile = compile,
    .filter = filter,
    .explain = explain,
    .events = SCHED__NODE_ADD | SCHED__NODE_TAINT | SCHED__POD_TOLERATION,
    .hint = hint,
};
