/*
 * A whole server beside clients that mean no good: half requests, headers without end, bodies that
 * never come, idle connections, resets in HTTP/2, watchers that never read, and a byte now and
 * then. Meanwhile somebody else is answered, and memory stays bounded.
 *
 *     HOSTILE=10000 build/release/server_hostile_test
 *
 * has so many connections of each sort, and wants 99 of 100 answers within 10 ms; the rest is told,
 * as it depends on what else the machine does. Without it there are a hundred, and no time is
 * measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "server/server.h"

enum {
    WATCHERS = 20,
    BIG = 50000,
    OBJECTS = 20,
    EVENTS = 200,
    RESETS = 5000,
    SLOWEST_MS = 10,
    ANSWERS_MOST = 100000
};

struct world {
    struct net_loop *loop; /* of the core */
    struct apiserver_core *core;
    struct apiserver_catalog *catalog;
    struct store *store;
    struct apiserver *api;
    struct server *server;
    struct feature_config gates;
    struct log log;
    pthread_t thread;
    size_t connections; /* of each sort */
    bool is_timed;
    int *fds; /* of all hostile clients */
    size_t n, most;
};

/* ---- the server ---- */

static void post(void *ctx, void (*work)(void *arg), void *arg) {
    net_loop_post(ctx, work, arg);
}

static void draw(void *ctx, void *to, size_t n) {
    (void)ctx;
    assert_int_equal(getrandom(to, n, 0), n);
}

static void *run_core(void *loop) {
    net_loop_run(loop);
    return NULL;
}

static void open_server(struct world *w) {
    struct err err = {0};
    struct store_opts opts = {.clock = &clock_system, .post = post, .post_ctx = w->loop};
    opts.resources = apiserver_catalog_storage(w->catalog, &opts.n);
    assert_int_equal(store_open(&opts, &w->store, &err), 0);
    w->api = apiserver_new(&(struct apiserver_opts){.catalog = w->catalog,
                                                    .store = w->store,
                                                    .gates = &w->gates.enabled,
                                                    .clock = &clock_system,
                                                    .draw = draw});
    apiserver_bootstrap(w->api);
    store_commit(w->store, NULL, NULL);
    w->core =
        apiserver_core_new(&(struct apiserver_core_opts){w->api, w->store, w->loop, &clock_system});
    struct server_opts server = {.api = w->api,
                                 .catalog = w->catalog,
                                 .store = w->store,
                                 .core = w->core,
                                 .loop = w->loop,
                                 .gates = &w->gates.enabled,
                                 .clock = &clock_system,
                                 .log = &w->log,
                                 .address = "127.0.0.1",
                                 .workers = 2,
                                 .who = {.allows_anonymous = true},
                                 .program_version = "",
                                 .program_commit = "",
                                 .max_inflight = 400,
                                 .max_mutating_inflight = 200000, /* bodies that never come */
                                 .is_open = true};
    assert_int_equal(server_new(&server, &w->server, &err), 0);
    assert_int_equal(pthread_create(&w->thread, NULL, run_core, w->loop), 0);
}

static void stop(void *arg) {
    struct world *w = arg;
    server_stop(w->server, 0, CLOCK_SECOND / 10);
}

static void close_server(struct world *w) {
    net_loop_post(w->loop, stop, w);
    pthread_join(w->thread, NULL);
    server_free(w->server);
    store_close(w->store);
    apiserver_free(w->api);
    apiserver_catalog_free(w->catalog);
    apiserver_core_free(w->core);
    net_loop_free(w->loop);
}

/* ---- clients ---- */

static int dial(const struct world *w) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(server_port(w->server))};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static bool say(int fd, struct str text) {
    while (text.n) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        text = str_sub(text, (size_t)n, text.n);
    }
    return true;
}

/* A hostile client that says this and stays. */
static int annoy(struct world *w, const char *text) {
    assert_true(w->n < w->most);
    int fd = w->fds[w->n++] = dial(w);
    (void)say(fd, str_of(text));
    return fd;
}

/* Reads an answer with Content-Length; its status, or 0. */
static int read_answer(int fd) {
    char text[65536];
    size_t n = 0;
    int status = 0;
    while (n < sizeof text - 1) {
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (got <= 0)
            return 0;
        n += (size_t)got;
        text[n] = 0;
        const char *end = strstr(text, "\r\n\r\n");
        const char *length = end ? strcasestr(text, "content-length: ") : NULL;
        if (length && n >= (size_t)(end + 4 - text) + strtoul(length + 16, NULL, 10)) {
            sscanf(text, "HTTP/1.1 %d", &status);
            return status;
        }
    }
    return 0;
}

static size_t resident_bytes(void) {
    unsigned long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &all, &pages), 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- somebody who means well ---- */

