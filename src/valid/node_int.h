/*
 * What the files about nodes share.
 */
#ifndef VALID_NODE_INT_H
#define VALID_NODE_INT_H

#include "valid/valid_int.h"

/* The taints of a node, and its annotations at p that were fields once. */
void valid__taints(struct valid *v, const struct path *p, const struct api_taint_list *list);
void valid__node_annotations(struct valid *v, const struct path *p,
                             const struct labels *annotations);
/* The ranges of addresses of a node at p: valid, and no two of a family. */
void valid__pod_cidrs(struct valid *v, const struct path *p, const struct api_strs *cidrs);

#endif
