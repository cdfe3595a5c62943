/*
 * Warnings: labels, annotations and volumes that have had their day, and how else storage is asked
 * for in ways that will not do for long.
 *
 * Follows k8s.io/kubernetes pkg/api/node, func GetWarningsForRuntimeClass,
 * func GetWarningsForNodeSelector.
 * Follows k8s.io/kubernetes pkg/api/storage, func GetWarningsForStorageClass,
 * func GetWarningsForCSIStorageCapacity.
 * Follows k8s.io/kubernetes pkg/api/persistentvolume, func GetWarningsForPersistentVolume.
 * Follows k8s.io/kubernetes pkg/api/persistentvolumeclaim,
 * func GetWarningsForPersistentVolumeClaim.
 * Follows k8s.io/kubernetes pkg/registry/storage/csidriver, func (csiDriverStrategy)
 * WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/serviceaccount,
 * func warnIfHasEnforceMountableSecretsAnnotation.
 * Follows k8s.io/kubernetes pkg/registry/core/node, func nodeWarnings.
 */
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"
#include "valid/pod/pod_int.h"
#include "valid/volume/volume_int.h"
#include "valid/warnings_int.h"

/* A key at p that is a label of nodes no longer; is_named: the text says which one. */
static void warn_key(struct valid_warnings *w, const struct path *p, struct str key,
                     bool is_named) {
    const char *text = valid__label_deprecation(key);
    if (text && is_named)
        valid__warn_at(w, p, "%.*s is %s", STR_ARG(key), text);
    else if (text)
        valid__warn_at(w, p, "%s", text);
}

/* ---- nodes and what selects them ---- */

void valid__warn_runtime_class(struct valid_warnings *w, const struct api_object *o,
                               const struct api_object *old) {
    const struct api_scheduling *s = ((const struct api_runtime_class *)o->body)->scheduling;
    (void)old;
    for (size_t i = 0; s && i < s->node_selector.n; i++)
        warn_key(w, AT(AT(NULL, "scheduling"), "nodeSelector"), s->node_selector.v[i].key, false);
}

void valid__warn_node(struct valid_warnings *w, const struct api_object *o,
                      const struct api_object *old) {
    const struct api_node_spec *s = &((const struct api_node *)o->body)->spec;
    (void)old;
    if (s->config_source)
        valid__warn(w, "spec.configSource: the feature is removed");
    if (s->external_id.n)
        valid__warn(w, "spec.externalID: this field is deprecated, and is unused by Kubernetes");
    for (size_t i = 0; i < s->pod_cidrs.n; i++)
        valid__warn_cidr(w, AT_INDEX(AT(AT(NULL, "spec"), "podCIDRs"), i), s->pod_cidrs.v[i]);
}

/* ---- storage ---- */

void valid__warn_storage_class(struct valid_warnings *w, const struct api_object *o,
                               const struct api_object *old) {
    const struct api_topology_selector_term_list *list =
        &((const struct api_storage_class *)o->body)->allowed_topologies;
    (void)old;
    for (size_t i = 0; i < list->n; i++) {
        const struct path *p =
            AT(AT_INDEX(AT(NULL, "allowedTopologies"), i), "matchLabelExpressions");
        for (size_t k = 0; k < list->v[i].match_label_expressions.n; k++)
            warn_key(w, AT(AT_INDEX(p, k), "key"), list->v[i].match_label_expressions.v[k].key,
                     false);
    }
}

void valid__warn_storage_capacity(struct valid_warnings *w, const struct api_object *o,
                                  const struct api_object *old) {
    const struct api_label_selector *s =
        ((const struct api_csi_storage_capacity *)o->body)->node_topology;
    const struct path *p = AT(NULL, "nodeTopology");
    (void)old;
    for (size_t i = 0; s && i < s->match_expressions.n; i++)
        warn_key(w, AT(AT_INDEX(AT(p, "matchExpressions"), i), "key"),
                 s->match_expressions.v[i].key, true);
    for (size_t i = 0; s && i < s->match_labels.n; i++)
        warn_key(w, AT_DOTTED(AT(p, "matchLabels"), s->match_labels.v[i].key),
                 s->match_labels.v[i].key, false);
}

