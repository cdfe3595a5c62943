/* URLs as Go's net/url has them: shared by the library and by the format "uri". */
#ifndef CEL_KIT_URL_INT_H
#define CEL_KIT_URL_INT_H

#include "cel/opaque_int.h"

/* url.ParseRequestURI (`request`) or url.Parse. False with "parse \"...\": reason" in *why. The
 * parts lie in the arena or in text. */
bool cel__url_parse(struct arena *a, struct str text, bool request, struct cel_url *out,
                    struct buf *why);

/* Appends EscapedPath(). */
void cel__url_write_path(struct buf *out, const struct cel_url *url);

/* One part of a query, with %XX and + undone; false when it is ill-formed. */
bool cel__url_unescape_query(struct arena *a, struct str text, struct str *out);

#endif
