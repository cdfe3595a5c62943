/*
 * Pods and pod templates: all rules of a pod spec, in upstream's order. The larger parts stand in
 * files of their own.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodCreate, func ValidatePodSpec,
 * func ValidatePodTemplateSpec.
 */
#include "base/limits.h"
#include "valid/kinds_int.h"
#include "valid/pod/pod_int.h"

static bool is_on(const struct valid *v, enum feature gate) {
    return feature_enabled(v->gates, gate);
}

/* ---- walking over containers ---- */

static bool walk_to(struct container_walk *w, const char *list, size_t i, struct api_container *c) {
    w->list.name = list;
    w->at = (struct path){.up = &w->list, .index = i};
    w->c = c;
    return true;
}

bool valid__walk(struct container_walk *w) {
    const struct api_pod_spec *spec = w->spec;
    size_t i = w->next++;
    if (i < spec->init_containers.n)
        return walk_to(w, "initContainers", i, &spec->init_containers.v[i]);
    i -= spec->init_containers.n;
    if (i < spec->containers.n)
        return walk_to(w, "containers", i, &spec->containers.v[i]);
    i -= spec->containers.n;
    if (i < spec->ephemeral_containers.n)
        return walk_to(w, "ephemeralContainers", i, &spec->ephemeral_containers.v[i].container);
    return false;
}

/* ---- resource claims ---- */

static bool is_mirror(const struct api_object_meta *meta) {
    return meta && labels_find(&meta->annotations, STR("kubernetes.io/config.mirror"));
}

static void check_claim_source(struct valid *v, const struct path *p,
                               const struct api_pod_resource_claim *claim) {
    bool by_name = claim->resource_claim_name.p;
    bool by_template = claim->resource_claim_template_name.p;
    if (by_name == by_template) {
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_pod_resource_claim, claim), "%s",
                       by_name ? "at most one of `resourceClaimName` or "
                                 "`resourceClaimTemplateName` may be specified"
                               : "must specify one of: `resourceClaimName`, "
                                 "`resourceClaimTemplateName`");
    }
    if (by_name)
        valid__dns_subdomain(v, AT(p, "resourceClaimName"), claim->resource_claim_name);
    if (by_template)
        valid__dns_subdomain(v, AT(p, "resourceClaimTemplateName"),
                             claim->resource_claim_template_name);
}

static void check_claims(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                         const struct api_object_meta *meta) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < spec->resource_claims.n; i++) {
        const struct api_pod_resource_claim *claim = &spec->resource_claims.v[i];
        const struct path *at = AT_INDEX(p, i), *name = AT(at, "name");
        if (is_mirror(meta)) {
            valid__forbidden(v, AT_KEY(NULL, STR("")),
                             "static pods do not support resource claims");
            continue;
        }
        if (!claim->name.n)
            valid__required(v, name, NO_DETAIL);
        else if (!seen_add(&names, claim->name))
            valid__duplicate(v, name, VALUE_Q(claim->name), NO_DETAIL);
        else
            valid__dns_label(v, name, claim->name);
        check_claim_source(v, at, claim);
    }
    seen_release(&names);
}

/* ---- network and names ---- */

