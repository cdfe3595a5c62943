/* What a PodDisruptionBudget allows: figures of pods, and the status that follows. */
#ifndef MANAGER_DISRUPTION_INT_H
#define MANAGER_DISRUPTION_INT_H

#include "manager/adoption_int.h"

/* A number, or a percentage of the total, rounded up. */
int32_t disruption__resolve(const struct api_int_or_str *x, int32_t total);

/* Those of the pods that were to be deleted, by the status, and may still be. Lists live in the
 * arena. */
struct disruption__disrupted {
    struct api_times pods;
    struct manager__objects late; /* they should have been deleted by now */
    int64_t recheck;              /* in nanoseconds the first is late; 0: there is none */
};
void disruption__disrupted(struct arena *a, const struct api_pod_disruption_budget *pdb,
                           const struct manager__objects *pods, int64_t now,
                           struct disruption__disrupted *out);

/* How many are ready and not about to be deleted. */
int32_t disruption__count_healthy(const struct manager__objects *pods,
                                  const struct api_times *disrupted);

/* The status that follows from figures; false: the object has it. Lists live in the arena. */
bool disruption__status(struct arena *a, const struct api_object *o,
                        const struct api_pod_disruption_budget_status *figures, int64_t now,
                        struct api_pod_disruption_budget_status *out);

/* The status when the figures cannot be known, for this reason; false: the object has it. */
bool disruption__fail_safe(struct arena *a, const struct api_object *o, struct str why, int64_t now,
                           struct api_pod_disruption_budget_status *out);

/* A label selector as upstream's texts show it, in the arena. */
struct str disruption__selector_text(struct arena *a, const struct api_label_selector *selector);

#endif
