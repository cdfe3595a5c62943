/*
 * Nodes: taints, addresses, capacity, and what may not change once it is set.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateNode, func ValidateNodeUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/node, func dropDisabledFields.
 */
#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/node_int.h"
#include "valid/resource_int.h"

enum { MAX_FEATURE_NAME_BYTES = 253, MAX_PREEMPTION_RULES = 20 };

static const struct api_node *node_of(const struct api_object *o) {
    return o->body;
}

/* ---- taints ---- */

static void check_taint(struct valid *v, const struct path *p, const struct api_taint *t) {
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    valid__label_key(v, AT(p, "key"), t->key);
    struct names_errs errs = names_check_label_value(t->value);
    if (errs.n) {
        AUTO(buf_release) struct buf all = BUF_INIT(LIMIT_OBJECT_BYTES);
        names_errs_join(&all, &errs, STR(";"));
        valid__invalid(v, AT(p, "value"), VALUE_Q(t->value), "%.*s", STR_ARG(buf_view(&all)));
    }
    valid__choice(v, AT(p, "effect"), t->effect, effects);
}

/* Key and effect as one name. */
static struct str taint_identity(struct arena *a, const struct api_taint *t) {
    AUTO(buf_release) struct buf both = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    buf_add(&both, t->effect);
    buf_add_char(&both, '\0');
    buf_add(&both, t->key);
    return arena_str(a, buf_view(&both));
}

void valid__taints(struct valid *v, const struct path *p, const struct api_taint_list *list) {
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_taint *t = &list->v[i];
        check_taint(v, AT_INDEX(p, i), t);
        if (list->n > 1 && !seen_add(&seen, taint_identity(v->errs->a, t)))
            valid__duplicate(
                v, AT_INDEX(p, i),
                VALUE_JSON(api_struct_encode_go(v->errs->a, &api_types[API_T_taint], t)),
                "taints must be unique by key and effect pair");
    }
    seen_release(&seen);
}

/* ---- status ---- */

static void check_amounts(struct valid *v, const struct path *p,
                          const struct api_quantities *amounts) {
    for (size_t i = 0; i < amounts->n; i++)
        valid__resource_amount(v, AT_DOTTED(p, amounts->v[i].key), &amounts->v[i]);
}

static void check_resources(struct valid *v, const struct api_node_status *s) {
    const struct path *status = AT(NULL, "status");
    check_amounts(v, AT(status, "capacity"), &s->capacity);
    check_amounts(v, AT(status, "allocatable"), &s->allocatable);
}

static void check_swap(struct valid *v, const struct path *p,
                       const struct api_node_swap_status *s) {
    if (s && s->capacity.set && s->capacity.v <= 0)
        valid__invalid(v, AT(p, "capacity"), VALUE_I64(s->capacity.v), "must be greater than zero");
}

static bool is_camel_case(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_letter(s.p[i]) && (i == 0 || !ascii_is_digit(s.p[i])))
            return false;
    return s.n > 0;
}

/* UpperCamelCase, and behind it any number of /camelCase. */
static bool is_feature_name(struct str s) {
    struct str segment;
    bool more, is_upper = s.n > 0 && ascii_is_upper(s.p[0]);
    do {
        more = str_cut(s, '/', &segment, &s);
        if (!is_camel_case(segment))
            return false;
    } while (more);
    return is_upper;
}

static const char *feature_fault(struct str name) {
    if (name.n > MAX_FEATURE_NAME_BYTES)
        return "must be no more than 253 characters";
    return is_feature_name(name)
               ? NULL
               : "must start with an UpperCamelCase segment, with subsequent segments separated by "
                 "'/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric "
                 "characters and slashes";
}

static void check_feature_name(struct valid *v, const struct path *p, struct str name) {
    const char *fault = feature_fault(name);
    if (!fault)
        return;
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * LIMIT_OBJECT_BYTES);
    goquote_write(&quoted, name);
    valid__invalid(v, p, VALUE_Q(name), "invalid feature name %.*s: %s", STR_ARG(buf_view(&quoted)),
                   fault);
}

static void check_features(struct valid *v, const struct path *p, const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++) {
        check_feature_name(v, AT_INDEX(p, i), list->v[i]);
        if (i + 1 == list->n)
            break;
        struct str next = list->v[i + 1];
        int order = str_cmp(list->v[i], next);
        if (order == 0)
            valid__duplicate(v, AT_INDEX(p, i + 1), VALUE_Q(next), NO_DETAIL);
        else if (order > 0)
            valid__invalid(v, AT_INDEX(p, i + 1), VALUE_Q(next),
                           "list must be sorted alphabetically");
    }
}

static void check_declared_features(struct valid *v, const struct api_node_status *s) {
    check_features(v, AT(AT(NULL, "status"), "declaredFeatures"), &s->declared_features);
}

/* ---- configSource, which has not been settable since 1.24: only older nodes have one ---- */

