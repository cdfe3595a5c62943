/*
 * Objects that others select by their labels, filed so that those which match a selector are found
 * without a look at the others: all of a kind, or its orphans, which have no controller.
 */
#ifndef MANAGER_MEMBERS_INT_H
#define MANAGER_MEMBERS_INT_H

#include "api/selector.h"
#include "manager/adoption_int.h"

struct members;

/* The file of an informer's objects, or of those without a controller; made when it is first asked
 * for, and shared by the controllers of the manager, which frees it. It is up to date before
 * handlers that come later are told of a change. */
struct members *manager__members(struct manager *m, struct informer *informer, bool orphans);

/* Frees a list of files; NULL is fine. */
void members__free(struct members *first);

/* Those of a namespace that match the selector (NULL: none does), in the arena and borrowed as the
 * informer has them. */
struct manager__objects members__find(struct members *x, struct arena *a, struct str namespace,
                                      const struct selector *selector);

/* ---- under what a selector is filed, and what matches it ---- */

struct labelled;

/* Labels under one of which an object lies that matches a selector, see below. */
enum { MEMBERS__MOST_PLACES = 16 };
struct members__places {
    struct label v[MEMBERS__MOST_PLACES];
    size_t n;
};

/* Of the requirements of a selector the one that fewest objects of the file are under: values of a
 * label, or its key with the value "*" if it may have any; the key and the value "*" when the
 * selector asks for no label. */
void members__places(struct labelled *file, struct str namespace, const struct selector *selector,
                     struct members__places *out);

#endif
