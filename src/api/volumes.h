/*
 * What claims and volumes say of each other: for whoever finds volumes for claims and binds them.
 */
#ifndef API_VOLUMES_H
#define API_VOLUMES_H

#include "api/object.h"

/* Annotations by which those who bind and provision tell each other how far they are. */
#define API_BIND_COMPLETED STR("pv.kubernetes.io/bind-completed")
#define API_BOUND_BY       STR("pv.kubernetes.io/bound-by-controller")
#define API_PROVISIONED_BY STR("pv.kubernetes.io/provisioned-by")
#define API_SELECTED_NODE  STR("volume.kubernetes.io/selected-node")

/* The class that a claim or a volume asks for: the old annotation, or the field; may be empty. */
struct str api_claim_class(const struct api_object *claim);
struct str api_volume_class(const struct api_object *volume);

/* Does the claim say which class it asks for, be it none? */
bool api_claim_has_class(const struct api_object *claim);

/* The mode of a claim or a volume whose field says this. */
static inline struct str api_volume_mode(struct str mode) {
    return mode.p ? mode : STR("Filesystem");
}

/* The amount of storage among these; 0 when none is said. */
struct quantity api_storage_of(const struct api_quantities *amounts);

/* Does the volume name the claim as its own, by hand or because it was bound to it? */
bool api_volume_is_of(const struct api_object *volume, const struct api_object *claim);

/* A reference to a claim, all of it in the arena. */
struct api_object_reference *api_claim_reference(struct arena *a, const struct api_object *claim);

/* Binds a volume that is not published to the claim; false: it was bound to it already. */
bool api_volume_bind(struct api_object *draft, const struct api_object *claim);

#endif
