/*
 * A store against a model that keeps every change for ever: random writes in random batches, reads
 * of snapshots, of old states and of the log from random positions, time that passes, and, with a
 * file, closing and opening.
 */
#include "kit.h"

enum { KEYS = 24, STEPS = 2500, MOST_CHANGES = 6 * STEPS, WATCHERS = 4, READ = 7 };

struct change {
    uint64_t revision;
    uint32_t resource, key;
    uint32_t value; /* 0: deleted */
};

struct model {
    struct kit kit;
    uint64_t seed;
    struct change changes[MOST_CHANGES];
    int n, committed; /* changes, and those that readers see */
    uint32_t now[2][KEYS];
    uint64_t revision; /* of the last change that was committed */
    uint64_t positions[WATCHERS];
    uint32_t watched[WATCHERS][KEYS]; /* what the watcher knows */
};

static const char *namespace_of(uint32_t resource, uint32_t key) {
    static const char *const namespaces[] = {"a", "a-b", "b"};
    return resource == NODES ? "" : namespaces[key % 3];
}

static const char *name_of(uint32_t key) {
    static char name[16];
    snprintf(name, sizeof name, "n%u", key);
    return name;
}

static uint32_t value_of(const struct api_object *o) {
    int64_t value = 0;
    if (o)
        assert_true(str_to_i64(kit_value(o), &value));
    return (uint32_t)value;
}

static uint32_t key_of(const struct api_object *o) {
    int64_t key = 0;
    assert_true(str_to_i64(str_sub(o->meta->name, 1, SIZE_MAX), &key));
    return (uint32_t)key;
}

/* ---- the model ---- */

static void model_state(const struct model *m, uint32_t resource, uint64_t revision,
                        uint32_t *out) {
    memset(out, 0, KEYS * sizeof *out);
    for (int i = 0; i < m->n && m->changes[i].revision <= revision; i++)
        if (m->changes[i].resource == resource)
            out[m->changes[i].key] = m->changes[i].value;
}

static void expect_state(const struct store_snapshot *snap, uint32_t resource,
                         const uint32_t *expected) {
    struct store_cursor c;
    size_t n = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        const struct api_object *o = store_snapshot_get(
            snap, resource, str_of(namespace_of(resource, key)), str_of(name_of(key)));
        assert_int_equal(value_of(o), expected[key]);
        n += o != NULL;
    }
    assert_int_equal(store_snapshot_count(snap, resource, (struct store_range){0}), n);
    store_cursor_start(&c, snap, resource, (struct store_range){0});
    for (const struct api_object *o; (o = store_cursor_next(&c)); n--)
        assert_int_equal(value_of(o), expected[key_of(o)]);
    assert_int_equal(n, 0);
}

/* ---- steps ---- */

static void write_something(struct model *m) {
    uint32_t resource = kit_chance(&m->seed, 2), key = kit_chance(&m->seed, KEYS);
    const char *namespace = namespace_of(resource, key);
    char value[16];
    uint32_t new_value = kit_chance(&m->seed, 3) ? 1 + kit_chance(&m->seed, 1000000) : 0;
    const struct api_object *o;
    assert_int_equal(
        value_of(store_get(m->kit.store, resource, str_of(namespace), str_of(name_of(key)))),
        m->now[resource][key]);
    if (!new_value && !m->now[resource][key])
        return;
    snprintf(value, sizeof value, "%u", new_value ? new_value : m->now[resource][key]);
    struct api_object *draft = kit_object(resource, namespace, name_of(key), value);
    o = new_value ? store_put(m->kit.store, resource, draft)
                  : store_delete(m->kit.store, resource, draft);
    assert_true(m->n < MOST_CHANGES);
    m->changes[m->n++] = (struct change){kit_revision(o), resource, key, new_value};
    m->now[resource][key] = new_value;
}

static void commit(struct model *m) {
    store_commit(m->kit.store, kit_done, &m->kit);
    if (kit_chance(&m->seed, 3))
        return;
    store_flush(m->kit.store);
    m->committed = m->n;
    if (m->n)
        m->revision = m->changes[m->n - 1].revision;
    assert_int_equal(store_revision(m->kit.store), m->n ? m->revision : 1);
}