/* In a template the host port may still be unset. */
static void check_host_ports(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                             const struct pod_rules *rules) {
    for (size_t i = 0; spec->host_network && i < spec->containers.n; i++) {
        const struct api_container_port_list *ports = &spec->containers.v[i].ports;
        const struct path *at = AT(AT_INDEX(AT(p, "containers"), i), "ports");
        for (size_t j = 0; j < ports->n; j++) {
            int32_t host = ports->v[j].host_port;
            if (host != ports->v[j].container_port && (host || !rules->is_template))
                valid__invalid(v, AT(AT_INDEX(at, j), "hostPort"), VALUE_I64(host),
                               "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

enum { MOST_NAMESERVERS = 3, MOST_SEARCHES = 32, MOST_SEARCH_BYTES = 2048 };

static void check_nameservers(struct valid *v, const struct path *p, const struct api_strs *list) {
    if (list->n > MOST_NAMESERVERS)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "must not have more than %d nameservers", MOST_NAMESERVERS);
    for (size_t i = 0; i < list->n; i++)
        valid__ip(v, AT_INDEX(p, i), list->v[i]);
}

static void check_searches(struct valid *v, const struct path *p, const struct api_strs *list) {
    if (list->n > MOST_SEARCHES)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "must not have more than %d search paths", MOST_SEARCHES);
    size_t bytes = list->n ? list->n - 1 : 0;
    for (size_t i = 0; i < list->n; i++)
        bytes += list->v[i].n;
    if (bytes > MOST_SEARCH_BYTES)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "must not have more than %d characters (including spaces) in the search "
                       "list",
                       MOST_SEARCH_BYTES);
    for (size_t i = 0; i < list->n; i++) {
        struct str search = list->v[i];
        if (str_is(search, "."))
            continue;
        if (str_ends(search, STR(".")))
            search.n--;
        struct names_errs errs = names_check_dns1123_underscore(search);
        valid__names(v, AT_INDEX(p, i), search, &errs);
    }
}

static void check_dns_config(struct valid *v, const struct path *p,
                             const struct api_pod_spec *spec) {
    const struct api_pod_dns_config *config = spec->dns_config;
    bool own_servers = str_is(spec->dns_policy, "None");
    if (own_servers && !config) {
        valid__required(v, p, "must provide `dnsConfig` when `dnsPolicy` is None");
    } else if (own_servers && !config->nameservers.n) {
        valid__required(v, AT(p, "nameservers"),
                        "must provide at least one DNS nameserver when `dnsPolicy` is None");
    } else if (config) {
        check_nameservers(v, AT(p, "nameservers"), &config->nameservers);
        check_searches(v, AT(p, "searches"), &config->searches);
        for (size_t i = 0; i < config->options.n; i++)
            if (!config->options.v[i].name.n)
                valid__required(v, AT_INDEX(AT(p, "options"), i), "must not be empty");
    }
}

static void check_host_aliases(struct valid *v, const struct path *p,
                               const struct api_host_alias_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_host_alias *alias = &list->v[i];
        valid__ip(v, AT(AT_INDEX(p, i), "ip"), alias->ip);
        for (size_t j = 0; j < alias->hostnames.n; j++)
            valid__dns_subdomain(v, AT_INDEX(AT(AT_INDEX(p, i), "hostnames"), j),
                                 alias->hostnames.v[j]);
    }
}

enum { MOST_HOSTNAME_BYTES = 64 };

static void check_hostname_override(struct valid *v, const struct path *p,
                                    const struct api_pod_spec *spec) {
    if (!spec->hostname_override.p)
        return;
    if (spec->set_hostname_as_fqdn.set && spec->set_hostname_as_fqdn.v)
        valid__forbidden(v, p, "may not be specified when setHostnameAsFQDN is true");
    if (spec->host_network)
        valid__forbidden(v, p, "may not be specified when hostNetwork is true");
    if (spec->hostname_override.n > MOST_HOSTNAME_BYTES)
        valid__too_long(v, p, MOST_HOSTNAME_BYTES);
    valid__dns_subdomain(v, p, spec->hostname_override);
}

/* ---- gates ---- */

static void check_readiness_gates(struct valid *v, const struct path *p,
                                  const struct api_pod_readiness_gate_list *list) {
    for (size_t i = 0; i < list->n; i++)
        valid__label_key(v, AT(AT_INDEX(p, i), "conditionType"), list->v[i].condition_type);
}

static void check_scheduling_gates(struct valid *v, const struct path *p,
                                   const struct api_pod_scheduling_gate_list *list) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++) {
        valid__label_key(v, AT_INDEX(p, i), list->v[i].name);
        if (!seen_add(&names, list->v[i].name))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i].name), NO_DETAIL);
    }
    seen_release(&names);
}

/* ---- the rest ---- */

static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                           "None", NULL};
static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};

static void check_share_process_namespace(struct valid *v, const struct path *p,
                                          const struct api_pod_spec *spec) {
    if (spec->host_pid && spec->share_process_namespace.set && spec->share_process_namespace.v)
        valid__invalid(v, AT(p, "shareProcessNamespace"), VALUE_BOOL(true),
                       "ShareProcessNamespace and HostPID cannot both be enabled");
}

