/* What the files of this module share. */
#ifndef REGISTRY_REGISTRY_INT_H
#define REGISTRY_REGISTRY_INT_H

#include "registry/registry.h"

/* A failure about an object of that kind and name: pods "web" already exists. Texts are copied. */
struct registry_failure registry__refuse(struct arena *a, const struct api_kind *kind,
                                         struct str name, enum err_code code, struct str why);

/* A condition of the request that the object, named by its kind or resource, does not meet:
 * Operation cannot be fulfilled on Pod "web": <why>. */
struct registry_failure registry__conflict(struct arena *a, const struct api_object *o,
                                           struct str kind, struct str why);

/* Gives a service, before it is prepared, the addresses and ports that it does not have; old is
 * NULL on create. And takes away, when it is accepted, what services of its type do not show. */
struct registry_failure registry__begin_service(const struct registry *r,
                                                const struct registry_request *request,
                                                struct arena *a, struct api_object *o,
                                                const struct api_object *old);
void registry__finish_service(struct api_object *o);

#endif
