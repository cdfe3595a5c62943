/* Encoded bytes that hang at published objects, for whoever bounds how many of them there are. */
#ifndef API_BYTES_H
#define API_BYTES_H

#include "api/object.h"

/* The object gives up these bytes, which only tell which, and keeps none of their encoding unless
 * somebody makes others (api_object_json_keep). Nothing happens when it has others by now. */
void api_object_forget_these(const struct api_object *o, const struct api_bytes *bytes);

#endif
