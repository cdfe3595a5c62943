/*
 * A process writes and tells which revisions are durable; it is killed at any moment, again and
 * again. Afterwards everything it told of is there, nothing is half there, and revisions have only
 * grown. CRASHES=1000 in the environment tries for longer.
 */
#include <signal.h>
#include <sys/wait.h>

#include "kit.h"

enum { CRASHES = 50, LONGEST_MS = 30, READ = 64 };

static char directory[256];

/* What the child tells: written as one piece. */
struct told {
    uint64_t revision;
    uint64_t value;
};

/* ---- the child ---- */

struct batch {
    int to;
    struct told told;
};

static void tell(void *ctx, const struct err *err) {
    struct batch *b = ctx;
    if (err || write(b->to, &b->told, sizeof b->told) != sizeof b->told)
        _exit(1);
    free(b);
}

/* Two objects get the same value in one batch; a third comes and goes. */
static void write_pair(struct store *s, int to, uint64_t value) {
    char text[24];
    struct batch *b = calloc(1, sizeof *b);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    store_put(s, CONFIG_MAPS, kit_object(CONFIG_MAPS, "a", "left", text));
    if (store_get(s, NODES, STR(""), STR("n")))
        store_delete(s, NODES, kit_object(NODES, "", "n", text));
    else
        store_put(s, NODES, kit_object(NODES, "", "n", text));
    const struct api_object *o =
        store_put(s, CONFIG_MAPS, kit_object(CONFIG_MAPS, "b", "right", text));
    *b = (struct batch){to, {kit_revision(o), value}};
    store_commit(s, tell, b);
}

static uint64_t value_at(struct store *s, const char *namespace, const char *name) {
    int64_t value = 0;
    const struct api_object *o = store_get(s, CONFIG_MAPS, str_of(namespace), str_of(name));
    if (o)
        assert_true(str_to_i64(kit_value(o), &value));
    return (uint64_t)value;
}

/* Until it is killed. Now and then time passes, so that records are removed as well. */
static void write_for_ever(int to) {
    struct kit k = {0};
    clock_manual_init(&k.clock, clock_wall(&clock_system));
    kit_open(&k, directory);
    uint64_t value = value_at(k.store, "a", "left");
    for (;;) {
        write_pair(k.store, to, ++value);
        if (value % 3 == 0)
            store_flush(k.store);
        if (value % 20 == 0)
            clock_manual_advance(&k.clock, STORE_LOG_KEPT_NS);
    }
}

/* ---- the parent ---- */

/* Starts a child, kills it after a while, and returns what it told last. */
static struct told run_and_kill(uint64_t *seed) {
    struct told told, last = {0};
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_for_ever(ends[1]);
    }
    close(ends[1]);
    /* The pipe is small: it is read while the child runs, or nothing would go on. */
    uint32_t told_most = kit_chance(seed, 60);
    usleep(1000 * kit_chance(seed, LONGEST_MS));
    for (uint32_t i = 0; i < told_most && read(ends[0], &told, sizeof told) == sizeof told; i++)
        last = told;
    usleep(100 * kit_chance(seed, 20));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    while (read(ends[0], &told, sizeof told) == sizeof told)
        last = told;
    close(ends[0]);
    assert_true(WIFSIGNALED(status));
    return last;
}

/* The log leads to what is there, by revisions that grow. */
static void expect_log(struct store *s, uint32_t resource) {
    struct store_event events[READ];
    uint64_t position = store_log_floor(s, resource), before = position;
    for (int n; (n = store_log_read(s, resource, &position, events, READ)) != 0;) {
        assert_true(n > 0);
        for (int i = 0; i < n; i++) {
            assert_true(events[i].revision > before);
            assert_int_equal(kit_revision(events[i].object), events[i].revision);
            before = events[i].revision;
        }
        store_events_release(events, n);
    }
}

static void expect_all(const struct told *told, uint64_t *newest) {
    struct kit k = {0};
    clock_manual_init(&k.clock, clock_wall(&clock_system));
    kit_open(&k, directory);
    uint64_t left = value_at(k.store, "a", "left"), right = value_at(k.store, "b", "right");
    assert_int_equal(left, right);
    assert_true(left >= told->value);
    assert_true(store_revision(k.store) >= told->revision);
    assert_true(store_revision(k.store) >= *newest);
    expect_log(k.store, CONFIG_MAPS);
    expect_log(k.store, NODES);
    *newest = kit_put(&k, CONFIG_MAPS, "c", "mine", "1");
    kit_close(&k);
}

static void nothing_is_lost(void **state) {
    (void)state;
    const char *asked = getenv("CRASHES");
    int64_t crashes = CRASHES;
    uint64_t seed = 1, newest = 0, most = 0;
    if (asked)
        assert_true(str_to_i64(str_of(asked), &crashes));
    kit_directory(directory, sizeof directory);
    for (int64_t i = 0; i < crashes; i++) {
        struct told told = run_and_kill(&seed);
        expect_all(&told, &newest);
        most = told.value > most ? told.value : most;
    }
    print_message("%llu batches were told of\n", (unsigned long long)most);
    assert_true(most > (uint64_t)crashes);
    kit_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
