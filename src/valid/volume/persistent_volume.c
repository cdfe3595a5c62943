/*
 * Persistent volumes: exactly one source, capacity, access, the nodes they can be reached from, and
 * what may not change.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePersistentVolume,
 * func ValidatePersistentVolumeSpec, func ValidatePersistentVolumeUpdate.
 */
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/pod/container_int.h"
#include "valid/resource_int.h"
#include "valid/volume/volume_int.h"

static const struct api_persistent_volume *pv_of(const struct api_object *o) {
    return o->body;
}

static const void *source_at(const struct api_persistent_volume_source *s, size_t offset) {
    return *(void *const *)(const void *)((const char *)s + offset);
}

/* ---- the spec ---- */

static void check_access_modes(struct valid *v, const struct path *p,
                               const struct api_strs *modes) {
    static const char *const supported[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                            "ReadWriteOncePod", NULL};
    bool once_per_pod = false, others = false;
    if (!modes->n)
        valid__required(v, p, NO_DETAIL);
    for (size_t i = 0; i < modes->n; i++) {
        bool is_supported = valid__one_of(modes->v[i], supported);
        bool is_once = str_is(modes->v[i], "ReadWriteOncePod");
        if (!is_supported)
            valid__not_supported(v, p, VALUE_NAMED(modes->v[i]), supported);
        once_per_pod |= is_once;
        others |= is_supported && !is_once;
    }
    if (once_per_pod && others)
        valid__forbidden(v, p, "may not use ReadWriteOncePod with other access modes");
}

static struct json capacity_tree(struct arena *a, const struct api_quantities *capacity) {
    struct json tree = {.kind = capacity->v ? JSON_OBJECT : JSON_NULL};
    for (size_t i = 0; capacity->v && i < capacity->n; i++)
        json_add(a, &tree, capacity->v[i].key,
                 json_of_str(valid__quantity_text(a, &capacity->v[i].value)));
    return tree;
}

static void check_size(struct valid *v, const struct path *p, const struct quantity *q) {
    if (quantity_value(q) < 0)
        valid__invalid(v, p, VALUE_I64(quantity_value(q)), "must be a valid resource quantity");
    if (quantity_sign(q) <= 0)
        valid__invalid(v, p, VALUE_Q(valid__quantity_text(v->errs->a, q)),
                       "must be greater than zero");
}

static void check_capacity(struct valid *v, const struct path *p,
                           const struct api_quantities *capacity) {
    static const char *const supported[] = {"storage", NULL};
    if (!capacity->n)
        valid__required(v, p, NO_DETAIL);
    if (capacity->n != 1 || !str_is(capacity->v[0].key, "storage"))
        valid__not_supported(v, p, VALUE_JSON(capacity_tree(v->errs->a, capacity)), supported);
    for (size_t i = 0; i < capacity->n; i++)
        check_size(v, AT_KEY(p, capacity->v[i].key), &capacity->v[i].value);
}

static void check_reclaim_policy(struct valid *v, const struct path *p, struct str policy) {
    static const char *const supported[] = {"Delete", "Recycle", "Retain", NULL};
    if (policy.n && !valid__one_of(policy, supported))
        valid__not_supported(v, p, VALUE_NAMED(policy), supported);
}

static const struct api_node_selector *required_nodes(const struct api_persistent_volume *pv) {
    return pv && pv->spec.node_affinity ? pv->spec.node_affinity->required : NULL;
}

static void check_node_affinity(struct valid *v, const struct path *p,
                                const struct api_volume_node_affinity *a,
                                const struct pod_rules *rules) {
    if (!a)
        return;
    if (a->required)
        valid__node_selector(v, AT(p, "required"), a->required, rules);
    else
        valid__required(v, AT(p, "required"), "must specify required node constraints");
}

