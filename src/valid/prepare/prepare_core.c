/*
 * What is special to kinds of the core group: templates, claims, secrets, accounts.
 *
 * Follows k8s.io/kubernetes pkg/api/persistentvolumeclaim, func DropDisabledFields,
 * func EnforceDataSourceBackwardsCompatibility, func NormalizeDataSources,
 * func DropDisabledFieldsFromStatus.
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func Convert_v1_Secret_To_core_Secret,
 * func Convert_v1_NodeSpec_To_core_NodeSpec, func Convert_core_NodeSpec_To_v1_NodeSpec.
 * Follows k8s.io/kubernetes pkg/registry/core/serviceaccount, func cleanSecretReferences.
 */
#include <string.h>

#include "valid/prepare/prepare_int.h"
#include "valid/volume/volume_int.h"
#include "valid/workload/workload_int.h"

/* A range of limits without a name is called by its uid. */
void valid__create_limit_range(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_object_meta *m = api_own_meta(o);
    if (!m->name.n)
        m->name = m->uid;
}

/* The ranges of a node are said twice, and the older field is right. */
void valid__join_cidrs(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_node_spec *s = &((struct api_node *)api_own_body(o))->spec;
    if (s->pod_cidr.n && !(s->pod_cidrs.n && str_eq(s->pod_cidr, s->pod_cidrs.v[0]))) {
        s->pod_cidrs = (struct api_strs){arena_new(&o->arena, struct str), 1};
        s->pod_cidrs.v[0] = s->pod_cidr;
    }
    if (s->pod_cidrs.n)
        s->pod_cidr = s->pod_cidrs.v[0];
}

/* ---- templates ---- */

void valid__create_pod_template(struct api_object *o, const struct valid_opts *opts) {
    struct api_pod_template *t = api_own_body(o);
    valid__prepare_template(&t->template, NULL, opts);
}

void valid__update_pod_template(struct api_object *o, const struct api_object *old,
                                const struct valid_opts *opts) {
    struct api_pod_template *t = api_own_body(o);
    const struct api_pod_template *was = old->body;
    valid__prepare_template(&t->template, &was->template, opts);
}

void valid__create_replication_controller(struct api_object *o, const struct valid_opts *opts) {
    struct api_replication_controller *rc = api_own_body(o);
    if (rc->spec.template)
        valid__prepare_template(rc->spec.template, NULL, opts);
}

void valid__update_replication_controller(struct api_object *o, const struct api_object *old,
                                          const struct valid_opts *opts) {
    struct api_replication_controller *rc = api_own_body(o);
    const struct api_replication_controller *was = old->body;
    if (rc->spec.template)
        valid__prepare_template(rc->spec.template, was->spec.template, opts);
}

/* ---- secrets and accounts ---- */

/* Texts become data, over what is there under the same key. */
void valid__merge_string_data(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_secret *s = api_own_body(o);
    const struct labels *data = &s->data, *texts = &s->string_data;
    struct label *both = arena_array(&o->arena, struct label, data->n + texts->n);
    size_t n = 0;
    if (!texts->n)
        return;
    for (size_t i = 0, j = 0; i < data->n || j < texts->n;) {
        int order = i == data->n    ? 1
                    : j == texts->n ? -1
                                    : str_cmp(data->v[i].key, texts->v[j].key);
        both[n++] = order < 0 ? data->v[i] : texts->v[j];
        i += order <= 0;
        j += order >= 0;
    }
    s->data = (struct labels){both, n};
    s->string_data = (struct labels){0};
}

/* An update may leave the type out. */
void valid__update_secret(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    (void)opts;
    struct api_secret *s = api_own_body(o);
    const struct api_secret *was = old->body;
    if (!s->type.n)
        s->type = arena_str(&o->arena, was->type);
}

/* Only the names of secrets are kept. */
void valid__create_service_account(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_service_account *account = api_own_body(o);
    for (size_t i = 0; i < account->secrets.n; i++) {
        struct api_object_reference *r = &account->secrets.v[i];
        *r = (struct api_object_reference){.name = r->name};
    }
}

