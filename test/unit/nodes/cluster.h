/*
 * A cluster with simulated nodes on virtual time, and what tests ask of it.
 */
#ifndef TEST_UNIT_NODES_CLUSTER_H
#define TEST_UNIT_NODES_CLUSTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "nodes/nodes.h"

struct cluster {
    struct world w;
    struct feature_config gates; /* of the kubelets */
    struct nodes_pool pool;
    struct nodes *nodes;
    bool is_choosy, is_alone;
};

static const struct str chosen[] = {STR_INIT("n1"), STR_INIT("n3")};

static inline void start_nodes(struct cluster *c) {
    c->nodes = nodes_new(&(struct nodes_opts){
        .client = c->w.client,
        .informers = c->w.informers,
        .log = &c->w.log,
        .gates = &c->gates.enabled,
        .seed = 1,
        .pools = &c->pool,
        .pool_count = 1,
        .is_choosy = c->is_choosy,
        .chosen = chosen,
        .chosen_count = 2,
        .is_alone = c->is_alone,
        .start_delay = 2 * CLOCK_SECOND,
        .stop_delay = 3 * CLOCK_SECOND,
    });
}

static inline void begin_as(struct cluster *c, size_t count, bool is_alone) {
    static struct label zone = {STR_INIT("zone"), STR_INIT("a")};
    static struct api_taint taint = {
        .key = STR_INIT("sla"), .value = STR_INIT("940"), .effect = STR_INIT("NoSchedule")};
    world_start(&c->w, "TaintTolerationComparisonOperators=true");
    feature_config_init(&c->gates, FEATURE_NEWEST);
    c->pool = (struct nodes_pool){.count = count,
                                  .prefix = STR("node-"),
                                  .labels = {&zone, 1},
                                  .taints = {&taint, 1},
                                  .kernel_version = STR("5.15.0")};
    c->is_choosy = false;
    c->is_alone = is_alone;
    world_create(&c->w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}");
    start_nodes(c);
    world_run(&c->w, 1);
}

static inline void begin(struct cluster *c, size_t count) {
    begin_as(c, count, false);
}

static inline void stop_nodes(struct cluster *c) {
    nodes_free(c->nodes);
    informers_free(c->w.informers);
    c->w.informers = NULL;
}

static inline void end(struct cluster *c) {
    stop_nodes(c);
    world_stop(&c->w);
}

static inline const struct api_node *node_of(struct cluster *c, const char *name) {
    const struct api_object *o = world_get(&c->w, API_T_node, name);
    assert_non_null(o);
    return o->body;
}

static inline void add_pod(struct cluster *c, const char *name, const char *annotations,
                           const char *spec) {
    struct str text = arena_printf(
        &c->w.arena,
        "{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {%s}}, spec: {nodeName: "
        "node-0, containers: [{name: c, image: i}], %s}}",
        name, annotations, spec);
    world_create(&c->w, text.p);
}

static inline const struct api_pod *pod_of(struct cluster *c, const char *name) {
    const struct api_object *o = world_get(&c->w, API_T_pod, name);
    return o ? o->body : NULL;
}

static inline const struct api_container_status *container_of(const struct api_pod *pod) {
    assert_int_equal(pod->status.container_statuses.n, 1);
    return pod->status.container_statuses.v;
}

#endif