/* Does a path lead nowhere but to the root? */
static bool is_root(struct str path) {
    struct str element;
    bool more, is_absolute = str_starts(path, STR("/"));
    size_t depth = 0;
    do {
        more = str_cut(path, '/', &element, &path);
        if (str_is(element, ".."))
            depth -= depth > 0;
        else
            depth += element.n && !str_is(element, ".");
    } while (more);
    return is_absolute && depth == 0;
}

static void check_recycling(struct valid *v, const struct path *p,
                            const struct api_persistent_volume_spec *s) {
    const struct api_host_path_volume_source *host = s->persistent_volume_source.host_path;
    if (host && is_root(host->path) && str_is(s->persistent_volume_reclaim_policy, "Recycle"))
        valid__forbidden(v, AT(p, "persistentVolumeReclaimPolicy"),
                         "may not be 'recycle' for a hostPath mount of '/'");
}

static void check_volume_mode(struct valid *v, const struct path *p, struct str mode) {
    static const char *const supported[] = {"Block", "Filesystem", NULL};
    if (mode.p && !valid__one_of(mode, supported))
        valid__not_supported(v, p, VALUE_NAMED(mode), supported);
}

static void check_attributes_class(struct valid *v, const struct path *p,
                                   const struct api_persistent_volume_spec *s) {
    struct str name = s->volume_attributes_class_name;
    if (!name.p)
        return;
    if (name.n)
        valid__dns_subdomain(v, AT(p, "volumeAttributesClassName"), name);
    else
        valid__required(v, AT(p, "volumeAttributesClassName"), "an empty string is disallowed");
    if (!s->persistent_volume_source.csi)
        valid__required(v, AT(p, "csi"),
                        "has to be specified when using volumeAttributesClassName");
}

/* ---- sources ---- */

/* In the order in which they are looked at; two have odd names in some paths. */
static const struct source {
    const char *json;
    const char *path;      /* of errors inside, when it is not the name */
    const char *forbidden; /* of the error that it is one too many, when it is not the name */
} sources[] = {
    {"hostPath", NULL, NULL},
    {"gcePersistentDisk", "persistentDisk", NULL},
    {"awsElasticBlockStore", NULL, NULL},
    {"glusterfs", NULL, NULL},
    {"flocker", NULL, NULL},
    {"nfs", NULL, NULL},
    {"rbd", NULL, NULL},
    {"quobyte", NULL, NULL},
    {"cephfs", NULL, "cephFS"},
    {"iscsi", NULL, NULL},
    {"cinder", NULL, NULL},
    {"fc", NULL, NULL},
    {"flexVolume", NULL, NULL},
    {"azureFile", NULL, NULL},
    {"vsphereVolume", NULL, NULL},
    {"photonPersistentDisk", NULL, NULL},
    {"portworxVolume", NULL, NULL},
    {"azureDisk", NULL, NULL},
    {"scaleIO", NULL, NULL},
    {"local", NULL, NULL},
    {"storageos", NULL, NULL},
    {"csi", NULL, NULL},
};

enum { SOURCE_COUNT = sizeof sources / sizeof *sources, MAX_ISCSI_NAME_BYTES = 64 };

static struct api_found find_source(const struct source *source) {
    const struct api_type *type = &api_types[API_T_persistent_volume_source];
    const struct api_field *next = type->fields;
    return api_field_find(type, str_of(source->json), &next);
}

