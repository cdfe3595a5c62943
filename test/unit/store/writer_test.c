/* Writes, what is seen of them and when, in a store in memory. */
#include "api/bytes.h"
#include "base/alloc.h"
#include "kit.h"

static void a_write_gets_the_next_revision(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    assert_int_equal(store_revision(k.store), 1);
    assert_int_equal(kit_put(&k, CONFIG_MAPS, "a", "x", "1"), 2);
    assert_int_equal(kit_put(&k, NODES, "", "n", "1"), 3);
    assert_int_equal(kit_put(&k, CONFIG_MAPS, "a", "x", "2"), 4);
    assert_int_equal(kit_delete(&k, CONFIG_MAPS, "a", "x"), 5);
    assert_int_equal(store_revision(k.store), 5);
    assert_int_equal(k.done, 4);
    assert_int_equal(k.failed, 0);
    kit_close(&k);
}

/* The core sees its writes before the commit, readers see all of them behind it. */
static void a_batch_is_seen_as_a_whole(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    struct store_snapshot *before = store_snapshot_take(k.store);
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", "1"));
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "y", "1"));
    assert_non_null(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x")));
    struct store_snapshot *meanwhile = store_snapshot_take(k.store);
    assert_ptr_equal(before, meanwhile);
    kit_commit(&k);
    struct store_snapshot *after = store_snapshot_take(k.store);
    assert_null(store_snapshot_get(before, CONFIG_MAPS, STR("a"), STR("x")));
    assert_non_null(store_snapshot_get(after, CONFIG_MAPS, STR("a"), STR("x")));
    assert_non_null(store_snapshot_get(after, CONFIG_MAPS, STR("a"), STR("y")));
    assert_null(store_snapshot_get(after, NODES, STR(""), STR("x")));
    assert_int_equal(store_snapshot_revision(after), 3);
    store_snapshot_unref(before);
    store_snapshot_unref(meanwhile);
    store_snapshot_unref(after);
    kit_close(&k);
}

/* A draft that was derived does not keep what it was derived from. */
static void an_object_stands_alone(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    const struct api_object *first = store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"));
    const struct api_object *second = store_put(k.store, CONFIG_MAPS, api_object_derive(first));
    assert_null(second->base);
    assert_true(str_is(kit_value(second), "1"));
    kit_commit(&k);
    kit_close(&k);
}

/* The objects that were written last keep their bytes, older ones do not. */
static void old_objects_give_up_their_bytes(void **state) {
    (void)state;
    enum { BYTES = LIMIT_STORE_WRITTEN_BYTES / 16 };
    struct kit k = {0};
    static char uid[BYTES];
    memset(uid, 'u', sizeof uid - 1);
    kit_open(&k, NULL);
    kit_put(&k, CONFIG_MAPS, "a", "old", "1");
    const struct api_object *old = store_get(k.store, CONFIG_MAPS, STR("a"), STR("old"));
    struct api_bytes *json = api_object_json_ref(old);
    assert_int_equal(json->refs, 2);
    for (int i = 0; i < 14; i++) {
        struct api_object *o = kit_object(CONFIG_MAPS, "a", "new", "1");
        api_own_meta(o)->uid = arena_str(&o->arena, str_of(uid));
        store_put(k.store, CONFIG_MAPS, o);
        kit_commit(&k);
    }
    assert_int_equal(json->refs, 2);
    for (int i = 0; i < 2; i++) {
        struct api_object *o = kit_object(CONFIG_MAPS, "a", "new", "1");
        api_own_meta(o)->uid = arena_str(&o->arena, str_of(uid));
        store_put(k.store, CONFIG_MAPS, o);
        kit_commit(&k);
    }
    assert_int_equal(json->refs, 1);
    api_bytes_unref(json);
    kit_close(&k);
}

/* What was read keeps its bytes until as many others have been read; those of the other encoding
 * stay. */
