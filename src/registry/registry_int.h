/* What the files of this module share. */
#ifndef REGISTRY_REGISTRY_INT_H
#define REGISTRY_REGISTRY_INT_H

#include "registry/registry.h"

/* A failure about an object under that name, which must live as long as the failure: pods "web"
 * already exists. */
struct registry_failure registry__refuse(struct arena *a, const struct api_object *o,
                                         struct str name, enum err_code code, struct str why);

#endif
