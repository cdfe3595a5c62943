/* What the files of the selector share; not for others. */
#ifndef API_SELECTORS_SELECTOR_INT_H
#define API_SELECTORS_SELECTOR_INT_H

#include "api/names.h"
#include "api/selector.h"

/* Appends `Invalid value: "name": message; message`. */
void selector__add_invalid(struct buf *out, struct str name, const struct names_errs *errs);

/* Stores text (copied) as the selector's error and in *err; always returns -1. */
int selector__fail(struct selector *sel, struct str text, struct err *err);

#endif
