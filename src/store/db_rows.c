/* The rows of the file, each with its checksum. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/checksum_int.h"
#include "store/db_int.h"

/* Where the checksums begin, so that rows of one table never pass for those of another. */
enum { SEED_STATE = 1, SEED_RESOURCE = 2, SEED_RECORD = 3 };

/* ---- statements ---- */

sqlite3_stmt *store__db_prepare(struct store__db *db, const char *sql, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL) != SQLITE_OK)
        store__db_fail(db, sql, err);
    return stmt;
}

int store__db_finish(struct store__db *db, sqlite3_stmt *stmt, struct err *err) {
    int rc = sqlite3_step(stmt) == SQLITE_DONE ? 0 : store__db_fail(db, sqlite3_sql(stmt), err);
    sqlite3_reset(stmt);
    return rc;
}

static struct str column_str(sqlite3_stmt *stmt, int i) {
    const void *p = sqlite3_column_blob(stmt, i);
    return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(stmt, i)};
}

static uint64_t column_u64(sqlite3_stmt *stmt, int i) {
    return (uint64_t)sqlite3_column_int64(stmt, i);
}

static void bind_u64(sqlite3_stmt *stmt, int i, uint64_t v) {
    sqlite3_bind_int64(stmt, i, (int64_t)v);
}

char *store__copy_text(struct str s) {
    char *copy = xmalloc(s.n + 1);
    memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

/* ---- state ---- */

static uint64_t state_checksum(const struct store__db_state *s) {
    const uint64_t words[] = {s->revision, s->records, s->sum};
    return store__checksum_words(words, 3, SEED_STATE);
}

static int read_state(struct store__db *db, struct err *err) {
    sqlite3_stmt *stmt =
        store__db_prepare(db, "SELECT revision, records, sum, checksum FROM state", err);
    if (!stmt)
        return -1;
    int step = sqlite3_step(stmt), rc = 0;
    if (step != SQLITE_ROW && step != SQLITE_DONE) /* asked for columns, it would forget why */
        rc = store__db_fail(db, "table 'state'", err);
    struct store__db_state s = {column_u64(stmt, 0), column_u64(stmt, 1), column_u64(stmt, 2)};
    if (rc == 0 && (step == SQLITE_DONE || column_u64(stmt, 3) != state_checksum(&s)))
        rc = store__db_damaged(db, "table 'state' is not what was written", err);
    db->state = s;
    sqlite3_finalize(stmt);
    return rc;
}

int store__db_write_state(struct store__db *db, struct err *err) {
    if (!db->set_state)
        db->set_state = store__db_prepare(
            db, "REPLACE INTO state(id, revision, records, sum, checksum) VALUES(1, ?, ?, ?, ?)",
            err);
    if (!db->set_state)
        return -1;
    bind_u64(db->set_state, 1, db->state.revision);
    bind_u64(db->set_state, 2, db->state.records);
    bind_u64(db->set_state, 3, db->state.sum);
    bind_u64(db->set_state, 4, state_checksum(&db->state));
    return store__db_finish(db, db->set_state, err);
}

/* ---- resources ---- */

static uint64_t resource_checksum(const struct store__db_resource *r) {
    const uint64_t words[] = {(uint64_t)r->id, r->floor, strlen(r->name)};
    return store__checksum(str_of(r->name), store__checksum_words(words, 3, SEED_RESOURCE));
}

static int read_resource(struct store__db *db, sqlite3_stmt *stmt, struct err *err) {
    struct store__db_resource r = {.id = sqlite3_column_int64(stmt, 0),
                                   .name = store__copy_text(column_str(stmt, 1)),
                                   .floor = column_u64(stmt, 2),
                                   .index = -1};
    vec_push(&db->resources, r);
    if (column_u64(stmt, 3) != resource_checksum(&r) || r.id != (int64_t)db->resources.n)
        return store__db_damaged(db, "table 'resource' is not what was written", err);
    return 0;
}

static int read_resources(struct store__db *db, struct err *err) {
    sqlite3_stmt *stmt =
        store__db_prepare(db, "SELECT id, name, floor, checksum FROM resource ORDER BY id", err);
    int rc = stmt ? 0 : -1, step = SQLITE_DONE;
    while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW)
        rc = read_resource(db, stmt, err);
    if (rc == 0 && step != SQLITE_DONE)
        rc = store__db_fail(db, "table 'resource'", err);
    sqlite3_finalize(stmt);
    return rc;
}

int store__db_read_rows(struct store__db *db, struct err *err) {
    return read_state(db, err) < 0 || read_resources(db, err) < 0 ? -1 : 0;
}

int store__db_write_resource(struct store__db *db, const struct store__db_resource *r,
                             struct err *err) {
    if (!db->set_floor)
        db->set_floor = store__db_prepare(
            db, "REPLACE INTO resource(id, name, floor, checksum) VALUES(?, ?, ?, ?)", err);
    if (!db->set_floor)
        return -1;
    sqlite3_bind_int64(db->set_floor, 1, r->id);
    sqlite3_bind_text(db->set_floor, 2, r->name, -1, SQLITE_STATIC);
    bind_u64(db->set_floor, 3, r->floor);
    bind_u64(db->set_floor, 4, resource_checksum(r));
    return store__db_finish(db, db->set_floor, err);
}

/* ---- records ---- */

