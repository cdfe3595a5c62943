/* NodeName: a pod that names its node goes nowhere else. */
#include "sched/plugin_int.h"

static void *compile(struct sched *s, struct sched__class *c) {
    (void)s;
    return c->pod->spec.node_name.n ? (void *)&c->pod->spec.node_name : NULL;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct str *name = cy->cls->data[SCHED_NODE_NAME];
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && !str_eq(intern_text(cy->s->nodes.v[i].name), *name))
            cy->verdict[i] = SCHED__REASON_NODE_NAME;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *out) {
    const struct str *name = cy->cls->data[SCHED_NODE_NAME];
    struct str node = intern_text(cy->s->nodes.v[slot].name);
    buf_addf(out, "spec.nodeName: %.*s is not %.*s", STR_ARG(node), STR_ARG(*name));
}

const struct sched__plugin sched__node_name = {
    .compile = compile,
    .filter = filter,
    .explain = explain,
    .events = SCHED__NODE_ADD,
};
