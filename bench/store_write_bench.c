/*
 * The store: durable writes per second from 1 and from 64 clients, each of which waits for its
 * write before it makes the next; how long a large file takes to load and how much memory it needs;
 * a walk over a list; and watchers that read each event.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "json_corpus.h"
#include "store/store.h"

enum { PODS, NODES, RESOURCES };
enum { LOADED_PODS = 50000, LOADED_NODES = 5000, TEXTS = 2000, SECONDS = 3, LISTED = 10000 };

static const struct store_resource resources[RESOURCES] = {{.name = "pods", .kind = "Pod"},
                                                           {.name = "nodes", .kind = "Node"}};
static struct json texts[RESOURCES][TEXTS]; /* parsed */
static struct arena text_arena;
static char directory[256];

static void fail(const char *what) {
    fprintf(stderr, "store_write_bench: %s\n", what);
    exit(1);
}

static double now_s(void) {
    return (double)clock_mono(&clock_system) / 1e9;
}

static double processor_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_texts(void) {
    uint64_t rng = 1;
    for (unsigned i = 0; i < TEXTS * RESOURCES; i++) {
        struct buf b = BUF_INIT(1 << 20);
        corpus_object(&b, &rng, i / RESOURCES * 4 + (i % RESOURCES == NODES ? 3 : 0));
        struct str text = arena_str(&text_arena, buf_view(&b));
        if (json_parse(&text_arena, text, NULL, &texts[i % RESOURCES][i / RESOURCES], NULL) < 0)
            fail("an object is not JSON");
        buf_release(&b);
    }
}

static bool is_plain; /* objects have no managed fields and annotations */

/* An object with a name of its own, as a request brings it. */
static struct api_object *draft(uint32_t resource, unsigned i) {
    struct api_object *o;
    if (api_object_decode(&texts[resource][i % TEXTS], NULL, &o, NULL) < 0)
        fail("an object cannot be decoded");
    struct api_object_meta *meta = api_own_meta(o);
    meta->generate_name = arena_printf(&o->arena, "object-%u-", i % TEXTS);
    meta->name = arena_printf(&o->arena, "object-%u-%u", i % TEXTS, i);
    if (is_plain) {
        meta->managed_fields.n = 0;
        meta->annotations.n = 0;
    }
    return o;
}

/* ---- the core's loop ---- */

struct loop {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    void (*work)(void *arg);
    void *arg;
};

