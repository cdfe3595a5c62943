/* What the checks of writes share: the object of a line, and the one that it replaces. */
#ifndef TEST_VECTORS_OBJECTS_H
#define TEST_VECTORS_OBJECTS_H

#include "valid/valid.h"
#include "vectors.h"

/* A check of both, decoded and not yet defaulted; old is NULL when nothing is stored. */
typedef int vectors_judge_fn(struct arena *a, const struct json *line, struct api_object *o,
                             struct api_object *old, struct buf *why);

/* Decodes the line's `new` and `old`, and asks the judge about them. 0 or -1 and why. */
int vectors_judge_objects(struct arena *a, const struct json *line, vectors_judge_fn *judge,
                          struct buf *why);

/* Holds warnings against the line's, if it has some. 0 or -1 and why. */
int vectors_compare_texts(struct arena *a, const struct json *line,
                          const struct valid_warnings *warnings, struct buf *why);

/* Holds what is warned of against the line's `warnings`, if it has some. 0 or -1 and why. */
int vectors_compare_warnings(struct arena *a, const struct json *line, const struct api_object *o,
                             const struct api_object *old, struct buf *why);

#endif
