/*
 * Fields of a pod spec behind feature gates: with the gate off a field is dropped, unless the
 * object that is replaced uses it already.
 *
 * Each function below looks at one feature in a spec. It says whether the spec uses it, and when
 * told to, it takes it out.
 */
#include "valid/pod/pod_int.h"

typedef bool feature_fn(struct api_pod_spec *spec, bool drop);

/* ---- the pod ---- */

static bool host_users(struct api_pod_spec *spec, bool drop) {
    bool used = spec->host_users.set;
    if (drop)
        spec->host_users.set = false;
    return used;
}

static bool supplemental_groups_policy(struct api_pod_spec *spec, bool drop) {
    struct api_pod_security_context *context = spec->security_context;
    bool used = context && context->supplemental_groups_policy.p;
    if (used && drop)
        context->supplemental_groups_policy = (struct str){0};
    return used;
}

static bool selinux_change_policy(struct api_pod_spec *spec, bool drop) {
    struct api_pod_security_context *context = spec->security_context;
    bool used = context && context->se_linux_change_policy.p;
    if (used && drop)
        context->se_linux_change_policy = (struct str){0};
    return used;
}

static bool pod_resources(struct api_pod_spec *spec, bool drop) {
    bool used = spec->resources && (spec->resources->requests.n || spec->resources->limits.n);
    if (drop)
        spec->resources = NULL;
    return used;
}

static bool hostname_override(struct api_pod_spec *spec, bool drop) {
    bool used = spec->hostname_override.p;
    if (drop)
        spec->hostname_override = (struct str){0};
    return used;
}

static bool scheduling_group(struct api_pod_spec *spec, bool drop) {
    bool used = spec->scheduling_group;
    if (drop)
        spec->scheduling_group = NULL;
    return used;
}

static bool eviction_responders(struct api_pod_spec *spec, bool drop) {
    bool used = spec->eviction_responders.n;
    if (drop)
        spec->eviction_responders = (struct api_eviction_responder_list){0};
    return used;
}

static bool resource_claims(struct api_pod_spec *spec, bool drop) {
    bool used = spec->resource_claims.n;
    if (!drop)
        return used;
    spec->resource_claims = (struct api_pod_resource_claim_list){0};
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        w.c->resources.claims = (struct api_resource_claim_list){0};
    return used;
}

/* ---- placement ---- */

static bool node_taints_policy(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++) {
        struct str *policy = &spec->topology_spread_constraints.v[i].node_taints_policy;
        used |= policy->p != NULL;
        if (drop)
            *policy = (struct str){0};
    }
    return used;
}

static bool node_affinity_policy(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++) {
        struct str *policy = &spec->topology_spread_constraints.v[i].node_affinity_policy;
        used |= policy->p != NULL;
        if (drop)
            *policy = (struct str){0};
    }
    return used;
}

static bool spread_keys(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++) {
        struct api_strs *keys = &spec->topology_spread_constraints.v[i].match_label_keys;
        used |= keys->n > 0;
        if (drop)
            *keys = (struct api_strs){0};
    }
    return used;
}

static bool term_keys(struct api_pod_affinity_term *term, bool drop) {
    bool used = term->match_label_keys.n || term->mismatch_label_keys.n;
    if (drop)
        term->match_label_keys = term->mismatch_label_keys = (struct api_strs){0};
    return used;
}

static bool terms_keys(const struct api_pod_affinity_term_list *required,
                       const struct api_weighted_pod_affinity_term_list *preferred, bool drop) {
    bool used = false;
    for (size_t i = 0; i < required->n; i++)
        used |= term_keys(&required->v[i], drop);
    for (size_t i = 0; i < preferred->n; i++)
        used |= term_keys(&preferred->v[i].pod_affinity_term, drop);
    return used;
}

