/*
 * PodTopologyLabels: a pod gets the labels that say where its node is.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/podtopologylabels, func (*Plugin) admitBinding,
 * func (*Plugin) admitPod.
 */
#include "registry/admission/admission_int.h"

static void copy_labels(struct registry__admission *m, struct str node) {
    static const char *const keys[] = {"topology.kubernetes.io/region",
                                       "topology.kubernetes.io/zone"};
    struct arena *a = &m->o->arena;
    const struct api_object *o =
        registry_view_get(m->registry->view, registry__kind("v1", "Node"), STR(""), node);
    for (size_t i = 0; o && i < sizeof keys / sizeof *keys; i++) {
        const struct label *l = labels_find(&o->meta->labels, str_of(keys[i]));
        if (l)
            labels_put(a, &api_own_meta(m->o)->labels,
                       (struct label){str_of(keys[i]), arena_str(a, l->value)});
    }
}

static bool mutate(struct registry__admission *m) {
    bool on = feature_enabled(m->registry->gates, FEATURE_PodTopologyLabelsAdmission);
    if (on && api_object_is(m->o, API_T_pod)) {
        struct str node = ((const struct api_pod *)m->o->body)->spec.node_name;
        if (node.n)
            copy_labels(m, node);
    } else if (on && api_object_is(m->o, API_T_binding)) {
        const struct api_binding *binding = m->o->body;
        if (str_is(binding->target.kind, "Node"))
            copy_labels(m, binding->target.name);
    }
    return true;
}

const struct registry__admission_plugin registry__pod_topology_labels = {
    .name = "PodTopologyLabels",
    .mutate = {[REGISTRY_CREATE] = mutate},
    .type = API_T_pod,
    .subresources = "binding"};
