/* The decision of the taint-eviction controller. */
#ifndef MANAGER_TAINT_EVICTION_INT_H
#define MANAGER_TAINT_EVICTION_INT_H

#include <stdbool.h>
#include <stdint.h>

struct api_taint_list;
struct api_toleration_list;
struct match;

enum manager__eviction_code {
    MANAGER__STAYS,      /* for as long as nothing changes */
    MANAGER__EVICTED_AT, /* the least tolerationSeconds will be over then */
    MANAGER__EVICTED,    /* at once: a NoExecute taint is not tolerated */
};

struct manager__eviction_verdict {
    enum manager__eviction_code code;
    int64_t at; /* of EVICTED_AT */
};

/* What becomes of a pod with these tolerations that is seen for the first time at `now`, on a node
 * with these taints. */
struct manager__eviction_verdict manager__judge_eviction(struct match *m,
                                                         const struct api_toleration_list *pod,
                                                         const struct api_taint_list *node,
                                                         int64_t now);

/* Are the two lists the same, in the same order? */
bool manager__same_tolerations(const struct api_toleration_list *a,
                               const struct api_toleration_list *b);

/* Are their NoExecute taints the same, with values and times, in the same order? */
bool manager__same_execute_taints(const struct api_taint_list *a, const struct api_taint_list *b);

/* Is there a NoExecute taint among them? */
bool manager__has_execute_taints(const struct api_taint_list *list);

#endif
