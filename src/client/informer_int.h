/* What the work queue asks of informers. */
#ifndef CLIENT_INFORMER_INT_H
#define CLIENT_INFORMER_INT_H

#include "client/informer.h"
#include "net/loop.h"

/* Is called at the end of a turn in which informers of the set have seen something. Embedded in its
 * owner; fn and arg are set once. */
struct informers__follower {
    net_fn *fn;
    void *arg;
    struct informers__follower *next, **link; /* of the set */
};

/* Starts and ends it; who does not follow may stop. */
void informers__follow(struct informers *set, struct informers__follower *f);
void informers__unfollow(struct informers__follower *f);

/* The informer of a kind, if it was asked for; or NULL. */
struct informer *informers__find(const struct informers *set, const struct api_kind *kind);

/* The revision that an object has, or 0. */
uint64_t client__revision_of(const struct api_object *o);

#endif
