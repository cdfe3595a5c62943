/* Objects that expire. */
#include "kit.h"

#define HOUR (3600 * CLOCK_SECOND)

static void an_event_is_deleted_after_an_hour(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    int64_t start = clock_wall(&k.clock.clock);
    kit_put(&k, EVENTS, "a", "x", "1");
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    clock_manual_advance(&k.clock, HOUR / 2);
    kit_put(&k, EVENTS, "a", "y", "1");
    assert_int_equal(store_expire(k.store, start + HOUR - 1), 0);
    assert_int_equal(store_next_expiry(k.store), start + HOUR);
    clock_manual_advance(&k.clock, HOUR / 2);
    assert_int_equal(store_expire(k.store, start + HOUR), 1);
    assert_null(store_get(k.store, EVENTS, STR("a"), STR("x")));
    kit_commit(&k);
    assert_int_equal(store_expire(k.store, start + HOUR), 0);
    assert_non_null(store_get(k.store, EVENTS, STR("a"), STR("y")));
    assert_non_null(store_get(k.store, CONFIG_MAPS, STR("a"), STR("x")));
    uint64_t position = store_revision(k.store) - 1;
    struct store_event event;
    assert_int_equal(store_log_read(k.store, EVENTS, &position, &event, 1), 1);
    assert_int_equal(event.type, STORE_DELETED);
    assert_true(str_is(kit_value(event.object), "1"));
    assert_int_equal(kit_revision(event.object), event.revision);
    store_events_release(&event, 1);
    kit_close(&k);
}

/* The hour begins again with each write. */
static void a_write_prolongs_it(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    int64_t start = clock_wall(&k.clock.clock);
    kit_put(&k, EVENTS, "a", "x", "1");
    clock_manual_advance(&k.clock, HOUR / 2);
    kit_put(&k, EVENTS, "a", "x", "2");
    assert_int_equal(store_expire(k.store, start + HOUR), 0);
    assert_int_equal(store_expire(k.store, start + HOUR + HOUR / 2), 1);
    kit_commit(&k);
    kit_close(&k);
}

static void what_was_deleted_does_not_expire(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    int64_t start = clock_wall(&k.clock.clock);
    kit_put(&k, EVENTS, "a", "x", "1");
    kit_delete(&k, EVENTS, "a", "x");
    assert_int_equal(store_expire(k.store, start + HOUR), 0);
    assert_int_equal(store_next_expiry(k.store), INT64_MAX);
    kit_close(&k);
}

static void so_many_at_once(void **state) {
    (void)state;
    struct kit k = {0};
    char name[16];
    kit_open(&k, NULL);
    int64_t start = clock_wall(&k.clock.clock);
    for (int i = 0; i < LIMIT_STORE_EXPIRE + 1; i++) {
        snprintf(name, sizeof name, "x%d", i);
        store_put(k.store, EVENTS, kit_object(EVENTS, "a", name, ""));
    }
    kit_commit(&k);
    assert_int_equal(store_expire(k.store, start + HOUR), LIMIT_STORE_EXPIRE);
    kit_commit(&k);
    assert_int_equal(store_expire(k.store, start + HOUR), 0); /* entries of the deleted ones go */
    assert_int_equal(store_expire(k.store, start + HOUR), 1);
    kit_commit(&k);
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_deleted_after_an_hour),
        cmocka_unit_test(a_write_prolongs_it),
        cmocka_unit_test(what_was_deleted_does_not_expire),
        cmocka_unit_test(so_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
