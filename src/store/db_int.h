/*
 * The file of a store: an SQLite database in WAL mode, and what is in it.
 *
 * A row of `record` is what one write did to one object, under its revision. The newest record of a
 * key is its state, unless it is a deletion; older ones are kept for as long as the log reaches
 * back to them. `resource` has a row for each resource, with the revision at which its log begins;
 * nothing older than that is there but the states at that revision. `state` has one row: the
 * newest revision, how many records there are, and the sum of their checksums, so that a record
 * that is missing is noticed as well as one that has changed.
 */
#ifndef STORE_DB_INT_H
#define STORE_DB_INT_H

#include <sqlite3.h>

#include "store/store_int.h"

/* A row of `record`. Texts are borrowed. */
struct store__record {
    uint64_t revision;
    enum store_event_type type;
    uint64_t previous; /* the revision of the record that it took the place of; 0: none */
    int64_t time;
    struct str resource; /* its name */
    struct str namespace, name, value;
};

/* A resource that the file knows. */
struct store__db_resource {
    int64_t id;
    char *name;
    uint64_t floor;      /* its log begins behind this revision */
    uint64_t next_floor; /* from the end of the transaction on; 0: it stays */
    uint64_t records;    /* that were read */
    int index;           /* in the table of the store; -1: it is not there */
};

/* The row of `state`. */
struct store__db_state {
    uint64_t revision;
    uint64_t records;
    uint64_t sum; /* of the checksums of all records, modulo 2^64 */
};

/* The file, open. It is used by one thread at a time. */
struct store__db {
    char *path, *wal_path;
    int lock; /* a file descriptor; -1: the file is not ours alone */
    sqlite3 *sqlite;
    sqlite3_stmt *insert, *remove, *set_state, *set_floor, *get_version;
    struct store__db_state state, before; /* now, and before the transaction */
    struct store__db_state found;         /* records and sum, by the last walk over the records */
    VEC(struct store__db_resource) resources;
    uint32_t rows[LIMIT_STORE_RESOURCES]; /* the place in resources of each in the store's table */
    int64_t version;       /* what SQLite says as long as nobody else writes to the file */
    uint64_t wal_frames;   /* in the write-ahead log; 0: all of them were moved */
    uint64_t moved_frames; /* of the log's, behind the last checkpoint */
    int failure;           /* SQLite's code for what has gone wrong in the transaction */
};

enum store__db_mode {
    STORE__DB_SERVE, /* makes what is not there, and keeps others out */
    STORE__DB_NEW,   /* the same, but it must not be there yet */
    STORE__DB_ALONE, /* must be there, and keeps others out */
    STORE__DB_READ,  /* must be there, and may be in use */
};

/* Opens the file in a directory, checks what kind of file it is, and reads `resource` and `state`.
 * A new one begins at `revision`. The caller closes it. */
int store__db_open(const char *directory, enum store__db_mode mode, uint64_t revision,
                   struct store__db **out, struct err *err);

/* A second connection to the file that is open already, for another thread. It only moves what is
 * in the write-ahead log. The caller closes it before the first. */
int store__db_open_again(const struct store__db *db, struct store__db **out, struct err *err);

/* Looks whether the write-ahead log of a store is whole, unless somebody has it open. */
int store__db_check_wal(const char *directory, struct err *err);

/* Closes it, and gives back the lock. NULL is fine. */
void store__db_close(struct store__db *db);

/* Has the file know all resources of a table, and its rows their places there. */
int store__db_add_resources(struct store__db *db, const struct store_resource *table, size_t n,
                            struct err *err);

/* ---- errors and statements ---- */

/* What SQLite says has gone wrong, with the file's name and what to do about it. Returns -1. */
int store__db_fail(struct store__db *db, const char *what, struct err *err);

/* The same for what is not as it was written. */
int store__db_damaged(const struct store__db *db, const char *what, struct err *err);

/* Runs SQL that yields no rows. */
int store__db_run(struct store__db *db, const char *sql, struct err *err);

/* Compiles a statement; NULL on failure. The caller finalizes it. */
sqlite3_stmt *store__db_prepare(struct store__db *db, const char *sql, struct err *err);

/* Runs a statement that yields no rows, so that it can be used again. */
int store__db_finish(struct store__db *db, sqlite3_stmt *stmt, struct err *err);

/* A copy with a NUL behind it; the caller frees it. */
char *store__copy_text(struct str s);

