/* What remains in a namespace that goes, and how that is told. */
#ifndef MANAGER_NAMESPACE_DELETION_INT_H
#define MANAGER_NAMESPACE_DELETION_INT_H

#include "api/object.h"
#include "base/arena.h"

/* Texts, and how often each was counted; in the arena of the work. */
struct namespace__text {
    struct str text;
    size_t n;
    struct namespace__text *next;
};

struct namespace__texts {
    struct namespace__text *first;
    size_t n;
};

/* What was found. */
struct namespace__content {
    struct namespace__texts resources;  /* "pods." and so on, with how many remain */
    struct namespace__texts finalizers; /* of what remains, some of them repeatedly */
    struct namespace__texts errors;
    int64_t estimate; /* seconds until it may be gone */
};

/* Adds a text, which is copied, with a count. */
void namespace__add(struct arena *a, struct namespace__texts *texts, struct str text, size_t n);

/* Counts the finalizers of an object that remains. */
void namespace__add_finalizers(struct arena *a, struct namespace__content *content,
                               const struct api_object *o);

/* Brings the conditions of a status up to date; false: they are. `totals` tells whether all
 * resources were looked at. Lists and texts live in the arena. */
bool namespace__conditions(struct arena *a, const struct namespace__content *content, bool totals,
                           int64_t now, struct api_namespace_status *status);

#endif
