/*
 * Defaults that depend on other fields, one rule per type; the table stands at the end.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func SetDefaults_Pod, func SetDefaults_PodSpec,
 * func SetDefaults_Container.
 * Follows k8s.io/kubernetes pkg/apis/apps/v1, func SetDefaults_Deployment,
 * func SetDefaults_DaemonSet, func SetDefaults_StatefulSet.
 * Follows k8s.io/kubernetes pkg/apis/batch/v1, func SetDefaults_Job.
 */
#include "api/default_int.h"
#include "api/image.h"
#include "feature/feature.h"

static bool is_on(const struct defaulter *d, enum feature gate) {
    return feature_enabled(d->gates, gate);
}

static void set_str(struct str *s, struct str value) {
    if (!s->n)
        *s = value;
}

static void set_i32(struct api_opt_i32 *n, int32_t value) {
    if (!n->set)
        *n = (struct api_opt_i32){true, value};
}

static void set_bool(struct api_opt_bool *b, bool value) {
    if (!b->set)
        *b = (struct api_opt_bool){true, value};
}

static struct api_int_or_str *new_int(struct defaulter *d, int32_t value) {
    struct api_int_or_str *v = arena_new(d->a, struct api_int_or_str);
    v->i = value;
    return v;
}

static struct api_int_or_str *new_percent(struct defaulter *d, struct str value) {
    struct api_int_or_str *v = arena_new(d->a, struct api_int_or_str);
    *v = (struct api_int_or_str){.is_str = true, .s = value};
    return v;
}

static struct str pull_policy(struct str image) {
    return str_is(api_image_tag(image), "latest") ? STR("Always") : STR("IfNotPresent");
}

/* ---- pods ---- */

static void default_container(struct defaulter *d, void *body) {
    (void)d;
    struct api_container *c = body;
    set_str(&c->image_pull_policy, pull_policy(c->image));
}

/* Is any of the sources set? They are all pointers, and nothing else is in the struct. */
static bool has_source(const struct api_volume_source *s) {
    const struct api_type *type = &api_types[API_T_volume_source];
    for (size_t i = 0; i < type->field_count; i++)
        if (*(void *const *)(const void *)((const char *)s + type->fields[i].offset))
            return true;
    return false;
}

static void default_volume(struct defaulter *d, void *body) {
    struct api_volume_source *source = &((struct api_volume *)body)->volume_source;
    if (!has_source(source))
        source->empty_dir = arena_new(d->a, struct api_empty_dir_volume_source);
    if (is_on(d, FEATURE_ImageVolume) && source->image)
        set_str(&source->image->pull_policy, pull_policy(source->image->reference));
}

static void default_pod_spec(struct defaulter *d, void *body) {
    struct api_pod_spec *spec = body;
    set_str(&spec->service_account_name, spec->service_account);
    spec->service_account = spec->service_account_name;
    if (!spec->security_context)
        spec->security_context = arena_new(d->a, struct api_pod_security_context);
}

/* Both sorted by key: the union, where requests win. */
static void add_missing(struct defaulter *d, struct api_quantities *requests,
                        const struct api_quantities *limits) {
    struct api_quantities all = {.n = 0};
    all.v = arena_array(d->a, struct api_quantity, requests->n + limits->n + 1);
    for (size_t r = 0, l = 0; r < requests->n || l < limits->n;) {
        int order = r == requests->n ? 1
                    : l == limits->n ? -1
                                     : str_cmp(requests->v[r].key, limits->v[l].key);
        all.v[all.n++] = order > 0 ? limits->v[l] : requests->v[r];
        r += order <= 0;
        l += order >= 0;
    }
    *requests = all;
}

static void default_requests(struct defaulter *d, struct api_container_list *containers) {
    for (size_t i = 0; i < containers->n; i++) {
        struct api_resource_requirements *resources = &containers->v[i].resources;
        if (resources->limits.v)
            add_missing(d, &resources->requests, &resources->limits);
    }
}

static void default_host_ports(struct api_container_list *containers) {
    for (size_t i = 0; i < containers->n; i++)
        for (size_t j = 0; j < containers->v[i].ports.n; j++) {
            struct api_container_port *port = &containers->v[i].ports.v[j];
            if (!port->host_port)
                port->host_port = port->container_port;
        }
}

static void default_http_protocol(struct api_http_get_action *get) {
    if (get && !get->protocol.p)
        get->protocol = STR("HTTP1");
}