static void warn_sources(struct valid_warnings *w, const struct api_persistent_volume_spec *s) {
    const struct {
        bool is_set;
        const char *text;
    } sources[] = {
        {s->persistent_volume_source.cephfs,
         "spec.cephfs: deprecated in v1.28, non-functional in v1.31+"},
        {s->persistent_volume_source.photon_persistent_disk,
         "spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"},
        {s->persistent_volume_source.scale_io,
         "spec.scaleIO: deprecated in v1.16, non-functional in v1.22+"},
        {s->persistent_volume_source.storageos,
         "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"},
        {s->persistent_volume_source.glusterfs,
         "spec.glusterfs: deprecated in v1.25, non-functional in v1.26+"},
        {s->persistent_volume_source.rbd,
         "spec.rbd: deprecated in v1.28, non-functional in v1.31+"},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].is_set)
            valid__warn(w, "%s", sources[i].text);
}

#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"
#define MOUNT_ANNOTATION "volume.beta.kubernetes.io/mount-options"
#define CLASS_WARNING                                               \
    "metadata.annotations[" CLASS_ANNOTATION "]: deprecated since " \
    "v1.8; use \"storageClassName\" attribute instead"

void valid__warn_volume(struct valid_warnings *w, const struct api_object *o,
                        const struct api_object *old) {
    const struct api_persistent_volume_spec *s =
        &((const struct api_persistent_volume *)o->body)->spec;
    const struct path *p = AT(AT(AT(NULL, "spec"), "nodeAffinity"), "required");
    const struct api_node_selector *nodes = s->node_affinity ? s->node_affinity->required : NULL;
    (void)old;
    if (labels_find(&o->meta->annotations, STR(CLASS_ANNOTATION)))
        valid__warn(w, CLASS_WARNING);
    if (labels_find(&o->meta->annotations, STR(MOUNT_ANNOTATION)))
        valid__warn(w, "metadata.annotations[" MOUNT_ANNOTATION "]: deprecated since v1.31; use "
                       "\"mountOptions\" attribute instead");
    if (str_is(s->persistent_volume_reclaim_policy, "Recycle"))
        valid__warn(w, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is "
                       "deprecated. Instead, the recommended approach is to use dynamic "
                       "provisioning.");
    for (size_t i = 0; nodes && i < nodes->node_selector_terms.n; i++)
        valid__warn_node_term(w, AT_INDEX(AT(p, "nodeSelectorTerms"), i),
                              &nodes->node_selector_terms.v[i], false);
    warn_sources(w, s);
}

void valid__warn_claim(struct valid_warnings *w, const struct api_object *o,
                       const struct api_object *old) {
    const struct api_persistent_volume_claim_spec *s =
        &((const struct api_persistent_volume_claim *)o->body)->spec;
    (void)old;
    if (labels_find(&o->meta->annotations, STR(CLASS_ANNOTATION)))
        valid__warn(w, CLASS_WARNING);
    valid__warn_claim_spec(w, AT(NULL, "spec"), s);
}

/* Upstream asks for the gate CSIServiceAccountTokenSecrets, which is on for good. */
void valid__warn_csi_driver(struct valid_warnings *w, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_csi_driver_spec *s = &((const struct api_csi_driver *)o->body)->spec;
    const struct api_csi_driver_spec *was =
        old ? &((const struct api_csi_driver *)old->body)->spec : NULL;
    bool is_kept =
        was && valid__equal_lists(API_T_token_request, &s->token_requests, &was->token_requests);
    if (s->token_requests.n && !is_kept && !s->service_account_token_in_secrets.set)
        valid__warn(w, "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI "
                       "driver, set to true to prevent possible logging of tokens in volume "
                       "attributes");
}

/* ---- accounts ---- */

#define MOUNTABLE "kubernetes.io/enforce-mountable-secrets"

static void warn_account(struct valid_warnings *w, const struct api_object *o,
                         const struct api_object *old) {
    if (!(old && labels_find(&old->meta->annotations, STR(MOUNTABLE))) &&
        labels_find(&o->meta->annotations, STR(MOUNTABLE)))
        valid__warn(w, "metadata.annotations[" MOUNTABLE "]: deprecated in v1.32+; prefer separate "
                       "namespaces to isolate access to mounted secrets");
}

const struct valid_kind valid__service_account = {.type = API_T_service_account,
                                                  .create = valid__metadata_create,
                                                  .update = valid__metadata_update,
                                                  .declared = valid__metadata_declared,
                                                  .warn = warn_account};
