/*
 * The metadata of kinds that have a row here, by the rule that each of them has for names. Of most
 * of them nothing else is judged: their other rules are not written yet.
 *
 * Follows the calls of ValidateObjectMeta in k8s.io/kubernetes/pkg/apis/<group>/validation,
 * k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation and
 * k8s.io/kube-aggregator/pkg/apis/apiregistration/validation.
 */
#include "base/goquote.h"
#include "feature/feature.h"
#include "valid/ip.h"
#include "valid/metadata_int.h"

enum { MAX_NAME_BYTES = 253 };

/* ---- rules for names; `of` is the object ---- */

static void by_rule(struct valid *v, const struct path *p, struct name_part name, name_rule *rule) {
    struct names_errs errs = rule(name.text, name.prefix);
    valid__names(v, p, name.text, &errs);
}

static void anything(struct valid *v, const struct path *p, struct name_part name, const void *of) {
    (void)v, (void)p, (void)name, (void)of;
}

static void subdomain(struct valid *v, const struct path *p, struct name_part name,
                      const void *of) {
    (void)of;
    by_rule(v, p, name, valid__name_subdomain);
}

/*
 * This rule counts bytes, and prefixes are no concern of it.
 *
 * Follows k8s.io/apimachinery pkg/api/validate, func LongName.
 */
static void long_name(struct valid *v, const struct path *p, struct name_part name,
                      const void *of) {
    (void)of;
    struct names_errs errs = {0};
    if (!name.prefix)
        errs = names_check_dns1123_subdomain(name.text);
    if (errs.n && name.text.n > MAX_NAME_BYTES)
        errs.v[0] = STR("must be no more than 253 bytes");
    valid__names(v, p, name.text, &errs);
}

/* What all objects have to keep to. */
static void url_segment(struct valid *v, const struct path *p, struct name_part name,
                        const void *of) {
    (void)of;
    by_rule(v, p, name, valid__name_path_segment);
}

/* Here a prefix is judged as a name is. */
static void path_segment(struct valid *v, const struct path *p, struct name_part name,
                         const void *of) {
    (void)of;
    by_rule(v, p, (struct name_part){name.text, false}, valid__name_path_segment);
}

/* Names of services had to start with a letter before a gate said otherwise. */
static void service_name(struct valid *v, const struct path *p, struct name_part name,
                         const void *of) {
    (void)of;
    bool relaxed = feature_enabled(v->gates, FEATURE_RelaxedServiceNameValidation);
    by_rule(v, p, name, relaxed ? valid__name_label : valid__name_dns1035_label);
}

static void config_key(struct valid *v, const struct path *p, struct name_part name,
                       const void *of) {
    (void)of;
    valid__config_key(v, p, name.text);
}

static void ip(struct valid *v, const struct path *p, struct name_part name, const void *of) {
    (void)of;
    struct str fault = valid_ip_fault(v->errs->a, name.text);
    if (fault.n)
        valid__add(v, VALID_INVALID, p, &VALUE_Q(name.text), fault);
}

static void crd_name(struct valid *v, const struct path *p, struct name_part name, const void *of) {
    const struct api_custom_resource_definition *crd = ((const struct api_object *)of)->body;
    struct str wanted = arena_printf(v->errs->a, "%.*s.%.*s", STR_ARG(crd->spec.names.plural),
                                     STR_ARG(crd->spec.group));
    subdomain(v, p, name, of);
    if (!str_eq(name.text, wanted))
        valid__invalid(v, p, VALUE_Q(name.text), "must be spec.names.plural+\".\"+spec.group");
}

static void api_service_name(struct valid *v, const struct path *p, struct name_part name,
                             const void *of) {
    const struct api_api_service *service = ((const struct api_object *)of)->body;
    struct names_errs errs = valid__name_path_segment(name.text, false);
    AUTO(buf_release) struct buf wanted = BUF_INIT(SIZE_MAX);
    AUTO(buf_release) struct buf quoted = BUF_INIT(SIZE_MAX);
    buf_addf(&wanted, "%.*s.%.*s", STR_ARG(service->spec.version), STR_ARG(service->spec.group));
    goquote_write(&quoted, buf_view(&wanted));
    valid__names(v, p, name.text, &errs);
    if (!errs.n && !str_eq(name.text, buf_view(&wanted)))
        valid__invalid(v, p, VALUE_Q(name.text), "must be `spec.version+\".\"+spec.group`: %.*s",
                       STR_ARG(buf_view(&quoted)));
}