/* The first rules of this source: one of them is about the name of the volume. */
static void check_iscsi_portal(struct valid *v, const struct path *p,
                               const struct api_persistent_volume *pv) {
    const struct api_iscsi_persistent_volume_source *s = pv->spec.persistent_volume_source.iscsi;
    if (!s->target_portal.n)
        valid__required(v, AT(AT(p, "iscsi"), "targetPortal"), NO_DETAIL);
    if (s->initiator_name.p && pv->metadata.name.n + 1 + s->target_portal.n > MAX_ISCSI_NAME_BYTES)
        valid__invalid(v, AT(AT(p, "iscsi"), "targetportal"), VALUE_Q(s->target_portal),
                       "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                       "characters if iscsi.initiatorName is specified.");
}

/* One is enough; but nobody ever minded a flexVolume beside another. */
static void check_source(struct valid *v, const struct path *p,
                         const struct api_persistent_volume *pv, const struct source *row,
                         bool is_first) {
    struct api_found found = find_source(row);
    const void *source = source_at(&pv->spec.persistent_volume_source, found.offset);
    if (!is_first && source != pv->spec.persistent_volume_source.flex_volume) {
        valid__forbidden(v, AT(p, row->forbidden ? row->forbidden : row->json),
                         "may not specify more than 1 volume type");
        return;
    }
    if (source == pv->spec.persistent_volume_source.iscsi)
        check_iscsi_portal(v, p, pv);
    valid__volume_source(v, AT(p, row->path ? row->path : row->json), found.field->type, source);
    if (source == pv->spec.persistent_volume_source.local && !pv->spec.node_affinity)
        valid__required(v, AT(p, "nodeAffinity"), "Local volume requires node affinity");
}

static void check_sources(struct valid *v, const struct path *p,
                          const struct api_persistent_volume *pv) {
    bool is_first = true;
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        if (!source_at(&pv->spec.persistent_volume_source, find_source(&sources[i]).offset))
            continue;
        check_source(v, p, pv, &sources[i], is_first);
        is_first = false;
    }
    if (is_first)
        valid__required(v, p, "must specify a volume type");
}

/* An annotation with mount options is for sources that are mounted with options. */
static void check_mount_options(struct valid *v, const struct api_persistent_volume *pv) {
    static const struct str key = STR_INIT("volume.beta.kubernetes.io/mount-options");
    const struct api_persistent_volume_source *s = &pv->spec.persistent_volume_source;
    bool has_options = s->gce_persistent_disk || s->aws_elastic_block_store || s->glusterfs ||
                       s->nfs || s->rbd || s->quobyte || s->iscsi || s->cinder || s->cephfs ||
                       s->azure_file || s->vsphere_volume || s->azure_disk ||
                       s->photon_persistent_disk;
    if (!has_options && labels_find(&pv->metadata.annotations, key))
        valid__forbidden(v, AT_DOTTED(AT(AT(NULL, "metadata"), "annotations"), key),
                         "may not specify mount options for this volume type");
}

/* ---- the kind ---- */

static bool allows_attributes_class(const struct feature_set *gates,
                                    const struct api_persistent_volume *old) {
    return feature_enabled(gates, FEATURE_VolumeAttributesClass) ||
           (old && old->spec.volume_attributes_class_name.p);
}

static struct pod_rules rules_for(const struct valid *v, const struct api_persistent_volume *old) {
    const struct api_node_selector *nodes = required_nodes(old);
    return (struct pod_rules){
        .invalid_label_values = nodes && valid__has_invalid_values(nodes),
        .semver_operators = feature_enabled(v->gates, FEATURE_TolerationAffinitySemverOperators) ||
                            (nodes && valid__uses_semver(nodes)),
    };
}

/* old may be NULL. */
static void check_pv(struct valid *v, const struct api_persistent_volume *pv,
                     const struct api_persistent_volume *old) {
    const struct path *p = AT(NULL, "spec");
    const struct api_persistent_volume_spec *s = &pv->spec;
    struct pod_rules rules = rules_for(v, old);
    valid__object_meta(v, AT(NULL, "metadata"), &pv->metadata, false, valid__name_subdomain);
    check_access_modes(v, AT(p, "accessModes"), &s->access_modes);
    check_capacity(v, AT(p, "capacity"), &s->capacity);
    check_reclaim_policy(v, AT(p, "persistentVolumeReclaimPolicy"),
                         s->persistent_volume_reclaim_policy);
    check_node_affinity(v, AT(p, "nodeAffinity"), s->node_affinity, &rules);
    check_sources(v, p, pv);
    check_recycling(v, p, s);
    if (s->storage_class_name.n)
        valid__dns_subdomain(v, AT(p, "storageClassName"), s->storage_class_name);
    check_volume_mode(v, AT(p, "volumeMode"), s->volume_mode);
    if (allows_attributes_class(v->gates, old))
        check_attributes_class(v, p, s);
    check_mount_options(v, pv);
}

