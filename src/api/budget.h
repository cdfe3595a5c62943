/* What the status of a PodDisruptionBudget says, whoever writes it. */
#ifndef API_BUDGET_H
#define API_BUDGET_H

#include "api/types.h"
#include "base/arena.h"

/* Whether pods may be disrupted, by the figures of the status, as its condition at `now`. */
struct api_condition api_budget_condition(const struct api_pod_disruption_budget_status *s,
                                          struct api_time now);

/* Puts a condition in the place of the one of its type, or behind all others; one that says the
 * same as before keeps its time. The list is made anew in the arena, texts are stored. */
void api_conditions_set(struct arena *a, struct api_condition_list *list, struct api_condition c);

#endif