/* Follows ValidateClusterTrustBundleName: example.com/signer signs example.com:signer:name. */
static void bundle_name(struct valid *v, const struct path *p, struct name_part name,
                        const void *of) {
    const struct api_cluster_trust_bundle *bundle = ((const struct api_object *)of)->body;
    struct str signer = bundle->spec.signer_name;
    char *prefix = arena_copy(v->errs->a, signer.p, signer.n);
    for (size_t i = 0; i < signer.n; i++)
        if (prefix[i] == '/')
            prefix[i] = ':';
    struct str wanted =
        arena_printf(v->errs->a, "%.*s:", STR_ARG(((struct str){prefix, signer.n})));
    size_t skipped = signer.n ? wanted.n : 0;
    if (!signer.n && str_find_char(name.text, ':') != STR_NONE) {
        valid__invalid(v, p, VALUE_Q(name.text),
                       "ClusterTrustBundle without signer name must not have \":\" in its name");
    } else if (signer.n && !str_starts(name.text, wanted)) {
        valid__invalid(v, p, VALUE_Q(name.text),
                       "ClusterTrustBundle for signerName %.*s must be named with prefix %.*s",
                       STR_ARG(signer), STR_ARG(wanted));
    } else {
        struct names_errs errs =
            valid__name_subdomain(str_sub(name.text, skipped, name.text.n), name.prefix);
        valid__names(v, p, name.text, &errs);
    }
}

static void segment(struct valid *v, const struct path *p, struct str name, const char *which,
                    struct names_errs errs) {
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_Q(name), "the %s segment %.*s", which, STR_ARG(errs.v[i]));
}

/* Follows ValidateStorageVersionName. */
static void storage_version_name(struct valid *v, const struct path *p, struct name_part name,
                                 const void *of) {
    (void)of;
    size_t dot = name.text.n;
    while (dot > 0 && name.text.p[dot - 1] != '.')
        dot--;
    if (dot == 0) {
        valid__invalid(v, p, VALUE_Q(name.text), "name must be in the form of <group>.<resource>");
        return;
    }
    segment(v, p, name.text, "group",
            names_check_dns1123_subdomain(str_sub(name.text, 0, dot - 1)));
    segment(v, p, name.text, "resource",
            names_check_dns1035_label(str_sub(name.text, dot, name.text.n)));
}

/* ---- which kind has which ---- */

enum {
    ANY_FINALIZERS = 1, /* they need no prefix */
    NAMES_AGAIN = 2,    /* an update asks the rule for names as well */
    NAMES_LATE = 4,     /* an update does so, behind finalizers */
    DECLARED_NAME = 8,  /* the rule for names is a declared one: it comes last */
    EVEN_EMPTY = 16,    /* and looks at a name that is missing, too */
    FREE_UPDATE = 32,   /* an update has no rules but those of all objects */
};

struct metadata_row {
    name_judge *name;
    enum api_type_id type;
    unsigned flags;
};

