/*
 * Kinds and versions that are to go: every answer about them says so in a Warning.
 *
 * Follows k8s.io/apiserver pkg/endpoints/deprecation, func WarningMessage.
 */
#include "server/server_int.h"

static const struct {
    const char *api_version, *kind;
    const char *since; /* and what is known of its end */
} deprecated[] = {
    {"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy",
     "v1.35+, unavailable in v1.38+"},
    {"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicyBinding",
     "v1.35+, unavailable in v1.38+"},
    {"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy",
     "v1.37+, unavailable in v1.40+; use admissionregistration.k8s.io/v1 MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding",
     "v1.37+, unavailable in v1.40+; use admissionregistration.k8s.io/v1 "
     "MutatingAdmissionPolicyBinding"},
    {"certificates.k8s.io/v1beta1", "ClusterTrustBundle",
     "v1.37+, unavailable in v1.40+; use certificates.k8s.io/v1 ClusterTrustBundle"},
    {"certificates.k8s.io/v1beta1", "PodCertificateRequest",
     "v1.37+, unavailable in v1.40+; use certificates.k8s.io/v1 PodCertificateRequest"},
    {"coordination.k8s.io/v1alpha2", "LeaseCandidate", "v1.35+, unavailable in v1.38+"},
    {"coordination.k8s.io/v1beta1", "LeaseCandidate", "v1.36+, unavailable in v1.39+"},
    {"resource.k8s.io/v1alpha3", "DeviceTaintRule", "v1.36+, unavailable in v1.39+"},
    {"resource.k8s.io/v1beta1", "DeviceClass", "v1.35+, unavailable in v1.38+"},
    {"resource.k8s.io/v1beta1", "ResourceClaim", "v1.35+, unavailable in v1.38+"},
    {"resource.k8s.io/v1beta1", "ResourceClaimTemplate", "v1.35+, unavailable in v1.38+"},
    {"resource.k8s.io/v1beta1", "ResourceSlice", "v1.35+, unavailable in v1.38+"},
    {"resource.k8s.io/v1beta2", "DeviceClass", "v1.36+, unavailable in v1.39+"},
    {"resource.k8s.io/v1beta2", "ResourceClaim", "v1.36+, unavailable in v1.39+"},
    {"resource.k8s.io/v1beta2", "ResourceClaimTemplate", "v1.36+, unavailable in v1.39+"},
    {"resource.k8s.io/v1beta2", "ResourceSlice", "v1.36+, unavailable in v1.39+"},
    {"storagemigration.k8s.io/v1beta1", "StorageVersionMigration",
     "v1.37+, unavailable in v1.40+; use storagemigration.k8s.io/v1 StorageVersionMigration"},
    {"v1", "ComponentStatus", "v1.19+"},
    {"v1", "Endpoints", "v1.33+; use discovery.k8s.io/v1 EndpointSlice"},
};

struct str server__deprecation(struct arena *a, const struct api_kind *kind) {
    for (size_t i = 0; i < sizeof deprecated / sizeof *deprecated; i++)
        if (str_is(str_of(kind->kind), deprecated[i].kind) &&
            str_is(str_of(kind->api_version), deprecated[i].api_version))
            return arena_printf(a, "%s %s is deprecated in %s", kind->api_version, kind->kind,
                                deprecated[i].since);
    return (struct str){0};
}
