/*
 * The cluster as admission sees it: objects by what they are called, and what plug-ins ask about
 * them. A view is lent by whoever has the objects: offline commands show those they have read
 * (registry/known.h), a server has its store.
 *
 * A view may know only part of a cluster. Of a kind that is not closed, objects that it does not
 * have may exist all the same, and admission leaves alone what depends on them.
 */
#ifndef REGISTRY_VIEW_H
#define REGISTRY_VIEW_H

#include "api/object.h"

/* Looks at one object; false ends the walk. */
typedef bool registry_visit_fn(void *ctx, const struct api_object *o);

/* What a view must be able to answer. Objects are borrowed until whoever has them changes them. */
struct registry_view {
    /* The object of that kind and name, or NULL; namespace is empty for kinds that have none. */
    const struct api_object *(*get)(const struct registry_view *v, const struct api_kind *kind,
                                    struct str namespace, struct str name);
    /* Visits all objects of a kind, in one namespace or, if that is empty, in all. */
    void (*each)(const struct registry_view *v, const struct api_kind *kind, struct str namespace,
                 registry_visit_fn *visit, void *ctx);
    /* The best of the objects of a type that are default classes, by registry_prefers; or NULL. */
    const struct api_object *(*default_of)(const struct registry_view *v, enum api_type_id type);
    /* Would the view have every object of this type? */
    bool (*is_closed)(const struct registry_view *v, enum api_type_id type);
};

/* The slots as calls. */
const struct api_object *registry_view_get(const struct registry_view *v,
                                           const struct api_kind *kind, struct str namespace,
                                           struct str name);
void registry_view_each(const struct registry_view *v, const struct api_kind *kind,
                        struct str namespace, registry_visit_fn *visit, void *ctx);
bool registry_view_is_closed(const struct registry_view *v, enum api_type_id type);

/* The default PriorityClass, StorageClass and IngressClass; NULL: there is none. */
const struct api_priority_class *
registry_view_default_priority_class(const struct registry_view *v);
const struct api_storage_class *registry_view_default_storage_class(const struct registry_view *v);
const struct api_ingress_class *registry_view_default_ingress_class(const struct registry_view *v);

/* ---- for those who lend a view ---- */

/* Does the object stand in for others of its type that are not named: is it a default class? */
bool registry_is_default(const struct api_object *o);

/* Of two default classes of a type, is a the default rather than b? Of PriorityClasses, that of
 * least value; of others, the newest, and the first by name of those that are as new. */
bool registry_prefers(const struct api_object *a, const struct api_object *b);

#endif
