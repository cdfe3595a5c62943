/* Manifests and dumps into a server that nobody asks yet. */
#ifndef CMD_COMMANDS_LOAD_H
#define CMD_COMMANDS_LOAD_H

#include "cmd/input/input.h"
#include "cmd/serve.h"
#include "nodes/pool.h"

/* Pools of nodes that were read; their memory is an arena's. */
struct load_pools {
    struct nodes_pool *v;
    size_t n;
};

/* Adds a pool, which is copied. */
void load_pools_add(struct arena *a, struct load_pools *pools, const struct nodes_pool *pool);

/* Adds the pools of files in which there is nothing else; what they come to hold is the arena's. */
int load_pool_files(struct cmd_ctx *ctx, struct arena *a, const struct opt_list *files,
                    struct load_pools *pools, struct err *err);

/* Stores what the files hold: what others need first, such as namespaces, before the rest. What is
 * there already stays. What is refused is told on standard error with its place, and -1 comes back
 * behind all. Fields that are not known have a manifest refused; of what a server has stored (with
 * a uid) they are told, once each. NodePools are added to the pools. */
int load_files(struct serve *s, const struct input_opts *files, struct load_pools *pools,
               struct err *err);

/* Makes a StorageClass `standard`, the default one, unless there is a StorageClass. */
void load_standard_class(struct serve *s);

#endif