struct good {
    const struct world *w;
    atomic_bool is_over;
    size_t answers, failures;
    int64_t took[ANSWERS_MOST];
};

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The time within which so many of a thousand answers came. */
static int64_t within(struct good *g, size_t thousandths) {
    qsort(g->took, g->answers, sizeof *g->took, by_time);
    return g->took[(g->answers - 1) * thousandths / 1000];
}

static void *ask_on_and_on(void *arg) {
    struct good *g = arg;
    int fd = dial(g->w);
    while (!atomic_load(&g->is_over) && g->answers < ANSWERS_MOST) {
        int64_t begin = clock_mono(&clock_system);
        bool is_good = say(fd, STR("GET /api/v1/namespaces/default HTTP/1.1\r\nHost: a\r\n\r\n")) &&
                       read_answer(fd) == 200;
        g->took[g->answers++] = clock_mono(&clock_system) - begin;
        g->failures += !is_good;
        usleep(1000);
    }
    close(fd);
    return NULL;
}

/* ---- hostility ---- */

static void send_half_requests(struct world *w) {
    for (size_t i = 0; i < w->connections; i++)
        annoy(w, i & 1 ? "GET /api/v1/pods HTTP/1.1\r\nHost: a\r\nX-" : "GE");
}

static void send_endless_headers(struct world *w) {
    struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("GET / HTTP/1.1\r\n"));
    for (int i = 0; i < 40000; i++)
        buf_addf(&text, "X-%d: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
    for (int i = 0; i < 5; i++) {
        int fd = annoy(w, "");
        (void)say(fd, buf_view(&text)); /* the server hangs up on the way */
    }
    buf_release(&text);
}

