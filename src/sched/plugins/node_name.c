/*
 * NodeName: a pod that names its node goes nowhere else; other nodes are left out before any filter
 * runs, as upstream's PreFilter does.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodename, func (*NodeName) PreFilter,
 * func (*NodeName) Filter.
 */
#include "sched/findings_int.h"

/* Classes of pods that name a node are marked by themselves. */
static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    return c->pod->spec.node_name.n ? c : NULL;
}

static bool restricts(const struct sched__pod_class *c) {
    return c->data[SCHED_NODE_NAME];
}

static bool is_other(const struct sched__cycle *cy, uint32_t slot) {
    return !str_eq(intern_text(cy->s->nodes.v[slot].name), cy->cls->pod->spec.node_name);
}

static void restrict_to(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && is_other(cy, i))
            cy->verdict[i] = SCHED__ABSENT;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && is_other(cy, i))
            cy->verdict[i] = SCHED__REASON_NODE_NAME;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    sched__finding_start(out, SCHED_FINDING_NODE_NAME, sched__field(SCHED_FIELD_NODE_NAME));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT, sched__node_name_of(cy, slot));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__text(cy->cls->pod->spec.node_name));
}

const struct sched__plugin sched__node_name = {
    .compile = compile,
    .restrict_to = restrict_to,
    .restricts = restricts,
    .filter = filter,
    .explain = explain,
    .events = SCHED__NODE_ADD,
};
