/*
 * Which fields a write leaves as they are, whatever it asks for: nobody comes to manage them by it.
 * A table by kind and subresource, as the endpoints of upstream's registry tell it
 * (GetResetFields). Those of pods/resize and pods/ephemeralcontainers tell nothing, though their
 * strategies would: who writes there manages all that they name.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStatusStrategy) GetResetFields.
 */
#include "api/managed/managed_int.h"

/* Paths are separated by commas; "*" is any item. */
static const struct row {
    const char *kind, *subresource;
    const char *reset; /* these stay as they are */
} rows[] = {
    {"APIService", "", "status"},
    {"APIService", "status", "metadata,spec"},
    {"CSINode", "", "status"},
    {"CSINode", "status", "metadata,spec"},
    {"CertificateSigningRequest", "", "spec,status"},
    {"CertificateSigningRequest", "approval", "spec,status.certificate"},
    {"CertificateSigningRequest", "status", "spec,status.conditions"},
    {"CompositePodGroup", "", "status"},
    {"CompositePodGroup", "status", "metadata,spec"},
    {"CronJob", "", "status"},
    {"CronJob", "status", "spec"},
    {"CustomResourceDefinition", "", "status"},
    {"CustomResourceDefinition", "status", "spec"},
    {"DaemonSet", "", "status"},
    {"DaemonSet", "status", "spec"},
    {"Deployment", "", "status"},
    {"Deployment", "status", "metadata.labels,spec"},
    {"DeviceTaintRule", "", "status"},
    {"DeviceTaintRule", "status", "metadata,spec"},
    {"Eviction", "", "status"},
    {"Eviction", "status", "metadata,spec"},
    {"EvictionRequest", "", "status"},
    {"EvictionRequest", "status", "metadata,spec"},
    {"FlowSchema", "", "status"},
    {"FlowSchema", "status", "metadata,spec"},
    {"HorizontalPodAutoscaler", "", "status"},
    {"HorizontalPodAutoscaler", "status", "spec"},
    {"Ingress", "", "status"},
    {"Ingress", "status", "spec"},
    {"Job", "", "status"},
    {"Job", "status", "spec"},
    {"Namespace", "", "status"},
    {"Namespace", "finalize", "status"},
    {"Namespace", "status", "spec"},
    {"Node", "", "status"},
    {"Node", "status", "spec"},
    {"PersistentVolume", "", "status"},
    {"PersistentVolume", "status", "spec"},
    {"PersistentVolumeClaim", "", "status"},
    {"PersistentVolumeClaim", "status", "spec"},
    {"Pod", "", "status"},
    {"Pod", "status", "metadata.deletionTimestamp,metadata.ownerReferences,spec"},
    {"PodCertificateRequest", "", "status"},
    {"PodCertificateRequest", "status", "metadata,spec"},
    {"PodDisruptionBudget", "", "status"},
    {"PodDisruptionBudget", "status", "spec"},
    {"PodGroup", "", "status"},
    {"PodGroup", "status", "metadata,spec"},
    {"PriorityLevelConfiguration", "", "status"},
    {"PriorityLevelConfiguration", "status", "metadata,spec"},
    {"ReplicaSet", "", "status"},
    {"ReplicaSet", "status", "spec"},
    {"ReplicationController", "", "status"},
    {"ReplicationController", "status", "spec"},
    {"ResourceClaim", "", "status"},
    {"ResourceClaim", "status", "metadata,spec"},
    {"ResourcePoolStatusRequest", "", "status"},
    {"ResourcePoolStatusRequest", "status", "metadata,spec"},
    {"ResourceQuota", "", "status"},
    {"ResourceQuota", "status", "spec"},
    {"Service", "", "status"},
    {"Service", "status", "spec"},
    {"ServiceCIDR", "", "status"},
    {"ServiceCIDR", "status", "metadata,spec"},
    {"StatefulSet", "", "status"},
    {"StatefulSet", "status", "spec"},
    {"StorageVersion", "", "status"},
    {"StorageVersion", "status", "metadata,spec"},
    {"StorageVersionMigration", "", "status"},
    {"StorageVersionMigration", "status", "metadata,spec"},
    {"ValidatingAdmissionPolicy", "", "status"},
    {"ValidatingAdmissionPolicy", "status", "metadata,spec"},
    {"VolumeAttachment", "", "status"},
    {"VolumeAttachment", "status", "metadata,spec"},
};

static const struct row *find_row(const struct api_kind *kind, struct str subresource) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(str_of(kind->kind), rows[i].kind) && str_is(subresource, rows[i].subresource))
            return &rows[i];
    return NULL;
}

const struct api__path_set *api__drop_reset(struct arena *a, const struct api_managed_write *w,
                                            const struct api__path_set *s) {
    const struct row *row = s ? find_row(w->kind, w->subresource) : NULL;
    return row ? api__set_combine(a, API__DEEP_DIFFERENCE, s, api__set_of_paths(a, row->reset)) : s;
}
