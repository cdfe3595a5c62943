/*
 * What a Job's policies say of failed pods and of indexes that have succeeded.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func matchPodFailurePolicy, func
 * matchSuccessPolicy.
 */
#include "manager/batch/job_int.h"

/* ---- podFailurePolicy ---- */

static bool has_code(const struct api_i32s *list, int32_t code) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == code)
            return true;
    return false;
}

static bool is_code_meant(const struct api_pod_failure_policy_on_exit_codes_requirement *r,
                          int32_t code) {
    if (str_is(r->operator, "In"))
        return has_code(&r->values, code);
    return str_is(r->operator, "NotIn") && !has_code(&r->values, code);
}

static const struct api_container_status *
find_container(const struct api_container_status_list *list,
               const struct api_pod_failure_policy_on_exit_codes_requirement *r) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container_state_terminated *t = list->v[i].state.terminated;
        if (t && t->exit_code != 0 &&
            (!r->container_name.p || str_eq(r->container_name, list->v[i].name)) &&
            is_code_meant(r, t->exit_code))
            return &list->v[i];
    }
    return NULL;
}

static const struct api_pod_condition *
find_condition(const struct api_pod_condition_list *list,
               const struct api_pod_failure_policy_on_pod_conditions_pattern_list *patterns) {
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < patterns->n; k++)
            if (str_eq(list->v[i].type, patterns->v[k].type) &&
                str_eq(list->v[i].status, patterns->v[k].status))
                return &list->v[i];
    return NULL;
}

static enum job__action action_of(struct str text) {
    static const char *const names[] = {
        [JOB__IGNORE] = "Ignore",
        [JOB__COUNT] = "Count",
        [JOB__FAIL_INDEX] = "FailIndex",
        [JOB__FAIL_JOB] = "FailJob",
    };
    for (int i = JOB__IGNORE; i <= JOB__FAIL_JOB; i++)
        if (str_is(text, names[i]))
            return (enum job__action)i;
    return JOB__NO_RULE;
}

/* Does the pod match the rule at this place? Then *why is what is said of a Job that fails. */
static bool match_rule(struct arena *a, const struct api_pod_failure_policy_rule *rule,
                       size_t place, const struct api_object *pod, struct str *why) {
    const struct api_pod_status *status = &((const struct api_pod *)pod->body)->status;
    struct str namespace = pod->meta->namespace, name = pod->meta->name;
    if (rule->on_exit_codes) {
        const struct api_container_status *c =
            find_container(&status->container_statuses, rule->on_exit_codes);
        if (!c)
            c = find_container(&status->init_container_statuses, rule->on_exit_codes);
        if (c)
            *why = arena_printf(a,
                                "Container %.*s for pod %.*s/%.*s failed with exit code %d "
                                "matching %.*s rule at index %zu",
                                STR_ARG(c->name), STR_ARG(namespace), STR_ARG(name),
                                (int)c->state.terminated->exit_code, STR_ARG(rule->action), place);
        return c;
    }
    const struct api_pod_condition *c =
        find_condition(&status->conditions, &rule->on_pod_conditions);
    if (c)
        *why = arena_printf(a, "Pod %.*s/%.*s has condition %.*s matching %.*s rule at index %zu",
                            STR_ARG(namespace), STR_ARG(name), STR_ARG(c->type),
                            STR_ARG(rule->action), place);
    return c;
}

enum job__action job__match_failure_policy(struct arena *a, const struct api_pod_failure_policy *p,
                                           const struct api_object *pod, struct str *why) {
    for (size_t i = 0; p && i < p->rules.n; i++) {
        enum job__action action = action_of(p->rules.v[i].action);
        if (action && match_rule(a, &p->rules.v[i], i, pod, why))
            return action;
    }
    return JOB__NO_RULE;
}

/* ---- successPolicy ---- */

static bool is_met(struct arena *a, const struct api_success_policy_rule *rule, int32_t completions,
                   const struct job__indexes *succeeded) {
    struct api_opt_i32 count = rule->succeeded_count;
    if (!rule->succeeded_indexes.p)
        return count.set && job__indexes_total(succeeded) >= count.v;
    struct job__indexes meant = job__indexes_parse(a, rule->succeeded_indexes, completions);
    int64_t common = job__indexes_common(&meant, succeeded);
    return meant.n && (common == job__indexes_total(&meant) || (count.set && common >= count.v));
}

int64_t job__match_success_policy(struct arena *a, const struct api_success_policy *p,
                                  int32_t completions, const struct job__indexes *succeeded) {
    for (size_t i = 0; p && succeeded->n && i < p->rules.n; i++)
        if (is_met(a, &p->rules.v[i], completions, succeeded))
            return (int64_t)i;
    return -1;
}
