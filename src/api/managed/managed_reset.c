/*
 * Which fields a write leaves as they are, whatever it asks for: nobody comes to manage them by it.
 * A table by kind and subresource, as the strategies of upstream's registry have it
 * (GetResetFields, GetResetFieldsFilter).
 *
 * Follows sigs.k8s.io/structured-merge-diff/v6 fieldpath, func (*Set) FilterIncludeMatches.
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStatusStrategy) GetResetFields,
 * func (podResizeStrategy) GetResetFieldsFilter.
 */
#include "api/managed/managed_int.h"

/* Paths are separated by commas; "*" is any item. */
static const struct row {
    const char *kind, *subresource;
    const char *reset; /* these stay as they are */
    const char *only;  /* all but these do */
} rows[] = {
    {"APIService", "", "status", NULL},
    {"APIService", "status", "metadata,spec", NULL},
    {"CSINode", "", "status", NULL},
    {"CertificateSigningRequest", "", "spec,status", NULL},
    {"CertificateSigningRequest", "approval", "spec,status.certificate", NULL},
    {"CertificateSigningRequest", "status", "spec,status.conditions", NULL},
    {"CompositePodGroup", "", "status", NULL},
    {"CompositePodGroup", "status", "metadata,spec", NULL},
    {"CronJob", "", "status", NULL},
    {"CronJob", "status", "spec", NULL},
    {"CustomResourceDefinition", "", "status", NULL},
    {"CustomResourceDefinition", "status", "spec", NULL},
    {"DaemonSet", "", "status", NULL},
    {"DaemonSet", "status", "spec", NULL},
    {"Deployment", "", "status", NULL},
    {"Deployment", "status", "metadata.labels,spec", NULL},
    {"DeviceTaintRule", "", "status", NULL},
    {"DeviceTaintRule", "status", "metadata,spec", NULL},
    {"Eviction", "", "status", NULL},
    {"Eviction", "status", "metadata,spec", NULL},
    {"EvictionRequest", "", "status", NULL},
    {"EvictionRequest", "status", "metadata,spec", NULL},
    {"FlowSchema", "", "status", NULL},
    {"FlowSchema", "status", "metadata,spec", NULL},
    {"HorizontalPodAutoscaler", "", "status", NULL},
    {"HorizontalPodAutoscaler", "status", "spec", NULL},
    {"Ingress", "", "status", NULL},
    {"Ingress", "status", "spec", NULL},
    {"Job", "", "status", NULL},
    {"Job", "status", "spec", NULL},
    {"Namespace", "", "status", NULL},
    {"Namespace", "finalize", "status", NULL},
    {"Namespace", "status", "spec", NULL},
    {"Node", "", "status", NULL},
    {"Node", "status", "spec", NULL},
    {"PersistentVolume", "", "status", NULL},
    {"PersistentVolume", "status", "spec", NULL},
    {"PersistentVolumeClaim", "", "status", NULL},
    {"PersistentVolumeClaim", "status", "spec", NULL},
    {"Pod", "", "status", NULL},
    {"Pod", "ephemeralcontainers", "", "spec.ephemeralContainers"},
    {"Pod", "resize", "",
     "spec.containers.*.resizePolicy,spec.containers.*.resources,"
     "spec.initContainers.*.resizePolicy,spec.initContainers.*.resources"},
    {"Pod", "status", "metadata.deletionTimestamp,metadata.ownerReferences,spec", NULL},
    {"PodCertificateRequest", "", "status", NULL},
    {"PodCertificateRequest", "status", "metadata,spec", NULL},
    {"PodDisruptionBudget", "", "status", NULL},
    {"PodDisruptionBudget", "status", "spec", NULL},
    {"PodGroup", "", "status", NULL},
    {"PodGroup", "status", "metadata,spec", NULL},
    {"PriorityLevelConfiguration", "", "status", NULL},
    {"PriorityLevelConfiguration", "status", "metadata,spec", NULL},
    {"ReplicaSet", "", "status", NULL},
    {"ReplicaSet", "status", "spec", NULL},
    {"ReplicationController", "", "status", NULL},
    {"ReplicationController", "status", "spec", NULL},
    {"ResourceClaim", "", "status", NULL},
    {"ResourceClaim", "status", "metadata,spec", NULL},
    {"ResourcePoolStatusRequest", "", "status", NULL},
    {"ResourcePoolStatusRequest", "status", "metadata,spec", NULL},
    {"ResourceQuota", "", "status", NULL},
    {"ResourceQuota", "status", "spec", NULL},
    {"Service", "", "status", NULL},
    {"Service", "status", "spec", NULL},
    {"ServiceCIDR", "", "status", NULL},
    {"ServiceCIDR", "status", "metadata,spec", NULL},
    {"StatefulSet", "", "status", NULL},
    {"StatefulSet", "status", "spec", NULL},
    {"StorageVersion", "", "status", NULL},
    {"StorageVersion", "status", "metadata,spec", NULL},
    {"StorageVersionMigration", "", "status", NULL},
    {"StorageVersionMigration", "status", "metadata,spec", NULL},
    {"ValidatingAdmissionPolicy", "", "status", NULL},
    {"ValidatingAdmissionPolicy", "status", "metadata,spec", NULL},
    {"VolumeAttachment", "", "status", NULL},
    {"VolumeAttachment", "status", "metadata,spec", NULL},
};

enum { MOST_PATHS = 8 };

struct paths {
    struct str v[MOST_PATHS];
    size_t n;
};

/* What is left of the paths behind a step. */
static struct paths follow(const struct paths *paths, const struct api__step *step) {
    struct paths out = {.n = 0};
    for (size_t i = 0; i < paths->n; i++) {
        struct str head, rest;
        str_cut(paths->v[i], '.', &head, &rest);
        bool is_field = step->kind == API__STEP_FIELD && str_eq(json_str(&step->value), head);
        if (is_field || str_is(head, "*"))
            out.v[out.n++] = rest;
    }
    return out;
}

static const struct api__path_set *keep(struct arena *a, const struct api__path_set *s,
                                        const struct paths *paths) {
    api__path_nodes stack = {0};
    for (uint32_t i = 0; s && i < s->n; i++) {
        struct api__path_node node = s->v[i];
        struct paths rest = follow(paths, &node.step);
        bool is_whole = false;
        for (size_t k = 0; k < rest.n; k++)
            is_whole |= rest.v[k].n == 0;
        if (!is_whole)
            node.children = keep(a, node.children, &rest);
        if (rest.n)
            vec_push(&stack, node);
    }
    const struct api__path_set *out = api__set_make(a, &stack, 0);
    vec_release(&stack);
    return out;
}

static const struct row *find_row(const struct api_kind *kind, struct str subresource) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(str_of(kind->kind), rows[i].kind) && str_is(subresource, rows[i].subresource))
            return &rows[i];
    return NULL;
}

const struct api__path_set *api__drop_reset(struct arena *a, const struct api_managed_write *w,
                                            const struct api__path_set *s) {
    const struct row *row = s ? find_row(w->kind, w->subresource) : NULL;
    struct paths only = {.n = 0};
    if (!row)
        return s;
    struct str rest = str_of(row->only);
    while (rest.n)
        str_cut(rest, ',', &only.v[only.n++], &rest);
    s = row->only ? keep(a, s, &only) : s;
    return api__set_combine(a, API__DEEP_DIFFERENCE, s, api__set_of_paths(a, row->reset));
}