static bool affinity_keys(struct api_pod_spec *spec, bool drop) {
    const struct api_affinity *a = spec->affinity;
    bool used = false;
    if (a && a->pod_affinity)
        used |= terms_keys(&a->pod_affinity->required, &a->pod_affinity->preferred, drop);
    if (a && a->pod_anti_affinity)
        used |= terms_keys(&a->pod_anti_affinity->required, &a->pod_anti_affinity->preferred, drop);
    return used;
}

/* ---- containers ---- */

static bool proc_mount(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct str *mount = w.c->security_context ? &w.c->security_context->proc_mount : NULL;
        if (!mount || !mount->p)
            continue;
        used |= !str_is(*mount, "Default");
        if (drop)
            *mount = STR("Default");
    }
    return used;
}

/* Upstream does not count ephemeral containers as users. */
static bool resize_policy(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    size_t lasting = spec->init_containers.n + spec->containers.n;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        used |= w.next <= lasting && w.c->resize_policy.n;
        if (drop)
            w.c->resize_policy = (struct api_container_resize_policy_list){0};
    }
    return used;
}

static bool is_sidecar(const struct container_walk *w) {
    return w->next <= w->spec->init_containers.n && str_is(w->c->restart_policy, "Always");
}

/* The policy that makes an init container a sidecar is older than the others and stays. */
static bool restart_rules(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    size_t inits = spec->init_containers.n, lasting = inits + spec->containers.n;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        bool has_policy = w.c->restart_policy.p && !is_sidecar(&w);
        bool has_rules = w.next <= inits && w.c->restart_policy_rules.n;
        used |= w.next <= lasting && (has_policy || has_rules);
        if (drop && has_policy)
            w.c->restart_policy = (struct str){0};
        if (drop)
            w.c->restart_policy_rules = (struct api_container_restart_rule_list){0};
    }
    return used;
}

static bool recursive_read_only(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        for (size_t i = 0; i < w.c->volume_mounts.n; i++) {
            struct str *mode = &w.c->volume_mounts.v[i].recursive_read_only;
            used |= mode->p != NULL;
            if (drop)
                *mode = (struct str){0};
        }
    return used;
}

static bool bind_mount_options(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        for (size_t i = 0; i < w.c->volume_mounts.n; i++) {
            struct api_strs *options = &w.c->volume_mounts.v[i].bind_mount_options;
            used |= options->n > 0;
            if (drop)
                *options = (struct api_strs){0};
        }
    return used;
}

static bool file_keys(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        for (size_t i = 0; i < w.c->env.n; i++) {
            struct api_env_var_source *from = w.c->env.v[i].value_from;
            used |= from && from->file_key_ref;
            if (drop && from)
                from->file_key_ref = NULL;
        }
    return used;
}

static bool stop_signals(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct api_lifecycle *lifecycle = w.c->lifecycle;
        if (!lifecycle || !lifecycle->stop_signal.p)
            continue;
        used = true;
        if (drop)
            lifecycle->stop_signal = (struct str){0};
        if (drop && !lifecycle->post_start && !lifecycle->pre_stop)
            w.c->lifecycle = NULL;
    }
    return used;
}

static bool grpc_mode(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct api_probe *probes[] = {w.c->liveness_probe, w.c->readiness_probe,
                                      w.c->startup_probe};
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
            struct api_grpc_action *grpc = probes[i] ? probes[i]->probe_handler.grpc : NULL;
            used |= grpc && grpc->mode.p;
            if (drop && grpc)
                grpc->mode = (struct str){0};
        }
    }
    return used;
}

static bool http_protocol(struct api_http_get_action *get, bool drop) {
    bool used = get && get->protocol.p;
    if (drop && get)
        get->protocol = (struct str){0};
    return used;
}

static bool http_protocols(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct api_probe *probes[] = {w.c->liveness_probe, w.c->readiness_probe,
                                      w.c->startup_probe};
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
            used |= probes[i] && http_protocol(probes[i]->probe_handler.http_get, drop);
        const struct api_lifecycle *lifecycle = w.c->lifecycle;
        if (lifecycle && lifecycle->post_start)
            used |= http_protocol(lifecycle->post_start->http_get, drop);
        if (lifecycle && lifecycle->pre_stop)
            used |= http_protocol(lifecycle->pre_stop->http_get, drop);
    }
    return used;
}

