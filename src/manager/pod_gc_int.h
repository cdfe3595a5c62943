/* Which pods the pod garbage collector removes. */
#ifndef MANAGER_POD_GC_INT_H
#define MANAGER_POD_GC_INT_H

#include "api/object.h"

enum manager__gc_reason {
    MANAGER__GC_NONE,
    MANAGER__GC_OUT_OF_SERVICE, /* it is going, and its node is said to be out of service */
    MANAGER__GC_UNSCHEDULED,    /* it is going, and was never bound to a node */
    MANAGER__GC_ORPHANED,       /* its node has been gone for a while */
};

/* Why nobody else will end the pod. The node is the pod's, or NULL when there is none; `is_gone`
 * says that it has been gone for so long that it does not come back. */
enum manager__gc_reason manager__gc_judge(const struct api_object *pod, const struct api_node *node,
                                          bool is_gone);

/* Of pods that have ended, at most so many are kept: brings those that are to go to the front, and
 * returns how many they are. Evicted ones go first, then the oldest. */
size_t manager__gc_surplus(const struct api_object **ended, size_t n, size_t most);

#endif
