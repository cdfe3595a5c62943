/* What the files of this module share beyond object.h. */
#ifndef API_OBJECT_INT_H
#define API_OBJECT_INT_H

#include "api/object.h"

/* api_struct_decode that also fills *problems; `duplicates` says that the tree may have repeated
 * keys. */
int api__struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                       void *body, struct api_problems *problems, bool duplicates, struct err *err);

/* Can the API server convert the decoded object to the form it works with? -1 with its text. */
int api__check_conversion(const struct api_object *o, struct err *err);

#endif
