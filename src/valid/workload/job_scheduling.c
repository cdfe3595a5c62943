/*
 * spec.scheduling of a job: how its pods are scheduled and disrupted as a group.
 *
 * Follows k8s.io/kubernetes pkg/apis/batch/validation, func validateGangMinCount,
 * func validateJobScheduling, func validateJobSchedulingUpdate.
 * Follows k8s.io/kubernetes pkg/apis/batch/v1, func Validate_JobSchedulingConfiguration.
 */
#include "valid/workload/workload_int.h"

enum { MOST_TOPOLOGIES = 1, MOST_CLAIMS = 4 };

static const struct json null = {.kind = JSON_NULL};

static const struct api_workload_pod_group_scheduling_policy *
policy_of(const struct api_job_spec *spec) {
    return spec->scheduling ? spec->scheduling->scheduling_policy : NULL;
}

/* ---- what is not declared ---- */

/* A gang cannot be larger than the number of pods that run side by side. */
static void check_gang_size(struct valid *v, const struct path *p,
                            const struct api_job_spec *spec) {
    const struct api_workload_pod_group_scheduling_policy *policy = policy_of(spec);
    int32_t parallelism = spec->parallelism.set ? spec->parallelism.v : 1;
    if (!policy || !policy->gang || !policy->gang->min_count.set)
        return;
    int32_t count = policy->gang->min_count.v;
    if (count > parallelism)
        valid__invalid(v, AT(AT(AT(p, "schedulingPolicy"), "gang"), "minCount"), VALUE_I64(count),
                       "must not be greater than parallelism (%d)", (int)parallelism);
}

/* Pods that are scheduled one by one, which is the default, are not disrupted together. */
static bool is_basic(const struct api_workload_pod_group_scheduling_policy *policy) {
    return !policy || policy->basic || !policy->gang;
}

/* Of two modes, which the union does not allow, the first one counts. */
static bool disrupts_all(const struct api_workload_pod_group_disruption_mode *mode) {
    return mode && mode->all && !mode->single;
}

void valid__job_scheduling(struct valid *v, const struct path *p, const struct api_job_spec *spec) {
    check_gang_size(v, p, spec);
    if (spec->scheduling && is_basic(policy_of(spec)) &&
        disrupts_all(spec->scheduling->disruption_mode))
        valid__invalid(v, AT(p, "disruptionMode"), VALUE_Q(STR("")),
                       "the disruptionMode `all` is not supported with the Basic scheduling "
                       "policy");
}

/* Pods are scheduled one by one or as a gang, for good. */
void valid__job_scheduling_kept(struct valid *v, const struct path *p,
                                const struct api_job_spec *spec, const struct api_job_spec *old) {
    const struct api_workload_pod_group_scheduling_policy *policy = policy_of(spec),
                                                          *was = policy_of(old);
    if (policy && was && !policy->basic != !was->basic)
        valid__invalid(v, AT(p, "schedulingPolicy"), VALUE_JSON(null),
                       "the basic/gang policy variant is immutable after creation; only "
                       "schedulingPolicy.gang.minCount may be updated");
}

/* ---- what is declared ---- */

/* One of two members. */
struct choice {
    const char *names[2];
    bool set[2];
};

/* was is NULL on create; a choice that was made before is not looked at again. */
static void check_choice(struct valid *v, const struct path *p, struct choice now,
                         const struct choice *was) {
    if (was && was->set[0] == now.set[0] && was->set[1] == now.set[1])
        return;
    if (now.set[0] && now.set[1])
        valid__invalid(v, p,
                       VALUE_Q(arena_printf(v->errs->a, "{%s, %s}", now.names[0], now.names[1])),
                       "must specify exactly one of: `%s`, `%s`", now.names[0], now.names[1]);
    if (!now.set[0] && !now.set[1])
        valid__invalid(v, p, VALUE_Q(STR("")), "must specify one of: `%s`, `%s`", now.names[0],
                       now.names[1]);
}

/* Where other rules speak of characters, declared ones speak of bytes. */
static struct str in_bytes(struct arena *a, struct str text) {
    struct str most = STR("must be no more than "), unit = STR(" characters");
    if (!str_starts(text, most) || !str_ends(text, unit))
        return text;
    return arena_printf(a, "%.*s bytes", STR_ARG(str_sub(text, 0, text.n - unit.n)));
}

static void check_name(struct valid *v, const struct path *p, struct str name,
                       struct names_errs errs) {
    for (size_t i = 0; i < errs.n; i++)
        errs.v[i] = in_bytes(v->errs->a, errs.v[i]);
    valid__names(v, p, name, &errs);
}

/* A field that can neither be set nor cleared after creation. True when it is there to be judged
 * further. */
static bool is_still_there(struct valid *v, const struct path *p, bool is_set, bool was_set) {
    if (is_set && !was_set)
        valid__invalid(v, p, VALUE_JSON(null), "field cannot be set once created");
    if (!is_set && was_set)
        valid__invalid(v, p, VALUE_JSON(null), "field cannot be cleared once set");
    return is_set && was_set;
}

static struct choice policy_choice(const struct api_workload_pod_group_scheduling_policy *policy) {
    return (struct choice){{"basic", "gang"}, {policy->basic, policy->gang}};
}

static void check_min_count(struct valid *v, const struct path *p,
                            const struct api_workload_pod_group_gang_scheduling_policy *gang) {
    if (gang->min_count.set && gang->min_count.v < 1)
        valid__invalid(v, AT(p, "minCount"), VALUE_I64(gang->min_count.v),
                       "must be greater than or equal to 1");
}

