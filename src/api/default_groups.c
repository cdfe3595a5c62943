/*
 * Defaults that depend on other fields, of kinds beside pods, nodes and what makes pods. The table
 * that lists the rules stands in default_rules.c.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func SetDefaults_Service, func SetDefaults_ConfigMap,
 * func SetDefaults_LimitRangeItem, func SetDefaults_ReplicationController.
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/v1, func SetDefaults_ValidatingWebhook,
 * func SetDefaults_MutatingWebhook, func SetDefaults_MatchResources.
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/v1alpha1, func SetDefaults_ParamRef.
 * Follows k8s.io/kubernetes pkg/apis/autoscaling/v2, func SetDefaults_HorizontalPodAutoscaler.
 * Follows k8s.io/kubernetes pkg/apis/networking/v1, func SetDefaults_NetworkPolicy.
 * Follows k8s.io/kubernetes pkg/apis/rbac/v1, func SetDefaults_Subject.
 * Follows k8s.io/kubernetes pkg/apis/resource/v1, func SetDefaults_ExactDeviceRequest.
 * Follows k8s.io/kubernetes pkg/apis/resource/v1beta1, func SetDefaults_DeviceRequest.
 * Follows k8s.io/kubernetes pkg/apis/scheduling/v1alpha3, func SetDefaults_PodGroup.
 */
#include "api/default_int.h"
#include "base/ascii.h"
#include "feature/feature.h"

static void set_opt_str(struct str *s, struct str value) {
    if (!s->p)
        *s = value;
}

/* ---- core ---- */

void api__default_config_map(struct defaulter *d, void *body) {
    struct labels *data = &((struct api_config_map *)body)->data;
    if (!data->v)
        data->v = arena_new(d->a, struct label);
}

/* Adds to the map what it lacks of another one. Both are sorted by key, and so is the result. */
static void add_missing(struct defaulter *d, struct api_quantities *map,
                        const struct api_quantities *from) {
    struct api_quantities all = {arena_array(d->a, struct api_quantity, map->n + from->n + 1), 0};
    size_t m = 0, i = 0;
    while (m < map->n || i < from->n) {
        int order = m == map->n ? 1 : i == from->n ? -1 : str_cmp(map->v[m].key, from->v[i].key);
        all.v[all.n++] = order > 0 ? from->v[i] : map->v[m];
        m += order <= 0;
        i += order >= 0;
    }
    *map = all;
}

void api__default_limit_range_item(struct defaulter *d, void *body) {
    struct api_limit_range_item *item = body;
    if (!str_is(item->type, "Container"))
        return;
    add_missing(d, &item->default_, &item->max);
    add_missing(d, &item->default_request, &item->default_);
    add_missing(d, &item->default_request, &item->min);
}

static bool is_zero(const struct api_int_or_str *v) {
    return v->is_str ? !v->s.n : !v->i;
}

void api__default_service_port(struct defaulter *d, void *body) {
    (void)d;
    struct api_service_port *port = body;
    if (is_zero(&port->target_port))
        port->target_port = (struct api_int_or_str){.i = port->port};
}

static void default_session_affinity(struct defaulter *d, struct api_service_spec *spec) {
    enum { THREE_HOURS = 10800 };
    const struct api_session_affinity_config *config = spec->session_affinity_config;
    if (str_is(spec->session_affinity, "None"))
        spec->session_affinity_config = NULL;
    if (!str_is(spec->session_affinity, "ClientIP") ||
        (config && config->client_ip && config->client_ip->timeout_seconds.set))
        return;
    spec->session_affinity_config = arena_new(d->a, struct api_session_affinity_config);
    spec->session_affinity_config->client_ip = arena_new(d->a, struct api_client_ip_config);
    spec->session_affinity_config->client_ip->timeout_seconds =
        (struct api_opt_i32){true, THREE_HOURS};
}

void api__default_service_spec(struct defaulter *d, void *body) {
    struct api_service_spec *spec = body;
    bool balanced = str_is(spec->type, "LoadBalancer"), internal = str_is(spec->type, "ClusterIP");
    bool on_nodes = balanced || str_is(spec->type, "NodePort");
    default_session_affinity(d, spec);
    if (!spec->external_traffic_policy.n && (on_nodes || (internal && spec->external_ips.n)))
        spec->external_traffic_policy = STR("Cluster");
    if (on_nodes || internal)
        set_opt_str(&spec->internal_traffic_policy, STR("Cluster"));
    if (balanced && !spec->allocate_load_balancer_node_ports.set)
        spec->allocate_load_balancer_node_ports = (struct api_opt_bool){true, true};
}