static void create(struct valid *v, const struct api_object *o) {
    check_pv(v, pv_of(o), NULL);
}

/* ---- volumes without an object ---- */

static void forbid_inline(struct valid *v, const struct path *p, bool is_set) {
    if (is_set)
        valid__forbidden(v, p, "may not be specified in the context of inline volumes");
}

void valid__inline_volume(struct valid *v, const struct path *p,
                          const struct api_persistent_volume_spec *s) {
    struct api_persistent_volume pv = {.spec = *s};
    struct str policy = s->persistent_volume_reclaim_policy;
    pv.spec.node_affinity = NULL;
    forbid_inline(v, AT(p, "claimRef"), s->claim_ref);
    forbid_inline(v, AT(p, "capacity"), s->capacity.n);
    if (!s->persistent_volume_source.csi)
        valid__required(v, AT(p, "csi"), "has to be specified in the context of inline volumes");
    check_access_modes(v, AT(p, "accessModes"), &s->access_modes);
    if (policy.n && !str_is(policy, "Retain"))
        valid__forbidden(v, AT(p, "persistentVolumeReclaimPolicy"),
                         "may only be Retain in the context of inline volumes");
    forbid_inline(v, AT(p, "nodeAffinity"), s->node_affinity);
    check_sources(v, p, &pv);
    check_recycling(v, p, s);
    forbid_inline(v, AT(p, "storageClassName"), s->storage_class_name.n);
    if (s->volume_mode.p && !str_is(s->volume_mode, "Filesystem"))
        valid__forbidden(v, AT(p, "volumeMode"),
                         "may not specify volumeMode other than Filesystem in the context of "
                         "inline volumes");
}

/* ---- updates ---- */

/* The sources are the same; only a secret for expansion may be added to CSI. */
static void check_source_kept(struct valid *v, const struct api_persistent_volume_source *s,
                              const struct api_persistent_volume_source *old) {
    struct api_persistent_volume_source source = *s;
    struct api_csi_persistent_volume_source csi;
    if (s->csi && old->csi && !old->csi->controller_expand_secret_ref) {
        csi = *s->csi;
        csi.controller_expand_secret_ref = NULL;
        source.csi = &csi;
    }
    if (valid__equal(API_T_persistent_volume_source, &source, old))
        return;
    struct str diff = valid__diff(v->errs->a, API_T_persistent_volume_source, old, &source);
    valid__forbidden(v, AT(AT(NULL, "spec"), "persistentvolumesource"),
                     "spec.persistentvolumesource is immutable after creation%.*s", STR_ARG(diff));
}

/* The keys of labels that have left beta. */
static bool is_promoted(struct str key, struct str old) {
    static const struct {
        const char *beta, *ga;
    } keys[] = {
        {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_is(old, keys[i].beta))
            return str_is(key, keys[i].ga);
    return key.n == 0; /* upstream's table gives that for all others */
}

static bool same_requirements(const struct api_node_selector_requirement_list *list,
                              const struct api_node_selector_requirement_list *old) {
    if (list->n != old->n)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        struct api_node_selector_requirement was = old->v[i];
        if (is_promoted(list->v[i].key, was.key))
            was.key = list->v[i].key;
        if (!valid__equal(API_T_node_selector_requirement, &list->v[i], &was))
            return false;
    }
    return true;
}

static bool same_nodes(const struct api_node_selector *nodes, const struct api_node_selector *old) {
    if (!nodes || !old)
        return nodes == old;
    if (nodes->node_selector_terms.n != old->node_selector_terms.n)
        return false;
    for (size_t i = 0; i < nodes->node_selector_terms.n; i++) {
        const struct api_node_selector_term *term = &nodes->node_selector_terms.v[i],
                                            *was = &old->node_selector_terms.v[i];
        if (!same_requirements(&term->match_expressions, &was->match_expressions) ||
            !same_requirements(&term->match_fields, &was->match_fields))
            return false;
    }
    return true;
}