static void check_config_map(struct valid *v, const struct path *p,
                             const struct api_config_map_node_config_source *source) {
    if (source->namespace.n)
        valid__dns_label(v, AT(p, "namespace"), source->namespace);
    else
        valid__required(v, AT(p, "namespace"), NO_DETAIL);
    if (source->name.n)
        valid__dns_subdomain(v, AT(p, "name"), source->name);
    else
        valid__required(v, AT(p, "name"), NO_DETAIL);
    valid__config_key(v, AT(p, "kubeletConfigKey"), source->kubelet_config_key);
}

/* Which version of the map is meant is for the status to say. */
static void check_spec_version(struct valid *v, const struct path *p,
                               const struct api_config_map_node_config_source *source) {
    if (source->uid.n)
        valid__forbidden(v, AT(p, "uid"), "uid must not be set in spec");
    if (source->resource_version.n)
        valid__forbidden(v, AT(p, "resourceVersion"), "resourceVersion must not be set in spec");
}

static void check_status_version(struct valid *v, const struct path *p,
                                 const struct api_config_map_node_config_source *source) {
    if (!source->uid.n)
        valid__required(v, AT(p, "uid"), NO_DETAIL);
    if (!source->resource_version.n)
        valid__required(v, AT(p, "resourceVersion"), NO_DETAIL);
}

typedef void check_version_fn(struct valid *v, const struct path *p,
                              const struct api_config_map_node_config_source *source);

static void check_config_source(struct valid *v, const struct path *p,
                                const struct api_node_config_source *source,
                                check_version_fn *check_version) {
    const struct path *map = AT(p, "configMap");
    if (!source)
        return;
    if (source->config_map) {
        check_version(v, map, source->config_map);
        check_config_map(v, map, source->config_map);
    } else {
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_node_config_source, source),
                       "exactly one reference subfield must be non-nil");
    }
}

static void check_config(struct valid *v, const struct api_node *n) {
    const struct path *p = AT(AT(NULL, "status"), "config");
    const struct api_node_config_status *s = n->status.config;
    check_config_source(v, AT(AT(NULL, "spec"), "configSource"), n->spec.config_source,
                        check_spec_version);
    if (!s)
        return;
    check_config_source(v, AT(p, "assigned"), s->assigned, check_status_version);
    check_config_source(v, AT(p, "active"), s->active, check_status_version);
    check_config_source(v, AT(p, "lastKnownGood"), s->last_known_good, check_status_version);
}

/* ---- spec ---- */

/* podCIDR is older than podCIDRs and wins when they differ; then *alone is the list. */
static struct api_strs pod_cidrs(const struct api_node_spec *s, struct str *alone) {
    bool is_first = s->pod_cidrs.n && str_eq(s->pod_cidr, s->pod_cidrs.v[0]);
    *alone = s->pod_cidr;
    return s->pod_cidr.n && !is_first ? (struct api_strs){alone, 1} : s->pod_cidrs;
}

static const struct api_strs *preemption_rules(const struct api_node_spec *s) {
    return s->pod_preemption_policy ? &s->pod_preemption_policy->disable_resize_preemption : NULL;
}

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; list && i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

/* What the old node had is not looked at again. */
static void check_preemption_rules(struct valid *v, const struct path *p,
                                   const struct api_strs *list, const struct api_strs *old) {
    if (list->n > MAX_PREEMPTION_RULES) {
        valid__too_many(v, p, list->n, MAX_PREEMPTION_RULES);
        return;
    }
    for (size_t i = 0; i < list->n; i++)
        if (!has(old, list->v[i]))
            valid__label_key(v, AT_INDEX(p, i), list->v[i]);
    for (size_t i = 0; i < list->n; i++)
        if (has(&(struct api_strs){list->v, i}, list->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i]), NO_DETAIL);
}

/* old may be NULL. */
static void check_preemption(struct valid *v, const struct api_node_spec *spec,
                             const struct api_node_spec *old) {
    const struct path *p = AT(AT(NULL, "spec"), "podPreemptionPolicy");
    if (!spec->pod_preemption_policy ||
        (old && valid__equal(API_T_node_pod_preemption_policy, spec->pod_preemption_policy,
                             old->pod_preemption_policy)))
        return;
    if (!feature_enabled(v->gates, FEATURE_InPlacePodVerticalScalingSchedulerPreemption))
        valid__forbidden(v, p, NO_DETAIL);
    else
        check_preemption_rules(v, AT(p, "disableResizePreemption"), preemption_rules(spec),
                               old ? preemption_rules(old) : NULL);
}

/* ---- the kind ---- */

static void check_node(struct valid *v, const struct api_object *o) {
    const struct api_node *n = node_of(o);
    const struct path *meta = AT(NULL, "metadata"), *spec = AT(NULL, "spec");
    valid__object_meta(v, meta, &n->metadata, false, valid__name_subdomain);
    valid__node_annotations(v, AT(meta, "annotations"), &n->metadata.annotations);
    /* Taints stand in the spec, but upstream's path says metadata. */
    valid__taints(v, AT(meta, "taints"), &n->spec.taints);
    check_resources(v, &n->status);
    check_swap(v, AT(meta, "nodeSwapStatus"), n->status.node_info.swap);
    check_declared_features(v, &n->status);
    struct str alone;
    struct api_strs cidrs = pod_cidrs(&n->spec, &alone);
    valid__pod_cidrs(v, AT(spec, "podCIDRs"), &cidrs);
}