static void readers_keep_bytes_for_others(void **state) {
    (void)state;
    enum { BYTES = LIMIT_STORE_READ_BYTES / 2 };
    struct kit k = {0};
    bool is_new;
    kit_open(&k, NULL);
    kit_put(&k, CONFIG_MAPS, "a", "first", "1");
    const struct api_object *o = store_get(k.store, CONFIG_MAPS, STR("a"), STR("first"));
    struct api_bytes *json = api_object_json_keep(o, &is_new);
    struct api_bytes *proto = api_object_proto_keep(o, &is_new);
    struct api_bytes *large = xcalloc(1, sizeof *large + BYTES);
    *large = (struct api_bytes){.refs = 1, .n = BYTES};
    api_object_forget_these(o, large); /* it has no such bytes */
    assert_true(json->refs == 2 && proto->refs == 2);
    store_keep_bytes(k.store, o, json);
    store_keep_bytes(k.store, o, large);
    assert_true(json->refs == 3 && proto->refs == 2);
    api_object_forget_these(o, json);
    assert_true(json->refs == 2 && proto->refs == 2);
    store_keep_bytes(k.store, o, large);
    assert_true(json->refs == 1 && proto->refs == 2); /* these have no place in the list */
    api_bytes_unref(json);
    api_bytes_unref(proto);
    kit_close(&k);
    assert_int_equal(large->refs, 1);
    api_bytes_unref(large);
}

/* What was written and not read gives up its bytes soon. */
static void written_objects_give_up_their_bytes_in_time(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    int64_t start = clock_wall(&k.clock.clock);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    const struct api_object *o = store_get(k.store, CONFIG_MAPS, STR("a"), STR("x"));
    struct api_bytes *json = api_object_json_ref(o);
    store_expire(k.store, start + CLOCK_SECOND);
    assert_int_equal(json->refs, 2);
    store_expire(k.store, start + 10 * CLOCK_SECOND);
    assert_int_equal(json->refs, 1);
    api_bytes_unref(json);
    kit_close(&k);
}

/* A draft with much air in it is stored without. */
static void objects_are_stored_tightly(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    struct api_object *draft = kit_object(CONFIG_MAPS, "a", "x", "1");
    arena_reserve(&draft->arena, 10000);
    const struct api_object *o = store_put(k.store, CONFIG_MAPS, draft);
    assert_true(o->arena.bytes < 2000);
    assert_true(str_is(kit_value(o), "1"));
    kit_commit(&k);
    kit_close(&k);
}

/* A ConfigMap with a label of so many bytes, all of them this one. */
static struct api_object *config_map(const char *name, char byte, size_t bytes) {
    struct api_object *o = kit_object(CONFIG_MAPS, "a", name, "");
    char *value = arena_alloc(&o->arena, bytes + 1);
    memset(value, byte, bytes);
    value[bytes] = 0;
    api_own_meta(o)->labels.v[0].value = (struct str){value, bytes};
    return o;
}

/* Objects that have much in common hold the first of them, also what follows them. */
static void siblings_share(void **state) {
    (void)state;
    enum { LARGE = 10000 };
    struct kit k = {0};
    kit_open(&k, NULL);
    const struct api_object *first = store_put(k.store, CONFIG_MAPS, config_map("x", 'v', LARGE));
    const struct api_object *second = store_put(k.store, CONFIG_MAPS, config_map("y", 'v', LARGE));
    assert_null(first->base);
    assert_ptr_equal(second->base, first);
    assert_true(second->arena.bytes < 2000);
    assert_true(str_is(second->meta->name, "y"));
    assert_true(str_eq(kit_value(second), kit_value(first)));
    const struct api_object *other = store_put(k.store, CONFIG_MAPS, config_map("z", 'w', LARGE));
    assert_null(other->base);
    const struct api_object *next = store_put(k.store, CONFIG_MAPS, config_map("y", 'v', LARGE));
    assert_ptr_equal(next->base, first);
    kit_commit(&k);
    kit_close(&k);
}

/* A large object is not kept for the sake of a small one. */
static void little_in_common_is_not_shared(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    struct api_object *large = config_map("x", 'v', 100000);
    api_own_meta(large)->uid = arena_str(&large->arena, kit_value(large));
    const struct api_object *first = store_put(k.store, CONFIG_MAPS, large);
    struct api_object *small = config_map("y", 'w', 10);
    api_own_meta(small)->uid = arena_str(&small->arena, str_sub(first->meta->uid, 0, 5000));
    assert_null(store_put(k.store, CONFIG_MAPS, small)->base);
    kit_commit(&k);
    kit_close(&k);
}

