/* The log: what can be read behind a position, states of the past, and what is let go of. */
#include "kit.h"

enum { MOST = 16 };

static void events_are_read_behind_a_position(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_event events[MOST];
    uint64_t position = 1;
    kit_open(&k, NULL);
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 0);
    kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    kit_put(&k, NODES, "", "n", "1");
    kit_put(&k, CONFIG_MAPS, "a", "x", "2");
    kit_delete(&k, CONFIG_MAPS, "a", "x");
    kit_put(&k, NODES, "", "n", "2");
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, 2), 2);
    assert_int_equal(position, 4);
    assert_int_equal(events[0].type, STORE_CREATED);
    assert_null(events[0].previous);
    assert_int_equal(events[1].type, STORE_MODIFIED);
    assert_ptr_equal(events[1].previous, events[0].object);
    store_events_release(events, 2);
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 1);
    assert_int_equal(position, 6); /* the newest revision: there is nothing between */
    assert_int_equal(events[0].type, STORE_DELETED);
    assert_int_equal(events[0].revision, 5);
    assert_int_equal(kit_revision(events[0].object), 5);
    assert_true(str_is(kit_value(events[0].previous), "2"));
    store_events_release(events, 1);
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 0);
    position = 100;
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 0);
    assert_int_equal(position, 100);
    kit_close(&k);
}

/* A hundred objects written three hundred times, and every state in between. */
static void states_of_the_past(void **state) {
    (void)state;
    enum { NAMES = 10, WRITES = 300 };
    struct kit k = {0};
    char expected[WRITES + 2][NAMES] = {{0}}, names[NAMES][12];
    kit_open(&k, NULL);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "%d", i);
    for (int i = 2; i < WRITES + 2; i++) {
        int at = i * 7 % NAMES;
        char value[2] = {(char)('a' + i % 26), '\0'};
        memcpy(expected[i], expected[i - 1], NAMES);
        if (i % 3 == 0 && expected[i][at]) {
            store_delete(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", names[at], ""));
            expected[i][at] = 0;
        } else {
            store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", names[at], value));
            expected[i][at] = value[0];
        }
        if (i % 5 == 0)
            kit_commit(&k);
    }
    kit_commit(&k);
    for (uint64_t revision = 1; revision < WRITES + 2; revision++) {
        struct store_snapshot *snap = store_snapshot_at(k.store, CONFIG_MAPS, revision);
        assert_int_equal(store_snapshot_revision(snap), revision);
        for (int i = 0; i < NAMES; i++) {
            const struct api_object *o =
                store_snapshot_get(snap, CONFIG_MAPS, STR("a"), str_of(names[i]));
            assert_int_equal(o ? kit_value(o).p[0] : 0, expected[revision][i]);
        }
        store_snapshot_unref(snap);
    }
    assert_null(store_snapshot_at(k.store, CONFIG_MAPS, WRITES + 2));
    kit_close(&k);
}

static void old_events_go(void **state) {
    (void)state;
    struct kit k = {0};
    struct store_event events[MOST];
    kit_open(&k, NULL);
    uint64_t first = kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    clock_manual_advance(&k.clock, STORE_LOG_KEPT_NS - 1);
    kit_put(&k, CONFIG_MAPS, "a", "x", "2");
    uint64_t position = first - 1;
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 2);
    store_events_release(events, 2);
    clock_manual_advance(&k.clock, 1);
    kit_put(&k, NODES, "", "n", "");
    position = first - 1;
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), STORE_EXPIRED);
    assert_null(store_snapshot_at(k.store, CONFIG_MAPS, first - 1));
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), first);
    position = first;
    assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, events, MOST), 1);
    store_events_release(events, 1);
    struct store_snapshot *snap = store_snapshot_at(k.store, CONFIG_MAPS, first);
    assert_true(str_is(kit_value(store_snapshot_get(snap, CONFIG_MAPS, STR("a"), STR("x"))), "1"));
    store_snapshot_unref(snap);
    kit_close(&k);
}

/* Without writes it is store_expire that lets go of events. */
static void old_events_go_when_idle(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    assert_int_equal(store_next_expiry(k.store), INT64_MAX);
    int64_t now = clock_wall(&k.clock.clock);
    uint64_t first = kit_put(&k, CONFIG_MAPS, "a", "x", "1");
    assert_int_equal(store_next_expiry(k.store), now + STORE_LOG_KEPT_NS);
    assert_int_equal(store_expire(k.store, now + STORE_LOG_KEPT_NS - 1), 0);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), 1);
    assert_int_equal(store_expire(k.store, now + STORE_LOG_KEPT_NS), 0);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), first);
    assert_int_equal(store_next_expiry(k.store), INT64_MAX);
    kit_close(&k);
}

/* Is there a state of config maps at the revision? */
static bool has_state(struct kit *k, uint64_t revision) {
    struct store_snapshot *snap = store_snapshot_at(k->store, CONFIG_MAPS, revision);
    store_snapshot_unref(snap);
    return snap != NULL;
}

/* Lets the time of a log pass; returns whether the store has moved. */
static bool age(struct kit *k) {
    clock_manual_advance(&k->clock, STORE_LOG_KEPT_NS);
    bool moved = store_age(k->store, clock_wall(&k->clock.clock));
    if (moved)
        kit_commit(k);
    return moved;
}

