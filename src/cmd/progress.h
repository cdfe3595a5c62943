/*
 * One line on a terminal's standard error that tells how far a long work is, rewritten in place and
 * erased at the end. Short work and work nobody watches show nothing.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include "cmd/cmd.h"

struct progress {
    const struct cmd_ctx *ctx; /* stored */
    uint64_t total;            /* bytes or things to come; 0 = unknown */
    const char *things;        /* what is counted; NULL: bytes */
    int64_t started, shown;    /* on the monotonic clock; shown = 0: nothing is on the screen */
};

/* Starts the watch. total is the number of bytes to come, 0 when that is not known. */
void progress_init(struct progress *p, const struct cmd_ctx *ctx, uint64_t total);

/* The same for work that is counted in things, such as "pods"; the name is stored, and a total of 0
 * is not known. */
void progress_init_count(struct progress *p, const struct cmd_ctx *ctx, uint64_t total,
                         const char *things);

/* Shows the state when it is time to. Cheap enough to be called for every block read, and for every
 * pod. For work that is counted the first figure counts, the second one does not matter. */
void progress_update(struct progress *p, uint64_t bytes, uint64_t objects);

/* Erases the line, if there is one. */
void progress_end(struct progress *p);

#endif
