/* Checking, dumping, restoring and compacting, with and without somebody who has the store open. */
#include <sqlite3.h>

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

static void meddle(const char *sql) {
    sqlite3 *db;
    char path[512];
    snprintf(path, sizeof path, "%s/store.db", directory);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void fill(struct kit *k) {
    kit_open(k, directory);
    kit_put(k, CONFIG_MAPS, "a", "x", "1");
    kit_put(k, CONFIG_MAPS, "a", "x", "2");
    kit_put(k, CONFIG_MAPS, "b", "y", "1");
    kit_delete(k, CONFIG_MAPS, "b", "y");
    kit_put(k, NODES, "", "n", "1");
}

/* ---- check ---- */

static void a_good_file_has_no_findings(void **state) {
    (void)state;
    struct kit k = {0};
    struct arena a = {0};
    struct store_check check;
    struct err err;
    fill(&k);
    for (int open = 1; open >= 0; open--) {
        assert_int_equal(store_check(directory, &a, &check, &err), 0);
        assert_int_equal(check.revision, 6);
        assert_int_equal(check.records, 5);
        assert_int_equal(check.objects, 2);
        assert_int_equal(check.resources, KIT_RESOURCES);
        assert_int_equal(check.n, 0);
        if (open)
            kit_close(&k);
    }
    arena_release(&a);
}

static void all_damage_is_listed(void **state) {
    (void)state;
    struct kit k = {0};
    struct arena a = {0};
    struct store_check check;
    struct err err;
    fill(&k);
    kit_close(&k);
    meddle("UPDATE record SET value = x'7b' WHERE revision = 2;"
           "DELETE FROM record WHERE revision = 4");
    assert_int_equal(store_check(directory, &a, &check, &err), 0);
    assert_int_equal(check.n, 4);
    assert_true(str_is(check.findings[0].subject, "configmaps a/x at revision 2"));
    assert_true(str_is(check.findings[0].text, "the record is not what was written"));
    assert_true(str_is(check.findings[1].subject, "configmaps a/x at revision 3"));
    assert_true(str_is(check.findings[1].text, "it does not fit to the records before it"));
    assert_true(str_is(check.findings[2].subject, "configmaps b/y at revision 5"));
    assert_int_equal(check.findings[3].subject.n, 0);
    assert_true(str_find(check.findings[3].text, STR("it has 4 records of 5")) != STR_NONE);
    arena_release(&a);
}

static void findings_are_counted_in_the_end(void **state) {
    (void)state;
    struct kit k = {0};
    struct arena a = {0};
    struct store_check check;
    struct err err;
    char name[16];
    kit_open(&k, directory);
    for (int i = 0; i < LIMIT_STORE_FINDINGS + 3; i++) {
        snprintf(name, sizeof name, "x%d", i);
        store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", name, ""));
    }
    kit_commit(&k);
    kit_close(&k);
    meddle("UPDATE record SET time = 0");
    assert_int_equal(store_check(directory, &a, &check, &err), 0);
    assert_int_equal(check.n, LIMIT_STORE_FINDINGS);
    assert_int_equal(check.more, 3);
    arena_release(&a);
}

static void no_file_cannot_be_checked(void **state) {
    (void)state;
    struct arena a = {0};
    struct store_check check;
    struct err err = {0};
    assert_int_equal(store_check(directory, &a, &check, &err), -1);
    assert_non_null(strstr(err.msg, directory));
    arena_release(&a);
}

/* ---- dump and restore ---- */

struct dumped {
    struct buf text;
    struct store *to; /* restores the objects there, or NULL */
    int fail_after;
};

static int note_object(void *ctx, const struct store_dumped *o, struct err *err) {
    struct dumped *d = ctx;
    buf_addf(&d->text, "%.*s %.*s/%.*s %llu;", STR_ARG(o->resource), STR_ARG(o->namespace),
             STR_ARG(o->name), (unsigned long long)o->revision);
    if (d->fail_after-- == 0)
        return err_set(err, ERR_IO, "enough");
    if (d->to) {
        char *text = strndup(o->json.p, o->json.n);
        store_put(d->to, (uint32_t)store_resource_find(d->to, o->resource), kit_decode(text));
        free(text);
    }
    return 0;
}

static void what_is_there_is_dumped(void **state) {
    (void)state;
    struct kit k = {0};
    struct dumped d = {.text = BUF_INIT(10000), .fail_after = -1};
    struct err err;
    uint64_t revision;
    fill(&k);
    for (int open = 1; open >= 0; open--) {
        buf_clear(&d.text);
        assert_int_equal(store_dump(directory, &revision, note_object, &d, &err), 0);
        assert_int_equal(revision, 6);
        assert_true(str_is(buf_view(&d.text), "configmaps a/x 3;nodes /n 6;"));
        if (open)
            kit_close(&k);
    }
    d.fail_after = 1;
    assert_int_equal(store_dump(directory, &revision, note_object, &d, &err), -1);
    assert_string_equal(err.msg, "enough");
    meddle("UPDATE record SET time = 0 WHERE revision = 3");
    d.fail_after = -1;
    assert_int_equal(store_dump(directory, &revision, note_object, &d, &err), -1);
    assert_string_equal(err.msg,
                        "configmaps a/x at revision 3: the record is not what was written");
    buf_release(&d.text);
}

static void a_dump_is_restored(void **state) {
    (void)state;
    struct kit k = {0};
    struct dumped d = {.text = BUF_INIT(10000), .fail_after = -1};
    struct err err;
    char other[256];
    uint64_t revision, position = 6;
    struct store_event event;
    kit_directory(other, sizeof other);
    fill(&k);
    struct store_opts opts = {.resources = kit_resources,
                              .n = KIT_RESOURCES,
                              .clock = &k.clock.clock,
                              .directory = other};
    assert_int_equal(store_restore_open(&opts, 1000, &d.to, &err), 0);
    assert_int_equal(store_dump(directory, &revision, note_object, &d, &err), 0);
    store_commit(d.to, NULL, NULL);
    store_close(d.to);
    kit_close(&k);
    kit_open(&k, other);
    assert_int_equal(store_revision(k.store), 1002);
    const struct api_object *o = store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"));
    assert_true(str_is(kit_value(o), "2"));
    assert_int_equal(kit_revision(o), 1001);
    assert_int_equal(store_log_read(k.store, NODES, &position, &event, 1), STORE_EXPIRED);
    kit_close(&k);
    assert_int_equal(store_restore_open(&opts, 1000, &d.to, &err), -1);
    assert_non_null(strstr(err.msg, "there is a store already: choose a new directory"));
    kit_remove(other);
    buf_release(&d.text);
}

/* ---- compact ---- */

static void a_file_becomes_smaller(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_compacted compacted;
    struct err err;
    kit_open(&k, directory);
    for (int i = 0; i < 2000; i++)
        store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", "1"));
    kit_commit(&k);
    clock_manual_advance(&k.clock, STORE_LOG_KEPT_NS);
    uint64_t last = kit_put(&k, CONFIG_MAPS, "a", "x", "2");
    kit_put(&k, CONFIG_MAPS, "a", "y", "");
    assert_int_equal(store_compact(directory, &compacted, &err), -1);
    assert_non_null(strstr(err.msg, "has this store open"));
    kit_close(&k);
    kit_open(&k, directory);
    for (int i = 0; i < 20; i++)
        kit_put(&k, CONFIG_MAPS, "a", "y", "");
    kit_close(&k);
    assert_int_equal(store_compact(directory, &compacted, &err), 0);
    assert_true(compacted.after < compacted.before / 4);
    kit_open(&k, directory);
    assert_int_equal(kit_revision(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"))), last);
    kit_close(&k);
    meddle("UPDATE record SET time = 0");
    assert_int_equal(store_compact(directory, &compacted, &err), -1);
    assert_non_null(strstr(err.msg, "the record is not what was written"));
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_good_file_has_no_findings),     EACH(all_damage_is_listed),
        EACH(findings_are_counted_in_the_end), EACH(no_file_cannot_be_checked),
        EACH(what_is_there_is_dumped),         EACH(a_dump_is_restored),
        EACH(a_file_becomes_smaller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
