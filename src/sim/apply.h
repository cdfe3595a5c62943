/* Manifests over what a server has stored, as `kubectl apply` puts them there. */
#ifndef SIM_APPLY_H
#define SIM_APPLY_H

#include "codec/json.h"

/*
 * The stored object with what the manifest says of it: members that the manifest has are the
 * manifest's, members that were applied before and are not in it any more go, and all others stay.
 * Lists are taken as a whole. last is what was applied before, or NULL. The result lives in the
 * arena and borrows from all of them.
 */
struct json sim_apply(struct arena *a, const struct json *stored, const struct json *last,
                      const struct json *manifest);

/* What kubectl wrote into the annotation of a stored object when it was last applied: NULL if there
 * is nothing of that kind. Lives in the arena. */
const struct json *sim_last_applied(struct arena *a, const struct json *stored);

#endif