static void post(void *ctx, void (*work)(void *arg), void *arg) {
    struct loop *l = ctx;
    pthread_mutex_lock(&l->lock);
    l->work = work;
    l->arg = arg;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

static void run_posted(struct loop *l) {
    pthread_mutex_lock(&l->lock);
    while (!l->work)
        pthread_cond_wait(&l->wake, &l->lock);
    void (*work)(void *) = l->work;
    l->work = NULL;
    pthread_mutex_unlock(&l->lock);
    work(l->arg);
}

static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static struct store *open_store(const char *where) {
    struct store_opts opts = {.resources = resources,
                              .n = RESOURCES,
                              .clock = &clock_system,
                              .directory = where,
                              .post = post,
                              .post_ctx = &loop};
    struct store *s;
    struct err err;
    if (store_open(&opts, &s, &err) < 0)
        fail(err.msg);
    return s;
}

static void remove_store(void) {
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm", "lock"};
    char path[512];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* ---- writes ---- */

struct client {
    bool waits;
    double since;
};

static double longest_wait, waits;

static void answer(void *ctx, const struct err *err) {
    struct client *c = ctx;
    if (err)
        fail(err->msg);
    double wait = now_s() - c->since;
    longest_wait = wait > longest_wait ? wait : longest_wait;
    waits += wait;
    c->waits = false;
}

/* The same bytes appended to a file and synced, so many at a time: what the disk gives. */
static void time_disk(unsigned n_clients) {
    char path[512];
    static char bytes[64 * 5291];
    snprintf(path, sizeof path, "%s.raw", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    unsigned written = 0;
    double start = now_s();
    while (now_s() - start < SECONDS) {
        if (write(fd, bytes, n_clients * 5291) < 0 || fdatasync(fd) < 0)
            fail("the disk failed");
        written += n_clients;
    }
    printf("| %u, appended to a plain file | %.0f | %u | %.2f | | |\n", n_clients,
           written / (now_s() - start), n_clients, (now_s() - start) / written * n_clients * 1e3);
    close(fd);
    unlink(path);
}

static void time_writes(unsigned n_clients) {
    struct store *s = open_store(directory);
    struct client clients[64] = {{0}};
    unsigned written = 0;
    longest_wait = waits = 0;
    double start = now_s(), used = processor_s();
    while (now_s() - start < SECONDS) {
        for (unsigned i = 0; i < n_clients; i++) {
            if (clients[i].waits)
                continue;
            clients[i] = (struct client){true, now_s()};
            store_put(s, PODS, draft(PODS, written++));
            store_commit(s, answer, &clients[i]);
        }
        run_posted(&loop);
    }
    store_flush(s);
    double seconds = now_s() - start;
    used = processor_s() - used;
    struct store_stats stats;
    store_stats_read(s, &stats);
    printf("| %u | %.0f | %.1f | %.2f | %.0f | %.0f |\n", n_clients, written / seconds,
           (double)stats.writes / (double)stats.commits, waits / written * 1e3, longest_wait * 1e3,
           used / written * 1e6);
    store_close(s);
    remove_store();
}

/* ---- load and memory ---- */

static void fill(struct store *s, unsigned pods, unsigned nodes) {
    for (unsigned i = 0; i < pods; i++) {
        store_put(s, PODS, draft(PODS, i));
        if (i % 500 == 499)
            store_commit(s, NULL, NULL);
    }
    for (unsigned i = 0; i < nodes; i++)
        store_put(s, NODES, draft(NODES, i));
    store_commit(s, NULL, NULL);
    store_flush(s);
}

static double resident_mib(void) {
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        fail("no /proc/self/statm");
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* A process that does nothing else: its memory is the store's. */
static int load_only(const char *where) {
    double start = now_s(), used = processor_s();
    struct store *s = open_store(where);
    struct store_stats stats;
    used = processor_s() - used;
    store_stats_read(s, &stats);
    printf("| %.2f | %.2f | %.0f | %.0f | %.2f |\n", now_s() - start, used,
           (double)stats.objects / used, resident_mib(),
           resident_mib() * 1024 / (double)stats.objects);
    store_close(s);
    return 0;
}

static void time_load(const char *program) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "load", directory, (char *)NULL);
        _exit(1);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status)
        fail("the store was not loaded");
}

static void time_loads(const char *program) {
    struct store *s = open_store(directory);
    double start = now_s();
    fill(s, LOADED_PODS, LOADED_NODES);
    double seconds = now_s() - start;
    struct store_stats stats;
    store_stats_read(s, &stats);
    store_close(s);
    printf("\n%d pods and %d nodes, %.0f bytes of JSON each, written in %.1f s by batches of "
           "500.\n\n| load s | processor s | objects per processor s | process MiB | KiB per "
           "object |\n"
           "|---|---|---|---|---|\n",
           LOADED_PODS, LOADED_NODES, (double)stats.value_bytes / (double)stats.writes, seconds);
    time_load(program);
    remove_store();
}

/* ---- reads ---- */

static void time_list(void) {
    enum { ROUNDS = 50 };
    struct store *s = open_store(NULL);
    fill(s, LISTED, 0);
    size_t bytes = 0;
    double walk = 1e9, look = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        struct store_cursor c;
        struct store_snapshot *snap = store_snapshot_take(s);
        double start = now_s();
        store_cursor_start(&c, snap, PODS, (struct store_range){0});
        while (store_cursor_next(&c))
            bytes++;
        double seconds = now_s() - start;
        walk = seconds < walk ? seconds : walk;
        start = now_s();
        store_cursor_start(&c, snap, PODS, (struct store_range){0});
        for (const struct api_object *o; (o = store_cursor_next(&c));)
            bytes += o->meta->name.n;
        seconds = now_s() - start;
        look = seconds < look ? seconds : look;
        store_snapshot_unref(snap);
    }
    printf("\nA walk over %d objects: %.3f ms, %.3f ms when each name is looked at.\n", LISTED,
           walk * 1e3, look * 1e3);
    if (!bytes)
        fail("nothing was read");
    store_close(s);
}

static void time_watch(void) {
    enum { WATCHERS = 1000, EVENTS = 1000, READ = 16 };
    static uint64_t positions[WATCHERS];
    struct store *s = open_store(NULL);
    struct store_event events[READ];
    fill(s, LISTED, 0);
    for (int i = 0; i < WATCHERS; i++)
        positions[i] = store_revision(s);
    double seconds = 0;
    size_t read = 0;
    for (unsigned i = 0; i < EVENTS; i++) {
        store_put(s, PODS, draft(PODS, i));
        store_commit(s, NULL, NULL);
        double start = now_s();
        for (int w = 0; w < WATCHERS; w++) {
            int n = store_log_read(s, PODS, &positions[w], events, READ);
            store_events_release(events, n);
            read += (size_t)n;
        }
        seconds += now_s() - start;
    }
    if (read != (size_t)WATCHERS * EVENTS)
        fail("a watcher lacks events");
    printf("\n%d watchers that read each event alone: %.0f ns for each.\n", WATCHERS,
           seconds / (double)read * 1e9);
    store_close(s);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "load") == 0)
        return load_only(argv[2]);
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/berth-store-bench", temporary ? temporary : "/tmp");
    remove_store();
    make_texts();
    printf("| clients | durable creates/s | writes in a transaction | mean wait ms | longest ms | "
           "processor us |\n|---|---|---|---|---|---|\n");
    time_disk(1);
    time_writes(1);
    time_disk(64);
    time_writes(64);
    time_loads(argv[0]);
    is_plain = true;
    time_loads(argv[0]);
    is_plain = false;
    time_list();
    time_watch();
    arena_release(&text_arena);
    return 0;
}
