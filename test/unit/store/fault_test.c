/*
 * Failing disks: a layer below SQLite lets the n-th write, sync or truncation fail, for every n
 * that there is, in several ways. Whatever fails, what was told to be durable is there, what was
 * told to have failed is not seen, nothing is half there, and revisions never come twice.
 */
#include <sqlite3.h>

#include "kit.h"
#include "store/offline.h"

/* ---- a file system that fails ---- */

enum how { WRITE_EIO, WRITE_FULL, WRITE_SHORT, SYNC_EIO, HOWS };

static struct {
    enum how how;
    long calls; /* that may fail */
    long at;    /* which of them fails first; 0: none */
    long times; /* how many fail */
    sqlite3_vfs vfs, *real;
    sqlite3_io_methods methods;
} shim;

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *f) {
    return ((struct shim_file *)f)->real;
}

/* Is it this call's turn to fail? */
static bool fails(void) {
    shim.calls++;
    return shim.at && shim.calls >= shim.at && shim.calls < shim.at + shim.times;
}

static int shim_close(sqlite3_file *f) {
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int shim_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    if (shim.how == SYNC_EIO || !fails())
        return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
    if (shim.how == WRITE_SHORT)
        real_of(f)->pMethods->xWrite(real_of(f), p, n / 2, at);
    return shim.how == WRITE_EIO ? SQLITE_IOERR_WRITE : SQLITE_FULL;
}