/* A name that may be left out. */
static void check_name(struct valid *v, const struct path *p, struct str name) {
    if (name.n)
        valid__dns_subdomain(v, p, name);
}

static void check_host_label(struct valid *v, const struct path *p, struct str name) {
    if (name.n)
        valid__dns_label(v, p, name);
}

static void check_scheduling_group(struct valid *v, const struct path *p,
                                   const struct api_pod_spec *spec) {
    const struct api_pod_scheduling_group *group = spec->scheduling_group;
    if (!group)
        return;
    if (group->pod_group_name.p)
        valid__dns_subdomain(v, AT(p, "podGroupName"), group->pod_group_name);
    else
        valid__invalid(v, AT(p, "podGroupName"), VALUE_JSON((struct json){.kind = JSON_NULL}),
                       "must specify one of: `podGroupName`");
    if (spec->eviction_responders.n)
        valid__forbidden(v, p, "may not be set when evictionResponders is set");
}

/* Names of things that the pod refers to, and numbers, in front of its tolerations. */
static void check_references(struct valid *v, const struct path *p,
                             const struct api_pod_spec *spec) {
    static const int64_t deadline_range[2] = {1, INT32_MAX};
    check_hostname_override(v, AT(p, "hostnameOverride"), spec);
    check_name(v, AT(p, "serviceAccountName"), spec->service_account_name);
    check_name(v, AT(p, "nodeName"), spec->node_name);
    if (spec->active_deadline_seconds.set)
        valid__range(v, AT(p, "activeDeadlineSeconds"), spec->active_deadline_seconds.v,
                     deadline_range);
    check_host_label(v, AT(p, "hostname"), spec->hostname);
    check_host_label(v, AT(p, "subdomain"), spec->subdomain);
}

static void check_classes(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                          const struct pod_rules *rules) {
    check_name(v, AT(p, "priorityClassName"), spec->priority_class_name);
    if (spec->runtime_class_name.p)
        valid__dns_subdomain(v, AT(p, "runtimeClassName"), spec->runtime_class_name);
    if (spec->preemption_policy.p)
        valid__choice(v, AT(p, "preemptionPolicy"), spec->preemption_policy, preemption_policies);
    if (spec->overhead.v)
        valid__overhead(v, AT(p, "overhead"), &spec->overhead, rules);
}

static void check_placement(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                            const struct pod_rules *rules) {
    valid__affinity(v, AT(p, "affinity"), spec->affinity, rules);
    check_dns_config(v, AT(p, "dnsConfig"), spec);
    check_readiness_gates(v, AT(p, "readinessGates"), &spec->readiness_gates);
    check_scheduling_gates(v, AT(p, "schedulingGates"), &spec->scheduling_gates);
    valid__topology_spread(v, AT(p, "topologySpreadConstraints"),
                           &spec->topology_spread_constraints, rules);
}

void valid__pod_spec(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                     const struct api_object_meta *meta, const struct pod_rules *rules) {
    if (!spec->termination_grace_period_seconds.set)
        valid__required(v, AT(p, "terminationGracePeriodSeconds"), NO_DETAIL);
    const bool *bad_volumes =
        valid__volumes(v, AT(p, "volumes"), &spec->volumes, meta ? meta->name : STR(""), rules);
    check_claims(v, AT(p, "resourceClaims"), spec, meta);
    valid__containers(v, p, spec, bad_volumes, rules);
    if (is_on(v, FEATURE_PodLevelResources))
        valid__pod_resources(v, p, spec, rules);
    check_host_ports(v, p, spec, rules);
    valid__choice(v, AT(p, "restartPolicy"), spec->restart_policy, restart_policies);
    valid__choice(v, AT(p, "dnsPolicy"), spec->dns_policy, dns_policies);
    valid__labels(v, AT(p, "nodeSelector"), &spec->node_selector);
    valid__pod_security(v, p, spec, rules);
    check_share_process_namespace(v, p, spec);
    check_placement(v, p, spec, rules);
    valid__host_process(v, p, spec);
    valid__host_users(v, p, spec, rules);
    check_references(v, p, spec);
    valid__tolerations(v, AT(p, "tolerations"), &spec->tolerations, rules);
    check_host_aliases(v, AT(p, "hostAliases"), &spec->host_aliases);
    check_classes(v, p, spec, rules);
    valid__os(v, p, spec);
    check_scheduling_group(v, AT(p, "schedulingGroup"), spec);
    valid__file_key_volumes(v, p, spec);
}