static void default_probe_protocols(struct api_container *c) {
    struct api_probe *probes[] = {c->liveness_probe, c->readiness_probe, c->startup_probe};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (probes[i])
            default_http_protocol(probes[i]->probe_handler.http_get);
    if (c->lifecycle && c->lifecycle->post_start)
        default_http_protocol(c->lifecycle->post_start->http_get);
    if (c->lifecycle && c->lifecycle->pre_stop)
        default_http_protocol(c->lifecycle->pre_stop->http_get);
}

static void default_all_probe_protocols(struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->containers.n; i++)
        default_probe_protocols(&spec->containers.v[i]);
    for (size_t i = 0; i < spec->init_containers.n; i++)
        default_probe_protocols(&spec->init_containers.v[i]);
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        default_probe_protocols(&spec->ephemeral_containers.v[i].container);
}

/* What upstream sets on pods but, for history's sake, not on pod templates. */
static void default_pod(struct defaulter *d, void *body) {
    struct api_pod_spec *spec = &((struct api_pod *)body)->spec;
    struct api_opt_i64 *grace = &spec->termination_grace_period_seconds;
    if (grace->set && grace->v < 0)
        grace->v = 1;
    default_requests(d, &spec->containers);
    default_requests(d, &spec->init_containers);
    set_bool(&spec->enable_service_links, true);
    if (spec->host_network) {
        default_host_ports(&spec->containers);
        default_host_ports(&spec->init_containers);
    }
    if (is_on(d, FEATURE_H2CContainerProbe))
        default_all_probe_protocols(spec);
}

/* podIP and podIPs say the same; where they differ, podIP is right. */
static void default_pod_status(struct defaulter *d, void *body) {
    struct api_pod_status *status = body;
    if (!status->pod_ip.n && status->pod_ips.n)
        status->pod_ip = status->pod_ips.v[0].ip;
    else if (status->pod_ip.n &&
             (!status->pod_ips.n || !str_eq(status->pod_ips.v[0].ip, status->pod_ip))) {
        status->pod_ips = (struct api_pod_ip_list){arena_new(d->a, struct api_pod_ip), 1};
        status->pod_ips.v[0].ip = status->pod_ip;
    }
}

/* ---- nodes and namespaces ---- */

static void default_node_status(struct defaulter *d, void *body) {
    (void)d;
    struct api_node_status *status = body;
    if (!status->allocatable.v && status->capacity.v)
        status->allocatable = status->capacity;
}

/* Every namespace is labelled with its name. */
static void default_namespace(struct defaulter *d, void *body) {
    struct api_object_meta *meta = &((struct api_namespace *)body)->metadata;
    if (meta->name.n)
        labels_put(d->a, &meta->labels,
                   (struct label){STR("kubernetes.io/metadata.name"), meta->name});
}

/* ---- workloads ---- */

static void default_deployment_strategy(struct defaulter *d, void *body) {
    struct api_deployment_strategy *s = body;
    if (!str_is(s->type, "RollingUpdate"))
        return;
    if (!s->rolling_update)
        s->rolling_update = arena_new(d->a, struct api_rolling_update_deployment);
    if (!s->rolling_update->max_unavailable)
        s->rolling_update->max_unavailable = new_percent(d, STR("25%"));
    if (!s->rolling_update->max_surge)
        s->rolling_update->max_surge = new_percent(d, STR("25%"));
}

static void default_daemon_set_strategy(struct defaulter *d, void *body) {
    struct api_daemon_set_update_strategy *s = body;
    if (!str_is(s->type, "RollingUpdate"))
        return;
    if (!s->rolling_update)
        s->rolling_update = arena_new(d->a, struct api_rolling_update_daemon_set);
    if (!s->rolling_update->max_unavailable)
        s->rolling_update->max_unavailable = new_int(d, 1);
    if (!s->rolling_update->max_surge)
        s->rolling_update->max_surge = new_int(d, 0);
}

/* Only a strategy that names no type at all is given an update section of its own. */
static void default_stateful_set_strategy(struct defaulter *d,
                                          struct api_stateful_set_update_strategy *s) {
    if (!s->type.n) {
        s->type = STR("RollingUpdate");
        if (!s->rolling_update)
            s->rolling_update = arena_new(d->a, struct api_rolling_update_stateful_set_strategy);
    }
    if (!str_is(s->type, "RollingUpdate") || !s->rolling_update)
        return;
    set_i32(&s->rolling_update->partition, 0);
    if (is_on(d, FEATURE_MaxUnavailableStatefulSet) && !s->rolling_update->max_unavailable)
        s->rolling_update->max_unavailable = new_int(d, 1);
}

