/*
 * Objects that were shown, as a view of the cluster: for offline commands, which know what they
 * have read.
 */
#ifndef REGISTRY_KNOWN_H
#define REGISTRY_KNOWN_H

#include "registry/view.h"

struct registry_known;

/* No objects, and no kind is held for complete. Objects that name no namespace are in the given one
 * (empty = default). Free it with registry_known_free, which accepts NULL. */
struct registry_known *registry_known_new(struct str namespace);
void registry_known_free(struct registry_known *k);

/* The view of what is known; it lives as long as k and follows it. */
const struct registry_view *registry_known_view(const struct registry_known *k);

/* From now on, objects of this type that were not shown do not exist. */
void registry_known_close(struct registry_known *k, enum api_type_id type);

/* Shows an object that has metadata and its defaults; one of the same name is replaced. One more
 * reference is held. */
void registry_known_set(struct registry_known *k, const struct api_object *o);

/* The object that has the kind, namespace and name of this one; or NULL. */
const struct api_object *registry_known_find(const struct registry_known *k,
                                             const struct api_object *o);

#endif
