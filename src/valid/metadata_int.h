/*
 * Between the table of kinds, the rules of metadata, and the judge of those kinds whose other rules
 * are not written yet.
 */
#ifndef VALID_METADATA_INT_H
#define VALID_METADATA_INT_H

#include "valid/valid_int.h"

/* What judges the metadata of objects of the type, and nothing else; NULL if nobody does. */
const struct valid_kind *valid__metadata_rules(const struct api_type *type);

/* The same for kinds that have other rules beside: metadata of a new object, of one that replaces
 * old, and its names alone. */
void valid__metadata_create(struct valid *v, const struct api_object *o);
void valid__metadata_update(struct valid *v, const struct api_object *o,
                            const struct api_object *old);
void valid__metadata_names(struct valid *v, const struct api_object *o);
/* What is declared of metadata; old is NULL on create. */
void valid__metadata_declared(struct valid *v, const struct api_object *o,
                              const struct api_object *old);

/* ---- declared rules ---- */

/* Are rules that upstream declares in beta in force? Without the gate they are found among the
 * others. */
static inline bool valid__has_declared(const struct valid *v) {
    return feature_enabled(v->gates, FEATURE_DeclarativeValidationBeta);
}
/* Is an error that was found left to a declared rule? Behind it none of all objects is asked for.
 */
static inline bool valid__covers(struct valid *v, bool is_declared) {
    v->covered |= is_declared;
    return is_declared;
}

/* The way in which one of several holds a lease. */
void valid__lease_strategy(struct valid *v, const struct path *p, struct str strategy);

/* ---- names ---- */

/* The two parts of valid__any_meta, for kinds whose rule for names looks at the rest of the object:
 * `judge` is called for generateName and name, if they are there, and reports what is wrong. */
struct name_part {
    struct str text;
    bool prefix; /* a name will be made of it */
};
typedef void name_judge(struct valid *v, const struct path *p, struct name_part name,
                        const void *of);
void valid__meta_names_by(struct valid *v, const struct path *p, const struct api_object_meta *m,
                          name_judge *judge, const void *of);
void valid__meta_but_names(struct valid *v, const struct path *p, const struct api_object_meta *m,
                           bool namespaced);

/* Gives a new object what only the API server sets: uid and creation time; no deletion. */
void valid__set_system_fields(struct api_object *o, const struct valid_opts *opts);
/* Gives an update what it left out and what it cannot change: uid, creation and deletion time. */
void valid__keep_system_fields(struct api_object *o, const struct api_object *old);

#endif
