/*
 * Kinds whose rules are not written yet: of their objects the metadata is judged, by the rule that
 * each of them has for names, and nothing else.
 *
 * Follows the calls of ValidateObjectMeta in k8s.io/kubernetes/pkg/apis/<group>/validation,
 * k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation and
 * k8s.io/kube-aggregator/pkg/apis/apiregistration/validation.
 */
#include "base/goquote.h"
#include "feature/feature.h"
#include "valid/ip_int.h"
#include "valid/metadata_int.h"

static void say(struct names_errs *errs, struct str message) {
    errs->v[errs->n++] = message;
}

/* ---- rules for names that one kind has ---- */

static struct names_errs name_any(struct str name, bool prefix) {
    (void)name, (void)prefix;
    return (struct names_errs){0};
}

static struct names_errs name_ip(struct str name, bool prefix) {
    struct names_errs errs = {0};
    struct ip ip = {0};
    (void)prefix;
    if (!valid__parse_ip(name, &ip) || ip.leading_zeros)
        say(&errs, STR("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    return errs;
}

/* ---- which kind has which ---- */

struct metadata_row {
    name_rule *name;
    /* What the name must be in view of the rest of the object, or NULL. */
    void (*more)(struct valid *v, const struct path *p, const struct api_object *o);
    enum api_type_id type;
    bool any_finalizers; /* they need no prefix */
};

static void check_key(struct valid *v, const struct path *p, const struct api_object *o) {
    if (o->meta->name.n)
        valid__config_key(v, p, o->meta->name);
}

static void check_crd_name(struct valid *v, const struct path *p, const struct api_object *o) {
    const struct api_custom_resource_definition_spec *spec =
        &((const struct api_custom_resource_definition *)o->body)->spec;
    struct str wanted =
        arena_printf(v->errs->a, "%.*s.%.*s", STR_ARG(spec->names.plural), STR_ARG(spec->group));
    if (o->meta->name.n && !str_eq(o->meta->name, wanted))
        valid__invalid(v, p, VALUE_Q(o->meta->name), "must be spec.names.plural+\".\"+spec.group");
}

static void check_api_service_name(struct valid *v, const struct path *p,
                                   const struct api_object *o) {
    const struct api_api_service_spec *spec = &((const struct api_api_service *)o->body)->spec;
    AUTO(buf_release) struct buf wanted = BUF_INIT(SIZE_MAX);
    AUTO(buf_release) struct buf quoted = BUF_INIT(SIZE_MAX);
    buf_addf(&wanted, "%.*s.%.*s", STR_ARG(spec->version), STR_ARG(spec->group));
    goquote_write(&quoted, buf_view(&wanted));
    if (o->meta->name.n && !str_eq(o->meta->name, buf_view(&wanted)))
        valid__invalid(v, p, VALUE_Q(o->meta->name),
                       "must be `spec.version+\".\"+spec.group`: %.*s", STR_ARG(buf_view(&quoted)));
}

/* Follows ValidateClusterTrustBundleName: example.com/signer signs example.com:signer:name. */
static void check_bundle_name(struct valid *v, const struct path *p, const struct api_object *o) {
    struct str signer = ((const struct api_cluster_trust_bundle *)o->body)->spec.signer_name;
    struct str name = o->meta->name;
    struct names_errs errs = {0};
    char *prefix = arena_copy(v->errs->a, signer.p, signer.n);
    for (size_t i = 0; i < signer.n; i++)
        if (prefix[i] == '/')
            prefix[i] = ':';
    struct str wanted =
        arena_printf(v->errs->a, "%.*s:", STR_ARG(((struct str){prefix, signer.n})));
    if (!name.n)
        return;
    if (!signer.n && str_find_char(name, ':') != STR_NONE)
        say(&errs, STR("ClusterTrustBundle without signer name must not have \":\" in its name"));
    else if (signer.n && !str_starts(name, wanted))
        say(&errs,
            arena_printf(v->errs->a,
                         "ClusterTrustBundle for signerName %.*s must be named with prefix %.*s",
                         STR_ARG(signer), STR_ARG(wanted)));
    else
        errs = valid__name_subdomain(signer.n ? str_sub(name, wanted.n, name.n) : name, false);
    valid__names(v, p, name, &errs);
}

static const struct metadata_row rows[] = {
    {valid__name_label, NULL, API_T_service, false},
    {valid__name_subdomain, NULL, API_T_config_map, false},
    {valid__name_subdomain, NULL, API_T_secret, false},
    {valid__name_subdomain, NULL, API_T_service_account, false},
    {valid__name_subdomain, NULL, API_T_endpoints, false},
    {valid__name_subdomain, NULL, API_T_limit_range, false},
    {valid__name_subdomain, NULL, API_T_resource_quota, false},
    {valid__name_subdomain, NULL, API_T_pod_template, false},
    {valid__name_subdomain, NULL, API_T_replication_controller, false},
    {valid__name_subdomain, NULL, API_T_persistent_volume_claim, false},
    {name_any, NULL, API_T_event, false},
    {valid__name_subdomain, NULL, API_T_events_event, false},
    {valid__name_subdomain, NULL, API_T_controller_revision, false},
    {valid__name_subdomain, NULL, API_T_mutating_admission_policy, true},
    {valid__name_subdomain, NULL, API_T_mutating_admission_policy_binding, true},
    {valid__name_subdomain, NULL, API_T_mutating_webhook_configuration, true},
    {valid__name_subdomain, NULL, API_T_validating_admission_policy, true},
    {valid__name_subdomain, NULL, API_T_validating_admission_policy_binding, true},
    {valid__name_subdomain, NULL, API_T_validating_webhook_configuration, true},
    {valid__name_subdomain, check_crd_name, API_T_custom_resource_definition, true},
    {valid__name_path_segment, check_api_service_name, API_T_api_service, true},
    {valid__name_subdomain, NULL, API_T_horizontal_pod_autoscaler, false},
    {valid__name_subdomain, NULL, API_T_horizontal_pod_autoscaler_v1, false},
    {name_any, NULL, API_T_certificate_signing_request, false},
    {name_any, check_bundle_name, API_T_cluster_trust_bundle, false},
    {valid__name_subdomain, NULL, API_T_pod_certificate_request, false},
    {valid__name_subdomain, NULL, API_T_pod_certificate_request_v1beta1, false},
    {valid__name_subdomain, NULL, API_T_lease, true},
    {name_any, check_key, API_T_lease_candidate, true},
    {valid__name_subdomain, NULL, API_T_endpoint_slice, false},
    {valid__name_subdomain, NULL, API_T_flow_schema, false},
    {valid__name_subdomain, NULL, API_T_priority_level_configuration, false},
    {valid__name_subdomain, NULL, API_T_storage_version, false},
    {valid__name_subdomain, NULL, API_T_eviction_request, false},
    {valid__name_subdomain, NULL, API_T_lifecycle_eviction, false},
    {name_ip, NULL, API_T_ip_address, false},
    {valid__name_subdomain, NULL, API_T_ingress, false},
    {valid__name_subdomain, NULL, API_T_ingress_class, false},
    {valid__name_subdomain, NULL, API_T_network_policy, false},
    {valid__name_subdomain, NULL, API_T_service_cidr, false},
    {valid__name_subdomain, NULL, API_T_runtime_class, false},
    {valid__name_path_segment, NULL, API_T_cluster_role, false},
    {valid__name_path_segment, NULL, API_T_cluster_role_binding, false},
    {valid__name_path_segment, NULL, API_T_role, false},
    {valid__name_path_segment, NULL, API_T_role_binding, false},
    {valid__name_subdomain, NULL, API_T_device_class, false},
    {valid__name_subdomain, NULL, API_T_device_taint_rule, false},
    {valid__name_subdomain, NULL, API_T_resource_resource_claim, false},
    {valid__name_subdomain, NULL, API_T_resource_claim_template, false},
    {valid__name_subdomain, NULL, API_T_resource_slice, false},
    {valid__name_subdomain, NULL, API_T_resource_claim_v1beta1, false},
    {valid__name_subdomain, NULL, API_T_resource_claim_template_v1beta1, false},
    {valid__name_subdomain, NULL, API_T_resource_slice_v1beta1, false},
    {valid__name_subdomain, NULL, API_T_resource_pool_status_request, false},
    {valid__name_subdomain, NULL, API_T_pod_group, false},
    {valid__name_subdomain, NULL, API_T_workload, false},
    {valid__name_subdomain, NULL, API_T_composite_pod_group, false},
    {valid__name_subdomain, NULL, API_T_storage_class, false},
    {valid__name_subdomain, NULL, API_T_csi_node, false},
    {valid__name_subdomain, NULL, API_T_csi_driver, false},
    {valid__name_subdomain, NULL, API_T_csi_storage_capacity, false},
    {valid__name_subdomain, NULL, API_T_volume_attachment, false},
    {valid__name_subdomain, NULL, API_T_volume_attributes_class, false},
    {valid__name_subdomain, NULL, API_T_storage_version_migration, false},
};

static const struct metadata_row *find(const struct api_type *type) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type->id)
            return &rows[i];
    return NULL;
}

/* Names of services had to start with a letter before a gate said otherwise. */
static name_rule *name_rule_of(const struct valid *v, const struct metadata_row *row) {
    bool strict = row->type == API_T_service &&
                  !feature_enabled(v->gates, FEATURE_RelaxedServiceNameValidation);
    return strict ? valid__name_dns1035_label : row->name;
}

static void create(struct valid *v, const struct api_object *o) {
    const struct metadata_row *row = find(o->type);
    const struct path *meta = AT(NULL, "metadata");
    name_rule *name = name_rule_of(v, row);
    if (row->any_finalizers)
        valid__any_meta(v, meta, o->meta, o->kind->namespaced, name);
    else
        valid__object_meta(v, meta, o->meta, o->kind->namespaced, name);
    if (row->more)
        row->more(v, AT(meta, "name"), o);
}

/* The name of a stored object was good when it was created. */
static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    (void)old;
    if (!find(o->type)->any_finalizers)
        valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
}

const struct valid_kind *valid__metadata_rules(const struct api_type *type) {
    static const struct valid_kind rules = {.create = create, .update = update};
    return find(type) ? &rules : NULL;
}