void valid__update_service_account(struct api_object *o, const struct api_object *old,
                                   const struct valid_opts *opts) {
    (void)old;
    valid__create_service_account(o, opts);
}

/* ---- claims of volumes ---- */

static bool is_off(const struct valid_opts *opts, enum feature gate) {
    return !feature_enabled(opts->gates, gate);
}

static bool is_claim_or_snapshot(const struct api_typed_local_object_reference *s) {
    return s &&
           ((str_is(s->kind, "PersistentVolumeClaim") && !s->api_group.n) ||
            (str_is(s->kind, "VolumeSnapshot") && str_is(s->api_group, "snapshot.storage.k8s.io")));
}

/* What a claim is filled from is said twice, in an older and a newer field. */
void valid__complete_sources(struct arena *a, struct api_persistent_volume_claim_spec *spec) {
    const struct api_typed_local_object_reference *source = spec->data_source;
    const struct api_typed_object_reference *ref = spec->data_source_ref;
    if (source && !ref) {
        spec->data_source_ref = arena_new(a, struct api_typed_object_reference);
        *spec->data_source_ref = (struct api_typed_object_reference){
            .api_group = source->api_group, .kind = source->kind, .name = source->name};
    } else if (ref && !source && !ref->namespace.n) {
        spec->data_source = arena_new(a, struct api_typed_local_object_reference);
        *spec->data_source = (struct api_typed_local_object_reference){
            .api_group = ref->api_group, .kind = ref->kind, .name = ref->name};
    }
}

static void prepare_claim(struct api_object *o, const struct api_persistent_volume_claim_spec *old,
                          const struct valid_opts *opts) {
    struct api_persistent_volume_claim_spec *spec =
        &((struct api_persistent_volume_claim *)api_own_body(o))->spec;
    bool is_elsewhere = spec->data_source_ref && spec->data_source_ref->namespace.n;
    if (is_off(opts, FEATURE_CrossNamespaceVolumeDataSource) && is_elsewhere &&
        !(old && old->data_source_ref))
        spec->data_source_ref = NULL;
    bool was_filled = old && (old->data_source || old->data_source_ref);
    if (!was_filled && !spec->data_source_ref && !is_claim_or_snapshot(spec->data_source))
        spec->data_source = NULL;
    valid__complete_sources(&o->arena, spec);
}

void valid__create_claim(struct api_object *o, const struct valid_opts *opts) {
    prepare_claim(o, NULL, opts);
}

void valid__update_claim(struct api_object *o, const struct api_object *old,
                         const struct valid_opts *opts) {
    const struct api_persistent_volume_claim *was = old->body;
    prepare_claim(o, &was->spec, opts);
}

void valid__status_claim(struct api_object *o, const struct api_object *old,
                         const struct valid_opts *opts) {
    struct api_persistent_volume_claim_status *now =
        &((struct api_persistent_volume_claim *)api_own_body(o))->status;
    const struct api_persistent_volume_claim_status *was =
        &((const struct api_persistent_volume_claim *)old->body)->status;
    bool no_class = is_off(opts, FEATURE_VolumeAttributesClass);
    bool no_recovery = is_off(opts, FEATURE_RecoverVolumeExpansionFailure);
    if (no_class && !was->current_volume_attributes_class_name.p)
        now->current_volume_attributes_class_name = (struct str){0};
    if (no_class && !was->modify_volume_status)
        now->modify_volume_status = NULL;
    if (no_recovery && !was->allocated_resources.v)
        now->allocated_resources = (struct api_quantities){0};
    if (no_recovery && !was->allocated_resource_statuses.v)
        now->allocated_resource_statuses = (struct labels){0};
    if (is_off(opts, FEATURE_CSIVolumeHealth) && !was->health_status)
        now->health_status = NULL;
}
