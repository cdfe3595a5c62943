/*
 * How much more fits behind a placement: pods like one that is there, and nodes like a template
 * until nothing waits any more. Nothing is preempted for what is merely asked about.
 */
#ifndef SIM_HEADROOM_H
#define SIM_HEADROOM_H

#include "sim/placement.h"

struct sim_headroom {
    size_t count;       /* pods that found a node, or nodes that were added */
    size_t waiting;     /* for more nodes: pods that still wait */
    bool is_limited;    /* there may be more, but counting ended at a limit of ours */
    struct str message; /* why there are no more, in the scheduler's words; in the arena */
};

/*
 * Places pods like the model, one after the other, until one fits nowhere, or LIMIT_FITTING_PODS
 * are placed. Pods that the placement left without a node are taken out first, and the new ones
 * stay: nothing more can be asked of the scheduler afterwards. The message lives in the arena.
 */
void sim_headroom_pods(struct sim_placement *p, const struct api_object *model, struct arena *a,
                       struct sim_headroom *out);

/*
 * Adds nodes like the template and goes on with the placement, until no pod waits for a node, a
 * further node places nobody, or LIMIT_ADDED_NODES are there. Of a large gap, by what pods ask for,
 * half is filled at once; the rest comes one by one. Pods that no node can help (gated, ignored) do
 * not count as waiting.
 */
void sim_headroom_nodes(struct sim_placement *p, const struct api_object *template, struct arena *a,
                        struct sim_headroom *out);

#endif
