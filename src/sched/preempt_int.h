/* Preemption: which less important pods would have to go for a pod that fits nowhere. */
#ifndef SCHED_PREEMPT_INT_H
#define SCHED_PREEMPT_INT_H

#include "sched/plugin_int.h"

/* After a cycle in which nothing fitted: finds victims, adds upstream's text to the message, and
 * nominates the node or no longer does. Victims stay where they are until they are deleted. Returns
 * how it ended: well, with a rejection, or with an error. */
enum sched_code sched__preempt(struct sched__cycle *cy, struct sched_result *out);

/* ---- PodDisruptionBudgets (default_preemption_budgets.c) ---- */

/* All budgets, compiled; made again if one of them changed. Valid until the next change. */
struct sched__budgets *sched__budgets_get(struct sched *s);

/* Begins with another node, of which at most so many pods will be asked about: every budget allows
 * again what its status says. */
void sched__budgets_start(struct sched__budgets *x, size_t pods);

/* Would losing this pod, too, break a budget? It counts as lost from now on. */
bool sched__budgets_break(struct sched__budgets *x, const struct sched_pod *pod);

/* Frees s->budgets: all of it, or if it was made before one of them changed; fine if there are
 * none. */
void sched__budgets_release(struct sched *s);
void sched__budgets_sweep(struct sched *s);

#endif
