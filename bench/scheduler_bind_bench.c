/*
 * The scheduler through the API, in one process with a store in memory: how many pods a second are
 * bound, events included, to 5,000 nodes, from the moment at which it knows the cluster; and how
 * long one pod takes that comes alone. The API server's core has a thread of its own, or shares
 * the scheduler's.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/log.h"
#include "client/local.h"
#include "scheduler/scheduler_int.h"

enum { NODES = 5000, PODS = 10000, ALONE = 500 };

/* What pods ask for, beside a processor. */
static const struct shape {
    const char *name, *spec;
} shapes[] = {
    {"basic", ""},
    {"toleration Exists", ",\"tolerations\":[{\"key\":\"sla\",\"operator\":\"Exists\"}]"},
    {"toleration Gt", ",\"tolerations\":[{\"key\":\"sla\",\"operator\":\"Gt\",\"value\":\"949\"}]"},
    {"spread over hosts",
     ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"kubernetes.io/hostname\","
     "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":"
     "\"web\"}}}]"},
};

struct bench {
    struct feature_config gates;
    struct apiserver_catalog *catalog;
    struct store *store;
    struct apiserver *api;
    struct net_loop *loop, *core_loop; /* may be the same */
    struct apiserver_core *core;
    struct client *client;
    struct informers *informers;
    struct scheduler *s;
    struct log log;
    pthread_t thread;
    size_t answers, bound;
    uint64_t drawn;
};

static void fail(const char *what) {
    fprintf(stderr, "scheduler_bind_bench: %s\n", what);
    exit(1);
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void draw(void *ctx, void *to, size_t n) {
    struct bench *b = ctx;
    for (size_t i = 0; i < n; i++) {
        b->drawn = b->drawn * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)to)[i] = (unsigned char)(b->drawn >> 56);
    }
}

static void *run_core(void *arg) {
    net_loop_run(((struct bench *)arg)->core_loop);
    return NULL;
}

/* ---- a server ---- */

static void open_server(struct bench *b) {
    struct str gates = STR("TaintTolerationComparisonOperators=true");
    struct feature_flags flags = {.gates = {&gates, 1}};
    struct store_opts opts = {.clock = &clock_system};
    if (feature_configure(&flags, &b->gates, NULL) < 0)
        fail("gates");
    b->catalog = apiserver_catalog_new();
    opts.resources = apiserver_catalog_storage(b->catalog, &opts.n);
    if (store_open(&opts, &b->store, NULL) < 0)
        fail("no store");
    b->api = apiserver_new(&(struct apiserver_opts){.catalog = b->catalog,
                                                    .store = b->store,
                                                    .gates = &b->gates.enabled,
                                                    .clock = &clock_system,
                                                    .plugins = registry_plugins_default(),
                                                    .draw = draw,
                                                    .draw_ctx = b});
    apiserver_bootstrap(b->api);
    store_commit(b->store, NULL, NULL);
}

static void start(struct bench *b, bool has_thread) {
    *b = (struct bench){.drawn = 1, .log = {.fd = 2, .clock = &clock_system}};
    open_server(b);
    b->loop = net_loop_new(&clock_system);
    b->core_loop = has_thread ? net_loop_new(&clock_system) : b->loop;
    b->core = apiserver_core_new(
        &(struct apiserver_core_opts){b->api, b->store, b->core_loop, &clock_system});
    b->client = client_local_new(&(struct client_local_opts){.loop = b->loop,
                                                             .api = b->api,
                                                             .core = b->core,
                                                             .catalog = b->catalog,
                                                             .store = b->store,
                                                             .gates = &b->gates.enabled,
                                                             .user_agent = STR("kube-scheduler")});
    b->informers = informers_new(b->client, &b->log);
    if (has_thread && pthread_create(&b->thread, NULL, run_core, b) != 0)
        fail("no thread");
}

static void stop(struct bench *b) {
    scheduler_free(b->s);
    informers_free(b->informers);
    client_free(b->client);
    if (b->core_loop != b->loop) {
        net_loop_stop(b->core_loop);
        pthread_join(b->thread, NULL);
    }
    apiserver_core_free(b->core);
    store_close(b->store);
    apiserver_free(b->api);
    apiserver_catalog_free(b->catalog);
    if (b->core_loop != b->loop)
        net_loop_free(b->core_loop);
    net_loop_free(b->loop);
}

/* ---- objects ---- */

static void on_answer(void *arg, const struct client_answer *answer) {
    struct bench *b = arg;
    if (answer->code) {
        fprintf(stderr, "%.*s\n", STR_ARG(answer->message));
        fail("a request was refused");
    }
    b->answers++;
}

