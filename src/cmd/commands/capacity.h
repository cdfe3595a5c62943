/* Questions behind a placement: how many more replicas fit, and how many nodes are missing. */
#ifndef CMD_COMMANDS_CAPACITY_H
#define CMD_COMMANDS_CAPACITY_H

#include "cmd/commands/scene.h"
#include "sim/placement.h"

/* Answers how many nodes like the one in `file` are needed until no pod waits, in a line for
 * people. The placement goes on with them. Fails when the file does not hold one node that can be
 * used. */
int capacity_add_nodes(struct cmd_call *call, const struct scene *scene,
                       const struct opt_list *file, struct sim_placement *p, struct buf *answer,
                       struct err *err);

/* Answers how many replicas of the target (deployment/web, pod/x) fit, in a line for people. See
 * sim_headroom_pods for what becomes of the scheduler. Fails when there is no such target, or none
 * of which more can be made. */
int capacity_count_replicas(struct sim_placement *p, struct str target, struct str namespace,
                            struct buf *answer, struct err *err);

#endif
