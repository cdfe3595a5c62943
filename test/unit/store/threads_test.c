/* Readers and watchers on four threads, while the core writes. Meant for ThreadSanitizer. */
#include <pthread.h>
#include <sched.h>

#include "kit.h"

enum { READERS = 2, WATCHERS = 2, BATCHES = 400, KEYS = 40, READ = 16 };

struct shared {
    struct store *store;
    bool stop;      /* atomic */
    uint64_t heard; /* atomic: the newest revision that subscribers were told of */
    uint64_t last;  /* atomic: what watchers read up to, once it is known */
};

/* ---- readers ---- */

/* All objects of a snapshot have the value of one batch. */
static void check_snapshot(const struct store_snapshot *snap) {
    struct store_cursor c;
    struct str value = {0};
    size_t n = 0;
    store_cursor_start(&c, snap, CONFIG_MAPS, (struct store_range){0});
    for (const struct api_object *o; (o = store_cursor_next(&c)); n++) {
        if (n && !str_eq(kit_value(o), value))
            abort();
        value = kit_value(o);
    }
    if (n != store_snapshot_count(snap, CONFIG_MAPS, (struct store_range){0}))
        abort();
}

static void *read_snapshots(void *ctx) {
    struct shared *sh = ctx;
    while (!__atomic_load_n(&sh->stop, __ATOMIC_ACQUIRE)) {
        struct store_snapshot *snap = store_snapshot_take(sh->store);
        check_snapshot(snap);
        struct store_snapshot *old =
            store_snapshot_at(sh->store, CONFIG_MAPS, store_snapshot_revision(snap));
        if (old)
            check_snapshot(old);
        store_snapshot_unref(old);
        store_snapshot_unref(snap);
        sched_yield();
    }
    return NULL;
}

/* ---- watchers ---- */

static void *watch_log(void *ctx) {
    struct shared *sh = ctx;
    struct store_event events[READ];
    uint64_t position = 1, before = 1, count = 0, last;
    do {
        last = __atomic_load_n(&sh->last, __ATOMIC_ACQUIRE);
        int n = store_log_read(sh->store, CONFIG_MAPS, &position, events, READ);
        for (int i = 0; i < n; i++, count++) {
            if (events[i].revision <= before ||
                kit_revision(events[i].object) != events[i].revision ||
                !api_object_json(events[i].object).n)
                abort();
            before = events[i].revision;
        }
        store_events_release(events, n > 0 ? n : 0);
        if (n == 0)
            sched_yield();
        else if (n < 0)
            abort();
    } while (!last || position < last);
    return (void *)(uintptr_t)count;
}

static void hear(void *ctx, const struct store_news *news) {
    struct shared *sh = ctx;
    __atomic_store_n(&sh->heard, news->revision, __ATOMIC_RELEASE);
}

/* ---- the core ---- */

static void write_batches(struct kit *k) {
    char name[16], value[16];
    for (int i = 0; i < BATCHES; i++) {
        for (int key = 0; key < KEYS; key++) {
            snprintf(name, sizeof name, "x%d", key);
            snprintf(value, sizeof value, "%d", i);
            if (key >= 20 + i % 20 && store_get(k->store, CONFIG_MAPS, STR("a"), str_of(name)))
                store_delete(k->store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", name, value));
            else if (key < 20 + i % 20)
                store_put(k->store, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", name, value));
        }
        store_commit(k->store, kit_done, k);
        if (i % 7 == 0)
            store_flush(k->store);
    }
    store_flush(k->store);
}

static void run(const char *directory) {
    struct kit k = {0};
    pthread_t threads[READERS + WATCHERS];
    void *counts[WATCHERS];
    struct store_stats stats;
    kit_open(&k, directory);
    struct shared sh = {.store = k.store};
    store_subscribe(k.store, hear, &sh);
    for (int i = 0; i < READERS + WATCHERS; i++)
        pthread_create(&threads[i], NULL, i < READERS ? read_snapshots : watch_log, &sh);
    write_batches(&k);
    __atomic_store_n(&sh.stop, true, __ATOMIC_RELEASE);
    __atomic_store_n(&sh.last, store_revision(k.store), __ATOMIC_RELEASE);
    for (int i = 0; i < READERS + WATCHERS; i++)
        pthread_join(threads[i], i < READERS ? NULL : &counts[i - READERS]);
    store_stats_read(k.store, &stats);
    for (int i = 0; i < WATCHERS; i++)
        assert_int_equal((uintptr_t)counts[i], stats.writes);
    assert_int_equal(sh.heard, store_revision(k.store));
    assert_int_equal(k.done, BATCHES);
    store_unsubscribe(k.store, hear, &sh);
    kit_close(&k);
}

static void in_memory(void **state) {
    (void)state;
    run(NULL);
}

static void on_disk(void **state) {
    (void)state;
    char directory[256];
    kit_directory(directory, sizeof directory);
    run(directory);
    kit_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory), cmocka_unit_test(on_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
