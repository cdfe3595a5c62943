/* Takes what was not synced from the files of a store: first all of it, from the last write back to
 * the first, then what is kept is written again in its order. */
#include "cut.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "journal.h"

struct entry {
    struct journal_record r;
    const char *old, *new;
    bool lost;    /* a sync of it has failed */
    bool durable; /* a sync has made it so; it is here as it came behind others that are not */
};

struct cut {
    char *bytes; /* of the journal */
    size_t n;
    VEC(struct entry) entries; /* that are not durable */
    int fds[CRASH_FILE_COUNT];
    enum cut_how how;
    uint64_t seed;
    int taken;
};

static int read_journal(struct cut *c, const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    int rc = fstat(fd, &st);
    if (rc == 0) {
        c->n = (size_t)st.st_size;
        c->bytes = xmalloc(c->n + 1);
        rc = pread(fd, c->bytes, c->n, 0) == (ssize_t)c->n ? 0 : -1;
    }
    close(fd);
    return rc;
}

static bool has_lost(const struct cut *c, uint32_t file) {
    for (size_t i = 0; i < c->entries.n; i++)
        if (c->entries.v[i].r.file == file && c->entries.v[i].lost)
            return true;
    return false;
}

/* A sync makes durable what stands before it, but for what an earlier one has lost. */
static void note_sync(struct cut *c, uint32_t file) {
    bool keeps = has_lost(c, file);
    size_t kept = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        struct entry e = c->entries.v[i];
        e.durable |= e.r.file == file && !e.lost;
        if (keeps || e.r.file != file)
            c->entries.v[kept++] = e;
    }
    c->entries.n = kept;
}

static void note_failed_sync(struct cut *c, uint32_t file) {
    for (size_t i = 0; i < c->entries.n; i++)
        c->entries.v[i].lost |= c->entries.v[i].r.file == file && !c->entries.v[i].durable;
}

static size_t bytes_behind(const struct journal_record *r) {
    return r->op == JOURNAL_WRITE ? 2 * r->length : r->op == JOURNAL_TRUNCATE ? r->length : 0;
}

/* The last record may be cut off: what it tells of was not done. */
static void find_entries(struct cut *c) {
    struct entry e = {0};
    for (size_t at = 0; at + sizeof e.r <= c->n;) {
        memcpy(&e.r, c->bytes + at, sizeof e.r);
        at += sizeof e.r;
        if (e.r.file >= CRASH_FILE_COUNT || bytes_behind(&e.r) > c->n - at)
            return;
        e.old = c->bytes + at;
        e.new = e.old + e.r.length;
        at += bytes_behind(&e.r);
        if (e.r.op == JOURNAL_SYNC)
            note_sync(c, e.r.file);
        else if (e.r.op == JOURNAL_FAILED_SYNC)
            note_failed_sync(c, e.r.file);
        else
            vec_push(&c->entries, e);
    }
}

/* A new store is written under another name, which it may have lost by now. */
static void open_files(struct cut *c, const char *directory) {
    static const char *const names[] = CRASH_FILES;
    char path[4096];
    for (int i = 0; i < CRASH_FILE_COUNT; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        c->fds[i] = open(path, O_RDWR | O_CLOEXEC);
    }
    snprintf(path, sizeof path, "%s/%s", directory, names[0]);
    if (c->fds[2] < 0)
        c->fds[2] = open(path, O_RDWR | O_CLOEXEC);
}

static int put(int fd, const char *p, size_t n, uint64_t offset) {
    return pwrite(fd, p, n, (off_t)offset) == (ssize_t)n ? 0 : -1;
}

static int undo(const struct cut *c, const struct entry *e) {
    int fd = c->fds[e->r.file];
    if (fd < 0)
        return 0;
    if (put(fd, e->old, e->r.length, e->r.offset) < 0)
        return -1;
    return ftruncate(fd, (off_t)e->r.size_before);
}

static int redo_sectors(struct cut *c, int fd, const struct entry *e) {
    for (uint64_t at = 0, n; at < e->r.length; at += n) {
        n = crash_in_sector(e->r.offset + at, e->r.length - at);
        if (crash_chance(&c->seed, 2) && put(fd, e->new + at, n, e->r.offset + at) < 0)
            return -1;
    }
    return 0;
}

static int redo(struct cut *c, const struct entry *e) {
    int fd = c->fds[e->r.file];
    uint64_t chance = crash_chance(&c->seed, 3);
    if (fd < 0)
        return 0;
    if (!e->durable && (c->how == CUT_ALL || chance == 0)) {
        c->taken++;
        return 0;
    }
    if (e->r.op == JOURNAL_TRUNCATE)
        return ftruncate(fd, (off_t)e->r.offset);
    if (!e->durable && c->how == CUT_SECTORS && chance == 1) {
        c->taken++;
        return redo_sectors(c, fd, e);
    }
    return put(fd, e->new, e->r.length, e->r.offset);
}

static int take_power(struct cut *c) {
    for (size_t i = c->entries.n; i > 0; i--)
        if (undo(c, &c->entries.v[i - 1]) < 0)
            return -1;
    for (size_t i = 0; i < c->entries.n; i++)
        if (redo(c, &c->entries.v[i]) < 0)
            return -1;
    return c->taken;
}

int cut_power(const char *directory, const char *journal, enum cut_how how, uint64_t seed) {
    struct cut c = {.how = how, .seed = seed};
    if (read_journal(&c, journal) < 0)
        return -1;
    find_entries(&c);
    open_files(&c, directory);
    int rc = take_power(&c);
    for (int i = 0; i < CRASH_FILE_COUNT; i++)
        if (c.fds[i] >= 0)
            close(c.fds[i]);
    vec_release(&c.entries);
    free(c.bytes);
    return rc;
}
