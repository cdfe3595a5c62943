/* The file of a store from opening to closing: who may have it, and whether it is one at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/db_int.h"

enum {
    APPLICATION_ID = 0x42727468, /* "Brth" */
    VERSION = 1,                 /* of the tables */
    BUSY_MS = 5000,              /* how long others may hold SQLite's own locks */
};

/* The tables, as SQLite keeps their texts. */
#define RESOURCE_TABLE                                                                           \
    "CREATE TABLE resource(id INTEGER PRIMARY KEY, name TEXT NOT NULL, floor INTEGER NOT NULL, " \
    "checksum INTEGER NOT NULL) STRICT"
#define RECORD_TABLE                                                                             \
    "CREATE TABLE record(revision INTEGER PRIMARY KEY, resource INTEGER NOT NULL, type INTEGER " \
    "NOT NULL, previous INTEGER NOT NULL, time INTEGER NOT NULL, namespace TEXT NOT NULL, name " \
    "TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT"
#define STATE_TABLE                                                                          \
    "CREATE TABLE state(id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, records INTEGER " \
    "NOT NULL, sum INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT"

/* In the order of their names. */
static const char *const tables[] = {RECORD_TABLE, RESOURCE_TABLE, STATE_TABLE};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- errors ---- */

/* What to do about an error of SQLite. */
static const struct {
    int code;
    const char *remedy;
} remedies[] = {
    {SQLITE_FULL, "make room on the disk"},
    {SQLITE_NOTADB, "this is no store: choose another directory"},
    {SQLITE_CORRUPT, "the file is damaged: restore it from a dump"},
    {SQLITE_READONLY, "the file may not be written to: see to its owner and permissions"},
    {SQLITE_PERM, "see to the file's owner and permissions"},
    {SQLITE_CANTOPEN, "see to the owner and permissions of the directory and its files"},
    {SQLITE_BUSY, "another program has locked the file: end it"},
    {SQLITE_IOERR, "the disk failed: look for the reason in the system's log"},
};

static const char *remedy_for(int code) {
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (remedies[i].code == code)
            return remedies[i].remedy;
    return "check the file";
}

int store__db_fail(struct store__db *db, const char *what, struct err *err) {
    int number = sqlite3_system_errno(db->sqlite);
    const char *system = number ? strerror(number) : "";
    db->failure = sqlite3_errcode(db->sqlite) & 0xff;
    return err_set(err, ERR_IO, "'%s': %s: %s%s%s; %s", db->path, what, sqlite3_errmsg(db->sqlite),
                   number ? ": " : "", system, remedy_for(db->failure));
}

int store__db_damaged(const struct store__db *db, const char *what, struct err *err) {
    return err_set(err, ERR_IO, "'%s': %s; %s", db->path, what, remedy_for(SQLITE_CORRUPT));
}

int store__db_run(struct store__db *db, const char *sql, struct err *err) {
    if (sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store__db_fail(db, sql, err);
    return 0;
}

/* ---- directories and locks ---- */

static int fail_at(const char *path, struct err *err) {
    return err_set(err, ERR_IO, "'%s': %s", path, strerror(errno));
}

/* Has the names in a directory last through a crash. */
static int sync_directory(const char *path, struct err *err) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) < 0 ? fail_at(path, err) : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Makes the directory, not those above it. */
static int make_directory(const char *path, struct err *err) {
    if (mkdir(path, 0700) < 0)
        return errno == EEXIST ? 0 : fail_at(path, err);
    AUTO(arena_release) struct arena a = {0};
    struct str above = arena_printf(&a, "%s/..", path);
    return sync_directory(above.p, err);
}

/* Who has the lock, from the file in which they said so; 0: unknown. */
static int64_t lock_holder(int fd) {
    char text[32];
    int64_t pid;
    ssize_t n = pread(fd, text, sizeof text, 0);
    struct str s = {text, n > 0 ? (size_t)n : 0};
    return str_to_i64(str_trim(s), &pid) ? pid : 0;
}

static int fail_locked(const char *directory, int fd, struct err *err) {
    int64_t pid = lock_holder(fd);
    if (errno != EWOULDBLOCK)
        return fail_at(directory, err);
    if (!pid)
        return err_set(err, ERR_CONFLICT,
                       "'%s': another process has this store open: end it, or "
                       "choose another directory",
                       directory);
    return err_set(err, ERR_CONFLICT,
                   "'%s': process %lld has this store open: end it, or choose another directory",
                   directory, (long long)pid);
}

/* One process for each directory. SQLite's own locks are left as they are, so that a dump can be
 * made while the file is in use. */
static int take_lock(struct store__db *db, const char *directory, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct str path = arena_printf(&a, "%s/lock", directory);
    int fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_at(path.p, err);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        fail_locked(directory, fd, err);
        close(fd);
        return -1;
    }
    struct str pid = arena_printf(&a, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid.p, pid.n, 0) != (ssize_t)pid.n) {
        fail_at(path.p, err);
        close(fd);
        return -1;
    }
    db->lock = fd;
    return 0;
}