uint64_t store__record_checksum(const struct store__record *r) {
    const uint64_t words[] = {r->revision,   (uint64_t)r->type, r->previous, (uint64_t)r->time,
                              r->resource.n, r->namespace.n,    r->name.n,   r->value.n};
    uint64_t sum = store__checksum_words(words, sizeof words / sizeof words[0], SEED_RECORD);
    sum = store__checksum(r->resource, sum);
    sum = store__checksum(r->namespace, sum);
    sum = store__checksum(r->name, sum);
    return store__checksum(r->value, sum);
}

struct str store__record_title(struct arena *a, const struct store__record *r) {
    return arena_printf(a, "%.*s %.*s%s%.*s at revision %" PRIu64, STR_ARG(r->resource),
                        STR_ARG(r->namespace), r->namespace.n ? "/" : "", STR_ARG(r->name),
                        r->revision);
}

static int bind_record(struct store__db *db, const struct store__record *r, int64_t resource,
                       uint64_t checksum) {
    sqlite3_stmt *q = db->insert;
    bind_u64(q, 1, r->revision);
    sqlite3_bind_int64(q, 2, resource);
    sqlite3_bind_int(q, 3, (int)r->type);
    bind_u64(q, 4, r->previous);
    sqlite3_bind_int64(q, 5, r->time);
    sqlite3_bind_text64(q, 6, r->namespace.p ? r->namespace.p : "", r->namespace.n, SQLITE_STATIC,
                        SQLITE_UTF8);
    sqlite3_bind_text64(q, 7, r->name.p, r->name.n, SQLITE_STATIC, SQLITE_UTF8);
    bind_u64(q, 9, checksum);
    return sqlite3_bind_blob64(q, 8, r->value.p, r->value.n, SQLITE_STATIC);
}

int store__db_insert(struct store__db *db, const struct store__record *r, int64_t resource,
                     uint64_t checksum, struct err *err) {
    if (bind_record(db, r, resource, checksum) != SQLITE_OK)
        return store__db_fail(db, "a value", err);
    int rc = store__db_finish(db, db->insert, err);
    sqlite3_clear_bindings(db->insert);
    return rc;
}

/* The columns: revision, resource, type, previous, time, namespace, name, value, checksum. Returns
 * what is wrong with the row, or NULL. */
static const char *read_record(struct store__db *db, sqlite3_stmt *q, struct store__record *r,
                               struct store__db_resource **resource) {
    uint64_t id = column_u64(q, 1), type = column_u64(q, 2);
    *resource = id - 1 < db->resources.n ? &db->resources.v[id - 1] : NULL;
    *r = (struct store__record){.revision = column_u64(q, 0),
                                .type = (enum store_event_type)type,
                                .previous = column_u64(q, 3),
                                .time = sqlite3_column_int64(q, 4),
                                .resource = *resource ? str_of((*resource)->name) : STR("?"),
                                .namespace = column_str(q, 5),
                                .name = column_str(q, 6),
                                .value = column_str(q, 7)};
    if (*resource && type <= STORE_DELETED && r->revision && r->revision <= db->state.revision &&
        r->previous < r->revision && r->name.n && column_u64(q, 8) == store__record_checksum(r))
        return NULL;
    return "the record is not what was written";
}

static int read_records(struct store__db *db, sqlite3_stmt *q, store__record_fn *fn, void *ctx,
                        struct err *err) {
    int step;
    while ((step = sqlite3_step(q)) == SQLITE_ROW) {
        struct store__record r;
        struct store__db_resource *resource;
        const char *fault = read_record(db, q, &r, &resource);
        if (resource)
            resource->records++;
        db->found.records++;
        db->found.sum += column_u64(q, 8);
        if (fn(ctx, resource, &r, fault, err) < 0)
            return -1;
    }
    return step == SQLITE_DONE ? 0 : store__db_fail(db, "table 'record'", err);
}

int store__db_each_record(struct store__db *db, store__record_fn *fn, void *ctx, struct err *err) {
    sqlite3_stmt *q =
        store__db_prepare(db,
                          "SELECT revision, resource, type, previous, time, namespace, name, "
                          "value, checksum FROM record ORDER BY revision",
                          err);
    if (!q)
        return -1;
    db->found = (struct store__db_state){0};
    for (size_t i = 0; i < db->resources.n; i++)
        db->resources.v[i].records = 0;
    int rc = read_records(db, q, fn, ctx, err);
    sqlite3_finalize(q);
    return rc;
}

int store__db_check_found(const struct store__db *db, struct err *err) {
    if (db->found.records == db->state.records && db->found.sum == db->state.sum)
        return 0;
    AUTO(arena_release) struct arena a = {0};
    struct str what =
        arena_printf(&a, "it has %llu records of %llu, and they are not all that were written",
                     (unsigned long long)db->found.records, (unsigned long long)db->state.records);
    return store__db_damaged(db, what.p, err);
}

/* ---- pages ---- */

int store__db_each_page_fault(struct store__db *db, store__page_fault_fn *fn, void *ctx,
                              struct err *err) {
    sqlite3_stmt *stmt = store__db_prepare(db, "PRAGMA integrity_check", err);
    int rc = stmt ? 0 : -1, step = SQLITE_DONE;
    while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        if (text && strcmp(text, "ok") != 0)
            rc = fn(ctx, text, err);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = store__db_fail(db, "its pages", err);
    sqlite3_finalize(stmt);
    return rc;
}
