/* Tools for the file of a store. */
#include "store/offline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "store/db_int.h"

/* ---- check ---- */

struct check {
    struct arena *a;
    struct arena scratch; /* of one record */
    struct store_check *out;
    struct map newest; /* key, with its resource, to the entry below */
};

/* The newest record of a key that was seen. */
struct newest {
    uint64_t revision;
    bool is_deleted;
};

static void find(struct check *c, struct str subject, struct str text) {
    if (c->out->n == LIMIT_STORE_FINDINGS)
        c->out->more++;
    else
        c->out->findings[c->out->n++] =
            (struct store_finding){arena_str(c->a, subject), arena_str(c->a, text)};
}

static void find_in_record(struct check *c, const struct store__record *r, const char *text) {
    find(c, store__record_title(&c->scratch, r), str_of(text));
}

static struct newest *newest_of(struct check *c, const struct store__record *r) {
    struct str key = arena_printf(&c->scratch, "%.*s %.*s/%.*s", STR_ARG(r->resource),
                                  STR_ARG(r->namespace), STR_ARG(r->name));
    struct newest *n = map_get(&c->newest, key);
    if (!n) {
        n = arena_new(c->a, struct newest);
        n->is_deleted = true;
        map_put(&c->newest, arena_str(c->a, key), n);
    }
    return n;
}

/* Does the record follow the one before it of its key? */
static void check_order(struct check *c, const struct store__db_resource *resource,
                        const struct store__record *r) {
    struct newest *n = newest_of(c, r);
    bool in_log = r->revision > resource->floor;
    bool fits = r->type == STORE_CREATED || !in_log ? n->is_deleted
                                                    : !n->is_deleted && n->revision == r->previous;
    if (!fits || (!in_log && r->type == STORE_DELETED))
        find_in_record(c, r, "it does not fit to the records before it");
    c->out->objects += n->is_deleted && r->type != STORE_DELETED;
    c->out->objects -= !n->is_deleted && r->type == STORE_DELETED;
    *n = (struct newest){r->revision, r->type == STORE_DELETED};
}

static void check_value(struct check *c, const struct store__record *r) {
    struct err why;
    struct api_object *o;
    if (store__record_decode(&c->scratch, r, &o, &why) < 0)
        find_in_record(c, r, why.msg);
    else
        api_object_free(o);
}

static int check_record(void *ctx, struct store__db_resource *resource,
                        const struct store__record *r, const char *fault, struct err *err) {
    struct check *c = ctx;
    (void)err;
    arena_reset(&c->scratch);
    c->out->records++;
    c->out->bytes += r->value.n;
    if (fault) {
        find_in_record(c, r, fault);
        return 0;
    }
    check_order(c, resource, r);
    check_value(c, r);
    return 0;
}

static int find_page_fault(void *ctx, const char *text, struct err *err) {
    (void)err;
    find(ctx, STR(""), str_of(text));
    return 0;
}

static void check_file(struct check *c, struct store__db *db) {
    struct err why;
    c->out->revision = db->state.revision;
    c->out->resources = db->resources.n;
    if (store__db_each_page_fault(db, find_page_fault, c, &why) < 0 ||
        store__db_each_record(db, check_record, c, &why) < 0 || store__db_check_found(db, &why) < 0)
        find(c, STR(""), str_of(why.msg));
}

int store_check(const char *directory, struct arena *a, struct store_check *out, struct err *err) {
    struct check c = {.a = a, .out = out, .newest = MAP_INIT(map_random_seed())};
    struct store__db *db;
    *out = (struct store_check){0};
    if (store__db_check_wal(directory, err) < 0 ||
        store__db_open(directory, STORE__DB_READ, 0, &db, err) < 0)
        return -1;
    check_file(&c, db);
    map_release(&c.newest);
    arena_release(&c.scratch);
    store__db_close(db);
    return 0;
}

/* ---- dump ---- */

struct dump {
    store_dump_fn *fn;
    void *ctx;
    VEC(uint64_t) replaced; /* revisions of records that others took the place of, ascending */
};

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int find_replaced(struct dump *d, struct store__db *db, struct err *err) {
    sqlite3_stmt *stmt =
        store__db_prepare(db, "SELECT previous FROM record WHERE previous != 0", err);
    if (!stmt)
        return -1;
    int step;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
        vec_push(&d->replaced, (uint64_t)sqlite3_column_int64(stmt, 0));
    sqlite3_finalize(stmt);
    if (d->replaced.n)
        qsort(d->replaced.v, d->replaced.n, sizeof d->replaced.v[0], by_number);
    return step == SQLITE_DONE ? 0 : store__db_fail(db, "table 'record'", err);
}

static bool is_replaced(const struct dump *d, uint64_t revision) {
    return d->replaced.n && bsearch(&revision, d->replaced.v, d->replaced.n,
                                    sizeof d->replaced.v[0], by_number) != NULL;
}

static int dump_record(void *ctx, struct store__db_resource *resource,
                       const struct store__record *r, const char *fault, struct err *err) {
    struct dump *d = ctx;
    (void)resource;
    if (fault) {
        AUTO(arena_release) struct arena a = {0};
        struct str title = store__record_title(&a, r);
        return err_set(err, ERR_IO, "%.*s: %s", STR_ARG(title), fault);
    }
    if (r->type == STORE_DELETED || is_replaced(d, r->revision))
        return 0;
    const struct store_dumped object = {.resource = r->resource,
                                        .namespace = r->namespace,
                                        .name = r->name,
                                        .revision = r->revision,
                                        .json = r->value};
    return d->fn(d->ctx, &object, err);
}

int store_dump(const char *directory, uint64_t *revision, store_dump_fn *fn, void *ctx,
               struct err *err) {
    struct dump d = {.fn = fn, .ctx = ctx};
    struct store__db *db;
    if (store__db_check_wal(directory, err) < 0 ||
        store__db_open(directory, STORE__DB_READ, 0, &db, err) < 0)
        return -1;
    *revision = db->state.revision;
    int rc = find_replaced(&d, db, err) < 0 ||
                     store__db_each_record(db, dump_record, &d, err) < 0 ||
                     store__db_check_found(db, err) < 0
                 ? -1
                 : 0;
    vec_release(&d.replaced);
    store__db_close(db);
    return rc;
}

/* ---- compact ---- */

static uint64_t file_bytes(const struct store__db *db) {
    struct stat st;
    return stat(db->path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static int refuse_fault(void *ctx, struct store__db_resource *resource,
                        const struct store__record *r, const char *fault, struct err *err) {
    struct store__db *db = ctx;
    (void)resource;
    (void)r;
    return fault ? store__db_damaged(db, fault, err) : 0;
}

static int compact_file(struct store__db *db, struct store_compacted *out, struct err *err) {
    if (store__db_each_record(db, refuse_fault, db, err) < 0 ||
        store__db_check_found(db, err) < 0 ||
        store__db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", err) < 0)
        return -1;
    out->before = file_bytes(db);
    if (store__db_run(db, "VACUUM", err) < 0 ||
        store__db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", err) < 0)
        return -1;
    out->after = file_bytes(db);
    return 0;
}

int store_compact(const char *directory, struct store_compacted *out, struct err *err) {
    struct store__db *db;
    if (store__db_open(directory, STORE__DB_ALONE, 0, &db, err) < 0)
        return -1;
    int rc = compact_file(db, out, err);
    store__db_close(db);
    return rc;
}
