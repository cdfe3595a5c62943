/*
 * The write-ahead log is emptied while others write: a layer below SQLite lets the mover's sync of
 * the database take as long as it is told to, or fail.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "kit.h"
#include "store/offline.h"

/* ---- a file system in which syncs of the connection that was opened last wait ---- */

static struct {
    sqlite3_vfs vfs, *real;
    sqlite3_io_methods methods;
    const sqlite3_file *last; /* the mover's: its connection is the second of a store */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool holds, fails; /* its syncs */
    int held;          /* that wait now */
} slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int slow_sync(sqlite3_file *f, int flags) {
    (void)flags;
    if (f != slow.last)
        return SQLITE_OK;
    pthread_mutex_lock(&slow.lock);
    slow.held++;
    pthread_cond_broadcast(&slow.changed);
    while (slow.holds)
        pthread_cond_wait(&slow.changed, &slow.lock);
    slow.held--;
    bool fails = slow.fails;
    pthread_mutex_unlock(&slow.lock);
    return fails ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int slow_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
    (void)vfs;
    int code = slow.real->xOpen(slow.real, name, f, flags, out);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
        return code;
    if (!slow.methods.xSync) { /* the first is opened before there are threads */
        slow.methods = *f->pMethods;
        slow.methods.xSync = slow_sync;
    }
    f->pMethods = &slow.methods;
    slow.last = f;
    return code;
}

static int install(void **state) {
    (void)state;
    slow.real = sqlite3_vfs_find(NULL);
    slow.vfs = *slow.real;
    slow.vfs.zName = "slow";
    slow.vfs.xOpen = slow_open;
    return sqlite3_vfs_register(&slow.vfs, 1);
}

static void hold(bool holds, bool fails) {
    pthread_mutex_lock(&slow.lock);
    slow.holds = holds;
    slow.fails = fails;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
}

static bool is_held_soon(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&slow.lock);
    while (!slow.held && pthread_cond_timedwait(&slow.changed, &slow.lock, &until) == 0)
        continue;
    bool is_held = slow.held;
    pthread_mutex_unlock(&slow.lock);
    return is_held;
}

/* ---- a store that writes much ---- */

enum { FILL = 17 << 20, LARGE = 512 << 10 }; /* more than the log has before it is emptied */

static struct api_object *large(int i) {
    char *text = malloc(LARGE + 200);
    int n = snprintf(text, 200,
                     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                     "\"large-%d\",\"namespace\":\"a\"},\"data\":{\"x\":\"",
                     i % 4);
    memset(text + n, 'x', LARGE);
    memcpy(text + n + LARGE, "\"}}", 4);
    struct api_object *o = kit_decode(text);
    free(text);
    return o;
}

static void fill_log(struct kit *k, int *written) {
    for (int i = 0; i < FILL / LARGE; i++) {
        store_put(k->store, CONFIG_MAPS, large((*written)++));
        kit_commit(k);
    }
}

/* A round that others write behind ends without a sync, and the disk's thread may do the rest: then
 * there is another one. */
static void fill_until_held(struct kit *k, int *written) {
    do
        fill_log(k, written);
    while (!is_held_soon());
}

static off_t log_bytes(const char *directory) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/store.db-wal", directory);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void writes_do_not_wait_for_it(void **state) {
    char directory[256];
    struct kit k = {0};
    struct arena a = {0};
    struct store_check check;
    struct err err;
    int written = 0;
    (void)state;
    kit_directory(directory, sizeof directory);
    kit_open(&k, directory);
    hold(true, false);
    fill_until_held(&k, &written);
    for (int i = 0; i < 20; i++)
        kit_put(&k, CONFIG_MAPS, "a", "small", "1"); /* each waits until it is durable */
    assert_int_equal(k.failed, 0);
    hold(false, false);
    for (int i = 0; i < 4; i++)
        fill_log(&k, &written); /* begins again where it began */
    assert_true(log_bytes(directory) < (off_t)3 * FILL);
    assert_int_equal(k.failed, 0);
    kit_close(&k);
    assert_int_equal(store_check(directory, &a, &check, &err), 0);
    assert_int_equal(check.n, 0);
    arena_release(&a);
    kit_remove(directory);
}

/* As with any failure of which it is not known what it has left, the store refuses to go on. */
static void its_failure_is_the_stores(void **state) {
    char directory[256];
    struct kit k = {0};
    struct err err = {0};
    int written = 0;
    (void)state;
    kit_directory(directory, sizeof directory);
    kit_open(&k, directory);
    hold(true, false);
    fill_until_held(&k, &written);
    hold(false, true);
    for (int i = 0; i < 2000 && store_writable(k.store, &err) == 0; i++) {
        usleep(1000);
        kit_put(&k, CONFIG_MAPS, "a", "small", "1");
    }
    assert_true(store_writable(k.store, &err) < 0);
    assert_non_null(strstr(err.msg, "its write-ahead log cannot be emptied"));
    assert_non_null(strstr(err.msg, "the disk failed"));
    hold(false, false);
    kit_close(&k);
    kit_open(&k, directory); /* nothing that was durable is gone */
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "large-%d", i);
        assert_non_null(store_get(k.store, CONFIG_MAPS, STR("a"), str_of(name)));
    }
    kit_close(&k);
    kit_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_do_not_wait_for_it),
        cmocka_unit_test(its_failure_is_the_stores),
    };
    return cmocka_run_group_tests(tests, install, NULL);
}
