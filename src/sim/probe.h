/* One pod of a cluster, to be asked about without consequences. */
#ifndef SIM_PROBE_H
#define SIM_PROBE_H

#include "sim/cluster.h"

struct sched;

/* Does the pod take something from others: on its node, or on one that is kept free for it? */
bool sim_probe_matters(const struct api_pod *pod);

/* Tells the scheduler of all objects but the pod, which may be NULL. Other pods that are pending
 * are nowhere and take nothing from anybody: they are left out, unless a node is kept free for
 * them. */
void sim_probe_tell(const struct sim_cluster *c, const struct api_object *pod, struct sched *s);

/* Are pods among them that are pending, because a node is kept free for them? */
bool sim_probe_tells_pending(const struct sim_cluster *c, const struct api_object *pod);

/* The pod as if it had no node yet, and had not been promised the one that it has; the caller owns
 * it. */
struct api_object *sim_probe_pod(const struct api_object *pod);

#endif
