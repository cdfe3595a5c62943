/* Lines from a descriptor, one at a time and of bounded length. */
#ifndef CMD_INPUT_LINES_H
#define CMD_INPUT_LINES_H

#include "base/buf.h"
#include "base/err.h"

struct lines {
    int fd;
    struct buf waiting; /* read, but not handed out */
    size_t at;          /* what of it was */
    bool ended;
};

/* Starts to read; of longer lines than most nothing is given. fd is stored. */
void lines_init(struct lines *l, int fd, size_t most);
void lines_release(struct lines *l);

/* Is there a whole line that needs no more reading? */
bool lines_ready(const struct lines *l);

/* The next line without its break, valid until the next call: 1, or 0 at the end, -1 on errors. Of
 * a line that is too long only *cut counts. */
int lines_next(struct lines *l, struct str *out, bool *cut, struct err *err);

#endif