static const struct metadata_row rows[] = {
    {service_name, API_T_service, 0},
    {subdomain, API_T_config_map, NAMES_LATE},
    {subdomain, API_T_secret, NAMES_LATE},
    {subdomain, API_T_service_account, NAMES_LATE},
    {subdomain, API_T_endpoints, NAMES_LATE},
    {subdomain, API_T_limit_range, NAMES_AGAIN},
    {subdomain, API_T_resource_quota, 0},
    {subdomain, API_T_pod_template, 0},
    {long_name, API_T_replication_controller, DECLARED_NAME},
    {subdomain, API_T_persistent_volume_claim, NAMES_LATE},
    {url_segment, API_T_event, ANY_FINALIZERS},
    {subdomain, API_T_events_event, 0},
    {subdomain, API_T_controller_revision, NAMES_LATE},
    {subdomain, API_T_mutating_admission_policy, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_mutating_admission_policy_binding, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_mutating_webhook_configuration, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_validating_admission_policy, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_validating_admission_policy_binding, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_validating_webhook_configuration, ANY_FINALIZERS | NAMES_AGAIN},
    {crd_name, API_T_custom_resource_definition, ANY_FINALIZERS},
    {api_service_name, API_T_api_service, ANY_FINALIZERS | NAMES_AGAIN},
    {subdomain, API_T_horizontal_pod_autoscaler, 0},
    {subdomain, API_T_horizontal_pod_autoscaler_v1, 0},
    {anything, API_T_certificate_signing_request, 0},
    {bundle_name, API_T_cluster_trust_bundle, NAMES_AGAIN},
    {subdomain, API_T_pod_certificate_request, 0},
    {subdomain, API_T_pod_certificate_request_v1beta1, 0},
    {subdomain, API_T_lease, ANY_FINALIZERS},
    {config_key, API_T_lease_candidate, ANY_FINALIZERS},
    {subdomain, API_T_endpoint_slice, NAMES_AGAIN},
    {subdomain, API_T_flow_schema, NAMES_AGAIN},
    {subdomain, API_T_priority_level_configuration, NAMES_AGAIN},
    {storage_version_name, API_T_storage_version, FREE_UPDATE},
    {long_name, API_T_eviction_request, DECLARED_NAME | EVEN_EMPTY},
    {long_name, API_T_lifecycle_eviction, DECLARED_NAME | EVEN_EMPTY},
    {ip, API_T_ip_address, NAMES_AGAIN},
    {subdomain, API_T_ingress, NAMES_LATE},
    {subdomain, API_T_ingress_class, NAMES_LATE},
    {subdomain, API_T_network_policy, 0},
    {subdomain, API_T_service_cidr, 0},
    {subdomain, API_T_runtime_class, ANY_FINALIZERS | NAMES_AGAIN},
    {path_segment, API_T_cluster_role, NAMES_AGAIN},
    {path_segment, API_T_cluster_role_binding, NAMES_AGAIN},
    {path_segment, API_T_role, NAMES_AGAIN},
    {path_segment, API_T_role_binding, NAMES_AGAIN},
    {long_name, API_T_device_class, NAMES_AGAIN | DECLARED_NAME},
    {subdomain, API_T_device_taint_rule, 0},
    {subdomain, API_T_resource_resource_claim, NAMES_AGAIN},
    {subdomain, API_T_resource_claim_template, NAMES_AGAIN},
    {subdomain, API_T_resource_slice, 0},
    {subdomain, API_T_resource_claim_v1beta1, NAMES_AGAIN},
    {subdomain, API_T_resource_claim_template_v1beta1, NAMES_AGAIN},
    {subdomain, API_T_resource_slice_v1beta1, 0},
    {subdomain, API_T_resource_pool_status_request, 0},
    {subdomain, API_T_pod_group, 0},
    {subdomain, API_T_workload, 0},
    {subdomain, API_T_composite_pod_group, 0},
    {subdomain, API_T_storage_class, NAMES_AGAIN},
    {subdomain, API_T_csi_node, NAMES_AGAIN},
    {subdomain, API_T_csi_driver, 0},
    {subdomain, API_T_csi_storage_capacity, NAMES_AGAIN},
    {subdomain, API_T_volume_attachment, NAMES_AGAIN},
    {subdomain, API_T_volume_attributes_class, NAMES_LATE},
    {subdomain, API_T_storage_version_migration, NAMES_AGAIN},
};

static const struct metadata_row *find(const struct api_type *type) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type->id)
            return &rows[i];
    return NULL;
}

static void check_finalizers(struct valid *v, const struct metadata_row *row,
                             const struct api_object *o) {
    if (!(row->flags & ANY_FINALIZERS))
        valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
}

/* ---- definitions in groups of Kubernetes' own ----
 *
 * Follows k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation,
 * func validateAPIApproval.
 * Follows k8s.io/apiextensions-apiserver pkg/apihelpers, func GetAPIApprovalState. */

#define APPROVAL  "api-approved.kubernetes.io"
#define PROTECTED "protected groups must have approval annotation \"" APPROVAL "\""
#define SEE       ", see https://github.com/kubernetes/enhancements/pull/1111"

enum approval { APPROVAL_MISSING, APPROVAL_BYPASSED, APPROVAL_GIVEN, APPROVAL_INVALID };

