/* What the checks of validation share: the gates of a line, and its verdict. */
#ifndef TEST_VECTORS_VERDICT_H
#define TEST_VECTORS_VERDICT_H

#include "valid/valid.h"

/* All gates at their default, but those that the line's `gates` name. 0 or -1 and why. */
int verdict_gates(const struct json *line, struct feature_set *out, struct buf *why);

/* Holds the field errors found in o against the line's `valid`, `status`, and `errors` if it has
 * them: they say nothing that is not in the status. The errors are brought into the line's order
 * when upstream's is random. */
int verdict_compare(const struct json *line, const struct api_object *o, struct valid_errs *errs,
                    struct buf *why);

/* Holds a body that cannot be decoded against the line's `valid`, `errors` and `status`. */
int verdict_compare_refusal(struct arena *a, const struct json *line, const struct err *err,
                            struct buf *why);

#endif
