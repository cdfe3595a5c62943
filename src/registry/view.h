/*
 * The objects of a cluster by what they are called, and what admission asks about them: classes and
 * namespaces. A server shows the view every object that it stores.
 *
 * A view may know only part of a cluster. Of a kind that is not closed, objects that were not shown
 * may exist all the same, and admission leaves alone what depends on them.
 */
#ifndef REGISTRY_VIEW_H
#define REGISTRY_VIEW_H

#include "api/object.h"

struct registry_view;

/* An empty view that holds no kind for complete. Objects that name no namespace are in the given
 * one (empty = default). Free it with registry_view_free, which accepts NULL. */
struct registry_view *registry_view_new(struct str namespace);
void registry_view_free(struct registry_view *v);

/* From now on, objects of this type that were not shown do not exist. */
void registry_view_close(struct registry_view *v, enum api_type_id type);

/* Shows an object that has metadata and its defaults; one of the same name is replaced. One more
 * reference is held. */
void registry_view_set(struct registry_view *v, const struct api_object *o);

/* The object that has the kind, namespace and name of this one; or NULL. */
const struct api_object *registry_view_find(const struct registry_view *v,
                                            const struct api_object *o);

/* The object of that kind and name, or NULL; namespace is empty for kinds that have none. */
const struct api_object *registry_view_get(const struct registry_view *v,
                                           const struct api_kind *kind, struct str namespace,
                                           struct str name);

/* ---- what admission asks ---- */

/* Would the view know of every object of this type? */
bool registry_view_is_closed(const struct registry_view *v, enum api_type_id type);

/* Of the PriorityClasses that are the default, the one of least value; of the StorageClasses that
 * are, the newest, and the first by name of those that are as new. NULL: there is none. */
const struct api_priority_class *
registry_view_default_priority_class(const struct registry_view *v);
const struct api_storage_class *registry_view_default_storage_class(const struct registry_view *v);

#endif
