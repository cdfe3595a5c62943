/* Preemption: which less important pods would have to go for a pod that fits nowhere. */
#ifndef SCHED_PREEMPT_INT_H
#define SCHED_PREEMPT_INT_H

#include "sched/plugin_int.h"

/* After a cycle in which nothing fitted: finds victims, adds upstream's text to the message, and
 * nominates the node or no longer does. Victims stay where they are until they are deleted. Returns
 * how it ended: well, with a rejection, or with an error. */
enum sched_code sched__preempt(struct sched__cycle *cy, struct sched_result *out);

#endif
