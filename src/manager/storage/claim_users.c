/*
 * The claims that a pod uses, and for how long.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/common, func PodPVCIndexFunc.
 */
#include "manager/storage/claim_users_int.h"

#include "api/claim_binding.h"

struct labels claim_users__claims(struct arena *a, const struct api_object *pod) {
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    struct labels out = {arena_array(a, struct label, list->n), 0};
    for (size_t i = 0; i < list->n; i++) {
        struct str name = api_claim_name(a, pod, &list->v[i]);
        if (name.n)
            out.v[out.n++].value = name;
    }
    return out;
}

static bool any_runs(const struct api_container_status_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].state.terminated && !list->v[i].state.waiting)
            return true;
    return false;
}

/* Follows k8s.io/kubernetes pkg/volume/util, func IsPodTerminated. */
bool claim_users__has_ended(const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    return api_pod_has_ended(body) ||
           (pod->meta->deletion_timestamp.set && !any_runs(&body->status.init_container_statuses) &&
            !any_runs(&body->status.container_statuses) &&
            !any_runs(&body->status.ephemeral_container_statuses));
}
