/* A store with a file: what comes back when it is opened again, and what is not opened. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "kit.h"
#include "store/offline.h"

static char directory[256];

static int set_up(void **state) {
    (void)state;
    kit_directory(directory, sizeof directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    kit_remove(directory);
    return 0;
}

static const char *in_directory(const char *name) {
    static char path[768];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Runs SQL on the file, as somebody else would. */
static void meddle(const char *sql) {
    sqlite3 *db;
    char *text = NULL;
    assert_int_equal(sqlite3_open(in_directory("store.db"), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
    sqlite3_close(db);
}

static void expect_refused(const struct store_resource *resources, size_t n, const char *text) {
    struct store_opts opts = {
        .resources = resources, .n = n, .clock = &clock_system, .directory = directory};
    struct store *s;
    struct err err = {0};
    assert_int_equal(store_open(&opts, &s, &err), -1);
    if (!strstr(err.msg, text) || !strstr(err.msg, directory))
        fail_msg("want %s\n got  %s", text, err.msg);
}

static void expect_damaged(const char *text) {
    expect_refused(kit_resources, KIT_RESOURCES, text);
}

/* ---- what comes back ---- */

static void objects_and_the_log_come_back(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_event events[8];
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_put(&k, NODES, "", "n", "1");
    kit_put(&k, CONFIG_MAPS, "a", "x", "2");
    uint64_t last = kit_delete(&k, NODES, "", "n");
    kit_close(&k);
    kit_open(&k, directory);
    assert_int_equal(store_revision(k.store), last);
    assert_true(str_is(kit_value(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"))), "2"));
    assert_null(store_get(k.store, NODES, STR(""), STR("n")));
    uint64_t position = 1;
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, 8), 2);
    assert_int_equal(events[1].type, STORE_MODIFIED);
    assert_true(str_is(kit_value(events[1].previous), "1"));
    store_events_release(events, 2);
    position = 1;
    assert_int_equal(store_log_read(k.store, NODES, &position, events, 8), 2);
    assert_int_equal(events[1].type, STORE_DELETED);
    store_events_release(events, 2);
    assert_int_equal(kit_put(&k, NODES, "", "m", ""), last + 1);
    kit_close(&k);
}

/* What the log lets go of leaves the file; the newest revision stays known all the same. */
static void old_records_are_removed(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_stats stats;
    kit_open(&k, directory);
    for (int i = 0; i < 100; i++)
        kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    uint64_t last = kit_delete(&k, CONFIG_MAPS, "a", "x");
    clock_manual_advance(&k.clock, STORE_LOG_KEPT_NS);
    store_expire(k.store, clock_wall(&k.clock.clock));
    kit_commit(&k); /* takes the removals along */
    kit_close(&k);
    meddle("CREATE TEMP TABLE t(n CHECK(n = 0)); INSERT INTO t SELECT count(*) FROM record");
    kit_open(&k, directory);
    assert_int_equal(store_revision(k.store), last);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), last);
    store_stats_read(k.store, &stats);
    assert_int_equal(stats.objects, 0);
    assert_int_equal(stats.log_events, 0);
    assert_int_equal(kit_put(&k, CONFIG_MAPS, "a", "x", "1"), last + 1);
    kit_close(&k);
}

/* Without further writes they are removed as well, a moment later. */
static void old_records_are_removed_when_idle(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_delete(&k, CONFIG_MAPS, "a", "x");
    clock_manual_advance(&k.clock, STORE_LOG_KEPT_NS);
    store_expire(k.store, clock_wall(&k.clock.clock));
    struct store_stats stats;
    for (int i = 0; i < 100; i++) {
        store_stats_read(k.store, &stats);
        if (stats.commits == 3)
            break;
        usleep(50000);
    }
    assert_int_equal(stats.commits, 3);
    kit_close(&k);
    meddle("CREATE TEMP TABLE t(n CHECK(n = 0)); INSERT INTO t SELECT count(*) FROM record");
}

static void events_expire_after_opening_again(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, directory);
    kit_put(&k, EVENTS, "a", "x", "1");
    kit_close(&k);
    clock_manual_advance(&k.clock, 3600 * CLOCK_SECOND);
    kit_open(&k, directory);
    assert_int_equal(store_expire(k.store, clock_wall(&k.clock.clock) - 1), 0);
    assert_int_equal(store_expire(k.store, clock_wall(&k.clock.clock)), 1);
    kit_close(&k); /* not committed */
    kit_open(&k, directory);
    assert_non_null(store_get(k.store, EVENTS, STR("a"), STR("x")));
    kit_close(&k);
}

