/*
 * What the controller of volumes makes of new claims and volumes.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) updateClaimStatus,
 * func (*PersistentVolumeController) bindClaimToVolume,
 * func (*PersistentVolumeController) updateVolumePhase.
 */
#include "api/volumes.h"
#include "controller/controller.h"

void controller_claim_settle(struct api_object *o) {
    struct api_persistent_volume_claim *claim = api_own_body(o);
    claim->status.phase = claim->spec.volume_name.n ? STR("Bound") : STR("Pending");
    if (claim->spec.volume_name.n)
        labels_put(&o->arena, &api_own_meta(o)->annotations,
                   (struct label){API_BIND_COMPLETED, STR("yes")});
}

void controller_volume_settle(struct api_object *o) {
    struct api_persistent_volume *volume = api_own_body(o);
    volume->status.phase = volume->spec.claim_ref ? STR("Bound") : STR("Available");
}
