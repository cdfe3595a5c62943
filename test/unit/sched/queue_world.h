/*
 * For tests of the queue alone: a scheduler without core, whose clock is moved by hand, whose nodes
 * are slots and nothing else, and whose plug-ins answer hints as they are told.
 */
#ifndef TEST_SCHED_QUEUE_WORLD_H
#define TEST_SCHED_QUEUE_WORLD_H

#include "base/clock.h"
#include "objects.h"
#include "sched/metrics.h"
#include "sched/metrics_int.h"
#include "sched/queue/queue_int.h"

enum { NODES = 4 };

/* ---- what the core would bring; weak: if it is linked for another reason, it wins ---- */

__attribute__((weak)) uint32_t sched__node_get(struct sched *s, struct str name) {
    (void)s;
    assert_true(name.n == 2 && name.p[0] == 'n' && name.p[1] < '0' + NODES);
    return (uint32_t)(name.p[1] - '0');
}

__attribute__((weak)) void sched__node_touch(struct sched *s, uint32_t slot) {
    s->nodes.state[slot]++;
}

__attribute__((weak)) void sched__node_drop_idle(struct sched *s, uint32_t slot) {
    assert_true(slot < s->nodes.n);
}

__attribute__((weak)) const struct sched__plugin *sched__plugin_at(enum sched_plugin plugin) {
    (void)plugin;
    return &sched__default_binder;
}

/* ---- plug-ins: A and B register nodes and own tolerations, C assigned pods, G is real ---- */

enum { A = SCHED_TAINT_TOLERATION, B = SCHED_NODE_AFFINITY, C = SCHED_FIT };

/* "yes" and "no" in the labels of the event's object are the answer; anything else is yes. */
static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    const struct api_object *o = event->after ? event->after : event->before;
    (void)s;
    assert_non_null(pod->cls);
    assert_true((event->bits & (event->bits - 1)) == 0);
    return !o || !labels_find(&o->meta->labels, STR("no"));
}

static const struct sched__plugin plugin_a = {
    .events = SCHED__NODE_ADD | SCHED__NODE_TAINT | SCHED__POD_TOLERATION, .hint = hint};
static const struct sched__plugin plugin_b = {.events = SCHED__NODE_ADD | SCHED__NODE_LABEL,
                                              .hint = hint};
static const struct sched__plugin plugin_c = {.events =
                                                  SCHED__ASSIGNED_POD_DELETE | SCHED__POD_LABEL};

/* ---- the world ---- */

struct world {
    struct sched s;
    struct clock_manual clock;
    VEC(struct sched__pod_class *) classes; /* one for each object */
    struct sched__node nodes[NODES];
    uint8_t touches[NODES];
    VEC(struct sched_pod *) pods;
    VEC(const struct api_object *) objects;
};

static const struct api_object *keep(struct world *w, struct api_object *draft) {
    const struct api_object *o = api_publish(draft);
    vec_push(&w->objects, o);
    return o;
}

static const struct api_object *pod_object(struct world *w, const char *meta, const char *spec,
                                           const char *status) {
    return keep(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{%s},'spec':{%s},"
                                  "'status':{%s}}",
                                  meta, spec, status));
}