static void check_addresses(struct valid *v, const struct path *p,
                            const struct api_node_address_list *list) {
    const struct api_type *type = &api_types[API_T_node_address];
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n && list->n > 1; i++) {
        struct str identity = arena_printf(v->errs->a, "%.*s %.*s", STR_ARG(list->v[i].type),
                                           STR_ARG(list->v[i].address));
        if (!seen_add(&seen, identity))
            valid__duplicate(v, AT_INDEX(p, i),
                             VALUE_JSON(api_struct_encode_go(v->errs->a, type, &list->v[i])),
                             NO_DETAIL);
    }
    seen_release(&seen);
}

static void check_cidrs_kept(struct valid *v, const struct path *p, const struct api_strs *cidrs,
                             const struct api_strs *old) {
    bool same = !old->n || old->n == cidrs->n;
    for (size_t i = 0; same && i < old->n; i++)
        same = str_eq(cidrs->v[i], old->v[i]);
    if (!same)
        valid__forbidden(v, p, "node updates may not change podCIDR except from \"\" to valid");
}

static void check_provider_kept(struct valid *v, const struct path *p, struct str id,
                                struct str old) {
    struct value null = VALUE_JSON((struct json){.kind = JSON_NULL});
    if (!old.n || str_eq(id, old))
        return;
    if (id.n)
        valid__invalid(v, p, null, "field cannot be modified once set");
    else
        valid__invalid(v, p, null, "field cannot be cleared once set");
}

static void check_kept(struct valid *v, const struct api_object *o, const struct api_object *was) {
    const struct path *p = AT(NULL, "spec");
    const struct api_node_spec *s = &node_of(o)->spec, *old = &node_of(was)->spec;
    struct str alone, old_alone;
    struct api_strs cidrs = pod_cidrs(s, &alone), old_cidrs = pod_cidrs(old, &old_alone);
    check_cidrs_kept(v, AT(p, "podCIDRs"), &cidrs, &old_cidrs);
    check_provider_kept(v, AT(p, "providerID"), s->provider_id, old->provider_id);
    check_config(v, node_of(o));
    if (!str_eq(s->external_id, old->external_id))
        valid__forbidden(v, AT(p, "externalID"), "may not be updated");
}

/* The status is the old node's: an update of the node cannot change it. */
static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_node *n = node_of(o);
    check_node(v, o);
    check_addresses(v, AT(AT(NULL, "status"), "addresses"), &n->status.addresses);
    check_kept(v, o, old);
}

/* A status is judged as an update is. */
static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_node *n = node_of(o);
    const struct path *meta = AT(NULL, "metadata");
    valid__finalizer_names(v, AT(meta, "finalizers"), &o->meta->finalizers);
    valid__node_annotations(v, AT(meta, "annotations"), &n->metadata.annotations);
    check_resources(v, &n->status);
    check_declared_features(v, &n->status);
    check_addresses(v, AT(AT(NULL, "status"), "addresses"), &n->status.addresses);
    check_kept(v, o, old);
    valid__taints(v, AT(meta, "taints"), &n->spec.taints);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    check_preemption(v, &node_of(o)->spec, old ? &node_of(old)->spec : NULL);
}

/* What no row says: a field that nothing allows any more, and one that two gates allow. */
static void drop_disabled(struct api_node *n, const struct api_node *old,
                          const struct feature_set *gates) {
    if (!old || !old->spec.config_source)
        n->spec.config_source = NULL;
    if (!feature_enabled(gates, FEATURE_RecursiveReadOnlyMounts) &&
        !feature_enabled(gates, FEATURE_UserNamespacesSupport))
        n->status.runtime_handlers = (struct api_node_runtime_handler_list){0};
}

/* Unlike other kinds, a new node may come with a status. */
static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_node *n = api_own_body(o);
    n->status.config = NULL;
    drop_disabled(n, NULL, opts->gates);
}

static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_node *n = api_own_body(o);
    drop_disabled(n, node_of(old), opts->gates);
}

static void prepare_status(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_node_status *now = &((struct api_node *)api_own_body(o))->status;
    const struct api_node_status *was = &node_of(old)->status;
    if (!was->config)
        now->config = NULL;
    if (!feature_enabled(opts->gates, FEATURE_KubeletInUserNamespace) &&
        !was->node_info.running_in_user_namespace.set)
        now->node_info.running_in_user_namespace = (struct api_opt_bool){0};
}

const struct valid_kind valid__node = {
    .type = API_T_node,
    .warn = valid__warn_node,
    .prepare_create = prepare_create,
    .create = check_node,
    .prepare_update = prepare_update,
    .update = update,
    .prepare_status = prepare_status,
    .status = status,
    .declared = declared,
};