static void default_stateful_set_spec(struct defaulter *d, void *body) {
    struct api_stateful_set_spec *spec = body;
    default_stateful_set_strategy(d, &spec->update_strategy);
    if (!spec->persistent_volume_claim_retention_policy)
        spec->persistent_volume_claim_retention_policy =
            arena_new(d->a, struct api_stateful_set_persistent_volume_claim_retention_policy);
}

/* On jobs, but not on the job templates of cron jobs: those are defaulted when a job is made. */
static void default_job(struct defaulter *d, void *body) {
    (void)d;
    struct api_job *job = body;
    struct api_job_spec *spec = &job->spec;
    if (!spec->parallelism.set && !spec->completions.set)
        set_i32(&spec->completions, 1);
    set_i32(&spec->parallelism, 1);
    set_i32(&spec->backoff_limit, spec->backoff_limit_per_index.set ? INT32_MAX : 6);
    if (!job->metadata.labels.n && spec->template.metadata.labels.v)
        job->metadata.labels = spec->template.metadata.labels;
    if (!spec->completion_mode.p)
        spec->completion_mode = STR("NonIndexed");
    set_bool(&spec->suspend, false);
    if (!spec->pod_replacement_policy.p)
        spec->pod_replacement_policy =
            spec->pod_failure_policy ? STR("Failed") : STR("TerminatingOrFailed");
    set_bool(&spec->manual_selector, false);
}

/* On volumes, but not on the spec of one that an attachment holds. */
static void default_persistent_volume(struct defaulter *d, void *body) {
    (void)d;
    struct api_persistent_volume_spec *spec = &((struct api_persistent_volume *)body)->spec;
    set_str(&spec->persistent_volume_reclaim_policy, STR("Retain"));
    if (!spec->volume_mode.p)
        spec->volume_mode = STR("Filesystem");
}

static void default_csi_driver_spec(struct defaulter *d, void *body) {
    struct api_csi_driver_spec *spec = body;
    if (!spec->volume_lifecycle_modes.n) {
        spec->volume_lifecycle_modes.v = arena_new(d->a, struct str);
        spec->volume_lifecycle_modes.v[spec->volume_lifecycle_modes.n++] = STR("Persistent");
    }
    if (is_on(d, FEATURE_SELinuxMountReadWriteOncePod))
        set_bool(&spec->se_linux_mount, false);
    if (is_on(d, FEATURE_VolumeLimitScaling))
        set_bool(&spec->prevent_pod_scheduling_if_missing, false);
}

default_fn *const api__default_rules[API_TYPES] = {
    [API_T_container] = default_container,
    [API_T_volume] = default_volume,
    [API_T_pod_spec] = default_pod_spec,
    [API_T_pod] = default_pod,
    [API_T_pod_status] = default_pod_status,
    [API_T_node_status] = default_node_status,
    [API_T_namespace] = default_namespace,
    [API_T_deployment_strategy] = default_deployment_strategy,
    [API_T_daemon_set_update_strategy] = default_daemon_set_strategy,
    [API_T_stateful_set_spec] = default_stateful_set_spec,
    [API_T_job] = default_job,
    [API_T_persistent_volume] = default_persistent_volume,
    [API_T_csi_driver_spec] = default_csi_driver_spec,
    [API_T_service_port] = api__default_service_port,
    [API_T_service_spec] = api__default_service_spec,
    [API_T_service] = api__default_service,
    [API_T_replication_controller] = api__default_replication_controller,
    [API_T_config_map] = api__default_config_map,
    [API_T_limit_range_item] = api__default_limit_range_item,
    [API_T_validating_webhook] = api__default_validating_webhook,
    [API_T_mutating_webhook] = api__default_mutating_webhook,
    [API_T_match_resources] = api__default_match_resources,
    [API_T_mutating_admission_policy_binding] = api__default_mutating_policy_binding,
    [API_T_custom_resource_definition] = api__default_crd,
    [API_T_horizontal_pod_autoscaler] = api__default_hpa,
    [API_T_network_policy] = api__default_network_policy,
    [API_T_role_binding] = api__default_role_binding,
    [API_T_cluster_role_binding] = api__default_cluster_role_binding,
    [API_T_exact_device_request] = api__default_exact_device_request,
    [API_T_device_sub_request] = api__default_device_sub_request,
    [API_T_device_sub_request_v1beta1] = api__default_device_sub_request_v1beta1,
    [API_T_device_request_v1beta1] = api__default_device_request_v1beta1,
    [API_T_pod_group] = api__default_pod_group,
    [API_T_composite_pod_group] = api__default_composite_pod_group,
};
