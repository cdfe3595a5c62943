/*
 * PersistentVolumeClaimResize: only bound claims grow, and only those whose class allows it.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/storage/persistentvolume/resize,
 * func (*persistentVolumeClaimResize) Validate, func (*persistentVolumeClaimResize) allowResize.
 */
#include "registry/admission/admission_int.h"

static struct quantity size_of(const struct api_persistent_volume_claim *claim) {
    const struct api_quantities *requests = &claim->spec.resources.requests;
    for (size_t i = 0; i < requests->n; i++)
        if (str_is(requests->v[i].key, "storage"))
            return requests->v[i].value;
    return (struct quantity){0};
}

static bool allows_growth(const struct registry__admission *m) {
    struct str class = registry__claim_class(m->o), was = registry__claim_class(m->old);
    if (!class.n || !str_eq(class, was))
        return false;
    const struct api_object *o = registry_view_get(
        m->registry->view, registry__kind("storage.k8s.io/v1", "StorageClass"), STR(""), class);
    return o && ((const struct api_storage_class *)o->body)->allow_volume_expansion.v;
}

static bool update(struct registry__admission *m) {
    const struct api_persistent_volume_claim *claim = m->o->body, *was = m->old->body;
    struct quantity size = size_of(claim), old = size_of(was);
    if (quantity_cmp(&size, &old) <= 0)
        return true;
    if (!str_is(was->status.phase, "Bound"))
        return registry__forbid(m, "Only bound persistent volume claims can be expanded");
    if (!allows_growth(m))
        return registry__forbid(m, "only dynamically provisioned pvc can be resized and the "
                                   "storageclass that provisions the pvc must support resize");
    return true;
}

const struct registry__admission_plugin registry__claim_resize = {
    .name = "PersistentVolumeClaimResize",
    .validate = {[REGISTRY_UPDATE] = update},
    .type = API_T_persistent_volume_claim};