/* ---- rows ---- */

/* Reads the rows of `state` and `resource`. */
int store__db_read_rows(struct store__db *db, struct err *err);

/* Writes db->state, and the row of a resource. */
int store__db_write_state(struct store__db *db, struct err *err);
int store__db_write_resource(struct store__db *db, const struct store__db_resource *r,
                             struct err *err);

/* Writes a record of the resource with this id; the checksum is the record's. */
int store__db_insert(struct store__db *db, const struct store__record *r, int64_t resource,
                     uint64_t checksum, struct err *err);

/* Looks whether the write-ahead log of a file that nobody has open is whole. -1 when SQLite would
 * lose complete transactions. */
int store__wal_check(const char *path, struct err *err);

/* ---- records ---- */

/* The checksum of a record, over all that is in it. */
uint64_t store__record_checksum(const struct store__record *r);

/* Called with a record; fault says what is wrong with it, or is NULL. The row of its resource is
 * NULL if there is none, which is a fault. */
typedef int store__record_fn(void *ctx, struct store__db_resource *resource,
                             const struct store__record *r, const char *fault, struct err *err);

/* Calls fn with every record, in the order of revisions; the first -1 ends it. */
int store__db_each_record(struct store__db *db, store__record_fn *fn, void *ctx, struct err *err);

/* Called with what SQLite finds wrong with the file's pages: lines of text. */
typedef int store__page_fault_fn(void *ctx, const char *text, struct err *err);

/* Asks SQLite for its opinion of the pages: whether each is in use once, or free. The first -1 of
 * fn ends it. */
int store__db_each_page_fault(struct store__db *db, store__page_fault_fn *fn, void *ctx,
                              struct err *err);

/* Were the records that the last walk has found all that were written? */
int store__db_check_found(const struct store__db *db, struct err *err);

/* The object of a record; the caller owns it. The arena is for the way. */
int store__record_decode(struct arena *a, const struct store__record *r, struct api_object **out,
                         struct err *err);

/* Which record it is, for people: "configmaps a/x at revision 7". */
struct str store__record_title(struct arena *a, const struct store__record *r);

/* ---- transactions ---- */

/* Makes the file ready to be written to. */
int store__db_prepare_writes(struct store__db *db, struct err *err);

/* Starts a transaction. -1 also when somebody else has written to the file. A transaction in which
 * anything fails is ended by store__db_rollback. */
int store__db_begin(struct store__db *db, struct err *err);

/* Adds a record of a resource of the table, whose name is filled in. */
int store__db_add(struct store__db *db, uint32_t resource, struct store__record *r,
                  struct err *err);

/* Removes what an event leaves behind that the log has let go of. */
int store__db_forget(struct store__db *db, const struct store__forgotten *event, struct err *err);

/* Makes all of it durable, with the newest revision. */
int store__db_commit(struct store__db *db, uint64_t revision, struct err *err);

/* Ends a transaction in which something failed. -1 when it is not known what the file holds now:
 * after all errors but those that leave nothing behind, such as a full disk. */
int store__db_rollback(struct store__db *db);

/* Moves what is in the write-ahead log to its place, so that the log begins again. Does nothing, or
 * a part of it, while somebody reads the file. */
int store__db_checkpoint(struct store__db *db, struct err *err);

/* ---- the mover: a thread that does so while others write ---- */

struct store__mover;

/* What became of a round. */
struct store__moved {
    int rc;          /* -1: it failed */
    int failure;     /* with this code of SQLite */
    uint64_t frames; /* of the log that are in their place now */
    struct err err;
};

/* Makes the thread, with a connection of its own to the file of db. */
int store__mover_new(const struct store__db *db, struct store__mover **out, struct err *err);

/* Begins a round; it rests meanwhile. Until it does so again, nobody else moves anything. */
void store__mover_start(struct store__mover *m);

/* Has the round ended? Then *out is what became of it. It is waited for on request. */
bool store__mover_rests(struct store__mover *m, bool wait, struct store__moved *out);

/* Ends the thread when it rests, and closes its connection. NULL is fine. */
void store__mover_free(struct store__mover *m);

/* ---- the store ---- */

/* Has the store hold what is in the file. */
int store__db_load(struct store__db *db, struct store *s, struct err *err);

/* A carrier that writes to the file; both are taken. */
struct store__carrier *store__disk_carrier(struct store *s, struct store__db *db,
                                           struct store__mover *mover);

#endif
