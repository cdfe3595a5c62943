/*
 * What the shim (shim.c, inside the server) and the driver (cut.c) agree on: which files are
 * looked at, how a failure is ordered, and how writes that no sync has made durable are remembered.
 *
 * The journal outlives the server, as the kernel's pages do. Behind a kill the driver takes from
 * the files what a power failure would have taken: see cut.h.
 */
#ifndef CRASH_JOURNAL_H
#define CRASH_JOURNAL_H

#include <stdint.h>

/* Environment of a server. */
#define CRASH_PLAN    "CRASH_PLAN"    /* "KIND AT TIMES SEED": see enum shim_kind */
#define CRASH_ARM     "CRASH_ARM"     /* the plan counts once this file is there */
#define CRASH_JOURNAL "CRASH_JOURNAL" /* file for records as below; syncs are simulated then */
#define CRASH_REPORT  "CRASH_REPORT"  /* file for a line about each failure */
#define CRASH_CLOCK   "CRASH_CLOCK"   /* seconds that the wall clock is ahead */

/* What happens at the AT-th call that it can happen to; TIMES calls in a row, if it lets the server
 * live. */
enum shim_kind {
    SHIM_NONE,
    SHIM_WRITE_EIO,   /* a write or truncation fails */
    SHIM_WRITE_FULL,  /* a write finds no room */
    SHIM_WRITE_SHORT, /* half is written, and the program is told so */
    SHIM_SHORT_FULL,  /* half is written, and the rest finds no room */
    SHIM_SYNC_EIO,    /* a sync fails; later ones succeed and have not written what this one lost */
    SHIM_READ_EIO,    /* a read fails */
    SHIM_TORN,        /* a part of a write comes to the file, and the process dies */
    SHIM_KILL,        /* the process dies in front of the call */
    SHIM_LIE, /* from this sync on, none does anything; TIMES calls later the process dies */
    SHIM_KINDS
};

/* The files of a store; the place in this list is the number of a file. */
#define CRASH_FILES \
    { "store.db", "store.db-wal", "store.new", "store.new-journal" }
enum { CRASH_FILE_COUNT = 4 };

/* Behind a sync that failed, what stands before it may be lost though later syncs succeed. */
enum journal_op { JOURNAL_WRITE, JOURNAL_TRUNCATE, JOURNAL_SYNC, JOURNAL_FAILED_SYNC };

/* A record: a write has `length` old bytes and then as many new ones behind it, a truncation the
 * `length` bytes that it takes away. */
struct journal_record {
    uint32_t op, file;
    uint64_t offset; /* of a truncation: the new size */
    uint64_t length;
    uint64_t size_before; /* of the file */
};

/* What a disk writes as a whole: a write is torn between two of these only. Of `n` bytes at an
 * offset, those that lie in the first one. */
enum { CRASH_SECTOR = 512 };
static inline uint64_t crash_in_sector(uint64_t offset, uint64_t n) {
    uint64_t left = CRASH_SECTOR - offset % CRASH_SECTOR;
    return n < left ? n : left;
}

/* The next number of a sequence that a seed decides (splitmix64). */
static inline uint64_t crash_next(uint64_t *seed) {
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number below n, which is not 0. */
static inline uint64_t crash_chance(uint64_t *seed, uint64_t n) {
    return crash_next(seed) % n;
}

#endif
