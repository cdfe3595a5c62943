/*
 * Output that must not appear before all input was read well: it waits in memory, and from some
 * size on in a temporary file without a name, so that a large list costs disk and not memory.
 */
#ifndef CLI_SPOOL_H
#define CLI_SPOOL_H

#include "base/buf.h"
#include "base/err.h"

struct spool {
    struct buf memory;
    const char *dir; /* borrowed: where the file goes */
    int fd;          /* the file, or -1 */
};

/* An empty spool that keeps up to `memory` bytes and then a file in dir (NULL or "" = /tmp). */
void spool_init(struct spool *s, size_t memory, const char *dir);

/* Frees memory and file. */
void spool_release(struct spool *s);

/* Appends text. Fails with ERR_IO when the file cannot be made or written. */
int spool_add(struct spool *s, struct str text, struct err *err);

/* Writes all that was added to out, in order; the spool can only be released afterwards. */
int spool_copy(struct spool *s, int out, struct err *err);

#endif
