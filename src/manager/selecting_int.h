/*
 * Objects that select others by their labels: whom labels are selected by is found without asking
 * everybody, and a selector is compiled once for as long as its owner's spec stays.
 */
#ifndef MANAGER_SELECTING_INT_H
#define MANAGER_SELECTING_INT_H

#include "api/object.h"
#include "api/selector.h"

struct selecting;

/* Nobody yet; nothing observable depends on the seed. Free it with selecting__free, which accepts
 * NULL. */
struct selecting *selecting__new(uint64_t seed);
void selecting__free(struct selecting *x);

/* The object selects by this; NULL: it selects nothing. The object is stored until it is set again
 * or dropped; the selector is copied. */
void selecting__set(struct selecting *x, const struct api_object *o,
                    const struct api_label_selector *spec);

/* Has the object been set in a state with the same spec, so that it need not be told by what it
 * selects? Then this is its state from now on. */
bool selecting__renew(struct selecting *x, const struct api_object *o);

/* The object does not select any more, if it did. */
void selecting__drop(struct selecting *x, const struct api_object *o);

/* The selector of an object that was set; NULL: it has none that could be compiled. */
const struct selector *selecting__of(struct selecting *x, const struct api_object *o);

/* Calls `visit` for each object of a namespace that selects these labels. */
void selecting__each(struct selecting *x, struct str namespace, const struct labels *labels,
                     void (*visit)(void *arg, const struct api_object *o), void *arg);

#endif
