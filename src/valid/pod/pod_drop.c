/*
 * Features of a pod spec that are dropped while their gate is off, and that are more than a field
 * which is there or not: those are rows of the schema with a gate (api_object_drop_gated).
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func dropDisabledFields, func dropImageVolumes,
 * func dropContainerRestartRules.
 */
#include "valid/pod/pod_int.h"

/* Resources that ask for nothing are no use of them. */
static bool uses_resources(const struct api_pod_spec *spec) {
    return spec->resources && (spec->resources->requests.n || spec->resources->limits.n);
}

static void drop_resources(struct api_pod_spec *spec) {
    spec->resources = NULL;
}

/* Two policies stand behind one gate, and each is kept or dropped by itself. */
static bool uses_taints_policy(const struct api_pod_spec *spec) {
    bool used = false;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        used |= spec->topology_spread_constraints.v[i].node_taints_policy.p != NULL;
    return used;
}

static void drop_taints_policy(struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        spec->topology_spread_constraints.v[i].node_taints_policy = (struct str){0};
}

static bool uses_affinity_policy(const struct api_pod_spec *spec) {
    bool used = false;
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        used |= spec->topology_spread_constraints.v[i].node_affinity_policy.p != NULL;
    return used;
}

static void drop_affinity_policy(struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        spec->topology_spread_constraints.v[i].node_affinity_policy = (struct str){0};
}

/* Claims of containers go with those of the pod; claims in the pod's own resources stay. */
static bool uses_claims(const struct api_pod_spec *spec) {
    return spec->resource_claims.n;
}

static void drop_claims(struct api_pod_spec *spec) {
    spec->resource_claims = (struct api_pod_resource_claim_list){0};
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        w.c->resources.claims = (struct api_resource_claim_list){0};
}

/* A mount is not taken away but set to what it is without the feature. */
static struct str *proc_mount(const struct container_walk *w) {
    return w->c->security_context ? &w->c->security_context->proc_mount : NULL;
}

static bool uses_proc_mount(const struct api_pod_spec *spec) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        const struct str *mount = proc_mount(&w);
        used |= mount && mount->p && !str_is(*mount, "Default");
    }
    return used;
}

static void drop_proc_mount(struct api_pod_spec *spec) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        struct str *mount = proc_mount(&w);
        if (mount && mount->p)
            *mount = STR("Default");
    }
}

/* Ephemeral containers lose the policy but do not count as users of it. */
static bool uses_resize_policy(const struct api_pod_spec *spec) {
    bool used = false;
    size_t lasting = spec->init_containers.n + spec->containers.n;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        used |= w.next <= lasting && w.c->resize_policy.n;
    return used;
}

static void drop_resize_policy(struct api_pod_spec *spec) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        w.c->resize_policy = (struct api_container_resize_policy_list){0};
}

/* The policy that makes an init container a sidecar is older than the others and stays. */
static bool has_restart_policy(const struct container_walk *w) {
    bool is_sidecar =
        w->next <= w->spec->init_containers.n && str_is(w->c->restart_policy, "Always");
    return w->c->restart_policy.p && !is_sidecar;
}

/* Rules count in init containers alone, policies in all but ephemeral ones. */
static bool uses_restart_rules(const struct api_pod_spec *spec) {
    bool used = false;
    size_t inits = spec->init_containers.n, lasting = inits + spec->containers.n;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        used |= (w.next <= lasting && has_restart_policy(&w)) ||
                (w.next <= inits && w.c->restart_policy_rules.n);
    return used;
}

static void drop_restart_rules(struct api_pod_spec *spec) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        if (has_restart_policy(&w))
            w.c->restart_policy = (struct str){0};
        w.c->restart_policy_rules = (struct api_container_restart_rule_list){0};
    }
}

/* A lifecycle that has become empty goes with its signal. */
static bool has_stop_signal(const struct container_walk *w) {
    return w->c->lifecycle && w->c->lifecycle->stop_signal.p;
}

static bool uses_stop_signals(const struct api_pod_spec *spec) {
    bool used = false;
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);)
        used |= has_stop_signal(&w);
    return used;
}

static void drop_stop_signals(struct api_pod_spec *spec) {
    for (struct container_walk w = CONTAINER_WALK(spec, NULL); valid__walk(&w);) {
        if (!has_stop_signal(&w))
            continue;
        w.c->lifecycle->stop_signal = (struct str){0};
        if (!w.c->lifecycle->post_start && !w.c->lifecycle->pre_stop)
            w.c->lifecycle = NULL;
    }
}

/* Volumes of images go as a whole, with everything that mounts them. */
static bool uses_image_volumes(const struct api_pod_spec *spec) {
    bool used = false;
    for (size_t i = 0; i < spec->volumes.n; i++)
        used |= spec->volumes.v[i].volume_source.image != NULL;
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

static void drop_image_volumes(struct api_pod_spec *spec) {
    if (!uses_image_volumes(spec))
        return;
    struct api_volume_list *volumes = &spec->volumes;
    struct seen images;
    seen_init(&images);
    size_t kept = 0;
    for (size_t i = 0; i < volumes->n; i++)
        if (volumes->v[i].volume_source.image)
            seen_add(&images, volumes->v[i].name);
        else
            volumes->v[kept++] = volumes->v[i];
    volumes->n = kept;
    drop_mounts_of(spec, &images);
    seen_release(&images);
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

/* Of a volume or projection with several sources, which is invalid, the first alone counts. */
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

static bool file_users(const struct api_volume_list *volumes, bool drop) {
    bool used = false;
    for (size_t i = 0; i < volumes->n; i++)
        used |= volume_users(&volumes->v[i].volume_source, drop);
    return used;
}

static bool uses_file_users(const struct api_pod_spec *spec) {
    return file_users(&spec->volumes, false);
}

static void drop_file_users(struct api_pod_spec *spec) {
    file_users(&spec->volumes, true);
}

/* ---- all of them ---- */

static const struct {
    enum feature gate;
    bool (*is_used)(const struct api_pod_spec *spec);
    void (*drop)(struct api_pod_spec *spec);
} features[] = {
    {FEATURE_PodLevelResources, uses_resources, drop_resources},
    {FEATURE_NodeInclusionPolicyInPodTopologySpread, uses_taints_policy, drop_taints_policy},
    {FEATURE_NodeInclusionPolicyInPodTopologySpread, uses_affinity_policy, drop_affinity_policy},
    {FEATURE_DynamicResourceAllocation, uses_claims, drop_claims},
    {FEATURE_ProcMountType, uses_proc_mount, drop_proc_mount},
    {FEATURE_InPlacePodVerticalScaling, uses_resize_policy, drop_resize_policy},
    {FEATURE_ContainerRestartRules, uses_restart_rules, drop_restart_rules},
    {FEATURE_ContainerStopSignals, uses_stop_signals, drop_stop_signals},
    {FEATURE_AtomicWriteVolumeUserFields, uses_file_users, drop_file_users},
    {FEATURE_ImageVolume, uses_image_volumes, drop_image_volumes},
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
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (!feature_enabled(gates, features[i].gate) && !(old && features[i].is_used(old)))
            features[i].drop(spec);
    drop_init_annotations(annotations);
}
