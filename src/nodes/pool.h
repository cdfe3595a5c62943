/*
 * Pools of simulated nodes: objects of kind NodePool (berth.dev/v1alpha1), and what their nodes are
 * like. The schema is in docs/schemas.md.
 */
#ifndef NODES_POOL_H
#define NODES_POOL_H

#include "nodes/nodes.h"

struct json;

/* What differs between the nodes of a pool. */
enum nodes_vary {
    NODES_VARY_LABEL,
    NODES_VARY_ANNOTATION,
    NODES_VARY_TAINT,     /* the value of the taint with this key */
    NODES_VARY_NODE_INFO, /* a version, by its name in status.nodeInfo */
};

struct nodes_variation {
    enum nodes_vary what;
    struct str key;
    struct api_strs values; /* of which a node gets one, in turn or by chance */
    bool is_random;
};

/* So many nodes of a hundred begin with this value of berth.dev/kubelet. */
struct nodes_fault_rate {
    struct str fault;
    int64_t percent;
};

/* Is the tree a NodePool? */
bool nodes_pool_is(const struct json *tree);

/* Reads a NodePool strictly; what it comes to hold lives in the arena. -1 with what is wrong in it,
 * in the words of an API server. */
int nodes_pool_read(struct arena *a, const struct json *tree, struct nodes_pool *out,
                    struct err *err);

/* May there be these pools beside each other? -1 with the text when names of nodes would not be
 * one pool's, or there would be too many nodes. */
int nodes_pools_check(const struct nodes_pool *pools, size_t n, struct err *err);

/* Makes a node what the pool says of the one with this number. Parts may be shared with the pool,
 * the rest is the arena's. */
void nodes__draw(struct arena *a, const struct nodes_pool *pool, size_t number,
                 struct api_node *node);

#endif
