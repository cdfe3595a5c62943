/* The components that a part can have, as rows: what is common to a scheduler, controllers and
 * simulated nodes. */
#include "base/map.h"
#include "cmd/parts/part.h"
#include "manager/manager.h"
#include "manager/manager_metrics.h"
#include "nodes/nodes.h"
#include "scheduler/scheduler.h"
#include "tolexpr/tolexpr.h"

/* ---- the scheduler ---- */

static void warm_scheduler(struct part *p) {
    scheduler_warm(p->informers);
}

static void *start_scheduler(struct part *p, struct err *err) {
    const struct part_setup *setup = p->opts.setup;
    (void)err;
    return scheduler_new(
        &(struct scheduler_opts){.client = p->opts.client,
                                 .informers = p->informers,
                                 .log = &p->opts.ctx->log,
                                 .gates = setup->scheduler_gates,
                                 .config = setup->scheduler_config,
                                 .engine = tolexpr_match_engine(p->expressions),
                                 .stopwatch = setup->is_measured ? p->opts.ctx->clock : NULL,
                                 .seed = map_random_seed(),
                                 .tie_seed = map_random_seed()});
}

static void stop_scheduler(void *self) {
    scheduler_free(self);
}

static bool scheduler_is_ready(const struct part *p, const void *self) {
    (void)p;
    return scheduler_has_synced(self);
}

static void write_scheduler(const void *self, struct buf *out) {
    scheduler_metrics_write(self, out);
}

const struct component component_scheduler = {
    .name = "kube-scheduler",
    .warm = warm_scheduler,
    .start = start_scheduler,
    .stop = stop_scheduler,
    .is_ready = scheduler_is_ready,
    .write_metrics = write_scheduler,
};

/* ---- controllers ---- */

static void *start_manager(struct part *p, struct err *err) {
    const struct part_setup *setup = p->opts.setup;
    struct manager_opts opts = {.client = p->opts.client,
                                .informers = p->informers,
                                .log = &p->opts.ctx->log,
                                .gates = setup->manager_gates,
                                .engine = tolexpr_match_engine(p->expressions),
                                .root_ca = setup->root_ca,
                                .issuer = setup->issuer,
                                .authority = setup->authority,
                                .seed = map_random_seed()};
    if (setup->controllers) {
        opts.controllers = setup->controllers->v;
        opts.controller_count = setup->controllers->n;
    }
    return manager_new(&opts, err);
}

static void stop_manager(void *self) {
    manager_free(self);
}

static bool manager_is_ready(const struct part *p, const void *self) {
    (void)self;
    return informers_have_synced(p->informers);
}

static void write_manager(const void *self, struct buf *out) {
    manager_metrics_write(self, out);
}

const struct component component_manager = {
    .name = "kube-controller-manager",
    .start = start_manager,
    .stop = stop_manager,
    .is_ready = manager_is_ready,
    .write_metrics = write_manager,
};

/* ---- simulated nodes ---- */

/* A container takes a moment to stop: whoever looks right after a deletion finds the pod on its way
 * out, as in a cluster. */
#define STOP_DELAY (CLOCK_SECOND / 10)

static void *start_nodes(struct part *p, struct err *err) {
    const struct part_setup *setup = p->opts.setup;
    struct nodes_opts opts = {.client = p->opts.client,
                              .informers = p->informers,
                              .log = &p->opts.ctx->log,
                              .gates = setup->kubelet_gates,
                              .engine = tolexpr_match_engine(p->expressions),
                              .seed = map_random_seed(),
                              .pools = setup->pools,
                              .pool_count = setup->pool_count,
                              .stop_delay = STOP_DELAY,
                              .is_choosy = setup->is_choosy,
                              .is_alone = !p->opts.components[1]};
    (void)err;
    if (setup->nodes) {
        opts.chosen = setup->nodes->v;
        opts.chosen_count = setup->nodes->n;
    }
    return nodes_new(&opts);
}

static void stop_nodes(void *self) {
    nodes_free(self);
}

static bool node_is_ready(const struct api_object *o) {
    const struct api_node *node = o->body;
    for (size_t i = 0; i < node->status.conditions.n; i++)
        if (str_is(node->status.conditions.v[i].type, "Ready"))
            return str_is(node->status.conditions.v[i].status, "True");
    return false;
}

/* Nodes that others left behind need not be ready. */
static bool nodes_are_ready(const struct part *p, const void *self) {
    struct informer *nodes = informers_of(p->informers, client_kind(API_T_node));
    const struct part_setup *setup = p->opts.setup;
    size_t n, ready = 0, wanted = 0;
    (void)self;
    for (size_t i = 0; i < setup->pool_count; i++)
        wanted += setup->pools[i].count;
    if (!informers_have_synced(p->informers) || informer_count(nodes) < wanted)
        return false;
    const struct api_object *const *all = informer_find(nodes, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n && ready < wanted; i++)
        ready += node_is_ready(all[i]);
    return ready >= wanted;
}

static void write_nodes(const void *self, struct buf *out) {
    nodes_write_metrics(self, out);
}

const struct component component_nodes = {
    .name = "kubelet",
    .start = start_nodes,
    .stop = stop_nodes,
    .is_ready = nodes_are_ready,
    .write_metrics = write_nodes,
};