static void files_are_their_owners(void **state) {
    (void)state;
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm", "lock"};
    struct kit k = {0};
    struct stat st;
    mode_t before = umask(0);
    assert_int_equal(rmdir(directory), 0);
    kit_open(&k, directory);
    umask(before);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    assert_int_equal(stat(directory, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(stat(in_directory(files[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    kit_close(&k);
}

static void figures_are_told(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_stats stats;
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_put(&k, CONFIG_MAPS, "a", "y", "1");
    kit_put(&k, CONFIG_MAPS, "a", "y", "2");
    store_stats_read(k.store, &stats);
    assert_int_equal(stats.revision, 4);
    assert_int_equal(stats.objects, 2);
    assert_in_range(stats.object_bytes, 1000, 10000);
    assert_int_equal(stats.log_events, 3);
    assert_int_equal(stats.log_oldest, clock_wall(&k.clock.clock));
    assert_int_equal(stats.batches, 3);
    assert_int_equal(stats.writes, 3);
    assert_int_equal(stats.commits, 3);
    assert_true(stats.commit_ns >= stats.commit_most_ns && stats.commit_most_ns > 0);
    uint64_t commits = 0;
    for (int i = 0; i < STORE_COMMIT_BUCKETS; i++)
        commits += stats.commit_buckets[i];
    assert_int_equal(commits, 3);
    assert_in_range(stats.value_bytes, 300, 1000);
    assert_true(stats.file_bytes >= 4096 && stats.wal_bytes > 4096);
    assert_false(stats.refuses);
    kit_close(&k);
}

/* ---- tables that change ---- */

static void what_the_table_does_not_have_stays(void **state) {
    (void)state;
    static const struct store_resource fewer[] = {{.name = "nodes", .kind = "Node"}};
    struct store_opts opts = {
        .resources = fewer, .n = 1, .clock = &clock_system, .directory = directory};
    struct kit k = {0};
    struct store *s;
    struct err err;
    uint64_t records;
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_put(&k, CONFIG_MAPS, "a", "x", "2");
    kit_put(&k, NODES, "", "n", "1");
    kit_close(&k);
    assert_int_equal(store_open(&opts, &s, &err), 0);
    assert_string_equal(store_unknown_resource(s, 0, &records), "configmaps");
    assert_int_equal(records, 2);
    assert_null(store_unknown_resource(s, 1, &records));
    assert_non_null(store_get(s, 0, STR(""), STR("n")));
    store_close(s);
    kit_open(&k, directory);
    assert_true(str_is(kit_value(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"))), "2"));
    kit_close(&k);
}

static void kinds_that_changed_are_refused(void **state) {
    (void)state;
    static const struct store_resource others[] = {{.name = "configmaps", .kind = "Secret"}};
    struct kit k = {0};
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_close(&k);
    expect_refused(others, 1,
                   "configmaps a/x at revision 2: it is a ConfigMap and not a Secret: open the "
                   "store with the program that wrote it");
}

/* ---- files that are not opened ---- */

static void a_store_is_open_once(void **state) {
    (void)state;
    struct kit k = {0};
    char text[64];
    kit_open(&k, directory);
    snprintf(text, sizeof text, "process %ld has this store open", (long)getpid());
    expect_damaged(text);
    kit_close(&k);
    kit_open(&k, directory);
    kit_close(&k);
}

static void make_store(void) {
    struct kit k = {0};
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_put(&k, CONFIG_MAPS, "a", "y", "1");
    kit_put(&k, CONFIG_MAPS, "a", "y", "2");
    kit_close(&k);
}

static void damage_is_found(void **state) {
    (void)state;
    static const struct {
        const char *sql, *text, *undo;
    } rows[] = {
        {"UPDATE record SET value = CAST(replace(value, 'v1', 'v2') AS BLOB) WHERE revision = 2",
         "configmaps a/x at revision 2: the record is not what was written",
         "UPDATE record SET value = CAST(replace(value, 'v2', 'v1') AS BLOB) WHERE revision = 2"},
        {"UPDATE record SET name = 'z' WHERE revision = 2", "the record is not what was written",
         "UPDATE record SET name = 'x' WHERE revision = 2"},
        {"UPDATE record SET resource = 2 WHERE revision = 2", "the record is not what was written",
         "UPDATE record SET resource = 1 WHERE revision = 2"},
        {"UPDATE record SET time = time + 1 WHERE revision = 3",
         "the record is not what was written",
         "UPDATE record SET time = time - 1 WHERE revision = 3"},
        {"UPDATE record SET revision = 9 WHERE revision = 4", "the record is not what was written",
         "UPDATE record SET revision = 4 WHERE revision = 9"},
        {"UPDATE state SET records = 2", "table 'state' is not what was written",
         "UPDATE state SET records = 3"},
        {"UPDATE resource SET floor = 3 WHERE id = 1", "table 'resource' is not what was written",
         "UPDATE resource SET floor = 1 WHERE id = 1"},
        {"UPDATE resource SET name = 'nodos' WHERE id = 2",
         "table 'resource' is not what was written",
         "UPDATE resource SET name = 'nodes' WHERE id = 2"},
        {"CREATE TABLE more(n)", "its tables are not those of a store", "DROP TABLE more"},
        {"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
         "its tables are not those of a store", "DROP TRIGGER t"},
        {"PRAGMA user_version = 2", "a store of version 2, and this program knows 1",
         "PRAGMA user_version = 1"},
        {"PRAGMA application_id = 7", "a database of another program: choose another directory",
         "PRAGMA application_id = 1114797160"},
        {"CREATE TABLE t AS SELECT * FROM record; DELETE FROM record WHERE revision = 2",
         "its tables are not those of a store", "DROP TABLE t"},
        {"SELECT 1", "it has 2 records of 3, and they are not all that were written", "SELECT 1"},
        {"DELETE FROM record WHERE revision = 3",
         "configmaps a/y at revision 4: it does not fit to the records before it", "SELECT 1"},
    };
    make_store();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        meddle(rows[i].sql);
        expect_damaged(rows[i].text);
        meddle(rows[i].undo);
    }
}

static void write_file(const char *name, const char *text, size_t n) {
    int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
}

static void other_files_are_refused(void **state) {
    (void)state;
    static char text[8192];
    memset(text, 'x', sizeof text);
    write_file("store.db", text, sizeof text);
    expect_damaged("this is no store: choose another directory");
    write_file("store.db", "", 0);
    expect_damaged("it is empty; the file is damaged: restore it from a dump");
    unlink(in_directory("store.db"));
    write_file("store.new", text, sizeof text); /* somebody did not come to its end */
    make_store();
    struct stat st;
    assert_int_equal(stat(in_directory("store.db"), &st), 0);
    assert_int_equal(truncate(in_directory("store.db"), st.st_size - 4096), 0);
    expect_damaged("damaged");
}

/* The file is written anew from its records, and good again. */
static void expect_compaction(void) {
    struct store_compacted compacted;
    struct err err;
    struct kit k = {0};
    assert_int_equal(store_compact(directory, &compacted, &err), 0);
    kit_open(&k, directory);
    assert_non_null(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x")));
    assert_int_equal(store_revision(k.store), 4);
    kit_close(&k);
}

/* A list of free pages that has one in use: the next writes would overwrite it. All that can be
 * read is as it was written. */
static void pages_that_are_free_and_in_use_are_refused(void **state) {
    (void)state;
    unsigned char pages[4];
    static const unsigned char one[4] = {0, 0, 0, 1};
    make_store();
    int fd = open(in_directory("store.db"), O_RDWR);
    assert_int_equal(pread(fd, pages, 4, 28), 4);  /* how many there are */
    assert_int_equal(pwrite(fd, pages, 4, 32), 4); /* the first free one */
    assert_int_equal(pwrite(fd, one, 4, 36), 4);   /* how many of these */
    close(fd);
    expect_damaged("its pages are not what was written");
    expect_compaction();
}

static void a_folder_that_is_none(void **state) {
    (void)state;
    struct store_opts opts = {
        .resources = kit_resources, .n = KIT_RESOURCES, .clock = &clock_system};
    struct store *s;
    struct err err;
    opts.directory = "/dev/null/store";
    assert_int_equal(store_open(&opts, &s, &err), -1);
    assert_string_equal(err.msg, "'/dev/null/store': Not a directory");
    opts.directory = "/nowhere/at/all";
    assert_int_equal(store_open(&opts, &s, &err), -1);
    assert_string_equal(err.msg, "'/nowhere/at/all': No such file or directory");
}

/* Somebody else writes to the file while it is open: nothing can be trusted any more. */
static void writes_of_others_are_noticed(void **state) {
    (void)state;
    struct kit k = {0};
    struct err err;
    kit_open(&k, directory);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    meddle("DELETE FROM record");
    kit_put(&k, CONFIG_MAPS, "a", "y", "1");
    assert_int_equal(k.failed, 1);
    assert_int_equal(store_writable(k.store, &err), -1);
    assert_non_null(strstr(err.msg, "another program has written to the file"));
    assert_null(store_get(k.store, CONFIG_MAPS, STR("a"), STR("y")));
    assert_non_null(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x")));
    kit_put(&k, CONFIG_MAPS, "a", "y", "1");
    assert_int_equal(k.failed, 2);
    kit_close(&k);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(objects_and_the_log_come_back),
        EACH(old_records_are_removed),
        EACH(old_records_are_removed_when_idle),
        EACH(events_expire_after_opening_again),
        EACH(files_are_their_owners),
        EACH(figures_are_told),
        EACH(what_the_table_does_not_have_stays),
        EACH(kinds_that_changed_are_refused),
        EACH(a_store_is_open_once),
        EACH(damage_is_found),
        EACH(other_files_are_refused),
        EACH(pages_that_are_free_and_in_use_are_refused),
        cmocka_unit_test(a_folder_that_is_none),
        EACH(writes_of_others_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
