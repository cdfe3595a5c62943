/* The objects of --old: what the cluster has already, found by what they are called. */
#ifndef CMD_INPUT_STORED_H
#define CMD_INPUT_STORED_H

#include "cmd/input/input.h"

struct feature_set;
struct stored;

/* Reads all objects that the files hold, with defaults set; those without a namespace are in the
 * given one. Free with stored_free. */
int stored_load(struct cmd_ctx *ctx, const struct input_opts *files, struct str namespace,
                const struct feature_set *gates, struct stored **out, struct err *err);
void stored_free(struct stored *s); /* NULL is fine */

/* The object of this kind, namespace (empty: the one given to stored_load) and name, or NULL. */
const struct api_object *stored_find(const struct stored *s, const struct api_object *o);

#endif
