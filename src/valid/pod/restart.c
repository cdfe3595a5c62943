/*
 * When a container is started again: after it ends (restartPolicy and its rules), and when its
 * resources are resized. Where the gate for rules is off they are gone before validation, unless
 * the old object has some, so nothing here asks for it.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateContainerRestartPolicy,
 * func validateResizePolicy.
 */
#include "valid/pod/container_int.h"

/* ---- resizing ---- */

void valid__resize_policy(const struct pod_view *pod, const struct path *p,
                          const struct api_container *c) {
    static const char *const resources[] = {"cpu", "memory", NULL};
    static const char *const policies[] = {"NotRequired", "RestartContainer", NULL};
    struct valid *v = pod->v;
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < c->resize_policy.n; i++) {
        const struct api_container_resize_policy *r = &c->resize_policy.v[i];
        if (!seen_add(&seen, r->resource_name))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_NAMED(r->resource_name), NO_DETAIL);
        valid__choice(v, p, r->resource_name, resources);
        valid__choice(v, p, r->restart_policy, policies);
        if (str_is(pod->spec->restart_policy, "Never") && !str_is(r->restart_policy, "NotRequired"))
            valid__invalid(v, p, VALUE_NAMED(r->restart_policy),
                           "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
    seen_release(&seen);
}

/* ---- what the gates, or the object as it was, allow ---- */

static bool restarts_all(const struct api_container *c) {
    for (size_t i = 0; i < c->restart_policy_rules.n; i++)
        if (str_is(c->restart_policy_rules.v[i].action, "RestartAllContainers"))
            return true;
    return false;
}

bool valid__had_restart_all(const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->containers.n; i++)
        if (restarts_all(&old->containers.v[i]))
            return true;
    for (size_t i = 0; i < old->init_containers.n; i++) {
        const struct api_container *c = &old->init_containers.v[i];
        if (restarts_all(c) || (str_is(c->restart_policy, "Always") && c->restart_policy_rules.n))
            return true;
    }
    return false;
}

static bool allows_restart_all(const struct pod_view *pod) {
    return feature_enabled(pod->v->gates, FEATURE_RestartAllContainersOnContainerExits) ||
           pod->had.restart_all;
}

/* ---- policies ---- */

static void check_exit_codes(struct valid *v, const struct path *p,
                             const struct api_container_restart_rule_on_exit_codes *codes) {
    static const char *const operators[] = {"In", "NotIn", NULL};
    enum { MOST = 255 };
    if (!codes) {
        valid__required(v, p, "must be specified");
        return;
    }
    if (!valid__one_of(codes->operator, operators))
        valid__not_supported(v, AT(p, "operator"), VALUE_NAMED(codes->operator), operators);
    if (codes->values.n > MOST)
        valid__too_many(v, AT(p, "values"), codes->values.n, MOST);
}

static void check_rules(const struct pod_view *pod, const struct path *p,
                        const struct api_container_restart_rule_list *rules) {
    static const char *const actions[] = {"Restart", NULL};
    static const char *const all_actions[] = {"Restart", "RestartAllContainers", NULL};
    enum { MOST = 20 };
    struct valid *v = pod->v;
    if (rules->n > MOST)
        valid__too_many(v, p, rules->n, MOST);
    const char *const *allowed = rules->n && allows_restart_all(pod) ? all_actions : actions;
    for (size_t i = 0; i < rules->n; i++) {
        const struct path *here = AT_INDEX(p, i);
        if (!valid__one_of(rules->v[i].action, allowed))
            valid__not_supported(v, AT(here, "action"), VALUE_NAMED(rules->v[i].action), allowed);
        check_exit_codes(v, AT(here, "exitCodes"), rules->v[i].exit_codes);
    }
}

void valid__restart_policy(const struct pod_view *pod, const struct path *p,
                           const struct api_container *c) {
    static const char *const policies[] = {"Always", "Never", "OnFailure", NULL};
    const struct path *here = AT(p, "restartPolicy");
    if (c->restart_policy.p && !valid__one_of(c->restart_policy, policies))
        valid__not_supported(pod->v, here, VALUE_NAMED(c->restart_policy), policies);
    if (!c->restart_policy_rules.n)
        return;
    if (!c->restart_policy.p)
        valid__required(pod->v, here, "must specify restartPolicy when restart rules are used");
    check_rules(pod, AT(p, "restartPolicyRules"), &c->restart_policy_rules);
}

/* Those that are restarted always are sidecars, for which rules came later. */
void valid__init_restart_policy(const struct pod_view *pod, const struct path *p,
                                const struct api_container *c) {
    bool has_rules = c->restart_policy_rules.n;
    if (!c->restart_policy.p && has_rules)
        valid__required(pod->v, AT(p, "restartPolicy"),
                        "must specify restartPolicy when restart rules are used");
    else if (has_rules && str_is(c->restart_policy, "Always") && !allows_restart_all(pod))
        valid__forbidden(
            pod->v, AT(p, "restartPolicyRules"),
            "restartPolicyRules are not allowed for init containers with restart policy Always");
    else
        valid__restart_policy(pod, p, c);
}
