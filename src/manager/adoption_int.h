/*
 * What belongs to a controller's object: members name it as their controller and match its
 * selector. Members that match and have no controller are adopted, those that do not match any more
 * are released.
 *
 * Follows k8s.io/kubernetes pkg/controller, func (*BaseControllerRefManager) ClaimObject.
 */
#ifndef MANAGER_ADOPTION_INT_H
#define MANAGER_ADOPTION_INT_H

#include "api/selector.h"
#include "manager/controller_int.h"

struct manager__objects {
    const struct api_object **v;
    size_t n;
};

struct manager__claim {
    struct manager *manager;
    struct work *work;
    const struct api_object *owner;
    struct informer *members;
    const struct api_kind *kind;     /* of the members */
    const struct selector *selector; /* NULL: none that could be compiled, so nothing is done */
    /* Is the object to be looked at? NULL: all are. */
    bool (*considers)(const struct api_object *owner, const struct api_object *o);
    /* Does it match, beside the selector? NULL: it does. */
    bool (*matches)(const struct api_object *owner, const struct api_object *o);
    const char *finalizer; /* comes and goes with the owner; or NULL */
};

/* The objects that belong to the owner, in the arena of the work and borrowed as the informer has
 * them. False: some are to be adopted or released first; that was sent, and the key comes again
 * behind it, so there is nothing more to do now; or the owner has no selector. */
bool manager__claim(const struct manager__claim *claim, struct manager__objects *out);

/* ---- whose work a change is; `self` is the controller of owners ---- */

/* Have they the same controller, or both none? */
bool manager__same_controller(const struct api_object *a, const struct api_object *b);

/* The selector of an owner, until the next turn; NULL: none that could be compiled. */
const struct selector *manager__selector(const void *self, const struct api_object *owner);

/* Calls `add` for each owner that may adopt an object without a controller. */
void manager__each_adopter(void *self, const struct api_object *o,
                           void (*add)(void *self, const struct api_object *owner));

#endif
