/*
 * Objects filed under labels, so that those with a certain label are found without a look at the
 * others. What changes costs what its own labels cost.
 */
#ifndef MANAGER_LABELLED_INT_H
#define MANAGER_LABELLED_INT_H

#include "api/object.h"

struct labelled;

/* An empty file; nothing observable depends on the seed. Free it with labelled__free, which accepts
 * NULL. */
struct labelled *labelled__new(uint64_t seed);
void labelled__free(struct labelled *x);

/* The same for objects that are found whatever their namespaces are: it is asked for STR(""). */
struct labelled *labelled__new_wide(uint64_t seed);

/* Files an object under these labels, and not under others any more. The object is stored until it
 * is set again or dropped; the labels are borrowed. NULL: it stays under those that it has. */
void labelled__set(struct labelled *x, const struct api_object *o, const struct labels *labels);

/* The object is not filed any more, if it was. */
void labelled__drop(struct labelled *x, const struct api_object *o);

/* How many objects of a namespace are filed under a label. */
size_t labelled__count(struct labelled *x, struct str namespace, const struct label *label);

/* The next of them at or behind *at, which moves behind it; NULL: there are no more. Start with 0.
 * The file must not change meanwhile. */
const struct api_object *labelled__next(struct labelled *x, struct str namespace,
                                        const struct label *label, size_t *at);

#endif
