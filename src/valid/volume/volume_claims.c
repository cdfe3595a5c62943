/*
 * Claims for volumes, as a pod's ephemeral volumes and the templates of stateful sets have them;
 * and volumes of CSI drivers.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePersistentVolumeClaimSpec,
 * func validateEphemeralVolumeSource, func validateCSIVolumeSource.
 */
#include "valid/pod/container_int.h"
#include "valid/resource_int.h"
#include "valid/volume/volume_int.h"

/* ---- drivers ---- */

void valid__csi_volume(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_csi_volume_source *s = source;
    const struct api_local_object_reference *secret = s->node_publish_secret_ref;
    valid__csi_driver_name(view->v, AT(p, "driver"), s->driver);
    if (secret && !secret->name.n)
        valid__required(view->v, AT(AT(p, "nodePublishSecretRef"), "name"), NO_DETAIL);
    else if (secret)
        valid__dns_subdomain(view->v, AT(p, "name"), secret->name);
}

/* ---- claims ---- */

static void check_access_modes(struct valid *v, const struct path *p, const struct api_strs *list) {
    static const char *const modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                        "ReadWriteOncePod", NULL};
    bool once_pod = false, others = false;
    for (size_t i = 0; i < list->n; i++) {
        bool known = valid__one_of(list->v[i], modes);
        if (!known)
            valid__not_supported(v, p, VALUE_NAMED(list->v[i]), modes);
        if (str_is(list->v[i], "ReadWriteOncePod"))
            once_pod = true;
        else
            others |= known;
    }
    if (once_pod && others)
        valid__forbidden(v, p, "may not use ReadWriteOncePod with other access modes");
}

static void check_storage(struct valid *v, const struct path *p,
                          const struct api_quantities *requests) {
    const struct quantity *q = valid__find_quantity(requests, STR("storage"));
    if (!q)
        valid__required(v, p, NO_DETAIL);
    else if (quantity_sign(q) <= 0)
        valid__invalid(v, p, VALUE_Q(valid__quantity_text(v->errs->a, q)),
                       "must be greater than zero");
}