static void check_policy(struct valid *v, const struct path *p,
                         const struct api_workload_pod_group_scheduling_policy *policy,
                         const struct api_workload_pod_group_scheduling_policy *old) {
    if (old) {
        struct choice was = policy_choice(old);
        check_choice(v, p, policy_choice(policy), &was);
    } else {
        check_choice(v, p, policy_choice(policy), NULL);
    }
    enum api_type_id type = API_T_workload_pod_group_gang_scheduling_policy;
    if (policy->gang && !(old && valid__equal(type, policy->gang, old->gang)))
        check_min_count(v, AT(p, "gang"), policy->gang);
}

static void check_constraints(struct valid *v, const struct path *p,
                              const struct api_workload_pod_group_scheduling_constraints *c) {
    const struct path *at = AT(p, "topology");
    if (c->topology.n > MOST_TOPOLOGIES) {
        valid__too_many(v, at, c->topology.n, MOST_TOPOLOGIES);
        return;
    }
    for (size_t i = 0; i < c->topology.n; i++) {
        const struct path *key = AT(AT_INDEX(at, i), "key");
        if (c->topology.v[i].key.n)
            valid__label_key(v, key, c->topology.v[i].key);
        else
            valid__required(v, key, NO_DETAIL);
    }
}

static void check_claim(struct valid *v, const struct path *p,
                        const struct api_workload_pod_group_resource_claim *claim) {
    struct str by_name = claim->resource_claim_name,
               by_template = claim->resource_claim_template_name;
    check_choice(v, p,
                 (struct choice){{"resourceClaimName", "resourceClaimTemplateName"},
                                 {by_name.p, by_template.p}},
                 NULL);
    if (claim->name.n)
        check_name(v, AT(p, "name"), claim->name, names_check_dns1123_label(claim->name));
    else
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (by_name.p)
        check_name(v, AT(p, "resourceClaimName"), by_name, names_check_dns1123_subdomain(by_name));
    if (by_template.p)
        check_name(v, AT(p, "resourceClaimTemplateName"), by_template,
                   names_check_dns1123_subdomain(by_template));
}

static bool too_many_claims(struct valid *v, const struct path *p,
                            const struct api_workload_pod_group_resource_claim_list *list) {
    if (list->n > MOST_CLAIMS)
        valid__too_many(v, p, list->n, MOST_CLAIMS);
    return list->n > MOST_CLAIMS;
}

static void check_claims(struct valid *v, const struct path *p,
                         const struct api_workload_pod_group_resource_claim_list *list) {
    struct seen names;
    if (too_many_claims(v, p, list))
        return;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&names, list->v[i].name))
            valid__duplicate(v, AT_INDEX(p, i),
                             valid__struct_value(
                                 v->errs->a, API_T_workload_pod_group_resource_claim, &list->v[i]),
                             NO_DETAIL);
    seen_release(&names);
    for (size_t i = 0; i < list->n; i++)
        check_claim(v, AT_INDEX(p, i), &list->v[i]);
}

static void check_new(struct valid *v, const struct path *p,
                      const struct api_job_scheduling_configuration *s) {
    const struct api_workload_pod_group_disruption_mode *mode = s->disruption_mode;
    if (s->scheduling_policy)
        check_policy(v, AT(p, "schedulingPolicy"), s->scheduling_policy, NULL);
    if (s->scheduling_constraints)
        check_constraints(v, AT(p, "schedulingConstraints"), s->scheduling_constraints);
    if (mode)
        check_choice(v, AT(p, "disruptionMode"),
                     (struct choice){{"single", "all"}, {mode->single, mode->all}}, NULL);
    check_claims(v, AT(p, "resourceClaims"), &s->resource_claims);
}

/* Only the size of a gang may change. */
static void check_changed(struct valid *v, const struct path *p,
                          const struct api_job_scheduling_configuration *s,
                          const struct api_job_scheduling_configuration *old) {
    const struct path *policy = AT(p, "schedulingPolicy"), *claims = AT(p, "resourceClaims");
    if (is_still_there(v, policy, s->scheduling_policy, old->scheduling_policy))
        check_policy(v, policy, s->scheduling_policy, old->scheduling_policy);
    if (!valid__equal(API_T_workload_pod_group_scheduling_constraints, s->scheduling_constraints,
                      old->scheduling_constraints))
        valid__immutable(v, AT(p, "schedulingConstraints"), VALUE_JSON(null));
    if (!valid__equal(API_T_workload_pod_group_disruption_mode, s->disruption_mode,
                      old->disruption_mode))
        valid__immutable(v, AT(p, "disruptionMode"), VALUE_JSON(null));
    if (!valid__equal_lists(API_T_workload_pod_group_resource_claim, &s->resource_claims,
                            &old->resource_claims)) {
        valid__immutable(v, claims, VALUE_JSON(null));
        too_many_claims(v, claims, &s->resource_claims);
    }
}

static void declared_scheduling(struct valid *v, const struct path *p,
                                const struct api_job_spec *spec, const struct api_job_spec *old) {
    const struct api_job_scheduling_configuration *s = spec->scheduling,
                                                  *was = old ? old->scheduling : NULL;
    if (valid__equal(API_T_job_scheduling_configuration, s, was))
        return;
    bool is_off = s && !feature_enabled(v->gates, FEATURE_WorkloadWithJob);
    if (is_off)
        valid__forbidden(v, p, NO_DETAIL);
    if (old && is_still_there(v, p, s, was) && !is_off)
        check_changed(v, p, s, was);
    if (!old && s && !is_off)
        check_new(v, p, s);
}

void valid__declared_job_spec(struct valid *v, const struct path *p,
                              const struct api_job_spec *spec, const struct api_job_spec *old) {
    valid__declared_pod_spec(v, AT(AT(p, "template"), "spec"), &spec->template.spec,
                             old ? &old->template.spec : NULL);
    declared_scheduling(v, AT(p, "scheduling"), spec, old);
}