/* A list that was begun does not go on for ever, though nothing was written; whoever watches sees
 * nothing of it. The same with a file, which knows the revision when it is opened again. */
static void states_become_too_old_when_idle(void **state) {
    (void)state;
    char directory[64];
    kit_directory(directory, sizeof directory);
    for (int with_file = 0; with_file < 2; with_file++) {
        struct kit k = {0};
        kit_open(&k, with_file ? directory : NULL);
        uint64_t first = kit_put(&k, CONFIG_MAPS, "a", "x", "1"), position = first;
        assert_false(store_age(k.store, clock_wall(&k.clock.clock)));
        assert_false(store_age(k.store, clock_wall(&k.clock.clock) + STORE_LOG_KEPT_NS - 1));
        assert_true(age(&k));
        assert_int_equal(store_revision(k.store), first + 1);
        assert_true(has_state(&k, first));
        assert_true(age(&k));
        assert_false(has_state(&k, first));
        assert_true(has_state(&k, first + 1));
        uint64_t second = kit_put(&k, CONFIG_MAPS, "a", "x", "2");
        assert_int_equal(second, first + 3);
        assert_true(has_state(&k, first + 2));
        struct store_event event;
        assert_int_equal(store_log_read(k.store, CONFIG_MAPS, &position, &event, 1), 1);
        store_events_release(&event, 1);
        assert_true(age(&k));
        assert_true(has_state(&k, second));
        assert_true(age(&k));
        assert_false(has_state(&k, second));
        kit_close(&k);
        if (!with_file)
            continue;
        kit_open(&k, directory);
        assert_int_equal(store_revision(k.store), second + 2);
        kit_close(&k);
    }
    kit_remove(directory);
}

/* With fences around its texts, so many objects are more than what logs may take. */
static void a_log_has_so_many_events(void **state) {
    (void)state;
    if (ARENA_FENCED)
        skip();
    struct kit k = {0};
    kit_open(&k, NULL);
    for (int i = 0; i < LIMIT_STORE_LOG_EVENTS; i++)
        store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", ""));
    kit_commit(&k);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), 1);
    kit_put(&k, CONFIG_MAPS, "a", "x", "");
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), 2);
    kit_close(&k);
}

/* So many large objects fill the logs. */
enum { LARGE_OBJECTS = 128 };

/* Writes a large object n times, always another one, with a second between. */
static void write_large(struct kit *k, uint32_t resource, int n) {
    static char value[LIMIT_STORE_LOG_BYTES / LARGE_OBJECTS];
    static int written;
    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < n; i++) {
        value[snprintf(value, sizeof value, "%d", written++)] = 'v';
        struct api_object *o = kit_object(resource, "a", "x", "");
        api_own_meta(o)->uid = arena_str(&o->arena, str_of(value));
        store_put(k->store, resource, o);
        clock_manual_advance(&k->clock, CLOCK_SECOND);
        kit_commit(k);
    }
}

/* Above a quarter of the limit, events of more than 75 seconds go, of the largest log first. */
static void logs_take_so_much_memory(void **state) {
    (void)state;
    struct kit k = {0};
    kit_open(&k, NULL);
    kit_put(&k, NODES, "", "n", "");
    write_large(&k, CONFIG_MAPS, LARGE_OBJECTS / 4);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), 1);
    write_large(&k, CONFIG_MAPS, 75 - LARGE_OBJECTS / 4);
    assert_int_equal(store_log_floor(k.store, CONFIG_MAPS), 1);
    write_large(&k, CONFIG_MAPS, 5);
    assert_in_range(store_log_floor(k.store, CONFIG_MAPS), 5, 8);
    assert_int_equal(store_log_floor(k.store, NODES), 1);
    k.clock.clock.wall = NULL; /* time stands still from here on */
    kit_close(&k);
    kit_open(&k, NULL);
    for (int i = 0; i < LARGE_OBJECTS + 20; i++) {
        write_large(&k, CONFIG_MAPS, 1);
        clock_manual_advance(&k.clock, -CLOCK_SECOND);
    }
    assert_in_range(store_log_floor(k.store, CONFIG_MAPS), 20, 50);
    kit_close(&k);
}

static void count_events(void *ctx, const struct store_news *news) {
    uint64_t *seen = ctx;
    seen[0]++;
    seen[1] = news->revision;
    assert_true(store_news_has(news, NODES));
    assert_false(store_news_has(news, EVENTS));
}

static void subscribers_are_told(void **state) {
    (void)state;
    struct kit k = {0};
    uint64_t seen[2] = {0};
    kit_open(&k, NULL);
    store_subscribe(k.store, count_events, seen);
    store_put(k.store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "x", ""));
    uint64_t revision = kit_put(&k, NODES, "", "n", "");
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], revision);
    kit_commit(&k); /* nothing */
    assert_int_equal(seen[0], 1);
    store_unsubscribe(k.store, count_events, seen);
    kit_put(&k, NODES, "", "n", "");
    assert_int_equal(seen[0], 1);
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_behind_a_position),
        cmocka_unit_test(states_of_the_past),
        cmocka_unit_test(old_events_go),
        cmocka_unit_test(old_events_go_when_idle),
        cmocka_unit_test(states_become_too_old_when_idle),
        cmocka_unit_test(a_log_has_so_many_events),
        cmocka_unit_test(logs_take_so_much_memory),
        cmocka_unit_test(subscribers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
