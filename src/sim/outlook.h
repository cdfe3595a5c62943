/* What becomes of one pending pod among the others: the answer of berth schedule. */
#ifndef SIM_OUTLOOK_H
#define SIM_OUTLOOK_H

#include "sim/placement.h"

/* Pods of one owner. */
struct sim_outlook_rival {
    struct str owner; /* deployment/web; absent: of nobody */
    size_t pods;
};

struct sim_outlook {
    enum sim_placement_state state;
    struct str node;     /* where it goes, or absent */
    struct str message;  /* why it is not scheduled */
    struct str *victims; /* pods that it preempts, as namespace/name */
    size_t victim_count;
    struct sim_outlook_rival *rivals; /* pods that were pending and go where it would fit alone */
    size_t rival_count;
};

/* Can others matter to the pod: are some pending, too, or less important where it could go? */
bool sim_outlook_matters(const struct sim_cluster *c, const struct api_object *pod);

/* The controller of a pod, that of its ReplicaSet or Job if they have one, as kubectl names it:
 * deployment/web. In the arena; absent: it has none. */
struct str sim_owner_of(const struct sim_cluster *c, const struct api_object *pod, struct arena *a);

/* Looks up the pod in a placement that has run. `fits` answers whether it would fit on a node
 * alone. *out lives in the arena. */
void sim_outlook_find(const struct sim_placement *p, const struct api_object *pod,
                      bool (*fits)(void *ctx, struct str node), void *ctx, struct arena *a,
                      struct sim_outlook *out);

#endif
