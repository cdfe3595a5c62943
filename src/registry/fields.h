/*
 * Field selectors: `spec.nodeName=n1,status.phase!=Failed`, compiled for the kind that is asked
 * for. Which fields a kind has for this is a table, as upstream's is; matching reads them from the
 * object's body and allocates nothing.
 */
#ifndef REGISTRY_FIELDS_H
#define REGISTRY_FIELDS_H

#include "api/object.h"
#include "base/arena.h"
#include "base/err.h"

struct registry_fields;

/*
 * Compiles a text for objects that are asked for as `kind` and stored as `stored`, which is another
 * one for kinds that have two versions. *out lives in the arena and borrows from text. Fails with
 * upstream's words, which are in *why as well, whole.
 */
int registry_fields_parse(struct arena *a, const struct api_kind *kind,
                          const struct api_kind *stored, struct str text,
                          struct registry_fields **out, struct str *why);

/* Can the selector be read, whatever it is about? -1: no, and *why in the arena. */
int registry_fields_check(struct arena *a, struct str text, struct str *why);

/* Does the object, as stored, satisfy every term? No selector (NULL) is satisfied by all. */
bool registry_fields_match(const struct registry_fields *f, const struct api_object *o);

/* The name that metadata.name must equal; absent if it need not equal one. */
struct str registry_fields_name(const struct registry_fields *f);

/* Is there any term? f may be NULL. */
bool registry_fields_are_any(const struct registry_fields *f);

#endif