static void ranges_are_walked_and_counted(void **state) {
    (void)state;
    static const struct {
        const char *namespace, *after, *keys;
    } rows[] = {
        {"", "", "a-b/z a/x a/y b/x "},
        {"a", "", "a/x a/y "},
        {"a", "a/x", "a/y "},
        {"a", "a/y", ""},
        {"a", "a-b/z", "a/x a/y "},
        {"a", "b/x", ""},
        {"", "a-b/z", "a/x a/y b/x "},
        {"", "b/x", ""},
        {"c", "", ""},
        {"", "a/xx", "a/y b/x "},
        {"a-b", "", "a-b/z "},
    };
    struct kit k = {0};
    kit_open(&k, NULL);
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "b", "x", ""));
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "y", ""));
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", ""));
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a-b", "z", ""));
    kit_commit(&k);
    struct store_snapshot *snap = store_snapshot_take(k.store);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct store_range range = {str_of(rows[i].namespace), str_of(rows[i].after)};
        struct store_cursor c;
        struct buf keys = BUF_INIT(1000);
        size_t n = 0;
        store_cursor_start(&c, snap, CONFIG_MAPS, range);
        for (const struct api_object *o; (o = store_cursor_next(&c)); n++) {
            store_key_write(&keys, o);
            buf_add_char(&keys, ' ');
        }
        assert_true(str_is(buf_view(&keys), rows[i].keys));
        assert_int_equal(store_snapshot_count(snap, CONFIG_MAPS, range), n);
        buf_release(&keys);
    }
    store_snapshot_unref(snap);
    kit_close(&k);
}

static void commit_again(void *ctx, const struct err *err) {
    struct kit *k = ctx;
    assert_null(err);
    if (k->done++ < 1000)
        store_commit(k->store, commit_again, k);
}

/* A chain of commits, each from the `done` of the one before it, takes no stack. */
static void done_may_commit(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    store_commit(k.store, commit_again, &k);
    assert_int_equal(k.done, 1001);
    kit_close(&k);
}

static void what_is_not_committed_is_lost(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", ""));
    kit_close(&k);
    store_close(NULL);
}

static void resources_have_names(void **state) {
    (void)state;
    struct kit k = {0};
    uint64_t records;
    kit_open(&k, NULL);
    assert_int_equal(store_resource_find(k.store, STR("nodes")), NODES);
    assert_int_equal(store_resource_find(k.store, STR("node")), -1);
    assert_null(store_unknown_resource(k.store, 0, &records));
    assert_int_equal(store_writable(k.store, NULL), 0);
    kit_close(&k);
}

static void there_are_so_many_resources(void **state) {
    (void)state;
    static struct store_resource resources[LIMIT_STORE_RESOURCES + 1];
    static char names[LIMIT_STORE_RESOURCES + 1][16];
    for (int i = 0; i <= LIMIT_STORE_RESOURCES; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        resources[i].name = names[i];
    }
    struct store_opts opts = {
        .resources = resources, .n = LIMIT_STORE_RESOURCES, .clock = &clock_system};
    struct store *s;
    struct err err;
    assert_int_equal(store_open(&opts, &s, &err), 0);
    store_put(s, LIMIT_STORE_RESOURCES - 1, kit_object(CONFIG_MAPS, "a", "x", ""));
    store_commit(s, NULL, NULL);
    assert_int_equal(store_revision(s), 2);
    store_close(s);
    opts.n++;
    assert_int_equal(store_open(&opts, &s, &err), -1);
    assert_string_equal(err.msg, "a store of 257 resources; at most 256");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_gets_the_next_revision),
        cmocka_unit_test(a_batch_is_seen_as_a_whole),
        cmocka_unit_test(an_object_stands_alone),
        cmocka_unit_test(old_objects_give_up_their_bytes),
        cmocka_unit_test(readers_keep_bytes_for_others),
        cmocka_unit_test(written_objects_give_up_their_bytes_in_time),
        cmocka_unit_test(objects_are_stored_tightly),
        cmocka_unit_test(siblings_share),
        cmocka_unit_test(little_in_common_is_not_shared),
        cmocka_unit_test(ranges_are_walked_and_counted),
        cmocka_unit_test(done_may_commit),
        cmocka_unit_test(what_is_not_committed_is_lost),
        cmocka_unit_test(resources_have_names),
        cmocka_unit_test(there_are_so_many_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