/* ---- volumes ---- */

static bool empty_dir_mode(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->volumes.n; i++) {
        struct api_empty_dir_volume_source *dir = spec->volumes.v[i].volume_source.empty_dir;
        used |= dir && dir->mode.set;
        if (drop && dir)
            dir->mode.set = false;
    }
    return used;
}

static void drop_mounts_of(struct api_pod_spec *spec, const struct seen *volumes) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct api_volume_mount_list *mounts = &w.c->volume_mounts;
        size_t kept = 0;
        for (size_t i = 0; i < mounts->n; i++)
            if (!seen_get(volumes, mounts->v[i].name))
                mounts->v[kept++] = mounts->v[i];
        mounts->n = kept;
    }
}

/* The volumes go with everything that mounts them. */
static bool image_volumes(struct api_pod_spec *spec, bool drop) {
    struct api_volume_list *volumes = &spec->volumes;
    struct seen images;
    seen_init(&images);
    for (size_t i = 0; i < volumes->n; i++)
        if (volumes->v[i].volume_source.image)
            seen_add(&images, volumes->v[i].name);
    bool used = images.n > 0;
    if (used && drop) {
        drop_mounts_of(spec, &images);
        size_t kept = 0;
        for (size_t i = 0; i < volumes->n; i++)
            if (!volumes->v[i].volume_source.image)
                volumes->v[kept++] = volumes->v[i];
        volumes->n = kept;
    }
    seen_release(&images);
    return used;
}

typedef bool projection_fn(struct api_volume_projection *projection, bool drop);

static bool projections(struct api_pod_spec *spec, projection_fn *visit, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->volumes.n; i++) {
        struct api_projected_volume_source *p = spec->volumes.v[i].volume_source.projected;
        for (size_t j = 0; p && j < p->sources.n; j++)
            used |= visit(&p->sources.v[j], drop);
    }
    return used;
}

static bool trust_bundle(struct api_volume_projection *p, bool drop) {
    bool used = p->cluster_trust_bundle;
    if (drop)
        p->cluster_trust_bundle = NULL;
    return used;
}

static bool trust_bundles(struct api_pod_spec *spec, bool drop) {
    return projections(spec, trust_bundle, drop);
}

static bool pod_certificate(struct api_volume_projection *p, bool drop) {
    bool used = p->pod_certificate;
    if (drop)
        p->pod_certificate = NULL;
    return used;
}

static bool pod_certificates(struct api_pod_spec *spec, bool drop) {
    return projections(spec, pod_certificate, drop);
}

static bool file_user(struct api_opt_i64 *user, bool drop) {
    bool used = user->set;
    if (drop)
        user->set = false;
    return used;
}

static bool key_users(struct api_key_to_path_list *items, bool drop) {
    bool used = false;
    for (size_t i = 0; i < items->n; i++)
        used |= file_user(&items->v[i].user, drop);
    return used;
}

static bool downward_users(struct api_downward_api_volume_file_list *items, bool drop) {
    bool used = false;
    for (size_t i = 0; i < items->n; i++)
        used |= file_user(&items->v[i].user, drop);
    return used;
}

static bool projection_users(struct api_volume_projection *p, bool drop) {
    if (p->secret)
        return key_users(&p->secret->items, drop);
    if (p->downward_api)
        return downward_users(&p->downward_api->items, drop);
    if (p->config_map)
        return key_users(&p->config_map->items, drop);
    if (p->service_account_token)
        return file_user(&p->service_account_token->user, drop);
    if (p->cluster_trust_bundle)
        return file_user(&p->cluster_trust_bundle->user, drop);
    return p->pod_certificate && file_user(&p->pod_certificate->user, drop);
}

/* An or that looks at both, since both may have to drop something. */
static bool either(bool a, bool b) {
    return a || b;
}

