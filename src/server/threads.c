/* The threads: workers with their loops, started and ended. */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_int.h"

static void *run_worker(void *arg) {
    struct server__worker *w = arg;
    net_loop_run(w->loop);
    return NULL;
}

static void make_workers(struct server *s) {
    s->worker_count = s->opts.workers ? s->opts.workers : 1;
    s->workers = xcalloc(s->worker_count, sizeof *s->workers);
    for (size_t i = 0; i < s->worker_count; i++)
        s->workers[i] = (struct server__worker){
            .s = s, .loop = net_loop_new(s->opts.clock), .openapi = openapi_new(NULL)};
}

static int listen_on(struct server *s, struct err *err) {
    struct net_loop **loops = xcalloc(s->worker_count, sizeof *loops);
    for (size_t i = 0; i < s->worker_count; i++)
        loops[i] = s->workers[i].loop;
    struct net_server_config config = {.address = s->opts.address,
                                       .port = s->opts.port,
                                       .tls = s->opts.tls,
                                       .request = server__request,
                                       .self = s};
    s->net = net_server_new(loops, s->worker_count, &config, err);
    free(loops);
    return s->net ? 0 : -1;
}

int server_new(const struct server_opts *opts, struct server **out, struct err *err) {
    struct server *s = xcalloc(1, sizeof *s);
    s->opts = *opts;
    make_workers(s);
    server__core_start(s);
    if (listen_on(s, err) < 0) {
        server_free(s);
        return -1;
    }
    for (size_t i = 0; i < s->worker_count; i++)
        if (pthread_create(&s->workers[i].thread, NULL, run_worker, &s->workers[i]))
            BUG("no thread can be made");
    *out = s;
    return 0;
}

uint16_t server_port(const struct server *s) {
    return net_server_port(s->net);
}

static void stop_core(void *arg) {
    struct server *s = arg;
    net_loop_stop(s->opts.core);
}

void server_stop(struct server *s, int64_t grace) {
    net_server_shutdown(s->net, grace, stop_core, s);
}

void server_free(struct server *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].thread) {
            net_loop_stop(s->workers[i].loop);
            pthread_join(s->workers[i].thread, NULL);
        }
    net_server_free(s->net);
    server__core_stop(s);
    for (size_t i = 0; i < s->worker_count; i++) {
        auth_rules_unref(s->workers[i].rules);
        openapi_free(s->workers[i].openapi);
        net_loop_free(s->workers[i].loop);
    }
    free(s->workers);
    free(s);
}
