/* The lines of a stream that comes in any pieces. */
#ifndef CLIENT_WATCH_LINES_INT_H
#define CLIENT_WATCH_LINES_INT_H

#include "base/buf.h"
#include "base/err.h"

/* The beginning of a line whose end has not come. All zeroes is the start of a stream. */
struct client__lines {
    struct buf begun;
};

/* Is called with a line without its end, good for the call. -1 with err filled ends the feeding. */
typedef int client__line_fn(void *arg, struct str line, struct err *err);

/* Feeds the next bytes: calls fn for each line that ends in them, but for empty ones. -1 when fn
 * fails, or a line is longer than LIMIT_CLIENT_EVENT_BYTES; the stream is of no use then. */
int client__lines_feed(struct client__lines *l, struct str bytes, client__line_fn *fn, void *arg,
                       struct err *err);

/* Frees what is held. */
void client__lines_release(struct client__lines *l);

#endif
