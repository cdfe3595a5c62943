/* Values as Go's fmt shows them, for the files and rooms of this module. */
#ifndef API_GO_TEXT_INT_H
#define API_GO_TEXT_INT_H

#include "codec/json.h"

/* Appends a value as Go's fmt prints it with the verb 'v' or 's', or '#' for %#v: maps sorted,
 * map[a:1 b:[x]]. */
void api__write_go(struct buf *out, const struct json *v, char verb);

/* The same as a text in the arena, cut at LIMIT_PATCH_ERROR_BYTES. */
struct str api__go_text(struct arena *a, const struct json *v, char verb);

/* Appends the name of a Go type or of a map of them; one that has no package in front of its dot
 * gets the version. */
void api__write_go_name(struct buf *out, struct str version, const char *name);

/* The type of a value in Go: "map[string]interface {}"; "<nil>" of null. */
const char *api__go_type(const struct json *v);

#endif
