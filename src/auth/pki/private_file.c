/* Files that hold secrets: read with a limit, written whole, for their owner alone. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/pki_int.h"
#include "base/limits.h"

static void close_file(int *fd) {
    if (*fd >= 0)
        close(*fd);
}

static int fail(struct err *err, const char *what, const char *path) {
    return err_set(err, ERR_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* ---- reading ---- */

static int check_file(int fd, const char *path, bool is_secret, struct err *err) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail(err, "read", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_IO, "cannot read '%s': it is not a file", path);
    if (st.st_size > LIMIT_AUTH_FILE_BYTES)
        return err_set(err, ERR_TOO_LARGE, "cannot read '%s': it has more than %u bytes", path,
                       LIMIT_AUTH_FILE_BYTES);
    if (is_secret && (st.st_mode & (S_IRWXG | S_IRWXO)))
        return err_set(err, ERR_IO,
                       "'%s' is a key that others can read: its mode is %04o, not 0600", path,
                       (unsigned)(st.st_mode & 07777));
    return 0;
}

static int read_all(int fd, const char *path, struct buf *text, struct err *err) {
    for (;;) {
        char *room = buf_room(text, 4096);
        if (!room)
            return err_set(err, ERR_TOO_LARGE, "cannot read '%s': it is too long", path);
        ssize_t got = read(fd, room, 4096);
        if (got < 0 && errno != EINTR)
            return fail(err, "read", path);
        if (got == 0)
            return 0;
        text->n += got > 0 ? (size_t)got : 0;
    }
}

int auth__file_read(struct arena *a, struct str path, bool is_secret, struct str *out,
                    struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_AUTH_FILE_BYTES + 8192);
    const char *name = arena_str(a, path).p;
    AUTO(close_file) int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out = (struct str){0};
    if (fd < 0)
        return errno == ENOENT ? 0 : fail(err, "read", name);
    if (check_file(fd, name, is_secret, err) < 0 || read_all(fd, name, &text, err) < 0)
        return -1;
    *out = arena_str(a, text.n ? buf_view(&text) : STR(""));
    return 0;
}

/* ---- writing ---- */

static int write_all(int fd, struct str text) {
    while (text.n) {
        ssize_t done = write(fd, text.p, text.n);
        if (done < 0 && errno != EINTR)
            return -1;
        text = str_sub(text, done > 0 ? (size_t)done : 0, text.n);
    }
    return fsync(fd);
}

/* A rename is on disk when its folder is. */
static void sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    struct buf dir = BUF_INIT(SIZE_MAX);
    buf_add(&dir, slash ? (struct str){path, (size_t)(slash - path) + 1} : STR("."));
    buf_add_char(&dir, '\0');
    int fd = open(dir.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    buf_release(&dir);
}

int auth__file_write(struct str path, struct str text, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    const char *name = arena_str(&a, path).p;
    char *draft = arena_copy(&a, arena_printf(&a, "%s.XXXXXX", name).p, path.n + 8);
    int fd = mkostemp(draft, O_CLOEXEC); /* with mode 0600 */
    if (fd < 0)
        return fail(err, "write", name);
    bool failed = write_all(fd, text) < 0;
    failed = close(fd) < 0 || failed;
    if (failed || rename(draft, name) < 0) {
        fail(err, "write", name);
        unlink(draft);
        return -1;
    }
    sync_folder(name);
    return 0;
}