/* ---- the database ---- */

/* One that is not open yet. */
static struct store__db *db_new(struct str path) {
    AUTO(arena_release) struct arena a = {0};
    struct store__db *db = xcalloc(1, sizeof *db);
    db->lock = -1;
    db->path = store__copy_text(path);
    db->wal_path = store__copy_text(arena_printf(&a, "%.*s-wal", STR_ARG(path)));
    return db;
}

/* Nothing of what a file says about itself is trusted: it may come from anywhere. */
static int configure(struct store__db *db, enum store__db_mode mode, struct err *err) {
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_busy_timeout(db->sqlite, BUSY_MS);
    if (store__db_run(db, "PRAGMA cell_size_check = ON", err) < 0)
        return -1;
    return mode == STORE__DB_READ ? 0 : store__db_run(db, "PRAGMA synchronous = FULL", err);
}

static int read_number(struct store__db *db, const char *sql, int64_t *out, struct err *err) {
    sqlite3_stmt *stmt = store__db_prepare(db, sql, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_step(stmt) == SQLITE_ROW ? 0 : store__db_fail(db, sql, err);
    *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return rc;
}

/* Are the tables those that we make, and no others? */
static int check_tables(struct store__db *db, struct err *err) {
    sqlite3_stmt *stmt = store__db_prepare(db, "SELECT sql FROM sqlite_schema ORDER BY name", err);
    int n = 0, step = SQLITE_DONE;
    bool good = true;
    if (!stmt)
        return -1;
    while (good && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(stmt, 0);
        good = n < TABLES && sql && strcmp(sql, tables[n]) == 0;
        n++;
    }
    int rc = 0;
    if (good && step != SQLITE_DONE)
        rc = store__db_fail(db, "the list of tables", err);
    else if (!good || n != TABLES)
        rc = store__db_damaged(db, "its tables are not those of a store", err);
    sqlite3_finalize(stmt);
    return rc;
}

/* A disk that was full leaves empty files, and so does who copies to one. */
static int refuse_stranger(const struct store__db *db, struct err *err) {
    struct stat st;
    if (stat(db->path, &st) == 0 && st.st_size == 0)
        return store__db_damaged(db, "it is empty", err);
    return err_set(err, ERR_INVALID,
                   "'%s': a database of another program: choose another directory", db->path);
}

static int check_marks(struct store__db *db, struct err *err) {
    int64_t application, version;
    if (read_number(db, "PRAGMA application_id", &application, err) < 0 ||
        read_number(db, "PRAGMA user_version", &version, err) < 0)
        return -1;
    if (application != APPLICATION_ID)
        return refuse_stranger(db, err);
    if (version > VERSION)
        return err_set(err, ERR_INVALID,
                       "'%s': a store of version %lld, and this program knows %d: use the newer "
                       "program that wrote it",
                       db->path, (long long)version, VERSION);
    return 0;
}

/* The write-ahead log is turned on when a file is opened, and not when it is made, so that a new
 * file is all there is of it. */
static int turn_on_wal(struct store__db *db, struct err *err) {
    sqlite3_stmt *stmt = store__db_prepare(db, "PRAGMA journal_mode = WAL", err);
    if (!stmt)
        return -1;
    int rc = sqlite3_step(stmt) == SQLITE_ROW ? 0 : store__db_fail(db, "it cannot be opened", err);
    const char *mode = (const char *)sqlite3_column_text(stmt, 0);
    if (rc == 0 && (!mode || strcmp(mode, "wal") != 0))
        rc = err_set(err, ERR_IO,
                     "'%s': there can be no write-ahead log: choose a directory of a local file "
                     "system",
                     db->path);
    sqlite3_finalize(stmt);
    return rc;
}

static int open_sqlite(struct store__db *db, enum store__db_mode mode, struct err *err) {
    bool reads = mode == STORE__DB_READ;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    if (sqlite3_open_v2(db->path, &db->sqlite, flags, NULL) != SQLITE_OK)
        return store__db_fail(db, "it cannot be opened", err);
    if (configure(db, mode, err) < 0 || (reads && store__db_run(db, "BEGIN", err) < 0) ||
        check_marks(db, err) < 0 || check_tables(db, err) < 0 ||
        (!reads && turn_on_wal(db, err) < 0))
        return -1;
    return store__db_read_rows(db, err);
}

/* ---- making ---- */

/* Their texts are too long for a message. */
static int make_tables(struct store__db *db, struct err *err) {
    const char *sql = RECORD_TABLE ";" RESOURCE_TABLE ";" STATE_TABLE;
    if (sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store__db_fail(db, "its tables cannot be made", err);
    return 0;
}

static int fill_new(struct store__db *db, uint64_t revision, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct str marks = arena_printf(&a, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                                    APPLICATION_ID, VERSION);
    if (sqlite3_open_v2(db->path, &db->sqlite, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK)
        return store__db_fail(db, "it cannot be made", err);
    db->state = (struct store__db_state){.revision = revision};
    if (configure(db, STORE__DB_NEW, err) < 0 || store__db_run(db, "BEGIN", err) < 0 ||
        make_tables(db, err) < 0 || store__db_run(db, marks.p, err) < 0 ||
        store__db_write_state(db, err) < 0)
        return -1;
    return store__db_run(db, "COMMIT", err);
}

/* A file that is its owner's only. */
static int make_empty(const char *path, struct err *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_at(path, err);
    close(fd);
    return 0;
}

/* Makes the file under another name, so that it is there as a whole or not at all. */
static int make_database(const struct store__db *db, const char *directory, uint64_t revision,
                         struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct store__db *new_db = db_new(arena_printf(&a, "%s/store.new", directory));
    unlink(arena_printf(&a, "%s/store.new-journal", directory).p);
    unlink(new_db->path);
    int rc = make_empty(new_db->path, err);
    if (rc == 0)
        rc = fill_new(new_db, revision, err);
    if (rc == 0 && rename(new_db->path, db->path) < 0)
        rc = fail_at(db->path, err);
    store__db_close(new_db);
    return rc < 0 || sync_directory(directory, err) < 0 ? -1 : 0;
}

/* ---- opening ---- */

/* Makes the file if it is not there and may be made. */
static int find_or_make(const struct store__db *db, const char *directory, enum store__db_mode mode,
                        uint64_t revision, struct err *err) {
    bool is_there = access(db->path, F_OK) == 0;
    if (is_there && mode == STORE__DB_NEW)
        return err_set(err, ERR_EXISTS, "'%s': there is a store already: choose a new directory",
                       db->path);
    if (is_there)
        return 0;
    if (errno != ENOENT)
        return fail_at(db->path, err);
    return make_database(db, directory, revision, err);
}

static int open_alone(struct store__db *db, const char *directory, enum store__db_mode mode,
                      uint64_t revision, struct err *err) {
    if (mode != STORE__DB_ALONE && make_directory(directory, err) < 0)
        return -1;
    if (take_lock(db, directory, err) < 0)
        return -1;
    if (find_or_make(db, directory, mode, revision, err) < 0 ||
        store__wal_check(db->wal_path, err) < 0)
        return -1;
    return open_sqlite(db, mode, err);
}

/* Whoever only looks at a store, or works on one that is there, makes none. */
static int expect_store(const struct store__db *db, const char *directory, struct err *err) {
    if (access(db->path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   "'%s': there is no store here: choose the directory of a server", directory);
}

int store__db_check_wal(const char *directory, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct str lock = arena_printf(&a, "%s/lock", directory);
    struct str wal = arena_printf(&a, "%s/store.db-wal", directory);
    int fd = open(lock.p, O_RDWR | O_CLOEXEC), rc = 0;
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        rc = store__wal_check(wal.p, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

int store__db_open(const char *directory, enum store__db_mode mode, uint64_t revision,
                   struct store__db **out, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct store__db *db = db_new(arena_printf(&a, "%s/store.db", directory));
    bool must_be_there = mode == STORE__DB_READ || mode == STORE__DB_ALONE;
    int rc = must_be_there ? expect_store(db, directory, err) : 0;
    if (rc == 0)
        rc = mode == STORE__DB_READ ? open_sqlite(db, mode, err)
                                    : open_alone(db, directory, mode, revision, err);
    if (rc < 0)
        store__db_close(db);
    else
        *out = db;
    return rc;
}

/* SQLite opens the log when something is read. */
int store__db_open_again(const struct store__db *db, struct store__db **out, struct err *err) {
    struct store__db *again = db_new(str_of(db->path));
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE;
    int64_t n;
    int rc = 0;
    if (sqlite3_open_v2(again->path, &again->sqlite, flags, NULL) != SQLITE_OK)
        rc = store__db_fail(again, "it cannot be opened", err);
    if (rc < 0 || configure(again, STORE__DB_SERVE, err) < 0 ||
        read_number(again, "SELECT count(*) FROM sqlite_schema", &n, err) < 0) {
        store__db_close(again);
        return -1;
    }
    *out = again;
    return 0;
}

void store__db_close(struct store__db *db) {
    if (!db)
        return;
    sqlite3_stmt *all[] = {db->insert, db->remove, db->set_state, db->set_floor, db->get_version};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(all[i]);
    sqlite3_close(db->sqlite);
    for (size_t i = 0; i < db->resources.n; i++)
        free(db->resources.v[i].name);
    vec_release(&db->resources);
    free(db->path);
    free(db->wal_path);
    if (db->lock >= 0)
        close(db->lock);
    free(db);
}
