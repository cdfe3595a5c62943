/*
 * Follows lumberjack, with which kube-apiserver writes this log, in its names and in what stays
 * (gopkg.in/natefinch/lumberjack.v2, func (*Logger) Write, func (*Logger) millRunOnce).
 */
#include "server/audit_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "codec/time.h"

static int fail(const struct server_audit_file *f, struct err *err) {
    return err_set(err, ERR_IO, "audit log '%s': %s", f->path, strerror(errno));
}

/* ---- opening ---- */

static int open_with(struct server_audit_file *f, int flags, mode_t mode, struct err *err) {
    struct stat st;
    bool is_out = strcmp(f->path, "-") == 0;
    f->fd = is_out ? dup(STDOUT_FILENO)
                   : open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, mode);
    if (f->fd < 0 || fstat(f->fd, &st) < 0)
        return fail(f, err);
    f->is_regular = !is_out && S_ISREG(st.st_mode);
    f->size = (uint64_t)st.st_size;
    return 0;
}

int server_audit_file_open(struct server_audit_file *f, struct err *err) {
    return open_with(f, 0, 0600, err);
}

void server_audit_file_close(struct server_audit_file *f) {
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

/* ---- names of files that were moved aside ---- */

enum { TIME_TEXT = sizeof "2006-01-02T15-04-05.000" - 1 };

/* The name of the file in three parts: its folder, what stands before the time, what behind it. */
struct parts {
    struct str folder, before, behind;
};

static struct parts parts_of(const char *path) {
    struct str all = str_of(path);
    size_t base = all.n, dot;
    while (base && path[base - 1] != '/')
        base--;
    for (dot = all.n; dot > base && path[dot - 1] != '.';)
        dot--;
    dot = dot > base ? dot - 1 : all.n;
    return (struct parts){base ? str_sub(all, 0, base) : STR("./"), str_sub(all, base, dot),
                          str_sub(all, dot, all.n)};
}

/* A moment as it stands in names, so that names sort as moments do. */
static struct str moment(struct arena *a, int64_t wall) {
    struct time_civil c = time_to_civil(wall / CLOCK_SECOND);
    int millis = (int)(wall % CLOCK_SECOND / (CLOCK_SECOND / 1000));
    return arena_printf(a, "%04d-%02d-%02dT%02d-%02d-%02d.%03d", (int)c.year, c.month, c.day,
                        c.hour, c.minute, c.second, millis);
}

static bool is_moment(struct str s) {
    static const char form[] = "0000-00-00T00-00-00.000";
    bool fits = s.n == TIME_TEXT;
    for (size_t i = 0; fits && i < s.n; i++)
        fits = form[i] == '0' ? s.p[i] >= '0' && s.p[i] <= '9' : s.p[i] == form[i];
    return fits;
}

/* The moment in the name of a file that was moved aside; empty: it is another file. */
static struct str moment_of(const struct parts *p, struct str name) {
    size_t before = p->before.n + 1, n = before + TIME_TEXT;
    if (name.n != n + p->behind.n || !str_starts(name, p->before) || name.p[before - 1] != '-' ||
        !str_eq(str_sub(name, n, name.n), p->behind))
        return STR("");
    struct str when = str_sub(name, before, n);
    return is_moment(when) ? when : STR("");
}

/* ---- what is too old or too much ---- */

/* A file that was moved aside. */
struct aside {
    struct str name, moment;
};

static int newest_first(const void *a, const void *b) {
    return str_cmp(((const struct aside *)b)->moment, ((const struct aside *)a)->moment);
}

/* Errors are left alone: what cannot be removed now may be removed the next time. */
static void remove_old(const struct server_audit_file *f) {
    AUTO(arena_release) struct arena a = {0};
    const struct parts p = parts_of(f->path);
    VEC(struct aside) found = {0};
    DIR *folder = opendir(arena_str(&a, p.folder).p);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        struct str name = str_of(e->d_name), when = moment_of(&p, name);
        struct aside one = {arena_str(&a, name), arena_str(&a, when)};
        if (when.n)
            vec_push(&found, one);
    }
    if (found.n)
        qsort(found.v, found.n, sizeof *found.v, newest_first);
    struct str oldest = moment(&a, clock_wall(f->clock) - f->keep.seconds * CLOCK_SECOND);
    for (size_t i = 0; i < found.n; i++)
        if ((f->keep.files && i >= f->keep.files) ||
            (f->keep.seconds && str_cmp(found.v[i].moment, oldest) < 0))
            unlink(arena_printf(&a, "%.*s%.*s", STR_ARG(p.folder), STR_ARG(found.v[i].name)).p);
    vec_release(&found);
    if (folder)
        closedir(folder);
}

/* ---- writing ---- */

/* Moves the file aside and begins a new one, for the same people. */
static int rotate(struct server_audit_file *f, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    const struct parts p = parts_of(f->path);
    struct str when = moment(&a, clock_wall(f->clock));
    struct str name = arena_printf(&a, "%.*s%.*s-%.*s%.*s", STR_ARG(p.folder), STR_ARG(p.before),
                                   STR_ARG(when), STR_ARG(p.behind));
    struct stat st;
    mode_t mode = fstat(f->fd, &st) == 0 ? st.st_mode & 07777 : 0600;
    if (rename(f->path, name.p) < 0 && errno != ENOENT)
        return fail(f, err);
    server_audit_file_close(f);
    if (open_with(f, O_TRUNC, mode, err) < 0)
        return -1;
    remove_old(f);
    return 0;
}

static int write_all(const struct server_audit_file *f, struct str text, struct err *err) {
    while (text.n) {
        ssize_t n = write(f->fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(f, err);
        text = str_sub(text, (size_t)n, text.n);
    }
    return 0;
}

int server_audit_file_write(struct server_audit_file *f, struct str line, struct err *err) {
    uint64_t most = f->is_regular ? f->keep.bytes : 0;
    if (most && line.n > most)
        return err_set(err, ERR_TOO_LARGE,
                       "audit log '%s': write length %zu exceeds maximum file size %llu", f->path,
                       line.n, (unsigned long long)most);
    if (f->fd < 0 && server_audit_file_open(f, err) < 0)
        return -1;
    if (most && f->size + line.n > most && rotate(f, err) < 0)
        return -1;
    f->size += line.n;
    return write_all(f, line, err);
}
