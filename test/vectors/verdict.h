/* What the checks of validation share: the gates of a line, and its verdict. */
#ifndef TEST_VECTORS_VERDICT_H
#define TEST_VECTORS_VERDICT_H

#include "valid/valid.h"

/* The uid that the oracle gives every new object, where a server draws one by lot. */
#define VECTORS_NEW_UID "00000000-0000-4000-8000-000000000000"

/* All gates at their default, but those that the line's `gates` name. 0 or -1 and why. */
int verdict_gates(const struct json *line, struct feature_set *out, struct buf *why);

/* Holds the field errors found in o against the line's `valid`, `status`, and `errors` if it has
 * them: they say nothing that is not in the status. The errors are brought into the line's order
 * when upstream's is random. */
int verdict_compare(const struct json *line, const struct api_object *o, struct valid_errs *errs,
                    struct buf *why);

/* Holds a body that cannot be decoded against the line's `valid`, `errors` and `status`. */
int verdict_compare_refusal(const struct json *line, const struct api_faults *faults,
                            struct buf *why);

#endif