static void send(struct bench *b, struct client_request *r, struct str text) {
    struct arena a = {0};
    struct json tree;
    if (json_parse(&a, text, NULL, &tree, NULL) < 0 ||
        (r->verb == REGISTRY_VERB_CREATE && api_object_decode(&tree, NULL, &r->object, NULL) < 0))
        fail("an object cannot be read");
    r->patch = text;
    client_send(b->client, r, on_answer, b);
    arena_release(&a);
}

static void create_node(struct bench *b, unsigned i) {
    struct arena a = {0};
    struct client_request r = {.verb = REGISTRY_VERB_CREATE, .kind = client_kind(API_T_node)};
    send(b, &r,
         arena_printf(&a,
                      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%u\","
                      "\"labels\":{\"kubernetes.io/hostname\":\"node-%u\"}},\"status\":{"
                      "\"allocatable\":{\"cpu\":\"32\",\"memory\":\"256Gi\",\"pods\":\"110\"}}}",
                      i, i));
    r = (struct client_request){.verb = REGISTRY_VERB_PATCH,
                                .kind = client_kind(API_T_node),
                                .patch_type = CLIENT_PATCH_STRATEGIC,
                                .name = arena_printf(&a, "node-%u", i)};
    send(b, &r, STR("{\"spec\":{\"taints\":null}}"));
    arena_release(&a);
}

static void create_pod(struct bench *b, unsigned i, const struct shape *shape) {
    struct arena a = {0};
    struct client_request r = {
        .verb = REGISTRY_VERB_CREATE, .kind = client_kind(API_T_pod), .namespace = STR("default")};
    send(b, &r,
         arena_printf(&a,
                      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%u\","
                      "\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
                      "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":"
                      "\"1Gi\"}}}]%s}}",
                      i, shape->spec));
    arena_release(&a);
}

static void wait_for(struct bench *b, const size_t *count, size_t wanted) {
    while (*count < wanted)
        net_loop_turn(b->loop, -1);
}

/* ---- measuring ---- */

static void on_pod(void *arg, const struct api_object *old, const struct api_object *o) {
    struct bench *b = arg;
    b->bound += ((const struct api_pod *)o->body)->spec.node_name.n &&
                !(old && ((const struct api_pod *)old->body)->spec.node_name.n);
}

static void begin_scheduler(struct bench *b) {
    b->s = scheduler_new(&(struct scheduler_opts){.client = b->client,
                                                  .informers = b->informers,
                                                  .log = &b->log,
                                                  .gates = &b->gates.enabled,
                                                  .seed = 1});
    informer_listen(informers_of(b->informers, client_kind(API_T_pod)),
                    &(struct informer_handler){.set = on_pod, .arg = b});
    while (!scheduler_has_synced(b->s))
        net_loop_turn(b->loop, -1);
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void measure_alone(struct bench *b, const struct shape *shape) {
    static double times[ALONE];
    for (unsigned i = 0; i < ALONE; i++) {
        double begin = seconds_of(CLOCK_MONOTONIC);
        create_pod(b, PODS + i, shape);
        wait_for(b, &b->bound, PODS + i + 1);
        times[i] = seconds_of(CLOCK_MONOTONIC) - begin;
    }
    qsort(times, ALONE, sizeof *times, compare);
    printf("| %.0f | %.0f |\n", times[ALONE / 2] * 1e6, times[ALONE * 99 / 100] * 1e6);
}

static void measure(const struct shape *shape, bool has_thread) {
    static struct bench b;
    start(&b, has_thread);
    for (unsigned i = 0; i < NODES; i++)
        create_node(&b, i);
    wait_for(&b, &b.answers, 2 * NODES);
    for (unsigned i = 0; i < PODS; i++)
        create_pod(&b, i, shape);
    wait_for(&b, &b.answers, 2 * NODES + PODS);
    begin_scheduler(&b);
    double begin = seconds_of(CLOCK_MONOTONIC), processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    wait_for(&b, &b.bound, PODS);
    double taken = seconds_of(CLOCK_MONOTONIC) - begin;
    processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - processor;
    printf("| %s | %s | %.0f | %.1f ", shape->name, has_thread ? "its own thread" : "the same",
           PODS / taken, processor / PODS * 1e6);
    fflush(stdout);
    measure_alone(&b, shape);
    stop(&b);
}

int main(void) {
    printf("| pods | the API server's core | bound, pods/s | processor, µs/pod | alone, created to "
           "bound: median, µs | p99, µs |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int has_thread = 0; has_thread < 2; has_thread++)
            measure(&shapes[i], has_thread);
    return 0;
}