/* What both kinds of references to a source of data have. */
static void check_source(struct valid *v, const struct path *p,
                         const struct api_typed_local_object_reference *s,
                         const struct claim_rules *rules) {
    if (!s->name.n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (!s->kind.n)
        valid__required(v, AT(p, "kind"), NO_DETAIL);
    if (!s->api_group.n && !str_is(s->kind, "PersistentVolumeClaim"))
        valid__invalid(v, p, VALUE_Q(s->kind),
                       "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    if (s->api_group.n && !rules->any_api_group)
        valid__dns_subdomain(v, AT(p, "apiGroup"), s->api_group);
}

static bool same_source(const struct api_typed_local_object_reference *a,
                        const struct api_typed_object_reference *b) {
    return !a->api_group.p == !b->api_group.p && str_eq(a->api_group, b->api_group) &&
           str_eq(a->kind, b->kind) && str_eq(a->name, b->name);
}

static void check_sources(struct valid *v, const struct path *p,
                          const struct api_persistent_volume_claim_spec *spec,
                          const struct claim_rules *rules) {
    /* Upstream hands the path itself over as the value, and Go prints it as an empty struct. */
    static const struct json empty = {.kind = JSON_OBJECT};
    const struct api_typed_local_object_reference *source = spec->data_source;
    const struct api_typed_object_reference *ref = spec->data_source_ref;
    if (source)
        check_source(v, AT(p, "dataSource"), source, rules);
    if (ref) {
        struct api_typed_local_object_reference local = {
            .api_group = ref->api_group, .kind = ref->kind, .name = ref->name};
        check_source(v, AT(p, "dataSourceRef"), &local, rules);
        if (ref->namespace.n)
            valid__dns_label(v, AT(AT(p, "dataSourceRef"), "namespace"), ref->namespace);
    }
    if (!source || !ref)
        return;
    if (ref->namespace.n)
        valid__invalid(v, p, VALUE_JSON(empty),
                       "may not be specified when dataSourceRef.namespace is specified");
    else if (!same_source(source, ref))
        valid__invalid(v, p, VALUE_JSON(empty), "must match dataSourceRef");
}

void valid__claim_spec(struct valid *v, const struct path *p,
                       const struct api_persistent_volume_claim_spec *spec,
                       const struct claim_rules *rules) {
    static const char *const volume_modes[] = {"Block", "Filesystem", NULL};
    if (!spec->access_modes.n)
        valid__required(v, AT(p, "accessModes"), "at least 1 access mode is required");
    if (spec->selector)
        valid__label_selector(v, AT(p, "selector"), spec->selector, &rules->selectors);
    check_access_modes(v, AT(p, "accessModes"), &spec->access_modes);
    check_storage(v, AT_KEY(AT(p, "resources"), STR("storage")), &spec->resources.requests);
    if (spec->storage_class_name.n)
        valid__dns_subdomain(v, AT(p, "storageClassName"), spec->storage_class_name);
    if (spec->volume_mode.p && !valid__one_of(spec->volume_mode, volume_modes))
        valid__not_supported(v, AT(p, "volumeMode"), VALUE_NAMED(spec->volume_mode), volume_modes);
    check_sources(v, p, spec, rules);
    if (spec->volume_attributes_class_name.n && rules->attributes_class)
        valid__dns_subdomain(v, AT(p, "volumeAttributesClassName"),
                             spec->volume_attributes_class_name);
}

void valid__volume_claim_spec(struct valid *v, const struct path *p,
                              const struct api_persistent_volume_claim_spec *spec) {
    struct claim_rules rules = {.attributes_class =
                                    feature_enabled(v->gates, FEATURE_VolumeAttributesClass)};
    valid__claim_spec(v, p, spec, &rules);
}

/* ---- ephemeral volumes ---- */

void valid__template_meta(struct valid *v, const struct path *p,
                                const struct api_object_meta *m) {
    const struct {
        const char *name;
        bool set;
    } fields[] = {
        {"name", m->name.n},
        {"generateName", m->generate_name.n},
        {"namespace", m->namespace.n},
        {"selfLink", m->self_link.n},
        {"uID", m->uid.n},
        {"resourceVersion", m->resource_version.n},
        {"generation", m->generation},
        {"creationTimestamp", m->creation_timestamp.set},
        {"deletionTimestamp", m->deletion_timestamp.set},
        {"deletionGracePeriodSeconds", m->deletion_grace_period_seconds.set},
        {"ownerReferences", m->owner_references.v},
        {"finalizers", m->finalizers.v},
        {"managedFields", m->managed_fields.v},
    };
    valid__annotations(v, AT(p, "annotations"), &m->annotations);
    valid__labels(v, AT(p, "labels"), &m->labels);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].set)
            valid__forbidden(v, AT(p, fields[i].name), "cannot be set");
}

/* The claim will be called after the pod and the volume. */
static void check_claim_name(const struct volume_view *view) {
    struct arena *a = view->v->errs->a;
    struct str name = view->volume->name;
    if (!view->pod_name.n || !name.n)
        return;
    struct str claim = arena_printf(a, "%.*s-%.*s", STR_ARG(view->pod_name), STR_ARG(name));
    struct names_errs errs = names_check_dns1123_subdomain(claim);
    struct str shown = valid__go_quoted(a, claim);
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(view->v, AT(view->path, "name"), VALUE_Q(name), "PVC name %.*s: %.*s",
                       STR_ARG(shown), STR_ARG(errs.v[i]));
}

void valid__ephemeral_volume(const struct volume_view *view, const struct path *p,
                             const void *source) {
    const struct api_persistent_volume_claim_template *t =
        ((const struct api_ephemeral_volume_source *)source)->volume_claim_template;
    const struct path *here = AT(p, "volumeClaimTemplate");
    if (t) {
        valid__template_meta(view->v, AT(here, "metadata"), &t->metadata);
        valid__volume_claim_spec(view->v, AT(here, "spec"), &t->spec);
    } else {
        valid__required(view->v, here, NO_DETAIL);
    }
    check_claim_name(view);
}