static void look_at_the_past(struct model *m) {
    uint32_t resource = kit_chance(&m->seed, 2), expected[KEYS];
    uint64_t newest = store_revision(m->kit.store);
    uint64_t revision = 1 + kit_chance(&m->seed, (uint32_t)newest + 1);
    struct store_snapshot *snap = store_snapshot_at(m->kit.store, resource, revision);
    if (!snap) {
        assert_true(revision > newest || revision < store_log_floor(m->kit.store, resource));
        return;
    }
    model_state(m, resource, revision, expected);
    expect_state(snap, resource, expected);
    store_snapshot_unref(snap);
}

/* The watcher starts again from a snapshot. */
static void list_again(struct model *m, uint32_t watcher) {
    struct store_snapshot *snap = store_snapshot_take(m->kit.store);
    m->positions[watcher] = store_snapshot_revision(snap);
    for (uint32_t resource = 0; resource < 2; resource++) {
        uint32_t expected[KEYS];
        model_state(m, resource, m->positions[watcher], expected);
        expect_state(snap, resource, expected);
        if (resource == watcher % 2)
            memcpy(m->watched[watcher], expected, sizeof expected);
    }
    store_snapshot_unref(snap);
}

/* Events lead from what the watcher knew to what is so at its new position. */
static void watch(struct model *m) {
    uint32_t watcher = kit_chance(&m->seed, WATCHERS), resource = watcher % 2, expected[KEYS];
    struct store_event events[READ];
    uint64_t before = m->positions[watcher];
    int n = store_log_read(m->kit.store, resource, &m->positions[watcher], events, READ);
    if (n == STORE_EXPIRED) {
        assert_true(before < store_log_floor(m->kit.store, resource));
        list_again(m, watcher);
        return;
    }
    for (int i = 0; i < n; i++) {
        uint32_t key = key_of(events[i].object), *known = &m->watched[watcher][key];
        assert_true(events[i].revision > before);
        assert_int_equal(kit_revision(events[i].object), events[i].revision);
        assert_int_equal(value_of(events[i].previous), *known);
        assert_int_equal(events[i].type == STORE_CREATED, *known == 0);
        *known = events[i].type == STORE_DELETED ? 0 : value_of(events[i].object);
        before = events[i].revision;
    }
    store_events_release(events, n);
    model_state(m, resource, m->positions[watcher], expected);
    assert_memory_equal(m->watched[watcher], expected, sizeof expected);
}

static void pass_time(struct model *m) {
    clock_manual_advance(&m->kit.clock, (int64_t)kit_chance(&m->seed, 60) * CLOCK_SECOND);
    store_expire(m->kit.store, clock_wall(&m->kit.clock.clock));
}

static void reopen(struct model *m, const char *directory) {
    if (!directory || kit_chance(&m->seed, 4))
        return;
    store_commit(m->kit.store, kit_done, &m->kit);
    kit_close(&m->kit);
    m->committed = m->n;
    kit_open(&m->kit, directory);
    assert_int_equal(store_revision(m->kit.store), m->n ? m->changes[m->n - 1].revision : 1);
}

static void run_model(uint64_t seed, const char *directory) {
    struct model *m = calloc(1, sizeof *m);
    m->seed = seed;
    kit_open(&m->kit, directory);
    for (uint32_t i = 0; i < WATCHERS; i++)
        list_again(m, i);
    for (int i = 0; i < STEPS; i++) {
        uint32_t what = kit_chance(&m->seed, 100);
        if (what < 50)
            write_something(m);
        else if (what < 70)
            commit(m);
        else if (what < 80)
            look_at_the_past(m);
        else if (what < 97)
            watch(m);
        else if (what < 98)
            pass_time(m);
        else
            reopen(m, directory);
    }
    store_commit(m->kit.store, kit_done, &m->kit);
    kit_close(&m->kit);
    assert_int_equal(m->kit.failed, 0);
    free(m);
}

static void in_memory(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        run_model(seed, NULL);
}

static void on_disk(void **state) {
    (void)state;
    for (uint64_t seed = 11; seed <= 12; seed++) {
        char directory[256];
        kit_directory(directory, sizeof directory);
        run_model(seed, directory);
        kit_remove(directory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
