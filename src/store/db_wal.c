/*
 * SQLite reads its write-ahead log up to the first frame whose checksum is wrong and takes what
 * follows for the remains of a crash. That is right for the last transaction, which may be half
 * there; but if transactions follow that were complete, the log was damaged, and SQLite would lose
 * them without a word. Whoever opens the file looks here first.
 *
 * Follows the description of the WAL format (sqlite.org/fileformat2.html, section 4).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/db_int.h"

enum { WAL_HEADER = 32, FRAME_HEADER = 24, LEAST_PAGE = 512, LARGEST_PAGE = 65536 };

struct wal {
    int fd;
    int failure;        /* errno of a read that failed; 0: none */
    uint64_t bytes;     /* of the file */
    bool big_endian;    /* numbers that checksums are made of */
    uint32_t page_size; /* 0: the header is not one */
    unsigned char salts[8];
    uint32_t sums[2]; /* of all that was read so far */
    unsigned char *frame;
};

static uint32_t big_number(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_number(const unsigned char *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add_up(struct wal *w, const unsigned char *p, size_t n) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint32_t x = w->big_endian ? big_number(p + i) : little_number(p + i);
        uint32_t y = w->big_endian ? big_number(p + i + 4) : little_number(p + i + 4);
        w->sums[0] += x + w->sums[1];
        w->sums[1] += y + w->sums[0];
    }
}

static bool sums_are(const struct wal *w, const unsigned char *p) {
    return big_number(p) == w->sums[0] && big_number(p + 4) == w->sums[1];
}

static bool read_at(struct wal *w, void *to, size_t n, uint64_t at) {
    for (size_t got = 0; got < n;) {
        ssize_t more = pread(w->fd, (char *)to + got, n - got, (off_t)(at + got));
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            w->failure = errno;
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}

static bool read_header(struct wal *w) {
    enum { MAGIC = 0x377f0682, VERSION = 3007000 };
    unsigned char head[WAL_HEADER];
    if (!read_at(w, head, sizeof head, 0) || (big_number(head) | 1) != (MAGIC | 1) ||
        big_number(head + 4) != VERSION)
        return false;
    w->big_endian = big_number(head) & 1;
    w->page_size = big_number(head + 8);
    memcpy(w->salts, head + 16, sizeof w->salts);
    add_up(w, head, 24);
    return sums_are(w, head + 24) && w->page_size >= LEAST_PAGE && w->page_size <= LARGEST_PAGE &&
           (w->page_size & (w->page_size - 1)) == 0;
}

/* How many whole frames the file has room for. */
static uint64_t frame_count(const struct wal *w) {
    return (w->bytes - WAL_HEADER) / (FRAME_HEADER + w->page_size);
}

static uint64_t frame_place(const struct wal *w, uint64_t i) {
    return WAL_HEADER + i * (FRAME_HEADER + w->page_size);
}

/* Does the frame in memory belong to this log, and not to what stood there before? */
static bool is_of_this_log(const struct wal *w) {
    return memcmp(w->frame + 8, w->salts, sizeof w->salts) == 0 && big_number(w->frame) != 0;
}

static bool is_valid(struct wal *w) {
    add_up(w, w->frame, 8);
    add_up(w, w->frame + FRAME_HEADER, w->page_size);
    return is_of_this_log(w) && sums_are(w, w->frame + 16);
}

static bool ends_transaction(const struct wal *w) {
    return big_number(w->frame + 4) != 0;
}

/* What cannot be read need not be damaged. */
static int fail_read(const struct wal *w, const char *path, struct err *err) {
    return err_set(err, ERR_IO,
                   "'%s': it cannot be read: %s; the disk failed: look for the reason in the "
                   "system's log",
                   path, strerror(w->failure));
}

/* Looks for whole transactions behind the first frame that is not valid. One may be the last,
 * which a crash has cut into: its frames need not have come to the disk in their order. */
static int look_at_frames(struct wal *w, const char *path, struct err *err) {
    uint64_t n = frame_count(w), i = 0, whole = 0;
    while (i < n && read_at(w, w->frame, FRAME_HEADER + w->page_size, frame_place(w, i)) &&
           is_valid(w))
        i++;
    uint64_t damaged = i;
    for (; i < n && read_at(w, w->frame, FRAME_HEADER, frame_place(w, i)); i++)
        whole += is_of_this_log(w) && ends_transaction(w);
    if (w->failure)
        return fail_read(w, path, err);
    if (whole < 2)
        return 0;
    return err_set(err, ERR_IO,
                   "'%s': damaged at byte %llu, in front of %llu transactions that were complete; "
                   "restore the store from a dump, or remove the file to do without them",
                   path, (unsigned long long)frame_place(w, damaged), (unsigned long long)whole);
}

static int look_at_log(struct wal *w, const char *path, struct err *err) {
    if (w->bytes <= WAL_HEADER)
        return 0;
    bool good = read_header(w);
    if (w->failure)
        return fail_read(w, path, err);
    if (!good)
        return err_set(err, ERR_IO,
                       "'%s': its header is damaged; restore the store from a dump, or remove the "
                       "file to do without the transactions in it",
                       path);
    w->frame = xmalloc(FRAME_HEADER + w->page_size);
    int rc = look_at_frames(w, path, err);
    free(w->frame);
    return rc;
}

int store__wal_check(const char *path, struct err *err) {
    struct wal w = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    struct stat st;
    if (w.fd < 0 && errno == ENOENT)
        return 0;
    if (w.fd < 0 || fstat(w.fd, &st) < 0) {
        err_set(err, ERR_IO, "'%s': %s", path, strerror(errno));
        if (w.fd >= 0)
            close(w.fd);
        return -1;
    }
    w.bytes = (uint64_t)st.st_size;
    int rc = look_at_log(&w, path, err);
    close(w.fd);
    return rc;
}
