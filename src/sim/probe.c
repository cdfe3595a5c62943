/* What is around a pod, see probe.h. */
#include "sim/probe.h"

#include "sched/sched.h"

/* Objects are told in the order in which things must be known. */
enum rank { OTHERS, NODES, PODS, LEFT_OUT };

bool sim_probe_matters(const struct api_pod *pod) {
    if (api_pod_has_ended(pod))
        return false;
    return pod->spec.node_name.n ||
           (pod->status.nominated_node_name.n && !pod->metadata.deletion_timestamp.set);
}

static enum rank rank_of(const struct api_object *o) {
    if (o->type == &api_types[API_T_node])
        return NODES;
    if (o->type != &api_types[API_T_pod])
        return OTHERS;
    return sim_probe_matters(o->body) ? PODS : LEFT_OUT;
}

void sim_probe_tell(const struct sim_cluster *c, const struct api_object *pod, struct sched *s) {
    for (enum rank rank = OTHERS; rank < LEFT_OUT; rank++)
        for (size_t i = 0; i < c->items.n; i++) {
            const struct api_object *o = c->items.v[i].object;
            if (o && o != pod && rank_of(o) == rank)
                sched_set(s, o);
        }
}

bool sim_probe_tells_pending(const struct sim_cluster *c, const struct api_object *pod) {
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (o && o != pod && rank_of(o) == PODS &&
            !((const struct api_pod *)o->body)->spec.node_name.n)
            return true;
    }
    return false;
}

struct api_object *sim_probe_pod(const struct api_object *pod) {
    struct api_object *copy = api_object_copy(pod);
    struct api_pod *body = api_own_body(copy);
    if (body->spec.node_name.n)
        body->status.nominated_node_name = STR("");
    body->spec.node_name = STR("");
    return copy;
}
