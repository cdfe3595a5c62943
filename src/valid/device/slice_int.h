/* Between the rules of slices and those of the devices in them. */
#ifndef VALID_DEVICE_SLICE_INT_H
#define VALID_DEVICE_SLICE_INT_H

#include "valid/device/device_int.h"

/* One device; old is that of the same name, or NULL. by_device: it says itself on which nodes it
 * is. */
void valid__device(struct valid *v, const struct path *p, const struct api_device *d,
                   const struct api_device *old, bool by_device);

/* Counters by their names, at p; and the name of their set, at name_path. */
void valid__counters(struct valid *v, const struct path *p, const struct path *name_path,
                     struct str name, const struct api_counter_map *counters);

/* Ways to say on which nodes something is, of which there must be one. */
struct node_choice {
    const char *names[4];
    bool is_set[4];
    size_t n;
    const char *one_of, *several; /* texts: none is set; that and: more than one */
};
void valid__node_choice(struct valid *v, const struct path *p, const struct node_choice *c);
/* The name of a node in p's nodeName, and what is to be true if it is said at all. */
void valid__chosen_node(struct valid *v, const struct path *p, struct str name, const char *empty);
void valid__chosen_truth(struct valid *v, const struct path *p, struct api_opt_bool truth);

#endif