static const struct api_object *node_object(struct world *w, const char *meta) {
    return keep(
        w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'%s}}", meta));
}

static void world_start(struct world *w, const char *gate_off, const struct sched_config *config) {
    enum feature f;
    *w = (struct world){.s.gates = data_newest_gates()};
    if (gate_off && feature_find(str_of(gate_off), &f))
        feature_set_put(&w->s.gates, f, false);
    clock_manual_init(&w->clock, 1000 * CLOCK_SECOND);
    w->s.clock = &w->clock.clock;
    w->s.stopwatch = &w->clock.clock;
    w->s.config = config ? config : sched_config_default(&w->s.arena);
    w->s.nodes.v = w->nodes;
    w->s.nodes.state = w->touches;
    w->s.nodes.n = w->s.nodes.live = NODES;
    w->s.atoms = intern_new(1);
    w->s.metrics = sched__metrics_new(&w->s);
    w->s.queue = sched__queue_new(&w->s);
    w->s.queue->plugins[A] = &plugin_a;
    w->s.queue->plugins[B] = &plugin_b;
    w->s.queue->plugins[C] = &plugin_c;
    w->s.queue->plugins[SCHED_SCHEDULING_GATES] = &sched__scheduling_gates;
}

static void world_end(struct world *w) {
    map_release(&w->s.pods);
    for (size_t i = 0; i < w->pods.n; i++) {
        sched__queue_remove(&w->s, w->pods.v[i]);
        assert_int_equal(w->pods.v[i]->nominated, SCHED__NONE);
        intern_unref(w->pods.v[i]->nominated_node_name);
        free(w->pods.v[i]);
    }
    assert_int_equal(w->s.nominated, 0);
    assert_int_equal(w->s.queue->groups.live, 0);
    for (size_t i = 0; i < w->s.config->profile_count * SCHED_PLUGIN_COUNT; i++)
        assert_int_equal(w->s.queue->rejected[i], 0);
    for (size_t i = 0; i < NODES; i++)
        vec_release(&w->nodes[i].nominated);
    sched__queue_free(&w->s);
    sched__metrics_free(w->s.metrics);
    for (size_t i = 0; i < w->objects.n; i++) {
        assert_int_equal(api_object_holders(w->objects.v[i]), 1);
        api_object_unref(w->objects.v[i]);
    }
    for (size_t i = 0; i < w->classes.n; i++)
        free(w->classes.v[i]);
    vec_release(&w->classes);
    intern_free(w->s.atoms);
    vec_release(&w->pods);
    vec_release(&w->objects);
    arena_release(&w->s.arena);
    arena_release(&w->s.scratch);
}

static struct sched__pod_class *class_of(struct world *w, const struct api_object *object) {
    for (size_t i = 0; i < w->classes.n; i++)
        if (w->classes.v[i]->sample == object)
            return w->classes.v[i];
    struct sched__pod_class *c = xcalloc(1, sizeof *c);
    c->sample = object;
    c->pod = object->body;
    c->profile = &w->s.config->profiles[0];
    vec_push(&w->classes, c);
    return c;
}

static void read_object(struct world *w, struct sched_pod *pod, const struct api_object *object) {
    pod->cls = class_of(w, object);
    sched__pod_read(&w->s, pod, object);
}

/* A pending pod that is not in the queue. */
static struct sched_pod *pod_new(struct world *w, const struct api_object *object,
                                 int32_t priority) {
    struct sched_pod *pod = xcalloc(1, sizeof *pod);
    pod->node = pod->nominated = SCHED__NONE;
    read_object(w, pod, object);
    pod->priority = priority;
    vec_push(&w->pods, pod);
    return pod;
}

/* The pod has another object from now on, or the same one again; its priority stays. */
static inline void become(struct world *w, struct sched_pod *pod, const struct api_object *object) {
    struct sched_pod before = *pod;
    pod->nominated_node_name = NULL;
    read_object(w, pod, object);
    pod->priority = before.priority;
    sched__queue_update(&w->s, pod, &before);
    intern_unref(before.nominated_node_name);
}

static struct sched_pod *add(struct world *w, const struct api_object *object, int32_t priority) {
    struct sched_pod *pod = pod_new(w, object, priority);
    sched__queue_add(&w->s, pod);
    return pod;
}

static void advance(struct world *w, int64_t seconds) {
    clock_manual_advance(&w->clock, seconds * CLOCK_SECOND);
}

/* Seconds since the start until something is to be done. */
static inline int64_t next_second(struct world *w) {
    int64_t t = sched__queue_next_time(&w->s);
    return t == INT64_MAX ? -1 : t / CLOCK_SECOND - 1000;
}

static void happens(struct world *w, uint32_t bits, const struct api_object *before,
                    const struct api_object *after) {
    struct sched__event event = {.bits = bits, .before = before, .after = after};
    sched__queue_event(&w->s, &event);
}

/* Takes the next pod, which must be this one, and lets its attempt fail. */
static void fail_next(struct world *w, struct sched_pod *pod, uint32_t rejecting) {
    assert_ptr_equal(sched__queue_pop(&w->s), pod);
    sched__queue_failed(&w->s, pod, rejecting, false);
}

static inline enum sched__place place_of(const struct sched_pod *pod) {
    return (enum sched__place)pod->queued->place;
}

#endif
