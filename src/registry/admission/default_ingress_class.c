/*
 * DefaultIngressClass: an ingress that names no class gets the default one.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/network/defaultingressclass,
 * func (*classDefaulterPlugin) Admit.
 */
#include "registry/admission/admission_int.h"

static bool has_class(const struct api_object *o) {
    const struct api_ingress *ingress = o->body;
    return ingress->spec.ingress_class_name.p ||
           labels_find(&o->meta->annotations, STR("kubernetes.io/ingress.class"));
}

static bool create(struct registry__admission *m) {
    struct api_ingress *ingress = api_own_body(m->o);
    const struct api_ingress_class *class = registry_view_default_ingress_class(m->registry->view);
    if (class && !has_class(m->o))
        ingress->spec.ingress_class_name = arena_str(&m->o->arena, class->metadata.name);
    return true;
}

const struct registry__admission_plugin registry__default_ingress_class = {
    .name = "DefaultIngressClass", .mutate = {[REGISTRY_CREATE] = create}, .type = API_T_ingress};