void api__default_service(struct defaulter *d, void *body) {
    (void)d;
    struct api_service *service = body;
    struct api_load_balancer_ingress_list *ingress = &service->status.load_balancer.ingress;
    for (size_t i = 0; str_is(service->spec.type, "LoadBalancer") && i < ingress->n; i++)
        if (ingress->v[i].ip.n)
            set_opt_str(&ingress->v[i].ip_mode, STR("VIP"));
}

void api__default_replication_controller(struct defaulter *d, void *body) {
    (void)d;
    struct api_replication_controller *rc = body;
    const struct api_pod_template_spec *template = rc->spec.template;
    if (!template || !template->metadata.labels.v)
        return;
    if (!rc->spec.selector.n)
        rc->spec.selector = template->metadata.labels;
    if (!rc->metadata.labels.n)
        rc->metadata.labels = template->metadata.labels;
}

/* ---- admissionregistration.k8s.io ---- */

/* A selector that is not there selects everything, and so does an empty one. */
static void default_selector(struct defaulter *d, struct api_label_selector **selector) {
    if (!*selector)
        *selector = arena_new(d->a, struct api_label_selector);
}

void api__default_validating_webhook(struct defaulter *d, void *body) {
    struct api_validating_webhook *hook = body;
    default_selector(d, &hook->namespace_selector);
    default_selector(d, &hook->object_selector);
}

void api__default_mutating_webhook(struct defaulter *d, void *body) {
    struct api_mutating_webhook *hook = body;
    default_selector(d, &hook->namespace_selector);
    default_selector(d, &hook->object_selector);
}

void api__default_match_resources(struct defaulter *d, void *body) {
    struct api_match_resources *match = body;
    default_selector(d, &match->namespace_selector);
    default_selector(d, &match->object_selector);
}

/* Only the first version knew what to do without parameters; the later ones want it said. */
void api__default_mutating_policy_binding(struct defaulter *d, void *body) {
    struct api_param_ref *ref =
        ((struct api_mutating_admission_policy_binding *)body)->spec.param_ref;
    if (ref && str_is(d->version, "v1alpha1"))
        set_opt_str(&ref->parameter_not_found_action, STR("Deny"));
}

/* ---- apiextensions.k8s.io ---- */