static bool is_protected(struct str group) {
    return str_is(group, "k8s.io") || str_ends(group, STR(".k8s.io")) ||
           str_is(group, "kubernetes.io") || str_ends(group, STR(".kubernetes.io"));
}

/* A scheme and a host, and nothing that no URL has. */
static bool is_url(struct str text) {
    size_t colon = str_find_char(text, ':');
    if (colon == STR_NONE || !str_starts(str_sub(text, colon, text.n), STR("://")))
        return false;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 0x7f)
            return false;
    struct str host = str_sub(text, colon + 3, text.n);
    bool is_scheme = text.p[0] >= 'A' && text.p[0] <= 'z';
    return is_scheme && host.n && host.p[0] != '/' && host.p[0] != '?';
}

static struct str approval_text(const struct api_object *o) {
    const struct label *l = labels_find(&o->meta->annotations, STR(APPROVAL));
    return l ? l->value : STR("");
}

static enum approval approval_of(const struct api_object *o) {
    struct str text = approval_text(o);
    if (!text.n)
        return APPROVAL_MISSING;
    if (str_starts(text, STR("unapproved")))
        return APPROVAL_BYPASSED;
    return is_url(text) ? APPROVAL_GIVEN : APPROVAL_INVALID;
}

/* What an old definition lacks may stay so. */
static void check_approval(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    const struct api_custom_resource_definition *crd = o->body;
    const struct path *p = AT_KEY(AT(AT(NULL, "metadata"), "annotations"), STR(APPROVAL));
    enum approval now = approval_of(o);
    if (!is_protected(crd->spec.group) || (old && approval_of(old) == now))
        return;
    if (now == APPROVAL_MISSING)
        valid__required(v, p, PROTECTED SEE);
    if (now == APPROVAL_INVALID)
        valid__invalid(v, p, VALUE_Q(approval_text(o)),
                       PROTECTED " with either a URL or a reason starting with \"unapproved\"" SEE);
}

/* ---- creating and updating ---- */

/* Without the gate the same rule is found among the others. */
static bool has_declared_name(const struct valid *v, const struct metadata_row *row) {
    return row->flags & DECLARED_NAME &&
           feature_enabled(v->gates, FEATURE_DeclarativeValidationBeta);
}

void valid__metadata_create(struct valid *v, const struct api_object *o) {
    const struct metadata_row *row = find(o->type);
    const struct path *meta = AT(NULL, "metadata");
    bool is_declared = has_declared_name(v, row);
    valid__meta_names_by(v, meta, o->meta, is_declared ? anything : row->name, o);
    valid__meta_but_names(v, meta, o->meta, o->kind->namespaced);
    check_finalizers(v, row, o);
    if (api_object_is(o, API_T_custom_resource_definition))
        check_approval(v, o, NULL);
    v->covered = is_declared && names_check_dns1123_subdomain(o->meta->name).n > 0;
}

void valid__metadata_names(struct valid *v, const struct api_object *o) {
    valid__meta_names_by(v, AT(NULL, "metadata"), o->meta, find(o->type)->name, o);
}

void valid__metadata_update(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    const struct metadata_row *row = find(o->type);
    bool is_declared = has_declared_name(v, row) && !str_eq(o->meta->name, old->meta->name);
    if (row->flags & FREE_UPDATE)
        return;
    if (row->flags & NAMES_AGAIN && !is_declared)
        valid__metadata_names(v, o);
    check_finalizers(v, row, o);
    if (row->flags & NAMES_LATE)
        valid__metadata_names(v, o);
    if (api_object_is(o, API_T_custom_resource_definition))
        check_approval(v, o, old);
}

/* A name that stays as it is was good once. */
void valid__metadata_declared(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct metadata_row *row = find(o->type);
    struct name_part name = {o->meta->name, false};
    bool is_judged = name.text.n || row->flags & EVEN_EMPTY;
    if (has_declared_name(v, row) && is_judged && !(old && str_eq(old->meta->name, name.text)))
        row->name(v, AT(AT(NULL, "metadata"), "name"), name, o);
}

const struct valid_kind *valid__metadata_rules(const struct api_type *type) {
    static const struct valid_kind rules = {.create = valid__metadata_create,
                                            .update = valid__metadata_update,
                                            .declared = valid__metadata_declared};
    return find(type) ? &rules : NULL;
}
