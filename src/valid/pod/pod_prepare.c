/*
 * What happens to a pod between its arrival and its validation: status is the server's, fields
 * behind gates that are off disappear, matchLabelKeys become requirements of selectors, resources
 * of the pod follow from those of its containers.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStrategy) PrepareForCreate,
 * func (podStrategy) PrepareForUpdate, func applyMatchLabelKeysAndMismatchLabelKeys.
 */
#include "valid/pod/pod_int.h"

/* ---- matchLabelKeys and mismatchLabelKeys ---- */

struct merge {
    struct arena *a;
    const struct labels *labels; /* of the pod */
};

/* Appends a requirement for every key that the pod has a label for. */
static void merge_keys(const struct merge *m, struct api_label_selector *selector,
                       const struct api_strs *keys, struct str operator) {
    struct api_label_selector_requirement_list *list = &selector->match_expressions;
    struct api_label_selector_requirement *grown =
        arena_array(m->a, struct api_label_selector_requirement, list->n + keys->n);
    size_t n = list->n;
    for (size_t i = 0; i < n; i++)
        grown[i] = list->v[i];
    for (size_t i = 0; i < keys->n; i++) {
        const struct label *label = labels_find(m->labels, keys->v[i]);
        if (!label)
            continue;
        struct str *value = arena_new(m->a, struct str);
        *value = label->value;
        grown[n++] = (struct api_label_selector_requirement){
            .key = keys->v[i], .operator= operator, .values = {value, 1} };
    }
    if (n > list->n)
        *list = (struct api_label_selector_requirement_list){grown, n};
}

/* No selector selects nothing, and nothing can be added to that. */
static void merge_term(const struct merge *m, struct api_pod_affinity_term *term) {
    if (!term->label_selector)
        return;
    if (term->match_label_keys.n)
        merge_keys(m, term->label_selector, &term->match_label_keys, STR("In"));
    if (term->mismatch_label_keys.n)
        merge_keys(m, term->label_selector, &term->mismatch_label_keys, STR("NotIn"));
}

static void merge_terms(const struct merge *m, const struct api_pod_affinity_term_list *required,
                        const struct api_weighted_pod_affinity_term_list *preferred) {
    for (size_t i = 0; i < preferred->n; i++)
        merge_term(m, &preferred->v[i].pod_affinity_term);
    for (size_t i = 0; i < required->n; i++)
        merge_term(m, &required->v[i]);
}

static void merge_affinity(const struct merge *m, const struct api_affinity *a) {
    if (a && a->pod_affinity)
        merge_terms(m, &a->pod_affinity->required, &a->pod_affinity->preferred);
    if (a && a->pod_anti_affinity)
        merge_terms(m, &a->pod_anti_affinity->required, &a->pod_anti_affinity->preferred);
}

static void merge_spread(const struct merge *m,
                         const struct api_topology_spread_constraint_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        struct api_topology_spread_constraint *c = &list->v[i];
        if (c->label_selector && c->match_label_keys.n)
            merge_keys(m, c->label_selector, &c->match_label_keys, STR("In"));
    }
}

static void merge_label_keys(struct api_object *o, const struct feature_set *gates) {
    struct api_pod *pod = api_own_body(o);
    const struct merge m = {&o->arena, &pod->metadata.labels};
    if (feature_enabled(gates, FEATURE_MatchLabelKeysInPodAffinity))
        merge_affinity(&m, pod->spec.affinity);
    if (feature_enabled(gates, FEATURE_MatchLabelKeysInPodTopologySpread) &&
        feature_enabled(gates, FEATURE_MatchLabelKeysInPodTopologySpreadSelectorMerge))
        merge_spread(&m, &pod->spec.topology_spread_constraints);
}

/* ---- status ---- */

static struct api_pod_condition_list gated_condition(struct arena *a, struct api_time now) {
    struct api_pod_condition *c = arena_new(a, struct api_pod_condition);
    c->type = STR("PodScheduled");
    c->status = STR("False");
    c->reason = STR("SchedulingGated");
    c->message = STR("Scheduling is blocked due to non-empty scheduling gates");
    c->last_transition_time = now;
    return (struct api_pod_condition_list){c, 1};
}

static void reset_status(struct api_object *o, const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o);
    pod->status = (struct api_pod_status){.phase = STR("Pending")};
    if (pod->spec.scheduling_gates.n)
        pod->status.conditions = gated_condition(&o->arena, opts->now);
    pod->status.qos_class = valid__qos_class(&pod->spec, opts->gates);
}

/* ---- both steps ---- */

void valid__pod_prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o);
    valid__drop_disabled(&pod->spec, &pod->metadata.annotations, NULL, opts->gates);
    merge_label_keys(o, opts->gates);
    valid__app_armor_from_annotations(&o->arena, &pod->metadata.annotations, &pod->spec,
                                      opts->warnings);
    valid__default_pod_resources(&o->arena, &pod->spec, true, opts->gates);
    reset_status(o, opts);
}

/* Clients that do not know resources of pods leave them out when they write a pod back. */
static void keep_resources(struct api_object *o, const struct api_pod *old) {
    struct api_pod *pod = api_own_body(o);
    if (pod->spec.resources || !old->spec.resources)
        return;
    pod->spec.resources = arena_new(&o->arena, struct api_resource_requirements);
    api_struct_copy(&o->arena, &api_types[API_T_resource_requirements], old->spec.resources,
                    pod->spec.resources);
}

void valid__pod_prepare_update(struct api_object *o, const struct api_object *old,
                               const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o);
    const struct api_pod *was = old->body;
    valid__default_pod_resources(&o->arena, &pod->spec, false, opts->gates);
    if (feature_enabled(opts->gates, FEATURE_PodLevelResourcesFixDefaulting))
        keep_resources(o, was);
    valid__drop_disabled(&pod->spec, &pod->metadata.annotations, &was->spec, opts->gates);
}
