/*
 * Which rules apply to a pod spec: what the gates allow, and what the object that it replaces has
 * already, because an update must not fail over what it does not touch.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func GetValidationOptionsFromPodSpecAndMeta.
 */
#include "valid/pod/pod_int.h"

/* Runs rules over the old spec only to see whether they find fault with it. */
struct trial {
    struct arena arena;
    struct valid_errs errs;
    struct valid v;
};

static struct valid *begin(struct trial *t, const struct feature_set *gates) {
    *t = (struct trial){.arena = {0}};
    t->errs = VALID_ERRS_INIT(&t->arena);
    t->v = (struct valid){.errs = &t->errs, .gates = gates};
    return &t->v;
}

static bool failed(struct trial *t) {
    bool any = t->errs.found > 0;
    arena_release(&t->arena);
    return any;
}

static bool has_bad_affinity_selector(const struct feature_set *gates,
                                      const struct api_pod_spec *old) {
    struct trial t;
    valid__affinity_selectors(begin(&t, gates), old->affinity);
    return failed(&t);
}

static bool has_bad_spread_selector(const struct feature_set *gates,
                                    const struct api_pod_spec *old) {
    struct trial t;
    valid__spread_selectors(begin(&t, gates), old);
    return failed(&t);
}

static bool has_bad_spread_keys(const struct feature_set *gates, const struct api_pod_spec *old,
                                bool legacy) {
    struct trial t;
    valid__spread_keys(begin(&t, gates), old, legacy);
    return failed(&t);
}

/* The keys of an old pod keep the rule that they satisfy. */
static bool spread_keys_legacy(const struct feature_set *gates, const struct api_pod_spec *old) {
    if (!feature_enabled(gates, FEATURE_MatchLabelKeysInPodTopologySpread))
        return true;
    if (feature_enabled(gates, FEATURE_MatchLabelKeysInPodTopologySpreadSelectorMerge))
        return old && has_bad_spread_keys(gates, old, false);
    return !old || !has_bad_spread_keys(gates, old, true);
}

static bool has_host_sysctl(const struct api_pod_spec *old) {
    const struct api_pod_security_context *context = old->security_context;
    for (size_t i = 0; context && i < context->sysctls.n; i++)
        if (valid__host_sysctl(context->sysctls.v[i].name, old))
            return true;
    return false;
}

static bool has_volume_device(const struct api_pod_spec *old) {
    for (struct container_walk w = CONTAINER_WALK(old, NULL); valid__walk(&w);)
        if (w.c->volume_devices.n)
            return true;
    return false;
}

static void allow_tolerations_of(struct pod_rules *rules, const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->tolerations.n; i++) {
        const struct api_toleration *t = &old->tolerations.v[i];
        rules->comparison_operators |= valid__is_comparison(t->operator);
        rules->semver_operators |= valid__is_semver(t->operator);
        rules->expressions |= t->expression.n > 0;
    }
}

static void allow_what_is_in(struct pod_rules *rules, const struct feature_set *gates,
                             const struct api_pod_spec *old) {
    bool user_namespace = old->host_users.set && !old->host_users.v;
    const struct api_affinity *affinity = old->affinity;
    allow_tolerations_of(rules, old);
    rules->semver_operators |= valid__affinity_uses_semver(affinity);
    rules->invalid_label_values = affinity && affinity->node_affinity &&
                                  valid__has_invalid_values(affinity->node_affinity->required);
    rules->invalid_selectors = has_bad_affinity_selector(gates, old);
    rules->invalid_spread_selectors = has_bad_spread_selector(gates, old);
    rules->host_sysctls = has_host_sysctl(old);
    rules->host_network_users |= user_namespace && old->host_network;
    rules->volume_devices_users = user_namespace && has_volume_device(old);
    rules->any_selinux_change_policy |=
        old->security_context && old->security_context->se_linux_change_policy.p;
}

struct pod_rules valid__pod_rules(const struct feature_set *gates, const struct api_pod_spec *old,
                                  const struct api_object_meta *old_meta) {
    struct pod_rules rules = {
        .comparison_operators = feature_enabled(gates, FEATURE_TaintTolerationComparisonOperators),
        .semver_operators = feature_enabled(gates, FEATURE_TolerationAffinitySemverOperators),
        .expressions = feature_enabled(gates, FEATURE_TaintTolerationCEL),
        .spread_keys_legacy = spread_keys_legacy(gates, old),
        .host_network_users = feature_enabled(gates, FEATURE_UserNamespacesHostNetworkSupport),
        .any_selinux_change_policy = feature_enabled(gates, FEATURE_SELinuxMount),
        .invalid_deletion_cost = !feature_enabled(gates, FEATURE_PodDeletionCost),
        .old = old,
    };
    if (old)
        allow_what_is_in(&rules, gates, old);
    if (old_meta && !valid__deletion_cost_is_good(&old_meta->annotations))
        rules.invalid_deletion_cost = true;
    return rules;
}
