/*
 * DefaultStorageClass: a claim that names no class gets the default one.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/storage/storageclass/setdefault,
 * func (*claimDefaulterPlugin) Admit.
 */
#include "registry/admission/admission_int.h"

static bool has_class(const struct api_object *o) {
    const struct api_persistent_volume_claim *claim = o->body;
    return claim->spec.storage_class_name.p ||
           labels_find(&o->meta->annotations, STR("volume.beta.kubernetes.io/storage-class"));
}

static bool create(struct registry__admission *m) {
    struct api_persistent_volume_claim *claim = api_own_body(m->o);
    const struct api_storage_class *class = registry_view_default_storage_class(m->registry->view);
    if (class && !has_class(m->o))
        claim->spec.storage_class_name = arena_str(&m->o->arena, class->metadata.name);
    return true;
}

const struct registry__admission_plugin registry__default_storage_class = {
    .name = "DefaultStorageClass",
    .mutate = {[REGISTRY_CREATE] = create},
    .type = API_T_persistent_volume_claim,
    .is_offline = true};