static struct value affinity_value(struct arena *a, const struct api_volume_node_affinity *n) {
    struct json null = {.kind = JSON_NULL};
    return VALUE_JSON(n ? api_struct_encode_go(a, &api_types[API_T_volume_node_affinity], n)
                        : null);
}

/* An affinity may be set later, but not changed, unless a gate says so. */
static void check_nodes_kept(struct valid *v, const struct api_persistent_volume *pv,
                             const struct api_persistent_volume *old) {
    const struct api_volume_node_affinity *now = pv->spec.node_affinity;
    if (!old->spec.node_affinity || feature_enabled(v->gates, FEATURE_MutablePVNodeAffinity))
        return;
    if (!now || !same_nodes(now->required, required_nodes(old)))
        valid__invalid(v, AT(NULL, "nodeAffinity"), affinity_value(v->errs->a, now),
                       "field is immutable, except for updating from beta label to GA");
}

static void check_class_kept(struct valid *v, struct str name, struct str old) {
    const struct path *p = AT(AT(NULL, "spec"), "volumeAttributesClassName");
    bool is_enabled = feature_enabled(v->gates, FEATURE_VolumeAttributesClass);
    if (!name.p == !old.p && str_eq(name, old))
        return;
    if (!is_enabled)
        valid__forbidden(
            v, p, "update is forbidden when the VolumeAttributesClass feature gate is disabled");
    if (old.p && !name.p)
        valid__forbidden(v, p, "update from non-nil value to nil is forbidden");
}

static void check_mode_kept(struct valid *v, struct str mode, struct str old) {
    struct value none = VALUE_JSON((struct json){.kind = JSON_NULL});
    if (!mode.p != !old.p || !str_eq(mode, old))
        valid__immutable(v, AT(NULL, "volumeMode"), mode.p ? VALUE_NAMED(mode) : none);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *before) {
    const struct api_persistent_volume *pv = pv_of(o), *old = pv_of(before);
    check_pv(v, pv, old);
    check_source_kept(v, &pv->spec.persistent_volume_source, &old->spec.persistent_volume_source);
    check_mode_kept(v, pv->spec.volume_mode, old->spec.volume_mode);
    check_nodes_kept(v, pv, old);
    check_class_kept(v, pv->spec.volume_attributes_class_name,
                     old->spec.volume_attributes_class_name);
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_persistent_volume *pv = api_own_body(o);
    pv->status = (struct api_persistent_volume_status){.phase = STR("Pending"),
                                                       .last_phase_transition_time = opts->now};
}

static bool same_time(struct api_time a, struct api_time b) {
    return a.set == b.set && a.sec == b.sec && a.nsec == b.nsec;
}

/* When a phase began is the server's to say, unless the client does. */
static void prepare_status(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_persistent_volume *pv = api_own_body(o);
    struct api_persistent_volume_status *now = &pv->status;
    const struct api_persistent_volume_status *was = &pv_of(old)->status;
    struct api_time *began = &now->last_phase_transition_time;
    bool same_phase = str_eq(now->phase, was->phase);
    if (same_phase && !began->set)
        *began = was->last_phase_transition_time;
    if (!same_phase && (!began->set || same_time(*began, was->last_phase_transition_time)))
        *began = opts->now;
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    (void)old;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!o->meta->resource_version.n)
        valid__required(v, AT(NULL, "resourceVersion"), NO_DETAIL);
}

const struct valid_kind valid__persistent_volume = {
    .type = API_T_persistent_volume,
    .warn = valid__warn_volume,
    .prepare_create = prepare_create,
    .create = create,
    .update = update,
    .prepare_status = prepare_status,
    .status = status,
};
