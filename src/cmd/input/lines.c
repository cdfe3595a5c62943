/* A buffer in front of read(2), for input that a person or another program sends line by line. */
#include "cmd/input/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/io.h"

enum { PIECE = 1 << 16 };

void lines_init(struct lines *l, int fd, size_t most) {
    *l = (struct lines){.fd = fd, .waiting = BUF_INIT(most + PIECE)};
}

void lines_release(struct lines *l) {
    buf_release(&l->waiting);
}

static struct str unread(const struct lines *l) {
    struct str all = buf_view(&l->waiting);
    return str_sub(all, l->at, all.n);
}

bool lines_ready(const struct lines *l) {
    return str_find_char(unread(l), '\n') != STR_NONE;
}

/* Moves what is unread to the front. */
static void close_gap(struct lines *l) {
    if (l->at == 0)
        return;
    l->waiting.n -= l->at;
    memmove(l->waiting.p, l->waiting.p + l->at, l->waiting.n);
    l->at = 0;
}

/* Reads a piece: 1, or 0 when there is no room for it, -1 on errors. */
static int fill(struct lines *l, struct err *err) {
    close_gap(l);
    if (l->waiting.n + PIECE > l->waiting.max)
        return 0;
    ssize_t n;
    char *to = buf_room(&l->waiting, PIECE);
    do
        n = read(l->fd, to, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return io_fail(err, "read STDIN");
    l->waiting.n += (size_t)n;
    l->ended = n == 0;
    return 1;
}

/* Drops what is left of a line that is too long. */
static int skip_line(struct lines *l, struct err *err) {
    int rc = 1;
    while (rc > 0 && !l->ended && !lines_ready(l)) {
        l->at = l->waiting.n;
        rc = fill(l, err);
    }
    struct str head, rest;
    str_cut(unread(l), '\n', &head, &rest);
    l->at = l->waiting.n - rest.n;
    return rc;
}

int lines_next(struct lines *l, struct str *out, bool *cut, struct err *err) {
    int rc = 1;
    *cut = false;
    while (!l->ended && !lines_ready(l) && (rc = fill(l, err)) > 0)
        continue;
    if (rc < 0 || (l->ended && unread(l).n == 0))
        return rc < 0 ? -1 : 0;
    if (rc == 0) {
        *cut = true;
        *out = STR("");
        return skip_line(l, err) < 0 ? -1 : 1;
    }
    struct str rest;
    str_cut(unread(l), '\n', out, &rest);
    l->at = l->waiting.n - rest.n;
    *cut = out->n > l->waiting.max - PIECE;
    return 1;
}
