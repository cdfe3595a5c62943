/*
 * Objects as rows of a table, as `kubectl get` shows them: which columns a kind has, and what
 * stands in the cells of an object.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func AddHandlers.
 */
#ifndef REGISTRY_PRINTED_H
#define REGISTRY_PRINTED_H

#include "api/object.h"
#include "base/arena.h"
#include "codec/json.h"

/* The columns of a kind, as columnDefinitions of a Table. In the arena. */
struct json registry_table_columns(struct arena *a, const struct api_kind *kind);

/* Has the kind no columns of its own? Upstream's table of no objects has no rows at all then. */
bool registry_table_is_default(const struct api_kind *kind);

/* The cells of an object at a time, in the order of the columns; texts may be the object's. */
struct json registry_table_cells(struct arena *a, const struct api_object *o, struct api_time now);

/* What a finished pod says beside its cells, as conditions of a row; null: nothing. */
struct json registry_table_conditions(struct arena *a, const struct api_object *o);

#endif