static int shim_truncate(sqlite3_file *f, sqlite3_int64 size) {
    if (shim.how == WRITE_EIO && fails())
        return SQLITE_IOERR_TRUNCATE;
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

/* Nothing is lost when a test ends, so nothing need be synced. */
static int shim_sync(sqlite3_file *f, int flags) {
    (void)f;
    (void)flags;
    return shim.how == SYNC_EIO && fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int shim_size(sqlite3_file *f, sqlite3_int64 *size) {
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int shim_lock(sqlite3_file *f, int kind) {
    return real_of(f)->pMethods->xLock(real_of(f), kind);
}

static int shim_unlock(sqlite3_file *f, int kind) {
    return real_of(f)->pMethods->xUnlock(real_of(f), kind);
}

static int shim_check_lock(sqlite3_file *f, int *out) {
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int shim_control(sqlite3_file *f, int op, void *arg) {
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int shim_sector(sqlite3_file *f) {
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int shim_device(sqlite3_file *f) {
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int shim_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}

static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags) {
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void shim_shm_barrier(sqlite3_file *f) {
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int shim_shm_unmap(sqlite3_file *f, int remove) {
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
    struct shim_file *file = (struct shim_file *)f;
    (void)vfs;
    file->real = (sqlite3_file *)(file + 1);
    int code = shim.real->xOpen(shim.real, name, file->real, flags, out);
    file->base.pMethods = file->real->pMethods ? &shim.methods : NULL;
    return code;
}

static int install(void **state) {
    (void)state;
    shim.real = sqlite3_vfs_find(NULL);
    shim.vfs = *shim.real;
    shim.vfs.zName = "failing";
    shim.vfs.szOsFile += (int)sizeof(struct shim_file);
    shim.vfs.xOpen = shim_open;
    shim.methods = (sqlite3_io_methods){
        2,           shim_close,   shim_read,     shim_write,       shim_truncate,  shim_sync,
        shim_size,   shim_lock,    shim_unlock,   shim_check_lock,  shim_control,   shim_sector,
        shim_device, shim_shm_map, shim_shm_lock, shim_shm_barrier, shim_shm_unmap, NULL,
        NULL,
    };
    return sqlite3_vfs_register(&shim.vfs, 1);
}

/* ---- a store on top of it ---- */

enum { COMMITS = 8 };

struct run {
    struct kit kit;
    char directory[256];
    int durable;              /* the value of the last batch that is */
    int attempted;            /* the value of the last batch */
    uint64_t newest_revision; /* that was given out */
    bool refused;
};

static int pair_value(const struct api_object *left, const struct api_object *right) {
    int64_t value = 0;
    assert_int_equal(left != NULL, right != NULL);
    if (!left)
        return 0;
    assert_true(str_eq(kit_value(left), kit_value(right)));
    assert_true(str_to_i64(kit_value(left), &value));
    return (int)value;
}

static int core_value(struct store *s) {
    return pair_value(store_get(s, CONFIG_MAPS, STR("a"), STR("left")),
                      store_get(s, NODES, STR(""), STR("right")));
}

static int reader_value(struct store *s) {
    struct store_snapshot *snap = store_snapshot_take(s);
    int value = pair_value(store_snapshot_get(snap, CONFIG_MAPS, STR("a"), STR("left")),
                           store_snapshot_get(snap, NODES, STR(""), STR("right")));
    store_snapshot_unref(snap);
    return value;
}

static void write_pair(struct run *r) {
    char value[16];
    struct store *s = r->kit.store;
    snprintf(value, sizeof value, "%d", ++r->attempted);
    const struct api_object *left =
        store_put(s, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "left", value));
    assert_true(kit_revision(left) > r->newest_revision);
    const struct api_object *right = store_put(s, NODES, kit_object(NODES, "", "right", value));
    r->newest_revision = kit_revision(right);
}

/* One batch: it is there for all, or for nobody. */
static void commit_pair(struct run *r) {
    struct store *s = r->kit.store;
    int failed = r->kit.failed;
    write_pair(r);
    kit_commit(&r->kit);
    if (r->kit.failed == failed)
        r->durable = r->attempted;
    assert_false(r->refused && r->kit.failed == failed);
    assert_int_equal(core_value(s), r->durable);
    assert_int_equal(reader_value(s), r->durable);
    r->refused = store_writable(s, &(struct err){0}) < 0;
}

/* A failure comes while the next batch is open already: that one fails as well. */
static void commit_over(struct run *r) {
    struct store *s = r->kit.store;
    int failed = r->kit.failed;
    write_pair(r);
    store_commit(s, kit_done, &r->kit);
    int first = r->attempted;
    write_pair(r);
    store_flush(s);
    bool first_failed = r->kit.failed > failed;
    failed = r->kit.failed;
    if (!first_failed)
        r->durable = first;
    kit_commit(&r->kit);
    assert_true(!first_failed || r->kit.failed > failed);
    if (r->kit.failed == failed)
        r->durable = r->attempted;
    assert_int_equal(core_value(s), r->durable);
    assert_int_equal(reader_value(s), r->durable);
    r->refused = store_writable(s, &(struct err){0}) < 0;
}

/* What every message says at its end. */
static const char *const remedies[HOWS] = {"the disk failed", "make room on the disk",
                                           "make room on the disk", "the disk failed"};

static int try_open(struct run *r) {
    struct err err = {0};
    struct store_opts opts = {.resources = kit_resources,
                              .n = KIT_RESOURCES,
                              .clock = &r->kit.clock.clock,
                              .directory = r->directory};
    int rc = store_open(&opts, &r->kit.store, &err);
    if (rc < 0 && (!strstr(err.msg, r->directory) || !strstr(err.msg, remedies[shim.how])))
        fail_msg("want %s and %s\n got  %s", r->directory, remedies[shim.how], err.msg);
    return rc;
}

static void work(struct run *r) {
    for (int i = 0; i < COMMITS; i++) {
        if (i % 3 == 2)
            commit_over(r);
        else
            commit_pair(r);
        if (i == COMMITS / 2) { /* what was written before is removed with what comes */
            clock_manual_advance(&r->kit.clock, STORE_LOG_KEPT_NS);
            store_expire(r->kit.store, clock_wall(&r->kit.clock.clock));
        }
    }
}

/* Without further failures all is well again, or at least known. */
static void expect_good(struct run *r) {
    struct arena a = {0};
    struct store_check check;
    struct err err;
    shim.at = 0;
    assert_int_equal(try_open(r), 0);
    int value = core_value(r->kit.store);
    assert_true(value >= r->durable && value <= r->attempted);
    assert_true(value == r->durable || r->refused);
    r->durable = value;
    r->refused = false;
    int failed = r->kit.failed;
    r->newest_revision = store_revision(r->kit.store);
    commit_pair(r);
    assert_int_equal(r->kit.failed, failed);
    kit_close(&r->kit);
    assert_int_equal(store_check(r->directory, &a, &check, &err), 0);
    assert_int_equal(check.n, 0);
    arena_release(&a);
}

/* False when there are no more than `at` calls. */
static bool run_once(enum how how, long at, long times) {
    struct run r = {0};
    kit_directory(r.directory, sizeof r.directory);
    clock_manual_init(&r.kit.clock, 1000 * CLOCK_SECOND);
    shim.how = how;
    shim.calls = 0;
    shim.at = at;
    shim.times = times;
    if (try_open(&r) == 0) {
        work(&r);
        if (how == WRITE_FULL || how == WRITE_SHORT)
            assert_false(r.refused);
        kit_close(&r.kit);
    }
    bool more = shim.calls >= at;
    expect_good(&r);
    kit_remove(r.directory);
    return more;
}

static void every_call_may_fail(enum how how, long times) {
    long at = 1;
    while (run_once(how, at, times))
        at++;
    print_message("%ld calls\n", at - 1);
    assert_true(at > 20);
}

static void writes_fail(void **state) {
    (void)state;
    every_call_may_fail(WRITE_EIO, 1);
}

static void writes_fail_for_long(void **state) {
    (void)state;
    every_call_may_fail(WRITE_EIO, 1000);
}

static void the_disk_is_full(void **state) {
    (void)state;
    every_call_may_fail(WRITE_FULL, 1);
}

static void the_disk_is_full_for_a_while(void **state) {
    (void)state;
    every_call_may_fail(WRITE_FULL, 7);
}

static void writes_are_short(void **state) {
    (void)state;
    every_call_may_fail(WRITE_SHORT, 1);
}

static void syncs_fail(void **state) {
    (void)state;
    every_call_may_fail(SYNC_EIO, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_fail),      cmocka_unit_test(writes_fail_for_long),
        cmocka_unit_test(the_disk_is_full), cmocka_unit_test(the_disk_is_full_for_a_while),
        cmocka_unit_test(writes_are_short), cmocka_unit_test(syncs_fail),
    };
    return cmocka_run_group_tests(tests, install, NULL);
}
