/*
 * Quotas: what objects use of which resource, measured by an evaluator for each kind, and lists of
 * amounts that are added and compared.
 */
#ifndef REGISTRY_QUOTA_INT_H
#define REGISTRY_QUOTA_INT_H

#include "registry/admission/admission_int.h"

/* ---- lists of amounts, sorted by name; the results live in the arena ---- */

/* The amount of a name, or NULL. */
const struct quantity *registry__amount_find(const struct api_quantities *list, struct str name);

/* Are both lists of the same names with the same amounts? */
bool registry__amounts_equal(const struct api_quantities *a, const struct api_quantities *b);

/* a + b, for each name that one of them has. */
struct api_quantities registry__amounts_add(struct arena *arena, const struct api_quantities *a,
                                            const struct api_quantities *b);

/* Adds amounts to those of a list that have the same names. Long ones are copied to the arena. */
void registry__amounts_join(struct arena *arena, struct api_quantities *list,
                            const struct api_quantities *more);

/* a - b, but never less than nothing. */
struct api_quantities registry__amounts_grown(struct arena *arena, const struct api_quantities *a,
                                              const struct api_quantities *b);

/* Those of the list whose names the other list has. */
struct api_quantities registry__amounts_mask(struct arena *arena, const struct api_quantities *list,
                                             const struct api_quantities *names);

/* Those that are not zero. */
struct api_quantities registry__amounts_nonzero(struct arena *arena,
                                                const struct api_quantities *list);

/* cpu=1,memory=2Gi */
struct str registry__amounts_text(struct arena *arena, const struct api_quantities *list);

/* Brings a list into order; of amounts of the same name the last one stays. */
void registry__amounts_sort(struct api_quantities *list);

/* ---- evaluators ---- */

typedef struct api_scoped_resource_selector_requirement registry__scope;

/* What quotas may demand that all containers say; and which of those of a pod do not, when that was
 * asked for. */
enum { REGISTRY__DEMANDS = 6 };
struct registry__silent {
    bool is_known[REGISTRY__DEMANDS];
    struct str names[REGISTRY__DEMANDS]; /* each once, joined; empty: all say it */
};

/* How the objects of a kind are counted. A slot that is NULL says: nothing, or never. */
struct registry__evaluator {
    enum api_type_id type;
    /* Can the request change what is used? */
    bool (*handles)(const struct registry__admission *m);
    /* Is a resource of this name used by objects of the kind? */
    bool (*counts)(const struct registry__admission *m, struct str name);
    /* Is the object in the scope? */
    bool (*is_in)(const struct registry__admission *m, const struct api_object *o,
                  const registry__scope *scope);
    /* What the object uses. */
    struct api_quantities (*usage)(const struct registry__admission *m, const struct api_object *o);
    /* What the object must say of the names that a quota limits, and does not; absent: nothing. */
    struct str (*fault)(const struct registry__admission *m, const struct api_quantities *limited,
                        struct registry__silent *silent);
};

extern const struct registry__evaluator registry__quota_pods, registry__quota_services,
    registry__quota_claims, registry__quota_devices, registry__quota_count;

/* Is a value in a scope that is chosen by its name: In, NotIn, Exists, DoesNotExist? An empty value
 * is none. */
bool registry__scope_has(const registry__scope *scope, struct str value);

/* One of something. */
struct quantity registry__one(void);

#endif
