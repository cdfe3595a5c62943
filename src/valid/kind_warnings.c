/*
 * Warnings: labels, annotations and volumes that have had their day, and how else storage is asked
 * for in ways that will not do for long.
 *
 * Follows k8s.io/kubernetes pkg/api/node, func GetNodeLabelDeprecatedMessage,
 * func GetWarningsForRuntimeClass, func GetWarningsForNodeSelector,
 * func GetWarningsForNodeSelectorTerm.
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
#include "valid/resource_int.h"

struct word {
    const char *key, *text;
};

static const char *text_of(const struct word *words, size_t n, struct str key) {
    for (size_t i = 0; i < n; i++)
        if (str_is(key, words[i].key))
            return words[i].text;
    return NULL;
}

static const char *label_text(struct str key) {
    static const struct word labels[] = {
        {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
        {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"failure-domain.beta.kubernetes.io/region",
         "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
        {"failure-domain.beta.kubernetes.io/zone",
         "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
        {"beta.kubernetes.io/instance-type",
         "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
        {"app.kubernetes.io/created-by", "deprecated since v1.9"},
        {"scheduler.alpha.kubernetes.io/preferAvoidPods",
         "deprecated since v1.22; use Taints and Tolerations instead"},
        {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
    };
    return text_of(labels, sizeof labels / sizeof *labels, key);
}

static struct str shown(struct arena *a, const struct path *p) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    valid__path_write(&text, p);
    return arena_str(a, buf_view(&text));
}

/* A key at p that is a label no longer; is_named: the text says which one. */
static void warn_key(struct valid_warnings *w, const struct path *p, struct str key,
                     bool is_named) {
    const char *text = label_text(key);
    if (text && is_named)
        valid__warn(w, "%.*s: %.*s is %s", STR_ARG(shown(w->a, p)), STR_ARG(key), text);
    else if (text)
        valid__warn(w, "%.*s: %s", STR_ARG(shown(w->a, p)), text);
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

static void warn_term(struct valid_warnings *w, const struct path *p,
                      const struct api_node_selector_term *t) {
    for (size_t i = 0; i < t->match_expressions.n; i++)
        warn_key(w, AT(AT_INDEX(AT(p, "matchExpressions"), i), "key"),
                 t->match_expressions.v[i].key, true);
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
        warn_term(w, AT_INDEX(AT(p, "nodeSelectorTerms"), i), &nodes->node_selector_terms.v[i]);
    warn_sources(w, s);
}

static void warn_fraction(struct valid_warnings *w, const char *of,
                          const struct api_quantities *amounts) {
    for (size_t i = 0; i < amounts->n; i++) {
        const struct quantity *q = &amounts->v[i].value;
        if (str_is(amounts->v[i].key, "storage") && quantity_milli_value(q) % 1000)
            valid__warn(w,
                        "spec.resources.%s[storage]: fractional byte value %.*s is invalid, must "
                        "be an integer",
                        of, STR_ARG(valid__go_quoted(w->a, valid__quantity_text(w->a, q))));
    }
}

void valid__warn_claim(struct valid_warnings *w, const struct api_object *o,
                       const struct api_object *old) {
    const struct api_persistent_volume_claim_spec *s =
        &((const struct api_persistent_volume_claim *)o->body)->spec;
    (void)old;
    if (labels_find(&o->meta->annotations, STR(CLASS_ANNOTATION)))
        valid__warn(w, CLASS_WARNING);
    warn_fraction(w, "requests", &s->resources.requests);
    warn_fraction(w, "limits", &s->resources.limits);
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
