/* For tests of the scheduler: a cluster with one, and what its objects are made of. */
#ifndef TEST_SCHEDULER_SCENE_H
#define TEST_SCHEDULER_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../world.h"
#include "scheduler/scheduler_int.h"
#include "tolexpr/tolexpr.h"

struct scene {
    struct world w;
    struct feature_config gates;       /* of the scheduler */
    const struct sched_config *config; /* NULL: upstream's default */
    struct tolexpr *expressions;
    struct scheduler *s;
};

/* Makes the scheduler, or another one after scene_end_scheduler. */
static inline void scene_begin_scheduler(struct scene *x) {
    x->s = scheduler_new(&(struct scheduler_opts){.client = x->w.client,
                                                  .informers = x->w.informers,
                                                  .log = &x->w.log,
                                                  .gates = &x->gates.enabled,
                                                  .engine = tolexpr_match_engine(x->expressions),
                                                  .config = x->config,
                                                  .seed = 1});
}

/* Ends it, with its informers; others take their place. */
static inline void scene_end_scheduler(struct scene *x) {
    scheduler_free(x->s);
    informers_free(x->w.informers);
    x->w.informers = informers_new(x->w.client, &x->w.log);
    x->s = NULL;
}

/* A cluster whose server and scheduler have these gates. */
static inline void scene_start(struct scene *x, const char *server, const char *scheduler) {
    struct str list = str_of(scheduler);
    struct feature_flags flags = {.gates = {&list, list.n > 0}};
    struct err err = {0};
    x->config = NULL;
    world_start(&x->w, server);
    if (feature_configure(&flags, &x->gates, &err) < 0)
        fail_msg("%s", err.msg);
    x->expressions = tolexpr_new(&(struct tolexpr_opts){FEATURE_NEWEST, &x->w.clock.clock, 1, 0});
    scene_begin_scheduler(x);
}

static inline void scene_stop(struct scene *x) {
    scene_end_scheduler(x);
    tolexpr_free(x->expressions);
    world_stop(&x->w);
}

/* Creates the object of a text made as printf does. */
__attribute__((format(printf, 2, 3))) static inline void scene_create(struct scene *x,
                                                                      const char *fmt, ...) {
    struct arena a = {0};
    va_list args;
    va_start(args, fmt);
    world_create(&x->w, arena_vprintf(&a, fmt, args).p);
    va_end(args);
    arena_release(&a);
}

/* A node with so many processors and these taints (a list in JSON). Admission gives every new node
 * taints of its own, until somebody sees that it is ready. */
static inline void scene_node(struct scene *x, const char *name, int cpu, const char *taints) {
    struct arena a = {0};
    scene_create(x,
                 "{apiVersion: v1, kind: Node, metadata: {name: '%s', labels: "
                 "{kubernetes.io/hostname: '%s'}}, status: {capacity: "
                 "{cpu: %d, memory: 64Gi, pods: 110}, allocatable: {cpu: %d, memory: 64Gi, "
                 "pods: 110}}}",
                 name, name, cpu, cpu);
    struct str patch = arena_printf(&a, "{\"spec\":{\"taints\":%s}}", taints);
    world_patch(&x->w, API_T_node, name, NULL, patch.p);
    arena_release(&a);
}

/* A pod that asks for one processor; `more` ends its spec (", priority: 1"). */
static inline void scene_pod(struct scene *x, const char *name, const char *more) {
    scene_create(x,
                 "{apiVersion: v1, kind: Pod, metadata: {name: '%s'}, spec: "
                 "{terminationGracePeriodSeconds: 0, containers: [{name: c, image: i, "
                 "resources: {requests: {cpu: 1}}}]%s}}",
                 name, more);
}

/* The pod as it is stored, which must be there; borrowed until the next question. */
static inline const struct api_pod *scene_get(struct scene *x, const char *name) {
    const struct api_object *o = world_get(&x->w, API_T_pod, name);
    if (!o)
        fail_msg("pod %s is not there", name);
    return o->body;
}

static inline void scene_expect_node(struct scene *x, const char *pod, const char *node) {
    struct str got = scene_get(x, pod)->spec.node_name;
    if (!str_is(got, node))
        fail_msg("pod %s is on '%.*s'", pod, STR_ARG(got));
}

/* The condition of the pod, or NULL. */
static inline const struct api_pod_condition *scene_condition(struct scene *x, const char *pod,
                                                              const char *type) {
    const struct api_pod_condition_list *list = &scene_get(x, pod)->status.conditions;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            return &list->v[i];
    return NULL;
}

/* The pod has the condition with this status, reason and message. */
static inline void scene_expect_condition(struct scene *x, const char *pod,
                                          const struct scheduler__condition *wanted) {
    const struct api_pod_condition *c = scene_condition(x, pod, wanted->type);
    assert_non_null(c);
    if (!str_is(c->status, wanted->status) || !str_is(c->reason, wanted->reason) ||
        !str_eq(c->message, wanted->message))
        fail_msg("%s of %s: %.*s %.*s %.*s", wanted->type, pod, STR_ARG(c->status),
                 STR_ARG(c->reason), STR_ARG(c->message));
}

/* There is an event of this reason about the pod, said so often, and with this message. */
static inline void scene_expect_event(struct scene *x, const char *reason, const char *pod,
                                      int32_t count, const char *message) {
    const struct api_event *e = world_event(&x->w, reason, pod);
    if (!e)
        fail_msg("no event %s about %s", reason, pod);
    if (!str_is(e->message, message) || e->count != count)
        fail_msg("%s %s: %d %.*s", reason, pod, e->count, STR_ARG(e->message));
}

#endif
