/*
 * Pods counted by node and by domain, kept up to date as pods come and go: what spreading and pod
 * affinity ask for in every cycle.
 *
 * A pod set is "pods that a selector matches in some namespaces", or "pods of one class". A class
 * knows the sets its pods belong to, so placing a pod costs one addition per set, and nothing per
 * selector that does not match it. A tally sums a set by the values of a node label.
 */
#ifndef SCHED_COUNT_INT_H
#define SCHED_COUNT_INT_H

#include "sched/sched_int.h"

/* A new class: finds the sets that its pods belong to. Called before plug-ins compile it. */
void sched__count_join(struct sched *s, struct sched__class *c);

/* The class is about to go. */
void sched__count_leave(struct sched *s, struct sched__class *c);

/* A pod came to a node (delta 1) or left it (-1). */
void sched__count_pod(struct sched *s, const struct sched_pod *p, uint32_t slot, int delta);

/* The columns of nodes have room for `cap` slots now. */
void sched__count_grow(struct sched *s, uint32_t cap);

/* Labels or taints of nodes changed, or there are other nodes: sums by domain are stale. */
void sched__count_nodes_changed(struct sched *s);

/* A namespace came, went or has other labels. */
void sched__count_namespaces_changed(struct sched *s);

/* Frees all sets. */
void sched__count_release(struct sched *s);

#endif
