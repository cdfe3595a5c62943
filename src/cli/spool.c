/* A buffer that runs over into an unnamed file. */
#include "cli/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/io.h"

enum { COPY_BYTES = 1 << 16 };

void spool_init(struct spool *s, size_t memory, const char *dir) {
    *s = (struct spool){.memory = BUF_INIT(memory), .dir = dir && *dir ? dir : "/tmp", .fd = -1};
}

void spool_release(struct spool *s) {
    buf_release(&s->memory);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* O_TMPFILE never has a name; file systems without it get a name that is removed at once. */
static int open_unnamed(struct spool *s, struct err *err) {
    s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd >= 0)
        return 0;
    AUTO(arena_release) struct arena a = {0};
    struct str pattern = arena_printf(&a, "%s/berth-XXXXXX", s->dir);
    char *path = arena_copy(&a, pattern.p, pattern.n + 1);
    s->fd = mkostemp(path, O_CLOEXEC);
    if (s->fd < 0)
        return io_fail(err, "create a temporary file in %s", s->dir);
    unlink(path);
    return 0;
}

static int write_out(struct spool *s, struct str text, struct err *err) {
    if (s->fd < 0 && open_unnamed(s, err) < 0)
        return -1;
    while (text.n > 0) {
        ssize_t n = write(s->fd, text.p, text.n);
        if (n < 0 && errno != EINTR)
            return io_fail(err, "write a temporary file in %s", s->dir);
        if (n > 0)
            text = str_sub(text, (size_t)n, text.n);
    }
    return 0;
}

int spool_add(struct spool *s, struct str text, struct err *err) {
    if (text.n > s->memory.max - s->memory.n) {
        if (write_out(s, buf_view(&s->memory), err) < 0)
            return -1;
        buf_clear(&s->memory);
    }
    if (text.n > s->memory.max)
        return write_out(s, text, err);
    buf_add(&s->memory, text);
    return 0;
}

static int copy_file(struct spool *s, int out, struct err *err) {
    char block[COPY_BYTES];
    if (lseek(s->fd, 0, SEEK_SET) < 0)
        return io_fail(err, "rewind a temporary file in %s", s->dir);
    for (;;) {
        ssize_t n = read(s->fd, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_fail(err, "read a temporary file in %s", s->dir);
        if (n == 0)
            return 0;
        if (io_write(out, (struct str){block, (size_t)n}, err) < 0)
            return -1;
    }
}

int spool_copy(struct spool *s, int out, struct err *err) {
    if (s->fd >= 0 && copy_file(s, out, err) < 0)
        return -1;
    return io_write(out, buf_view(&s->memory), err);
}
