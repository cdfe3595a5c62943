/* A world for commands in a test: captured output, a hand-moved clock, an environment of its own.
 */
#ifndef TEST_CMD_WORLD_H
#define TEST_CMD_WORLD_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/cmd.h"

struct world {
    struct cmd_ctx ctx;
    struct clock_manual clock;
    int out, err; /* files without a name */
    struct buf text;
};

static inline void world_init(struct world *w) {
    static const char *const no_env[] = {NULL};
    *w = (struct world){.text = BUF_INIT(1 << 20)};
    clock_manual_init(&w->clock, 0);
    w->out = memfd_create("out", 0);
    w->err = memfd_create("err", 0);
    cmd_ctx_init(&w->ctx, STDIN_FILENO, w->out, w->err, no_env);
    w->ctx.clock = w->ctx.log.clock = &w->clock.clock;
}

static inline void world_release(struct world *w) {
    close(w->out);
    close(w->err);
    buf_release(&w->text);
}

/* What was written to fd since the last call, as a string that lives until the next one. */
static inline const char *world_taken(struct world *w, int fd) {
    buf_clear(&w->text);
    off_t size = lseek(fd, 0, SEEK_END);
    char *to = buf_room(&w->text, (size_t)size + 1);
    ssize_t n = pread(fd, to, (size_t)size, 0);
    to[n > 0 ? n : 0] = 0;
    if (ftruncate(fd, 0) == 0)
        lseek(fd, 0, SEEK_SET);
    return to;
}

#endif
