/*
 * PersistentVolumes as claims look for them: those that nobody has by class, modes and size, and
 * the others by the claim that they name.
 */
#ifndef MANAGER_STORAGE_PV_INDEX_INT_H
#define MANAGER_STORAGE_PV_INDEX_INT_H

#include "api/claim_binding.h"
#include "api/selector.h"

struct pv_index;

/* An empty index; nothing observable depends on the seed. Free it with pv_index__free, which
 * accepts NULL. */
struct pv_index *pv_index__new(uint64_t seed);
void pv_index__free(struct pv_index *x);

/* A volume is new (old is NULL), has changed, or is gone (now is NULL). It is stored until then. */
void pv_index__put(struct pv_index *x, const struct api_object *old, const struct api_object *now);

/* The volume for a claim; NULL: there is none. One that names the claim comes before others; of
 * those that nobody has, unless they are not wanted, it is the smallest that matches. */
const struct api_object *pv_index__find(struct pv_index *x, const struct api_object *claim,
                                        const struct selector *selector, bool only_named);

/* The next volume at or behind *at that names a claim of this name, as with labelled__next. */
const struct api_object *pv_index__next_of(struct pv_index *x, struct str namespace,
                                           struct str claim, size_t *at);

#endif
