/* What the node-lifecycle controller decides about a node, without its loop. */
#ifndef MANAGER_NODE_TAINTS_INT_H
#define MANAGER_NODE_TAINTS_INT_H

#include "api/object.h"

/* The status of the condition Ready. */
enum manager__readiness {
    MANAGER__NEVER_SAID, /* there is no such condition */
    MANAGER__READY,
    MANAGER__NOT_READY,
    MANAGER__UNREACHABLE, /* Unknown */
};

/* What the node says. */
enum manager__readiness manager__readiness_of(const struct api_node *node);

/* Which of its own NoExecute taints the controller wants a node to have. */
enum manager__execute {
    MANAGER__AS_IT_IS,
    MANAGER__EXECUTE_NONE,
    MANAGER__EXECUTE_NOT_READY,
    MANAGER__EXECUTE_UNREACHABLE,
};

/* Does the node have that NoExecute taint? */
bool manager__has_execute(const struct api_node *node, enum manager__execute which);

/* The taints that the node is to have: those of others, those that its conditions ask for, and the
 * NoExecute taint. True when they are not those that it has; then they are in *out, in the arena,
 * and new ones are of the time `now`, in nanoseconds. */
bool manager__wanted_taints(struct arena *a, const struct api_node *node,
                            enum manager__execute execute, int64_t now, struct api_taint_list *out);

/* The labels of old names that follow those of new names. True when one is not as it should be;
 * then *labels has it, in the arena. */
bool manager__wanted_labels(struct arena *a, struct labels *labels);

/* All conditions of the kubelet become Unknown in *status. True when Ready was not. */
bool manager__mark_unknown(struct arena *a, const struct api_object *node, int64_t now,
                           struct api_node_status *status);

/* ---- zones ---- */

enum manager__zone_state { MANAGER__NORMAL, MANAGER__PARTIAL_DISRUPTION, MANAGER__FULL_DISRUPTION };

/* The state of a zone with so many nodes. */
enum manager__zone_state manager__zone_state(size_t ready, size_t not_ready);

/* How long after one node the next one in such a zone may be given a NoExecute taint, in
 * nanoseconds; INT64_MAX: never. */
int64_t manager__zone_pause(enum manager__zone_state state, size_t nodes);

/* The name of a node's zone, in the arena; empty when it is in none. */
struct str manager__zone_of(struct arena *a, const struct labels *labels);

#endif