static void send_heads_without_bodies(struct world *w) {
    for (size_t i = 0; i < w->connections; i++)
        annoy(w, "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\n"
                 "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
}

static void stay_idle(struct world *w) {
    for (size_t i = 0; i < w->connections; i++)
        annoy(w, "");
}

/* Streams that are opened and reset at once; the headers are literals without compression. */
static void reset_rapidly(struct world *w) {
    static const char head[] = "\x82\x87\x84\x41\x01\x61"; /* GET https / with authority a */
    struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    buf_add(&text, (struct str){"\0\0\0\4\0\0\0\0\0", 9});
    for (uint32_t i = 0; i < RESETS; i++) {
        uint32_t stream = htonl(2 * i + 1);
        buf_add(&text, (struct str){"\0\0\6\1\5", 5});
        buf_add(&text, (struct str){(const char *)&stream, 4});
        buf_add(&text, (struct str){head, 6});
        buf_add(&text, (struct str){"\0\0\4\3\0", 5});
        buf_add(&text, (struct str){(const char *)&stream, 4});
        buf_add(&text, (struct str){"\0\0\0\x8", 4});
    }
    (void)say(annoy(w, ""), buf_view(&text));
    buf_release(&text);
}

static void watch_without_reading(struct world *w) {
    for (int i = 0; i < WATCHERS; i++) {
        int small = 4096, fd = annoy(w, "");
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        (void)say(fd, STR("GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
}

/* Creates an object, or replaces it by another state of it. */
static int put_large(int fd, int i, const char *value) {
    struct buf body = BUF_INIT(SIZE_MAX), head = BUF_INIT(SIZE_MAX);
    bool is_new = i < OBJECTS;
    buf_addf(&body, "{\"metadata\":{\"name\":\"a%d\"},\"data\":{\"x\":\"%s\",\"y\":\"%d\"}}",
             i % OBJECTS, value, i);
    buf_addf(&head, "%s /api/v1/namespaces/default/configmaps", is_new ? "POST" : "PUT");
    if (!is_new)
        buf_addf(&head, "/a%d", i % OBJECTS);
    buf_addf(&head,
             " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
             "%zu\r\n\r\n",
             buf_view(&body).n);
    assert_true(say(fd, buf_view(&head)) && say(fd, buf_view(&body)));
    buf_release(&body);
    buf_release(&head);
    return read_answer(fd);
}

/* What these watchers do not read. */
static void make_events(const struct world *w) {
    int fd = dial(w);
    char *value = xmalloc(BIG + 1);
    memset(value, 'x', BIG);
    value[BIG] = 0;
    for (int i = 0; i < EVENTS; i++)
        assert_int_equal(put_large(fd, i, value), i < OBJECTS ? 201 : 200);
    free(value);
    close(fd);
}

/* A byte for each of the first connections, again and again: those are heads that never end. */
static void drip(const struct world *w, int64_t seconds) {
    int64_t end = clock_mono(&clock_system) + seconds * CLOCK_SECOND;
    while (clock_mono(&clock_system) < end) {
        for (size_t i = 0; i < w->connections && i < 100; i++)
            (void)send(w->fds[i], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        usleep(20000);
    }
}

/* How long answers take when nobody is hostile: what the machine does to them. */
static void tell(const char *what, struct good *g) {
    printf("%s: %zu answers, half within %.3f ms, 99%% within %.3f ms, the slowest %.3f ms\n", what,
           g->answers, (double)within(g, 500) / 1e6, (double)within(g, 990) / 1e6,
           (double)within(g, 1000) / 1e6);
}

static struct good *start_asking(const struct world *w, pthread_t *thread) {
    struct good *g = xcalloc(1, sizeof *g);
    g->w = w;
    assert_int_equal(pthread_create(thread, NULL, ask_on_and_on, g), 0);
    return g;
}

static void stop_asking(struct good *g, pthread_t thread) {
    atomic_store(&g->is_over, true);
    pthread_join(thread, NULL);
    assert_int_equal(g->failures, 0);
    assert_true(g->answers > 10);
}

static void measure_peace(const struct world *w) {
    pthread_t thread;
    struct good *g = start_asking(w, &thread);
    sleep(3);
    stop_asking(g, thread);
    tell("in peace", g);
    free(g);
}

static void others_are_answered(void **state) {
    struct world *w = *state;
    pthread_t thread;
    if (w->is_timed)
        measure_peace(w);
    size_t before = resident_bytes();
    struct good *g = start_asking(w, &thread);
    send_half_requests(w);
    send_heads_without_bodies(w);
    stay_idle(w);
    watch_without_reading(w);
    send_endless_headers(w);
    reset_rapidly(w);
    make_events(w);
    drip(w, w->is_timed ? 5 : 1);
    size_t after = resident_bytes();
    stop_asking(g, thread);
    if (w->is_timed) {
        tell("in war", g);
        printf("%zu connections cost %.1f MiB\n", w->n, (double)(after - before) / (1 << 20));
        assert_true(within(g, 990) < SLOWEST_MS * INT64_C(1000000));
    }
    free(g);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* The log of changes, what is under way to watchers, and some kilobytes for each connection. */
    assert_true(after - before < (96u << 20) + w->n * (16u << 10));
#endif
}

/* ---- deadlines ---- */

static void sleep_a_while(void *arg) {
    (void)arg;
    usleep(500000);
}

static int post_map(int fd, const char *query, const char *name) {
    struct buf text = BUF_INIT(SIZE_MAX), body = BUF_INIT(SIZE_MAX);
    buf_addf(&body, "{\"metadata\":{\"name\":\"%s\"}}", name);
    buf_addf(&text,
             "POST /api/v1/namespaces/default/configmaps%s HTTP/1.1\r\nHost: a\r\n"
             "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
             query, buf_view(&body).n, STR_ARG(buf_view(&body)));
    assert_true(say(fd, buf_view(&text)));
    buf_release(&text);
    buf_release(&body);
    return read_answer(fd);
}

/* The core is busy: the client is told in time, and what it asked for is done nevertheless. */
static void a_late_write_is_answered(void **state) {
    const struct world *w = *state;
    int fd = dial(w);
    net_loop_post(w->loop, sleep_a_while, NULL);
    int64_t begin = clock_mono(&clock_system);
    assert_int_equal(post_map(fd, "?timeout=100ms", "late"), 504);
    assert_true(clock_mono(&clock_system) - begin < 450 * INT64_C(1000000));
    assert_int_equal(post_map(fd, "", "late"), 409);
    close(fd);
}

static void a_body_that_is_late_is_answered(void **state) {
    const struct world *w = *state;
    int fd = dial(w);
    assert_true(say(fd, STR("POST /api/v1/namespaces/default/configmaps?timeout=100ms HTTP/1.1\r\n"
                            "Host: a\r\nContent-Type: application/json\r\n"
                            "Content-Length: 100\r\n\r\n{")));
    assert_int_equal(read_answer(fd), 504);
    close(fd);
}

/* ---- the world ---- */

/* As many descriptors as there may be; both ends are in this process. */
static size_t room_for(size_t wanted) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    size_t most = (size_t)(limit.rlim_cur > 500 ? limit.rlim_cur - 500 : 0) / 6;
    return wanted < most ? wanted : most;
}

static int set_up(void **state) {
    const char *wanted = getenv("HOSTILE");
    struct world *w = xcalloc(1, sizeof *w);
    w->is_timed = wanted != NULL;
    w->connections = room_for(wanted ? strtoul(wanted, NULL, 10) : 100);
    w->most = 3 * w->connections + WATCHERS + 100;
    w->fds = xcalloc(w->most, sizeof *w->fds);
    w->log = (struct log){.fd = 2, .clock = &clock_system};
    w->loop = net_loop_new(&clock_system);
    w->catalog = apiserver_catalog_new();
    feature_config_init(&w->gates, FEATURE_NEWEST);
    open_server(w);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    for (size_t i = 0; i < w->n; i++)
        close(w->fds[i]);
    close_server(w);
    free(w->fds);
    free(w);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_write_is_answered),
        cmocka_unit_test(a_body_that_is_late_is_answered),
        cmocka_unit_test(others_are_answered),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
