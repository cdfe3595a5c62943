/* Bytes to lines. A line that comes in one piece is not copied. */
#include "base/limits.h"
#include "client/http/watch_lines_int.h"

static int too_long(struct err *err) {
    return err_set(err, ERR_TOO_LARGE, "an event is longer than %u bytes",
                   LIMIT_CLIENT_EVENT_BYTES);
}

/* Takes the line that ends at the end of `piece`. */
static int end_line(struct client__lines *l, struct str piece, client__line_fn *fn, void *arg,
                    struct err *err) {
    struct str line = piece;
    if (l->begun.n) {
        buf_add(&l->begun, piece);
        line = buf_view(&l->begun);
    }
    if (l->begun.full || line.n > LIMIT_CLIENT_EVENT_BYTES)
        return too_long(err);
    line = str_trim(line);
    int done = line.n ? fn(arg, line, err) : 0;
    buf_release(&l->begun);
    return done;
}

int client__lines_feed(struct client__lines *l, struct str bytes, client__line_fn *fn, void *arg,
                       struct err *err) {
    struct str piece, rest = bytes;
    l->begun.max = LIMIT_CLIENT_EVENT_BYTES;
    while (str_cut(rest, '\n', &piece, &rest))
        if (end_line(l, piece, fn, arg, err) < 0)
            return -1;
    buf_add(&l->begun, piece);
    return l->begun.full ? too_long(err) : 0;
}

void client__lines_release(struct client__lines *l) {
    buf_release(&l->begun);
}
