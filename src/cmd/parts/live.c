/* Threads with a part each, beside the server that all of them speak with. */
#include "cmd/parts/live.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "client/local.h"

/* How often a part is asked whether it is ready, until it is. */
#define LOOK_EVERY (CLOCK_SECOND / 500)

/* A thread. Everything belongs to it while it runs. */
struct worker {
    struct live *l;
    struct net_loop *loop;
    struct part part;
    struct net_timer look;
    pthread_t thread;
};

/* What each thread has. */
static const struct component *const workers[][PART_COMPONENTS] = {
    {&component_scheduler},
    {&component_manager, &component_nodes},
};

enum { WORKERS = sizeof workers / sizeof *workers };

struct live {
    struct live_opts opts;
    struct worker workers[WORKERS];
    size_t unready, running;
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
    struct worker *w = arg;
    if (part_is_ready(&w->part))
        net_loop_post(w->l->opts.serve->loop, on_ready, w->l);
    else
        net_timer_start(w->loop, &w->look, net_loop_now(w->loop) + LOOK_EVERY);
}

static void *run(void *arg) {
    struct worker *w = arg;
    net_loop_run(w->loop);
    net_timer_stop(w->loop, &w->look);
    part_release(&w->part);
    net_loop_post(w->l->opts.serve->loop, on_ended, w->l);
    return NULL;
}

/* ---- its life ---- */

static void make_worker(struct live *l, struct worker *w, const struct component *const *rows) {
    struct serve *s = l->opts.serve;
    struct net_loop *loop = net_loop_new(s->call->ctx->clock);
    struct part_opts opts = {
        .ctx = s->call->ctx,
        .setup = l->opts.setup,
        .loop = loop,
        .client =
            client_local_new(&(struct client_local_opts){.loop = loop,
                                                         .api = s->api,
                                                         .core = s->core,
                                                         .catalog = s->catalog,
                                                         .store = s->store,
                                                         .gates = &s->gates.enabled,
                                                         .user_agent = str_of(rows[0]->name)}),
        .min_compat = s->gates.min_compat,
    };
    struct err err;
    for (size_t i = 0; i < PART_COMPONENTS; i++)
        opts.components[i] = rows[i];
    *w = (struct worker){.l = l, .loop = loop, .look = {.fn = look, .arg = w}};
    part_init(&w->part, &opts);
    if (part_start(&w->part, &err) < 0)
        BUG("all controllers run, of which none can be misspelt");
    net_timer_start(loop, &w->look, net_loop_now(loop));
}

struct live *live_start(const struct live_opts *opts) {
    struct live *l = xcalloc(1, sizeof *l);
    l->opts = *opts;
    l->unready = l->running = WORKERS;
    for (size_t i = 0; i < WORKERS; i++)
        make_worker(l, &l->workers[i], workers[i]);
    for (size_t i = 0; i < WORKERS; i++)
        if (pthread_create(&l->workers[i].thread, NULL, run, &l->workers[i]))
            BUG("no thread can be made");
    return l;
}

void live_stop(struct live *l) {
    for (size_t i = 0; i < WORKERS; i++)
        net_loop_stop(l->workers[i].loop);
}

void live_free(struct live *l) {
    if (!l)
        return;
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(l->workers[i].thread, NULL);
        net_loop_free(l->workers[i].loop);
    }
    free(l);
}
