/*
 * Loaded into a server by LD_PRELOAD: between SQLite and the kernel, it lets calls on the store's
 * files fail by a plan, and keeps a journal of what no sync has made durable. It also moves the
 * wall clock ahead, so that a store ages between two starts.
 *
 * SQLite is a part of the program and calls the C library for its files; `berth` opens its lock and
 * reads the write-ahead log by the same calls. Only files of CRASH_FILES are looked at.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"

enum { FDS = 1024 };

/* Some state must be global here: the program knows nothing of it. */
static struct {
    pthread_mutex_t lock;
    signed char file_of[FDS]; /* number of a file and 1; 0: none of ours */
    enum shim_kind kind;
    uint64_t at, times, seed;
    const char *arm;
    bool armed;
    uint64_t calls;     /* that the kind can happen to */
    uint64_t calls_all; /* writes, truncations and syncs, once syncs lie */
    bool lies;
    bool lost[CRASH_FILE_COUNT]; /* a sync of the file has failed */
    bool dirty[CRASH_FILE_COUNT];
    int journal, report;
    long clock_ahead;
    int (*clock_gettime)(clockid_t, struct timespec *);
} shim = {.lock = PTHREAD_MUTEX_INITIALIZER, .journal = -1, .report = -1};

/* ---- the plan ---- */