void valid__pod_template(struct valid *v, const struct path *p,
                         const struct api_pod_template_spec *t, const struct pod_rules *rules) {
    const struct api_object_meta *meta = &t->metadata;
    const struct path *spec = AT(p, "spec");
    struct pod_rules template_rules = *rules;
    template_rules.is_template = true;
    valid__labels(v, AT(p, "labels"), &meta->labels);
    valid__annotations(v, AT(p, "annotations"), &meta->annotations);
    valid__pod_annotations(v, AT(p, "annotations"), &meta->annotations, &t->spec, &template_rules);
    valid__pod_spec(v, spec, &t->spec, NULL, &template_rules);
    valid__pod_annotations_match(v, spec, &meta->annotations, &t->spec);
    if (t->spec.ephemeral_containers.n)
        valid__forbidden(v, AT(spec, "ephemeralContainers"),
                         "ephemeral containers not allowed in pod template");
}

/* ---- the kind ---- */

static void check_token_volumes(struct valid *v, const struct path *spec_path,
                                const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->volumes.n && !spec->service_account_name.n; i++) {
        const struct api_projected_volume_source *projected =
            spec->volumes.v[i].volume_source.projected;
        const struct path *p = AT(AT_INDEX(AT(spec_path, "volumes"), i), "projected");
        for (size_t j = 0; projected && j < projected->sources.n; j++)
            if (projected->sources.v[j].service_account_token)
                valid__forbidden(v, AT(AT_INDEX(AT(p, "sources"), j), "serviceAccountToken"),
                                 "must not be specified when serviceAccountName is not set");
    }
}

void valid__pod_meta_and_spec(struct valid *v, const struct api_pod *pod,
                              const struct pod_rules *rules) {
    const struct path *meta = AT(NULL, "metadata"), *spec = AT(NULL, "spec");
    const struct api_opt_i64 *grace = &pod->spec.termination_grace_period_seconds;
    valid__object_meta(v, meta, &pod->metadata, true, valid__name_subdomain);
    valid__pod_annotations(v, AT(meta, "annotations"), &pod->metadata.annotations, &pod->spec,
                           rules);
    valid__pod_spec(v, spec, &pod->spec, &pod->metadata, rules);
    check_token_volumes(v, spec, &pod->spec);
    if (grace->set)
        valid__not_negative(v, AT(spec, "terminationGracePeriodSeconds"), grace->v);
    valid__container_images(v, AT(spec, "containers"), &pod->spec.containers);
    valid__container_images(v, AT(spec, "initContainers"), &pod->spec.init_containers);
}

static void check_create(struct valid *v, const struct api_object *o) {
    const struct api_pod *pod = o->body;
    const struct path *spec = AT(NULL, "spec");
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__pod_meta_and_spec(v, pod, &rules);
    if (pod->spec.ephemeral_containers.n)
        valid__forbidden(v, AT(spec, "ephemeralContainers"), "cannot be set on create");
    if (pod->spec.node_name.n && pod->spec.scheduling_gates.n)
        valid__forbidden(v, AT(spec, "nodeName"),
                         "cannot be set until all schedulingGates have been cleared");
    valid__pod_annotations_match(v, spec, &pod->metadata.annotations, &pod->spec);
}

static void check_declared(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    const struct api_pod *pod = o->body, *was = old ? old->body : NULL;
    valid__declared_pod_spec(v, AT(NULL, "spec"), &pod->spec, was ? &was->spec : NULL);
}

const struct valid_kind valid__pod = {
    .type = API_T_pod,
    .prepare_create = valid__pod_prepare_create,
    .create = check_create,
    .prepare_update = valid__pod_prepare_update,
    .update = valid__pod_update,
    .prepare_status = valid__pod_prepare_status,
    .status = valid__pod_status,
    .declared = check_declared,
    .warn = valid__warn_pod,
    .warn_status = valid__warn_pod_status,
};
