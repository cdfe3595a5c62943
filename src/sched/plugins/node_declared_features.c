/*
 * NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodedeclaredfeatures,
 * func (*NodeDeclaredFeatures) PreFilter, func (*NodeDeclaredFeatures) Filter.
 * Follows k8s.io/component-helpers nodedeclaredfeatures, func (*Framework) InferForPodScheduling.
 */
#include "api/object.h"
#include "sched/findings_int.h"

/* ---- what pods need ---- */

typedef bool needs_fn(const struct api_container *c);

static bool any_container(const struct api_pod_spec *spec, needs_fn *needs) {
    for (size_t i = 0; i < spec->containers.n; i++)
        if (needs(&spec->containers.v[i]))
            return true;
    for (size_t i = 0; i < spec->init_containers.n; i++)
        if (needs(&spec->init_containers.v[i]))
            return true;
    return false;
}

static bool restarts_all(const struct api_container *c) {
    for (size_t i = 0; i < c->restart_policy_rules.n; i++)
        if (str_is(c->restart_policy_rules.v[i].action, "RestartAllContainers"))
            return true;
    return false;
}

static bool needs_restart_all(const struct api_pod_spec *spec) {
    return any_container(spec, restarts_all);
}

static bool needs_user_namespace_on_host_network(const struct api_pod_spec *spec) {
    return spec->host_network && spec->host_users.set && !spec->host_users.v;
}

static bool mounts_with_options(const struct api_container *c) {
    for (size_t i = 0; i < c->volume_mounts.n; i++)
        if (c->volume_mounts.v[i].bind_mount_options.n)
            return true;
    return false;
}

static bool needs_mount_options(const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        if (mounts_with_options(&spec->ephemeral_containers.v[i].container))
            return true;
    return any_container(spec, mounts_with_options);
}

static const struct {
    struct str name;
    bool (*needs)(const struct api_pod_spec *spec);
} features[] = {
    {STR_INIT("RestartAllContainersOnContainerExits"), needs_restart_all},
    {STR_INIT("UserNamespacesHostNetworkSupport"), needs_user_namespace_on_host_network},
    {STR_INIT("VolumeBindMountOptions"), needs_mount_options},
};

enum { FEATURES = sizeof features / sizeof *features };

unsigned sched__features_needed(const struct api_pod_spec *spec) {
    unsigned mask = 0;
    for (unsigned i = 0; i < FEATURES; i++)
        if (features[i].needs(spec))
            mask |= 1U << i;
    return mask;
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    unsigned mask = sched__features_needed(&c->pod->spec);
    if (!mask || !feature_enabled(&s->gates, FEATURE_NodeDeclaredFeatures))
        return NULL;
    unsigned *needed = arena_new(&c->arena, unsigned);
    *needed = mask;
    return needed;
}

/* ---- what nodes declare ---- */

/* Nodes declare features in order; of a list in disorder upstream finds what comes before anything
 * greater. */
static bool declares(const struct api_node *node, struct str feature) {
    const struct api_strs *list = &node->status.declared_features;
    size_t i = 0;
    while (i < list->n && str_cmp(list->v[i], feature) < 0)
        i++;
    return i < list->n && str_eq(list->v[i], feature);
}

/* The first feature that the node lacks; FEATURES: none. */
static unsigned find_missing(const struct sched__cycle *cy, uint32_t slot) {
    const unsigned *needed = cy->cls->data[SCHED_DECLARED_FEATURES];
    const struct api_node *node = cy->s->nodes.v[slot].object->body;
    unsigned i = 0;
    while (i < FEATURES && (!(*needed >> i & 1) || declares(node, features[i].name)))
        i++;
    return i;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && find_missing(cy, i) < FEATURES)
            cy->verdict[i] = SCHED__REASON_DECLARED_FEATURES;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    struct str name = features[find_missing(cy, slot)].name;
    sched__finding_start(out, SCHED_FINDING_FEATURE, sched__field(SCHED_FIELD_NONE));
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(STR("status.declaredFeatures")));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__text(name));
}

/* It runs behind the plug-ins that look at all nodes, so it is one of them. */
static void pre_filter(struct sched__cycle *cy) {
    cy->data[SCHED_DECLARED_FEATURES] = cy->cls->data[SCHED_DECLARED_FEATURES];
}

const struct sched__plugin sched__node_declared_features = {
    .scope = SCHED__SCOPE_CLUSTER,
    .compile = compile,
    .pre_filter = pre_filter,
    .filter = filter,
    .explain = explain,
    .events = SCHED__NODE_ADD | SCHED__NODE_FEATURES,
};
