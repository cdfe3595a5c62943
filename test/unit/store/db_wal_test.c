/* Damage in SQLite's write-ahead log: SQLite alone would lose what stands behind it. */
#include <fcntl.h>
#include <sys/stat.h>

#include "kit.h"

enum { WRITES = 6 };

static char directory[256], copy[256];

static void copy_file(const char *name) {
    char from[768], to[768], *text = malloc(1 << 24);
    snprintf(from, sizeof from, "%s/%s", directory, name);
    snprintf(to, sizeof to, "%s/%s", copy, name);
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    ssize_t n = read(in, text, 1 << 24);
    assert_true(n >= 0 && write(out, text, (size_t)n) == n);
    close(in);
    close(out);
    free(text);
}

static const char *wal_path(void) {
    static char path[768];
    snprintf(path, sizeof path, "%s/store.db-wal", copy);
    return path;
}

static off_t wal_bytes(void) {
    struct stat st;
    assert_int_equal(stat(wal_path(), &st), 0);
    return st.st_size;
}

static void flip(off_t at) {
    char byte;
    int fd = open(wal_path(), O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Opens the copy: how many of the writes are there, or -1 when it is refused for this reason. */
static int open_copy(const char *reason) {
    struct store_opts opts = {
        .resources = kit_resources, .n = KIT_RESOURCES, .clock = &clock_system, .directory = copy};
    struct store *s;
    struct err err;
    if (store_open(&opts, &s, &err) < 0) {
        if (!strstr(err.msg, reason) || !strstr(err.msg, wal_path()))
            fail_msg("want %s\n got  %s", reason, err.msg);
        return -1;
    }
    int writes = (int)store_revision(s) - 1;
    store_close(s);
    return writes;
}

/* A store that is in use, so that its write-ahead log is not emptied, and a copy of its files, as a
 * crash would leave them. */
static int copy_store(void **state) {
    static struct kit k;
    char value[16];
    *state = &k;
    memset(&k, 0, sizeof k);
    kit_directory(directory, sizeof directory);
    kit_directory(copy, sizeof copy);
    kit_open(&k, directory);
    for (int i = 0; i < WRITES; i++) {
        snprintf(value, sizeof value, "%d", i);
        kit_put(&k, CONFIG_MAPS, "a", "x", value);
    }
    copy_file("store.db");
    copy_file("store.db-wal");
    return 0;
}

static int remove_store(void **state) {
    kit_close(*state);
    kit_remove(directory);
    kit_remove(copy);
    return 0;
}

static void a_whole_log_is_read(void **state) {
    (void)state;
    assert_int_equal(open_copy(""), WRITES);
}

/* A crash in the middle of the last transaction, which nobody was told of. */
static void the_last_transaction_may_be_cut(void **state) {
    (void)state;
    assert_int_equal(truncate(wal_path(), wal_bytes() - 100), 0);
    assert_int_equal(open_copy(""), WRITES - 1);
}

static void the_last_transaction_may_lack_something(void **state) {
    (void)state;
    flip(wal_bytes() - 4096 - 100);
    assert_int_equal(open_copy(""), WRITES - 1);
}

static void damage_further_up_is_refused(void **state) {
    (void)state;
    off_t all = wal_bytes();
    for (off_t at = 32; at < all * 2 / 3; at += 1021) {
        flip(at);
        assert_int_equal(open_copy("transactions that were complete; restore the store from a "
                                   "dump, or remove the file to do without them"),
                         -1);
        flip(at);
    }
    assert_int_equal(open_copy(""), WRITES);
}

/* What cannot be read is not damaged: nobody should throw it away. */
static void a_log_that_cannot_be_read_is_refused(void **state) {
    (void)state;
    assert_int_equal(unlink(wal_path()), 0);
    assert_int_equal(mkdir(wal_path(), 0700), 0);
    assert_int_equal(open_copy("it cannot be read: Is a directory"), -1);
    assert_int_equal(rmdir(wal_path()), 0);
}

static void a_damaged_header_is_refused(void **state) {
    (void)state;
    for (off_t at = 0; at < 32; at++) {
        flip(at);
        assert_int_equal(open_copy("its header is damaged"), -1);
        flip(at);
    }
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, copy_store, remove_store)
    const struct CMUnitTest tests[] = {
        EACH(a_whole_log_is_read),
        EACH(the_last_transaction_may_be_cut),
        EACH(the_last_transaction_may_lack_something),
        EACH(damage_further_up_is_refused),
        EACH(a_log_that_cannot_be_read_is_refused),
        EACH(a_damaged_header_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
