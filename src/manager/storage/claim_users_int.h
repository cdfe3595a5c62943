/* The claims that a pod uses, and for how long. */
#ifndef MANAGER_STORAGE_CLAIM_USERS_INT_H
#define MANAGER_STORAGE_CLAIM_USERS_INT_H

#include "api/object.h"
#include "base/arena.h"

/* The claims of a pod, as labels of which only the values differ; in the arena. */
struct labels claim_users__claims(struct arena *a, const struct api_object *pod);

/* Does the pod use its volumes no more: has it ended, or has it been stopped on its way out? */
bool claim_users__has_ended(const struct api_object *pod);

#endif