static struct str lower(struct defaulter *d, struct str text) {
    char *copy = arena_copy(d->a, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        copy[i] = ascii_to_lower(copy[i]);
    return (struct str){copy, text.n};
}

static void default_crd_names(struct defaulter *d, struct api_custom_resource_definition_names *n) {
    if (!n->singular.n && n->kind.n)
        n->singular = lower(d, n->kind);
    if (!n->list_kind.n && n->kind.n)
        n->list_kind = arena_printf(d->a, "%.*sList", STR_ARG(n->kind));
}

static void default_stored_versions(struct defaulter *d,
                                    struct api_custom_resource_definition *crd) {
    const struct api_custom_resource_definition_version_list *versions = &crd->spec.versions;
    struct api_strs *stored = &crd->status.stored_versions;
    for (size_t i = 0; i < versions->n && !stored->n; i++)
        if (versions->v[i].storage) {
            *stored = (struct api_strs){arena_new(d->a, struct str), 1};
            stored->v[0] = versions->v[i].name;
        }
}

void api__default_crd(struct defaulter *d, void *body) {
    struct api_custom_resource_definition *crd = body;
    default_crd_names(d, &crd->spec.names);
    if (!crd->spec.conversion) {
        crd->spec.conversion = arena_new(d->a, struct api_custom_resource_conversion);
        crd->spec.conversion->strategy = STR("None");
    }
    default_stored_versions(d, crd);
}

/* ---- autoscaling ---- */

static struct api_metric_spec_list cpu_metric(struct defaulter *d) {
    enum { PERCENT = 80 };
    struct api_metric_spec_list list = {arena_new(d->a, struct api_metric_spec), 1};
    struct api_resource_metric_source *cpu = arena_new(d->a, struct api_resource_metric_source);
    cpu->name = STR("cpu");
    cpu->target.type = STR("Utilization");
    cpu->target.average_utilization = (struct api_opt_i32){true, PERCENT};
    list.v[0].type = STR("Resource");
    list.v[0].resource = cpu;
    return list;
}

/* A direction of scaling, with what it lacks of these policies: at most two. */
static void default_scaling(struct defaulter *d, struct api_hpa_scaling_rules **slot,
                            const struct api_hpa_scaling_policy *policies, size_t n) {
    if (!*slot)
        *slot = arena_new(d->a, struct api_hpa_scaling_rules);
    set_opt_str(&(*slot)->select_policy, STR("Max"));
    if (!(*slot)->policies.v)
        (*slot)->policies = (struct api_hpa_scaling_policy_list){
            arena_copy(d->a, policies, n * sizeof *policies), n};
}

void api__default_hpa(struct defaulter *d, void *body) {
    static const struct api_hpa_scaling_policy up[] = {
        {.type = STR_INIT("Pods"), .value = 4, .period_seconds = 15},
        {.type = STR_INIT("Percent"), .value = 100, .period_seconds = 15}};
    struct api_horizontal_pod_autoscaler_spec *spec =
        &((struct api_horizontal_pod_autoscaler *)body)->spec;
    if (!spec->metrics.n)
        spec->metrics = cpu_metric(d);
    if (!spec->behavior)
        return;
    default_scaling(d, &spec->behavior->scale_up, up, 2);
    default_scaling(d, &spec->behavior->scale_down, up + 1, 1);
    struct api_opt_i32 *window = &spec->behavior->scale_up->stabilization_window_seconds;
    if (!window->set)
        *window = (struct api_opt_i32){true, 0};
}

/* ---- networking.k8s.io ---- */

void api__default_network_policy(struct defaulter *d, void *body) {
    struct api_network_policy_spec *spec = &((struct api_network_policy *)body)->spec;
    struct api_strs *types = &spec->policy_types;
    if (types->n)
        return;
    types->v = arena_array(d->a, struct str, 2);
    types->v[types->n++] = STR("Ingress");
    if (spec->egress.n)
        types->v[types->n++] = STR("Egress");
}

/* ---- rbac.authorization.k8s.io ---- */

static void default_subjects(struct api_subject_list *subjects) {
    for (size_t i = 0; i < subjects->n; i++) {
        struct api_subject *s = &subjects->v[i];
        if (!s->api_group.n && (str_is(s->kind, "User") || str_is(s->kind, "Group")))
            s->api_group = STR("rbac.authorization.k8s.io");
    }
}

void api__default_role_binding(struct defaulter *d, void *body) {
    (void)d;
    default_subjects(&((struct api_role_binding *)body)->subjects);
}

void api__default_cluster_role_binding(struct defaulter *d, void *body) {
    (void)d;
    default_subjects(&((struct api_cluster_role_binding *)body)->subjects);
}

/* ---- resource.k8s.io ---- */

static void default_count(struct str mode, int64_t *count) {
    if (str_is(mode, "ExactCount") && !*count)
        *count = 1;
}

void api__default_exact_device_request(struct defaulter *d, void *body) {
    (void)d;
    struct api_exact_device_request *r = body;
    default_count(r->allocation_mode, &r->count);
}

void api__default_device_sub_request(struct defaulter *d, void *body) {
    (void)d;
    struct api_device_sub_request *r = body;
    default_count(r->allocation_mode, &r->count);
}

void api__default_device_sub_request_v1beta1(struct defaulter *d, void *body) {
    (void)d;
    struct api_device_sub_request_v1beta1 *r = body;
    default_count(r->allocation_mode, &r->count);
}

/* A request without a class lists subrequests, and counts nothing itself. */
void api__default_device_request_v1beta1(struct defaulter *d, void *body) {
    (void)d;
    struct api_device_request_v1beta1 *r = body;
    if (!r->device_class_name.n)
        return;
    if (!r->allocation_mode.n)
        r->allocation_mode = STR("ExactCount");
    default_count(r->allocation_mode, &r->count);
}

/* ---- scheduling.k8s.io ---- */

static void default_preemption(struct defaulter *d, struct str *policy) {
    if (feature_enabled(d->gates, FEATURE_PodGroupPreemptionPolicy))
        set_opt_str(policy, STR("PreemptLowerPriority"));
}

void api__default_pod_group(struct defaulter *d, void *body) {
    struct api_pod_group_spec *spec = &((struct api_pod_group *)body)->spec;
    default_preemption(d, &spec->preemption_policy);
    if (!spec->disruption_mode) {
        spec->disruption_mode = arena_new(d->a, struct api_disruption_mode);
        spec->disruption_mode->single = arena_new(d->a, struct api_single_disruption_mode);
    }
}

void api__default_composite_pod_group(struct defaulter *d, void *body) {
    struct api_composite_pod_group_spec *spec = &((struct api_composite_pod_group *)body)->spec;
    default_preemption(d, &spec->preemption_policy);
    if (!spec->disruption_mode) {
        spec->disruption_mode = arena_new(d->a, struct api_composite_disruption_mode);
        spec->disruption_mode->single =
            arena_new(d->a, struct api_single_composite_disruption_mode);
    }
}
