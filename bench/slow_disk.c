/*
 * A disk for a server that writes to a memory file system: a sync takes DISK_US microseconds, and
 * what was written to the file since the last one goes at 200 MB/s. What others do to the disk of a
 * machine does not count then. Loaded with LD_PRELOAD by PARTS=t DISK=... tools/bench-server.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 1024, BYTES_PER_US = 200 };

static atomic_long unsynced[FILES]; /* bytes by descriptor */

static int sync_file(int fd) {
    const char *text = getenv("DISK_US");
    long bytes = atomic_exchange(&unsynced[fd % FILES], 0);
    long us = (text ? atol(text) : 0) + bytes / BYTES_PER_US;
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    return nanosleep(&time, NULL);
}

int fdatasync(int fd) {
    return sync_file(fd);
}

int fsync(int fd) {
    return sync_file(fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at) {
    atomic_fetch_add(&unsynced[fd % FILES], (long)n);
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    return pwrite64(fd, bytes, n, at);
}
