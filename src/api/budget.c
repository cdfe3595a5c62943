/*
 * Conditions of PodDisruptionBudgets.
 *
 * Follows k8s.io/component-helpers apps/poddisruptionbudget, func UpdateDisruptionAllowedCondition.
 * Follows k8s.io/apimachinery pkg/api/meta, func SetStatusCondition.
 */
#include "api/budget.h"

struct api_condition api_budget_condition(const struct api_pod_disruption_budget_status *s,
                                          struct api_time now) {
    bool allowed = s->disruptions_allowed > 0;
    return (struct api_condition){
        .type = STR("DisruptionAllowed"),
        .status = allowed ? STR("True") : STR("False"),
        .observed_generation = s->observed_generation,
        .last_transition_time = now,
        .reason = allowed ? STR("SufficientPods") : STR("InsufficientPods"),
    };
}

void api_conditions_set(struct arena *a, struct api_condition_list *list, struct api_condition c) {
    struct api_condition_list old = *list;
    *list = (struct api_condition_list){arena_array(a, struct api_condition, old.n + 1), 0};
    bool is_there = false;
    for (size_t i = 0; i < old.n; i++) {
        bool is_same = str_eq(old.v[i].type, c.type);
        if (is_same && str_eq(old.v[i].status, c.status))
            c.last_transition_time = old.v[i].last_transition_time;
        list->v[list->n++] = is_same ? c : old.v[i];
        is_there = is_there || is_same;
    }
    if (!is_there)
        list->v[list->n++] = c;
}