static int open_for(const char *variable) {
    const char *path = getenv(variable);
    return path ? (int)syscall(SYS_openat, AT_FDCWD, path,
                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                : -1;
}

__attribute__((constructor)) static void read_plan(void) {
    const char *plan = getenv(CRASH_PLAN), *ahead = getenv(CRASH_CLOCK);
    unsigned kind = 0;
    unsigned long at = 0, times = 0, seed = 0;
    if (plan && sscanf(plan, "%u %lu %lu %lu", &kind, &at, &times, &seed) == 4 &&
        kind < SHIM_KINDS) {
        shim.kind = kind;
        shim.at = at;
        shim.times = times;
        shim.seed = seed;
    }
    shim.arm = getenv(CRASH_ARM);
    shim.armed = !shim.arm;
    shim.journal = open_for(CRASH_JOURNAL);
    shim.report = open_for(CRASH_REPORT);
    shim.clock_ahead = ahead ? atol(ahead) : 0;
    *(void **)&shim.clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

static bool is_armed(void) {
    if (!shim.armed && access(shim.arm, F_OK) == 0)
        shim.armed = true;
    return shim.armed;
}

static void report(const char *what, int file, uint64_t offset, uint64_t n) {
    static const char *const names[] = CRASH_FILES;
    char line[160];
    int length = snprintf(line, sizeof line, "%s %s offset %llu bytes %llu\n", what, names[file],
                          (unsigned long long)offset, (unsigned long long)n);
    if (shim.report >= 0 && length > 0)
        syscall(SYS_write, shim.report, line, (size_t)length);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Is it this call's turn? Called with the lock for every call that the kind can happen to. */
static bool is_due(void) {
    if (!is_armed())
        return false;
    shim.calls++;
    return shim.calls >= shim.at && shim.calls < shim.at + shim.times;
}

/* What may end the process in front of any call that changes a file. */
static void maybe_die(const char *what, int file, uint64_t offset, uint64_t n) {
    if (shim.lies && ++shim.calls_all > shim.times)
        die();
    if (shim.kind == SHIM_KILL && is_due()) {
        report(what, file, offset, n);
        die();
    }
}

/* ---- the journal ---- */

static uint64_t size_of(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void append(const struct journal_record *r, const void *old, const void *new) {
    struct iovec parts[3] = {{(void *)(uintptr_t)r, sizeof *r},
                             {(void *)(uintptr_t)old, old ? r->length : 0},
                             {(void *)(uintptr_t) new, new ? r->length : 0}};
    if (writev(shim.journal, parts, 3) < 0)
        die();
}

/* The bytes of a file; zeros where it has none. */
static void *read_old(int fd, uint64_t offset, uint64_t n) {
    char *old = calloc(1, n ? n : 1);
    if (!old || syscall(SYS_pread64, fd, old, n, offset) < 0)
        die();
    return old;
}

static void note_write(int fd, int file, const void *p, uint64_t n, uint64_t offset) {
    if (shim.journal < 0)
        return;
    struct journal_record r = {JOURNAL_WRITE, (uint32_t)file, offset, n, size_of(fd)};
    void *old = read_old(fd, offset, n);
    shim.dirty[file] = true;
    append(&r, old, p);
    free(old);
}

static void note_truncation(int fd, int file, uint64_t size) {
    uint64_t before = size_of(fd);
    if (shim.journal < 0)
        return;
    struct journal_record r = {JOURNAL_TRUNCATE, (uint32_t)file, size,
                               before > size ? before - size : 0, before};
    void *old = read_old(fd, size, r.length);
    shim.dirty[file] = true;
    append(&r, old, NULL);
    free(old);
}

/* All is durable again: the journal need not grow. */
static bool all_clean(void) {
    for (int i = 0; i < CRASH_FILE_COUNT; i++)
        if (shim.dirty[i])
            return false;
    return true;
}

static void note_sync(int file, enum journal_op op) {
    struct journal_record r = {.op = op, .file = (uint32_t)file};
    if (shim.journal < 0)
        return;
    shim.lost[file] |= op == JOURNAL_FAILED_SYNC;
    shim.dirty[file] = shim.lost[file];
    append(&r, NULL, NULL);
    if (all_clean() && ftruncate64(shim.journal, 0) < 0)
        die();
}

/* ---- calls ---- */

static int file_of(int fd) {
    return fd >= 0 && fd < FDS ? shim.file_of[fd] - 1 : -1;
}

static void note_open(int fd, const char *path) {
    static const char *const names[] = CRASH_FILES;
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (fd < 0 || fd >= FDS)
        return;
    shim.file_of[fd] = 0;
    for (int i = 0; i < CRASH_FILE_COUNT; i++)
        if (strcmp(base, names[i]) == 0)
            shim.file_of[fd] = (signed char)(i + 1);
}

static int open_file(const char *path, int flags, mode_t mode) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    note_open(fd, path);
    return fd;
}

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_file(path, flags, mode);
}

/* Called in the place of open by programs that are built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags) {
    return open_file(path, flags, 0);
}

int __open64_2(const char *path, int flags) {
    return open_file(path, flags, 0);
}

int close(int fd) {
    if (fd >= 0 && fd < FDS)
        shim.file_of[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

static int fail(int number) {
    errno = number;
    return -1;
}

/* A part of the sectors comes to the file: the first ones, or any. */
static void write_torn(int fd, const char *p, uint64_t n, uint64_t offset) {
    bool in_order = crash_chance(&shim.seed, 2);
    for (uint64_t at = 0, part; at < n; at += part) {
        bool written = crash_chance(&shim.seed, 2);
        part = crash_in_sector(offset + at, n - at);
        if (written)
            syscall(SYS_pwrite64, fd, p + at, part, offset + at);
        else if (in_order)
            break;
    }
    die();
}

/* What becomes of a write whose turn it is. */
static ssize_t fail_write(int fd, int file, const char *p, size_t n, off64_t offset) {
    report("write", file, (uint64_t)offset, n);
    switch (shim.kind) {
    case SHIM_WRITE_EIO:
        return fail(EIO);
    case SHIM_WRITE_SHORT:
        return syscall(SYS_pwrite64, fd, p, n / 2 ? n / 2 : n, offset);
    case SHIM_SHORT_FULL:
        if (shim.calls == shim.at)
            return syscall(SYS_pwrite64, fd, p, n / 2, offset);
        return fail(ENOSPC);
    case SHIM_TORN:
        write_torn(fd, p, n, (uint64_t)offset);
        return 0;
    default:
        return fail(ENOSPC);
    }
}

static bool is_for_writes(void) {
    return shim.kind == SHIM_WRITE_EIO || shim.kind == SHIM_WRITE_FULL ||
           shim.kind == SHIM_WRITE_SHORT || shim.kind == SHIM_SHORT_FULL || shim.kind == SHIM_TORN;
}

static ssize_t write_file(int fd, const void *p, size_t n, off64_t offset) {
    int file = file_of(fd);
    if (file < 0)
        return syscall(SYS_pwrite64, fd, p, n, offset);
    pthread_mutex_lock(&shim.lock);
    maybe_die("write", file, (uint64_t)offset, n);
    note_write(fd, file, p, n, (uint64_t)offset);
    ssize_t rc = is_for_writes() && is_due() ? fail_write(fd, file, p, n, offset)
                                             : syscall(SYS_pwrite64, fd, p, n, offset);
    pthread_mutex_unlock(&shim.lock);
    return rc;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t offset) {
    return write_file(fd, p, n, offset);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t offset) {
    return write_file(fd, p, n, offset);
}

static ssize_t read_file(int fd, void *p, size_t n, off64_t offset) {
    int file = file_of(fd);
    bool fails = false;
    if (file >= 0 && shim.kind == SHIM_READ_EIO) {
        pthread_mutex_lock(&shim.lock);
        fails = is_due();
        if (fails)
            report("read", file, (uint64_t)offset, n);
        pthread_mutex_unlock(&shim.lock);
    }
    return fails ? fail(EIO) : syscall(SYS_pread64, fd, p, n, offset);
}

ssize_t pread(int fd, void *p, size_t n, off_t offset) {
    return read_file(fd, p, n, offset);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t offset) {
    return read_file(fd, p, n, offset);
}

static int truncate_file(int fd, off64_t size) {
    int file = file_of(fd);
    if (file < 0)
        return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&shim.lock);
    maybe_die("truncate", file, (uint64_t)size, 0);
    note_truncation(fd, file, (uint64_t)size);
    bool fails = shim.kind == SHIM_WRITE_EIO && is_due();
    if (fails)
        report("truncate", file, (uint64_t)size, 0);
    int rc = fails ? fail(EIO) : (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_unlock(&shim.lock);
    return rc;
}

int ftruncate(int fd, off_t size) {
    return truncate_file(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    return truncate_file(fd, size);
}

/* A sync that is tried on one of our files, with the lock. */
static int sync_ours(int fd, int file, long number) {
    maybe_die("sync", file, 0, 0);
    if (shim.kind == SHIM_SYNC_EIO && is_due()) {
        report("sync", file, 0, 0);
        note_sync(file, JOURNAL_FAILED_SYNC);
        return fail(EIO);
    }
    if (shim.lies)
        return 0;
    if (shim.kind == SHIM_LIE && is_armed() && ++shim.calls == shim.at) {
        report("lies from sync on", file, 0, 0);
        shim.lies = true;
        return 0;
    }
    if (shim.journal < 0)
        return (int)syscall(number, fd);
    note_sync(file, JOURNAL_SYNC);
    return 0;
}

static int sync_file(int fd, long number) {
    int file = file_of(fd);
    if (file < 0)
        return shim.journal < 0 ? (int)syscall(number, fd) : 0;
    pthread_mutex_lock(&shim.lock);
    int rc = sync_ours(fd, file, number);
    pthread_mutex_unlock(&shim.lock);
    return rc;
}

int fsync(int fd) {
    return sync_file(fd, SYS_fsync);
}

int fdatasync(int fd) {
    return sync_file(fd, SYS_fdatasync);
}

int clock_gettime(clockid_t id, struct timespec *out) {
    int rc =
        shim.clock_gettime ? shim.clock_gettime(id, out) : (int)syscall(SYS_clock_gettime, id, out);
    if (id == CLOCK_REALTIME && rc == 0)
        out->tv_sec += shim.clock_ahead;
    return rc;
}
