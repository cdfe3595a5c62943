/*
 * The way through validation: finds the rules of an object's kind and runs them in upstream's
 * order.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func ValidateCreate, func ValidateUpdate.
 */
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"
#include "valid/subresource_int.h"

static const struct valid_kind *const kinds[] = {
    &valid__pod,
    &valid__node,
    &valid__namespace,
    &valid__persistent_volume,
    &valid__replica_set,
    &valid__deployment,
    &valid__daemon_set,
    &valid__stateful_set,
    &valid__job,
    &valid__cron_job,
    &valid__priority_class,
    &valid__pod_disruption_budget,
    &valid__role,
    &valid__cluster_role,
    &valid__role_binding,
    &valid__cluster_role_binding,
    &valid__config_map,
    &valid__secret,
    &valid__lease,
    &valid__resource_quota,
    &valid__limit_range,
    &valid__event,
    &valid__events_event,
    &valid__storage_class,
    &valid__volume_attributes_class,
    &valid__csi_node,
    &valid__csi_driver,
    &valid__csi_storage_capacity,
    &valid__volume_attachment,
    &valid__persistent_volume_claim,
    &valid__replication_controller,
    &valid__pod_template_kind,
    &valid__controller_revision,
    &valid__runtime_class,
    &valid__lease_candidate,
    &valid__horizontal_pod_autoscaler,
    &valid__horizontal_pod_autoscaler_v1,
    &valid__certificate_signing_request,
    &valid__cluster_trust_bundle,
    &valid__flow_schema,
    &valid__priority_level_configuration,
    &valid__validating_webhook_configuration,
    &valid__mutating_webhook_configuration,
    &valid__validating_admission_policy,
    &valid__mutating_admission_policy,
    &valid__validating_admission_policy_binding,
    &valid__mutating_admission_policy_binding,
    &valid__service,
    &valid__endpoints,
    &valid__endpoint_slice,
    &valid__ingress,
    &valid__ingress_class,
    &valid__network_policy,
    &valid__service_cidr,
    &valid__ip_address,
    &valid__workload,
    &valid__pod_group,
    &valid__composite_pod_group,
    &valid__device_class,
    &valid__device_taint_rule,
    &valid__resource_pool_status_request,
    &valid__resource_claim,
    &valid__resource_claim_v1beta1,
    &valid__resource_claim_template,
    &valid__resource_claim_template_v1beta1,
    &valid__resource_slice,
    &valid__resource_slice_v1beta1,
};

static const struct valid_kind *find_rules(const struct api_kind *kind) {
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (&api_types[kinds[i]->type] == kind->type)
            return kinds[i];
    return NULL;
}

const struct valid_kind *valid__rules_of(const struct api_kind *kind) {
    const struct valid_kind *rules = find_rules(kind);
    return rules || !kind ? rules : valid__metadata_rules(kind->type);
}

bool valid_knows(const struct api_kind *kind) {
    return valid__rules_of(kind);
}

bool valid_has_rules(const struct api_kind *kind) {
    return find_rules(kind) || (kind && valid__metadata_is_all(kind->type));
}

/* The rules that are declared see nothing of what was found before them. */
static void declare(struct valid *v, const struct valid_kind *k, const struct api_object *o,
                    const struct api_object *old) {
    if (!k->declared)
        return;
    struct valid_errs *errs = v->errs, found = VALID_ERRS_INIT(errs->a);
    v->errs = &found;
    k->declared(v, o, old);
    v->errs = errs;
    valid__merge_declared(errs, &found);
}

/* The rules of all objects come behind the kind's, and only for objects that are otherwise good:
 * then metadata was judged with the kind's rules, but for what is the concern of URLs. */
void valid_create(const struct api_object *o, const struct valid_opts *opts,
                  struct valid_errs *out) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    if (!k)
        return;
    struct valid v = {.errs = out, .gates = opts->gates, .cel = opts->cel, .asked = opts->asked};
    size_t before = out->found;
    k->create(&v, o);
    if (out->found == before && !v.covered)
        valid__meta_names(&v, AT(NULL, "metadata"), o->meta, valid__name_path_segment);
    declare(&v, k, o, NULL);
    valid__note_left_out(out);
}

/* ---- updates ---- */

/* Here the rules of all objects come first. */
void valid__check(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, valid_update_fn *rules, struct valid_errs *out) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    struct valid v = {.errs = out, .gates = opts->gates, .cel = opts->cel, .asked = opts->asked};
    const struct path *meta = AT(NULL, "metadata");
    valid__any_meta(&v, meta, o->meta, o->kind->namespaced, valid__name_path_segment);
    valid__any_meta_update(&v, meta, o->meta, old->meta);
    if (rules)
        rules(&v, o, old);
    declare(&v, k, o, old);
    valid__note_left_out(out);
}

void valid_update(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    if (k)
        valid__check(o, old, opts, k->update, out);
}

void valid_status(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    if (k)
        valid__check(o, old, opts, k->status, out);
}

void valid_warn(const struct api_object *o, const struct api_object *old, bool of_status,
                struct valid_warnings *out) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    valid_warn_fn *warn = !k ? NULL : of_status ? k->warn_status : k->warn;
    if (warn)
        warn(out, o, old);
}
