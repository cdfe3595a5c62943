/*
 * What the controller of volumes makes of new claims and volumes.
 *
 * Follows k8s.io/kubernetes/pkg/controller/volume/persistentvolume/pv_controller.go:
 * updateClaimStatus, bindClaimToVolume and updateVolumePhase.
 */
#include "api/object.h"
#include "controller/controller.h"

void controller_claim_settle(struct api_object *o) {
    struct api_persistent_volume_claim *claim = o->body;
    claim->status.phase = claim->spec.volume_name.n ? STR("Bound") : STR("Pending");
    if (claim->spec.volume_name.n)
        labels_put(&o->arena, &o->meta->annotations,
                   (struct label){STR("pv.kubernetes.io/bind-completed"), STR("yes")});
}

void controller_volume_settle(struct api_object *o) {
    struct api_persistent_volume *volume = o->body;
    volume->status.phase = volume->spec.claim_ref ? STR("Bound") : STR("Available");
}
