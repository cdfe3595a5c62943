/* What the pods of a cluster ask of its nodes, before a placement and after it. */
#ifndef SIM_USAGE_H
#define SIM_USAGE_H

#include "sim/placement.h"

enum sim_usage_time { SIM_BEFORE, SIM_AFTER };

/* One resource of one node: thousandths of cpu, units of everything else. */
struct sim_usage_cell {
    int64_t allocatable;
    int64_t requested[2]; /* by enum sim_usage_time */
};

struct sim_usage {
    struct arena arena;
    struct map by_resource;    /* place in resources + 1 */
    struct map by_node;        /* place in nodes + 1 */
    struct map left;           /* pods that had a node and lost it, by the place of the object */
    VEC(struct str) resources; /* pods, cpu, memory, then those that some pod asks for, in order */
    VEC(const struct api_object *) nodes; /* borrowed from the cluster, in the order of the input */
    struct sim_usage_cell *cells;         /* resources.n of each node, one node after the other */
    struct sim_usage_cell *sums;          /* of all nodes, for each resource */
};

/* An amount in these units. */
int64_t sim_usage_amount(const struct api_quantity *q);

/* Adds it all up. The placement is stored until sim_usage_release. */
void sim_usage_init(struct sim_usage *u, const struct sim_placement *p);
void sim_usage_release(struct sim_usage *u);

#endif
