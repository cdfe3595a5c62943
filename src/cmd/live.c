/* Threads with a loop, a client and informers each, and the components that work on them. */
#include "cmd/live.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "client/informer.h"
#include "client/local.h"
#include "manager/manager.h"
#include "nodes/nodes.h"
#include "scheduler/scheduler.h"
#include "tolexpr/tolexpr.h"

/* How often a component is asked whether it is ready, until it is. */
#define LOOK_EVERY (CLOCK_SECOND / 500)

/* A thread with its components. Everything belongs to that thread while it runs. */
struct part {
    struct live *l;
    const struct part_kind *kind;
    pthread_t thread;
    struct net_loop *loop;
    struct client *client;
    struct informers *informers;
    struct tolexpr *expressions;
    struct net_timer look;
    struct scheduler *scheduler;
    struct manager *manager;
    struct nodes *nodes;
};

struct part_kind {
    const char *user_agent;
    void (*begin)(struct part *p);
    void (*end)(struct part *p);
    bool (*is_ready)(const struct part *p);
};

enum { PARTS = 2 };

struct live {
    struct live_opts opts;
    struct part parts[PARTS];
    size_t unready, running;
};

/* ---- the scheduler ---- */

static void begin_scheduler(struct part *p) {
    struct cmd_ctx *ctx = p->l->opts.serve->call->ctx;
    p->scheduler =
        scheduler_new(&(struct scheduler_opts){.client = p->client,
                                               .informers = p->informers,
                                               .log = &ctx->log,
                                               .gates = p->l->opts.scheduler_gates,
                                               .engine = tolexpr_match_engine(p->expressions),
                                               .seed = map_random_seed(),
                                               .tie_seed = map_random_seed()});
}

static void end_scheduler(struct part *p) {
    scheduler_free(p->scheduler);
}

static bool scheduler_is_ready(const struct part *p) {
    return scheduler_has_synced(p->scheduler);
}

/* ---- controllers and nodes ---- */

static void begin_cluster(struct part *p) {
    const struct live_opts *o = &p->l->opts;
    struct cmd_ctx *ctx = o->serve->call->ctx;
    const struct match_engine *engine = tolexpr_match_engine(p->expressions);
    struct err err;
    p->manager = manager_new(&(struct manager_opts){.client = p->client,
                                                    .informers = p->informers,
                                                    .log = &ctx->log,
                                                    .gates = o->manager_gates,
                                                    .engine = engine,
                                                    .root_ca = o->serve->pki.ca_certificate,
                                                    .seed = map_random_seed()},
                             &err);
    assert(p->manager); /* it runs all controllers, of which none can be misspelt */
    p->nodes = nodes_new(&(struct nodes_opts){.client = p->client,
                                              .informers = p->informers,
                                              .log = &ctx->log,
                                              .gates = o->kubelet_gates,
                                              .engine = engine,
                                              .seed = map_random_seed(),
                                              .pools = o->pools,
                                              .pool_count = o->pool_count});
}

static void end_cluster(struct part *p) {
    nodes_free(p->nodes);
    manager_free(p->manager);
}

static bool node_is_ready(const struct api_object *o) {
    const struct api_node *node = o->body;
    for (size_t i = 0; i < node->status.conditions.n; i++)
        if (str_is(node->status.conditions.v[i].type, "Ready"))
            return str_is(node->status.conditions.v[i].status, "True");
    return false;
}

/* Nodes that others left behind need not be ready. */
static bool cluster_is_ready(const struct part *p) {
    struct informer *nodes = informers_of(p->informers, client_kind(API_T_node));
    size_t n, ready = 0, wanted = 0;
    for (size_t i = 0; i < p->l->opts.pool_count; i++)
        wanted += p->l->opts.pools[i].count;
    if (!informers_have_synced(p->informers) || informer_count(nodes) < wanted)
        return false;
    const struct api_object *const *all = informer_find(nodes, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n && ready < wanted; i++)
        ready += node_is_ready(all[i]);
    return ready >= wanted;
}

static const struct part_kind kinds[PARTS] = {
    {"kube-scheduler", begin_scheduler, end_scheduler, scheduler_is_ready},
    {"kube-controller-manager", begin_cluster, end_cluster, cluster_is_ready},
};

/* ---- on the thread of the server's loop ---- */

static void on_ready(void *arg) {
    struct live *l = arg;
    if (--l->unready == 0)
        l->opts.ready(l->opts.arg);
}

static void on_ended(void *arg) {
    struct live *l = arg;
    if (--l->running == 0)
        l->opts.ended(l->opts.arg);
}

/* ---- on the part's own thread ---- */

static void look(void *arg) {
    struct part *p = arg;
    if (p->kind->is_ready(p))
        net_loop_post(p->l->opts.serve->loop, on_ready, p->l);
    else
        net_timer_start(p->loop, &p->look, net_loop_now(p->loop) + LOOK_EVERY);
}

static void *run(void *arg) {
    struct part *p = arg;
    net_loop_run(p->loop);
    net_timer_stop(p->loop, &p->look);
    p->kind->end(p);
    informers_free(p->informers);
    client_free(p->client);
    tolexpr_free(p->expressions);
    net_loop_post(p->l->opts.serve->loop, on_ended, p->l);
    return NULL;
}

/* ---- its life ---- */

static void make_part(struct live *l, struct part *p, const struct part_kind *kind) {
    struct serve *s = l->opts.serve;
    struct cmd_ctx *ctx = s->call->ctx;
    *p = (struct part){.l = l, .kind = kind, .look = {.fn = look, .arg = p}};
    p->loop = net_loop_new(ctx->clock);
    p->client =
        client_local_new(&(struct client_local_opts){.loop = p->loop,
                                                     .api = s->api,
                                                     .core = s->core,
                                                     .catalog = s->catalog,
                                                     .store = s->store,
                                                     .gates = &s->gates.enabled,
                                                     .user_agent = str_of(kind->user_agent)});
    p->informers = informers_new(p->client, &ctx->log);
    p->expressions =
        tolexpr_new(&(struct tolexpr_opts){s->gates.min_compat, ctx->clock, map_random_seed(), 0});
    kind->begin(p);
    net_timer_start(p->loop, &p->look, net_loop_now(p->loop));
}

struct live *live_start(const struct live_opts *opts) {
    struct live *l = xcalloc(1, sizeof *l);
    l->opts = *opts;
    l->unready = l->running = PARTS;
    for (size_t i = 0; i < PARTS; i++)
        make_part(l, &l->parts[i], &kinds[i]);
    for (size_t i = 0; i < PARTS; i++)
        if (pthread_create(&l->parts[i].thread, NULL, run, &l->parts[i]))
            BUG("no thread can be made");
    return l;
}

void live_stop(struct live *l) {
    for (size_t i = 0; i < PARTS; i++)
        net_loop_stop(l->parts[i].loop);
}

void live_free(struct live *l) {
    if (!l)
        return;
    for (size_t i = 0; i < PARTS; i++) {
        pthread_join(l->parts[i].thread, NULL);
        net_loop_free(l->parts[i].loop);
    }
    free(l);
}