static bool volume_users(struct api_volume_source *s, bool drop) {
    if (s->secret)
        return either(file_user(&s->secret->default_user, drop),
                      key_users(&s->secret->items, drop));
    if (s->config_map)
        return either(file_user(&s->config_map->default_user, drop),
                      key_users(&s->config_map->items, drop));
    if (s->downward_api)
        return either(file_user(&s->downward_api->default_user, drop),
                      downward_users(&s->downward_api->items, drop));
    bool used = s->projected && file_user(&s->projected->default_user, drop);
    for (size_t i = 0; s->projected && i < s->projected->sources.n; i++)
        used |= projection_users(&s->projected->sources.v[i], drop);
    return used;
}

static bool file_users(struct api_pod_spec *spec, bool drop) {
    bool used = false;
    for (size_t i = 0; i < spec->volumes.n; i++)
        used |= volume_users(&spec->volumes.v[i].volume_source, drop);
    return used;
}

/* ---- all of them ---- */

static const struct {
    enum feature gate;
    feature_fn *visit;
} features[] = {
    {FEATURE_UserNamespacesSupport, host_users},
    {FEATURE_SupplementalGroupsPolicy, supplemental_groups_policy},
    {FEATURE_PodLevelResources, pod_resources},
    {FEATURE_ProcMountType, proc_mount},
    {FEATURE_NodeInclusionPolicyInPodTopologySpread, node_taints_policy},
    {FEATURE_NodeInclusionPolicyInPodTopologySpread, node_affinity_policy},
    {FEATURE_MatchLabelKeysInPodTopologySpread, spread_keys},
    {FEATURE_MatchLabelKeysInPodAffinity, affinity_keys},
    {FEATURE_DynamicResourceAllocation, resource_claims},
    {FEATURE_ClusterTrustBundleProjection, trust_bundles},
    {FEATURE_PodCertificateRequest, pod_certificates},
    {FEATURE_AtomicWriteVolumeUserFields, file_users},
    {FEATURE_GenericWorkload, scheduling_group},
    {FEATURE_GRPCContainerProbeTLS, grpc_mode},
    {FEATURE_EvictionRequestAPI, eviction_responders},
    {FEATURE_InPlacePodVerticalScaling, resize_policy},
    {FEATURE_ContainerRestartRules, restart_rules},
    {FEATURE_RecursiveReadOnlyMounts, recursive_read_only},
    {FEATURE_EmptyDirVolumeMode, empty_dir_mode},
    {FEATURE_VolumeBindMountOptions, bind_mount_options},
    {FEATURE_HostnameOverride, hostname_override},
    {FEATURE_EnvFiles, file_keys},
    {FEATURE_ImageVolume, image_volumes},
    {FEATURE_SELinuxChangePolicy, selinux_change_policy},
    {FEATURE_ContainerStopSignals, stop_signals},
    {FEATURE_H2CContainerProbe, http_protocols},
};

/* Init containers were annotations until Kubernetes 1.8. */
static void drop_init_annotations(struct labels *annotations) {
    static const char *const keys[] = {"pod.beta.kubernetes.io/init-containers",
                                       "pod.alpha.kubernetes.io/init-containers",
                                       "pod.beta.kubernetes.io/init-container-statuses",
                                       "pod.alpha.kubernetes.io/init-container-statuses", NULL};
    size_t kept = 0;
    for (size_t i = 0; i < annotations->n; i++)
        if (!valid__one_of(annotations->v[i].key, keys))
            annotations->v[kept++] = annotations->v[i];
    annotations->n = kept;
}

void valid__drop_disabled(struct api_pod_spec *spec, struct labels *annotations,
                          const struct api_pod_spec *old, const struct feature_set *gates) {
    struct api_pod_spec seen = {0}; /* of old: what is only looked at is not changed */
    if (old)
        seen = *old;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        bool keep =
            feature_enabled(gates, features[i].gate) || (old && features[i].visit(&seen, false));
        if (!keep)
            features[i].visit(spec, true);
    }
    drop_init_annotations(annotations);
}
