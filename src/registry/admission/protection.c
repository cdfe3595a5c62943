/*
 * StorageObjectInUseProtection and PodGroupProtection: what is in use is not deleted, because its
 * controller takes the finalizer away only when it is not.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/storage/storageobjectinuseprotection,
 * func (*storageProtectionPlugin) Admit.
 * Follows k8s.io/kubernetes plugin/pkg/admission/scheduling/podgroupprotection,
 * func (*podGroupProtectionPlugin) Admit.
 */
#include "registry/admission/admission_int.h"

static bool add_finalizer(struct registry__admission *m, struct str name) {
    struct api_strs *old = &api_own_meta(m->o)->finalizers, list;
    for (size_t i = 0; i < old->n; i++)
        if (str_eq(old->v[i], name))
            return true;
    list.v = arena_array(&m->o->arena, struct str, old->n + 1);
    for (list.n = 0; list.n < old->n; list.n++)
        list.v[list.n] = old->v[list.n];
    list.v[list.n++] = name;
    *old = list;
    return true;
}

static bool protect_storage(struct registry__admission *m) {
    if (api_object_is(m->o, API_T_persistent_volume))
        return add_finalizer(m, STR("kubernetes.io/pv-protection"));
    if (api_object_is(m->o, API_T_persistent_volume_claim))
        return add_finalizer(m, STR("kubernetes.io/pvc-protection"));
    bool is_class = m->o->kind && str_is(STR("VolumeAttributesClass"), m->o->kind->kind) &&
                    feature_enabled(m->registry->gates, FEATURE_VolumeAttributesClass);
    return !is_class || add_finalizer(m, STR("kubernetes.io/vac-protection"));
}

const struct registry__admission_plugin registry__storage_protection = {
    .name = "StorageObjectInUseProtection",
    .mutate = {[REGISTRY_CREATE] = protect_storage},
    .type = API_TYPES};

static bool protect_group(struct registry__admission *m) {
    return !feature_enabled(m->registry->gates, FEATURE_GenericWorkload) ||
           add_finalizer(m, STR("scheduling.k8s.io/podgroup-protection"));
}

const struct registry__admission_plugin registry__pod_group_protection = {
    .name = "PodGroupProtection",
    .mutate = {[REGISTRY_CREATE] = protect_group},
    .type = API_T_pod_group};
