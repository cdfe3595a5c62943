/* Transactions on the file. All of this runs on the disk's thread, once the store is open. */
#include <string.h>

#include "store/db_int.h"

static int read_version(struct store__db *db, int64_t *out, struct err *err) {
    int rc = 0;
    if (sqlite3_step(db->get_version) != SQLITE_ROW)
        rc = store__db_fail(db, "its version", err);
    *out = sqlite3_column_int64(db->get_version, 0);
    sqlite3_reset(db->get_version);
    return rc;
}

/* Called by SQLite behind each commit. */
static int note_frames(void *ctx, sqlite3 *sqlite, const char *name, int frames) {
    struct store__db *db = ctx;
    (void)sqlite;
    (void)name;
    db->wal_frames = (uint64_t)frames;
    return SQLITE_OK;
}

int store__db_prepare_writes(struct store__db *db, struct err *err) {
    const struct {
        sqlite3_stmt **stmt;
        const char *sql;
    } rows[] = {
        {&db->insert, "INSERT INTO record(revision, resource, type, previous, time, namespace, "
                      "name, value, checksum) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&db->remove, "DELETE FROM record WHERE revision = ? RETURNING checksum"},
        {&db->get_version, "PRAGMA data_version"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!(*rows[i].stmt = store__db_prepare(db, rows[i].sql, err)))
            return -1;
    sqlite3_wal_hook(db->sqlite, note_frames, db);
    return read_version(db, &db->version, err);
}

int store__db_begin(struct store__db *db, struct err *err) {
    int64_t version;
    db->before = db->state;
    db->failure = SQLITE_OK;
    if (store__db_run(db, "BEGIN IMMEDIATE", err) < 0 || read_version(db, &version, err) < 0)
        return -1;
    if (version == db->version)
        return 0;
    return err_set(err, ERR_IO,
                   "'%s': another program has written to the file: end it, and open the store "
                   "again",
                   db->path);
}

int store__db_add(struct store__db *db, uint32_t resource, struct store__record *r,
                  struct err *err) {
    struct store__db_resource *row = &db->resources.v[db->rows[resource]];
    r->resource = str_of(row->name);
    uint64_t checksum = store__record_checksum(r);
    if (store__db_insert(db, r, row->id, checksum, err) < 0)
        return -1;
    db->state.records++;
    db->state.sum += checksum;
    return 0;
}

static int remove_record(struct store__db *db, uint64_t revision, struct err *err) {
    sqlite3_bind_int64(db->remove, 1, (int64_t)revision);
    int step = sqlite3_step(db->remove), rc = 0;
    if (step == SQLITE_ROW) {
        db->state.records--;
        db->state.sum -= (uint64_t)sqlite3_column_int64(db->remove, 0);
        step = sqlite3_step(db->remove);
    } else if (step == SQLITE_DONE) {
        rc = store__db_damaged(db, "a record that should be removed is not there", err);
    }
    if (step != SQLITE_DONE)
        rc = store__db_fail(db, sqlite3_sql(db->remove), err);
    sqlite3_reset(db->remove);
    return rc;
}

int store__db_forget(struct store__db *db, const struct store__forgotten *event, struct err *err) {
    if (event->previous && remove_record(db, event->previous, err) < 0)
        return -1;
    if (event->type == STORE_DELETED && remove_record(db, event->revision, err) < 0)
        return -1;
    db->resources.v[db->rows[event->resource]].next_floor = event->revision;
    return 0;
}

/* The rows of resources whose log begins later now. */
static int write_floors(struct store__db *db, struct err *err) {
    for (size_t i = 0; i < db->resources.n; i++) {
        struct store__db_resource moved = db->resources.v[i];
        if (!moved.next_floor)
            continue;
        moved.floor = moved.next_floor;
        if (store__db_write_resource(db, &moved, err) < 0)
            return -1;
    }
    return 0;
}

static void end_floors(struct store__db *db, bool durable) {
    for (size_t i = 0; i < db->resources.n; i++) {
        struct store__db_resource *r = &db->resources.v[i];
        if (durable && r->next_floor)
            r->floor = r->next_floor;
        r->next_floor = 0;
    }
}

int store__db_commit(struct store__db *db, uint64_t revision, struct err *err) {
    if (revision > db->state.revision)
        db->state.revision = revision;
    if (write_floors(db, err) < 0 || store__db_write_state(db, err) < 0 ||
        store__db_run(db, "COMMIT", err) < 0)
        return -1;
    end_floors(db, true);
    return 0;
}

/* Errors after which a transaction is known to have left nothing behind. */
static bool is_harmless(int code) {
    return code == SQLITE_FULL || code == SQLITE_BUSY || code == SQLITE_READONLY ||
           code == SQLITE_NOMEM || code == SQLITE_TOOBIG;
}

int store__db_rollback(struct store__db *db) {
    db->state = db->before;
    end_floors(db, false);
    if (!sqlite3_get_autocommit(db->sqlite))
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return is_harmless(db->failure) && sqlite3_get_autocommit(db->sqlite) ? 0 : -1;
}

/* ---- resources ---- */

static struct store__db_resource *find_row(struct store__db *db, const char *name) {
    for (size_t i = 0; i < db->resources.n; i++)
        if (strcmp(db->resources.v[i].name, name) == 0)
            return &db->resources.v[i];
    return NULL;
}

/* A resource that is new has no history: its log begins now. */
static int add_row(struct store__db *db, const char *name, struct err *err) {
    struct store__db_resource r = {.id = (int64_t)db->resources.n + 1,
                                   .name = store__copy_text(str_of(name)),
                                   .floor = db->state.revision};
    vec_push(&db->resources, r);
    return store__db_write_resource(db, &r, err);
}

int store__db_add_resources(struct store__db *db, const struct store_resource *table, size_t n,
                            struct err *err) {
    if (store__db_begin(db, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!find_row(db, table[i].name) && add_row(db, table[i].name, err) < 0)
            return -1;
        struct store__db_resource *row = find_row(db, table[i].name);
        row->index = (int)i;
        db->rows[i] = (uint32_t)(row - db->resources.v);
    }
    return store__db_commit(db, 0, err);
}

/* ---- the write-ahead log ---- */

int store__db_checkpoint(struct store__db *db, struct err *err) {
    int frames = 0, moved = 0;
    db->failure = SQLITE_OK;
    db->moved_frames = 0;
    int code =
        sqlite3_wal_checkpoint_v2(db->sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) {
        if (frames == moved)
            db->wal_frames = 0;
        if (moved > 0)
            db->moved_frames = (uint64_t)moved;
        return 0;
    }
    return store__db_fail(db, "its write-ahead log cannot be emptied", err);
}
