/*
 * Between the table of kinds and the judge of those whose rules are not written yet.
 */
#ifndef VALID_METADATA_INT_H
#define VALID_METADATA_INT_H

#include "valid/valid_int.h"

/* What judges the metadata of objects of the type, and nothing else; NULL if nobody does. */
const struct valid_kind *valid__metadata_rules(const struct api_type *type);

#endif
