/*
 * TaintNodesByCondition: a new node is not ready until its controller has seen that it is.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/nodetaint, func (*Plugin) Admit.
 */
#include "registry/admission/admission_int.h"

#define NOT_READY   STR("node.kubernetes.io/not-ready")
#define NO_SCHEDULE STR("NoSchedule")

static bool create(struct registry__admission *m) {
    struct api_taint_list *old = &((struct api_node *)api_own_body(m->o))->spec.taints, list;
    for (size_t i = 0; i < old->n; i++)
        if (str_eq(old->v[i].key, NOT_READY) && str_eq(old->v[i].effect, NO_SCHEDULE))
            return true;
    list.v = arena_array(&m->o->arena, struct api_taint, old->n + 1);
    for (list.n = 0; list.n < old->n; list.n++)
        list.v[list.n] = old->v[list.n];
    list.v[list.n++] = (struct api_taint){.key = NOT_READY, .effect = NO_SCHEDULE};
    *old = list;
    return true;
}

const struct registry__admission_plugin registry__taint_nodes = {
    .name = "TaintNodesByCondition", .mutate = {[REGISTRY_CREATE] = create}, .type = API_T_node};
