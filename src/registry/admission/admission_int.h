/*
 * Admission: what plug-ins do to an object before its own rules are asked, and what they think of
 * it afterwards. A plug-in is a row of the table and a file of its own.
 */
#ifndef REGISTRY_ADMISSION_INT_H
#define REGISTRY_ADMISSION_INT_H

#include "registry/registry_int.h"

enum registry__operation {
    REGISTRY__CREATE,
    REGISTRY__UPDATE,
    REGISTRY__DELETE,
    REGISTRY__OPERATIONS,
};

/* One object on its way through the plug-ins. */
struct registry__admission {
    const struct registry *registry;
    const struct registry_request *request;
    struct arena *a; /* of the failure's texts */
    enum registry__operation operation;
    const struct api_kind *resource; /* whose path was asked for; NULL: of the object's kind */
    struct api_object *o;            /* of a deletion: what is deleted */
    const struct api_object *old;    /* that an update replaces; else NULL */
    struct registry_failure failure;
};

/* False, and the failure is filled, when the object is refused. */
typedef bool registry__admit_fn(struct registry__admission *m);

/* A plug-in has nothing to say where a slot is NULL. */
struct registry__admission_plugin {
    const char *name;
    registry__admit_fn *mutate[REGISTRY__OPERATIONS];   /* before preparation and rules */
    registry__admit_fn *validate[REGISTRY__OPERATIONS]; /* behind them */
    enum api_type_id type;    /* of the resources that it looks at; API_TYPES: all */
    const char *subresources; /* that it looks at too, with commas; NULL: none, "*": all */
    bool is_off;              /* unless it is asked for */
    bool is_offline;          /* it can decide without a cluster */
};

extern const struct registry__admission_plugin registry__namespace_lifecycle, registry__priority,
    registry__default_toleration_seconds, registry__default_storage_class;

/* ---- for the plug-ins ---- */

/* Refuses the object for a reason, printed as printf does: pods "web" is forbidden: <reason>.
 * Always false. */
__attribute__((format(printf, 2, 3))) bool registry__forbid(struct registry__admission *m,
                                                            const char *reason, ...);

/* Refuses the object with a text of its own, for which no reason of the API stands. Always
 * false. */
__attribute__((format(printf, 2, 3))) bool registry__break_off(struct registry__admission *m,
                                                               const char *text, ...);

/* Refuses the object because that of another kind does not exist. Always false. */
bool registry__miss(struct registry__admission *m, const struct api_kind *kind, struct str name);

/* Is the object of the resource itself, and not of one of its subresources? */
bool registry__is_whole(const struct registry__admission *m);

/* The namespace of the request; empty for resources that have none. */
struct str registry__namespace_of(const struct registry__admission *m);

/* The name of the request: of its path, or of the object. */
struct str registry__name_of(const struct registry__admission *m);

/* The kind of a name in the group and version that a server stores. */
const struct api_kind *registry__kind(const char *api_version, const char *kind);

/* The text between double quotes, as Go's %q writes it, in the arena. */
struct str registry__quote(struct arena *a, struct str text);

/* ---- for those who call plug-ins ---- */

/* Asks all plug-ins that change objects, and all that judge them, in upstream's order. */
registry__admit_fn registry__mutate, registry__validate;

#endif
