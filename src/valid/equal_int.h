/* Equality of API structs. */
#ifndef VALID_EQUAL_INT_H
#define VALID_EQUAL_INT_H

#include "api/types.h"

/*
 * Are two structs of a type equal as the API server sees it? Nil and empty lists and maps are the
 * same, quantities compare by amount, members that the schema does not know do not count.
 */
bool valid__equal(enum api_type_id type, const void *a, const void *b);
bool valid__equal_lists(enum api_type_id type, const void *list_a, const void *list_b);

/* Are two equal structs, or lists of them, also the same in which of their lists and maps are nil,
 * not empty? */
bool valid__same(enum api_type_id type, const void *a, const void *b);
bool valid__same_lists(enum api_type_id type, const void *list_a, const void *list_b);

/* Are a field's values at these places equal, as fields of such structs are? */
bool valid__equal_field(const struct api_field *f, const void *a, const void *b);

#endif
