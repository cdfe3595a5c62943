/*
 * Admission: what plug-ins do to an object before its own rules are asked. A plug-in is a row of
 * the table and a file of its own.
 */
#ifndef REGISTRY_ADMISSION_INT_H
#define REGISTRY_ADMISSION_INT_H

#include "registry/registry_int.h"

/* One object on its way through the plug-ins. */
struct registry__admission {
    const struct registry *registry;
    const struct registry_request *request;
    struct arena *a; /* of the failure's texts */
    struct api_object *o;
    const struct api_object *old; /* NULL: the object is new, or deleted */
    bool deletes;
    struct registry_failure failure;
};

/* False, and the failure is filled, when the object is refused. */
typedef bool registry__admit_fn(struct registry__admission *m);

struct registry__admission_plugin {
    const char *name;
    registry__admit_fn *create, *update, *delete; /* NULL: it has nothing to say */
    enum api_type_id type; /* of the objects that it looks at; API_TYPES: all */
};

extern const struct registry__admission_plugin registry__namespace_lifecycle, registry__priority,
    registry__default_toleration_seconds, registry__default_storage_class;

/* Refuses the object for a reason, printed as printf does: pods "web" is forbidden: <reason>.
 * Always false. */
__attribute__((format(printf, 2, 3))) bool registry__forbid(struct registry__admission *m,
                                                            const char *reason, ...);

/* Asks all plug-ins in upstream's order. */
registry__admit_fn registry__admit;

#endif
