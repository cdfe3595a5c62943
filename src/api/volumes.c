/*
 * What claims and volumes say of each other.
 *
 * Follows k8s.io/component-helpers storage/volume, func GetPersistentVolumeClaimClass,
 * func IsVolumeBoundToClaim, func GetBindVolumeToClaim.
 */
#include "api/volumes.h"

static const struct label *old_class(const struct api_object *o) {
    return labels_find(&o->meta->annotations, STR("volume.beta.kubernetes.io/storage-class"));
}

struct str api_claim_class(const struct api_object *claim) {
    const struct label *old = old_class(claim);
    return old ? old->value
               : ((const struct api_persistent_volume_claim *)claim->body)->spec.storage_class_name;
}

struct str api_volume_class(const struct api_object *volume) {
    const struct label *old = old_class(volume);
    return old ? old->value
               : ((const struct api_persistent_volume *)volume->body)->spec.storage_class_name;
}

bool api_claim_has_class(const struct api_object *claim) {
    const struct api_persistent_volume_claim *body = claim->body;
    return old_class(claim) || body->spec.storage_class_name.p;
}

struct quantity api_storage_of(const struct api_quantities *amounts) {
    for (size_t i = 0; i < amounts->n; i++)
        if (str_is(amounts->v[i].key, "storage"))
            return amounts->v[i].value;
    return (struct quantity){0};
}

bool api_volume_is_of(const struct api_object *volume, const struct api_object *claim) {
    const struct api_object_reference *ref =
        ((const struct api_persistent_volume *)volume->body)->spec.claim_ref;
    return ref && str_eq(ref->name, claim->meta->name) &&
           str_eq(ref->namespace, claim->meta->namespace) &&
           (!ref->uid.n || str_eq(ref->uid, claim->meta->uid));
}

struct api_object_reference *api_claim_reference(struct arena *a, const struct api_object *claim) {
    struct api_object_reference *ref = arena_new(a, struct api_object_reference);
    *ref = (struct api_object_reference){.kind = STR("PersistentVolumeClaim"),
                                         .api_version = STR("v1"),
                                         .namespace = arena_str(a, claim->meta->namespace),
                                         .name = arena_str(a, claim->meta->name),
                                         .uid = arena_str(a, claim->meta->uid),
                                         .resource_version =
                                             arena_str(a, claim->meta->resource_version)};
    return ref;
}

bool api_volume_bind(struct api_object *draft, const struct api_object *claim) {
    struct api_persistent_volume *body = api_own_body(draft);
    bool is_new = !api_volume_is_of(draft, claim);
    if (!is_new && body->spec.claim_ref->uid.n)
        return false;
    body->spec.claim_ref = api_claim_reference(&draft->arena, claim);
    if (is_new)
        labels_put(&draft->arena, &api_own_meta(draft)->annotations,
                   (struct label){API_BOUND_BY, STR("yes")});
    return true;
}
