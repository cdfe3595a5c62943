/*
 * How long plug-ins take: by a stopwatch that moves a microsecond each time somebody looks, every
 * call of a plug-in takes one. Without a stopwatch nobody looks, and the figures are those of the
 * scheduler's own clock.
 */
#include "sched/metrics.h"
#include "sched/metrics_int.h"
#include "world.h"

struct ticking {
    struct clock clock;
    int64_t *ns;
};

static int64_t tick(const struct clock *self) {
    return *((const struct ticking *)(const void *)self)->ns += 1000;
}

static void start(struct world *w, const struct clock *stopwatch) {
    world_start(w, data_newest_gates(), (struct sched_opts){.stopwatch = stopwatch});
    for (int i = 0; i < 2; i++)
        world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%d'},"
                                    "'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':"
                                    "'9'}}}",
                                    i));
}

static void try_pod(struct world *w, const char *name, const char *cpu,
                    enum sched_outcome outcome) {
    struct sched_result r;
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
                                "'namespace':'d','uid':'%s'},'spec':{'containers':[{'name':'c',"
                                "'image':'i','resources':{'requests':{'cpu':'%s'}}}]}}",
                                name, name, cpu));
    assert_true(sched_next(w->s, &r));
    assert_int_equal(r.outcome, outcome);
}

/* Nanoseconds in a series, which must have so many observations. */
static double sum_of(const struct world *w, enum sched__metric metric, struct sched__labels labels,
                     uint64_t count) {
    const struct sched__series *series = &w->s->metrics->v[metric];
    assert_int_equal(sched__metrics_value(w->s->metrics, metric, labels), count);
    const struct sched__histogram *h = series->hist[sched__series_at(series, labels)];
    return h ? h->sum * 1e9 : 0;
}

#define PLUGIN_TIME(w, point, plugin, code, count) \
    sum_of(w, SCHED__METRIC_PLUGIN_SECONDS,        \
           SCHED__LABELS(SCHED_##point, SCHED_##plugin, SCHED_CODE_##code), count)
#define POINT_TIME(w, point, code, count)                                                      \
    sum_of(w, SCHED__METRIC_POINT_SECONDS, SCHED__LABELS(SCHED_##point, 0, SCHED_CODE_##code), \
           count)

static void every_call_of_a_plugin_is_measured(void **state) {
    (void)state;
    int64_t ns = 0;
    struct ticking ticking = {{tick, tick, NULL}, &ns};
    struct world w;
    start(&w, &ticking.clock);
    try_pod(&w, "a", "1", SCHED_SCHEDULED);
    assert_float_equal(PLUGIN_TIME(&w, FILTER, FIT, SUCCESS, 1), 1000, 1);
    assert_float_equal(PLUGIN_TIME(&w, SCORE, FIT, SUCCESS, 1), 1000, 1);
    assert_float_equal(PLUGIN_TIME(&w, FILTER, NODE_AFFINITY, SUCCESS, 0), 0, 1);
    double filter = POINT_TIME(&w, FILTER, SUCCESS, 1), score = POINT_TIME(&w, SCORE, SUCCESS, 1);
    assert_true(filter > 1000 && score > 1000);
    POINT_TIME(&w, PRE_FILTER, SUCCESS, 1);
    POINT_TIME(&w, PRE_SCORE, SUCCESS, 1);
    /* A pod of the same class asks only about the node that changed. */
    try_pod(&w, "b", "1", SCHED_SCHEDULED);
    assert_float_equal(PLUGIN_TIME(&w, FILTER, FIT, SUCCESS, 2), 2000, 1);
    sched_free(w.s);
}

static void a_filter_has_the_status_of_what_it_rejects(void **state) {
    (void)state;
    int64_t ns = 0;
    struct ticking ticking = {{tick, tick, NULL}, &ns};
    struct world w;
    start(&w, &ticking.clock);
    try_pod(&w, "a", "5", SCHED_UNSCHEDULABLE);
    PLUGIN_TIME(&w, FILTER, FIT, UNSCHEDULABLE_AND_UNRESOLVABLE, 1);
    PLUGIN_TIME(&w, FILTER, TAINT_TOLERATION, SUCCESS, 1);
    PLUGIN_TIME(&w, POST_FILTER, PREEMPTION, UNSCHEDULABLE, 1);
    POINT_TIME(&w, FILTER, SUCCESS, 1); /* it found out what nodes say */
    POINT_TIME(&w, POST_FILTER, UNSCHEDULABLE, 1);
    POINT_TIME(&w, SCORE, SUCCESS, 0);
    sched_free(w.s);
}

static void without_a_stopwatch_nobody_measures(void **state) {
    (void)state;
    struct world w;
    start(&w, NULL);
    try_pod(&w, "a", "1", SCHED_SCHEDULED);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    sched_metrics_write(w.s, &out);
    assert_int_equal(str_find(buf_view(&out), STR("plugin_execution_duration_seconds")), STR_NONE);
    assert_float_equal(POINT_TIME(&w, FILTER, SUCCESS, 1), 0, 0.1);
    assert_float_equal(POINT_TIME(&w, SCORE, SUCCESS, 1), 0, 0.1);
    sched_free(w.s);
}

static void questions_are_not_measured(void **state) {
    (void)state;
    int64_t ns = 0;
    struct ticking ticking = {{tick, tick, NULL}, &ns};
    struct world w;
    struct arena a = {0};
    start(&w, &ticking.clock);
    const struct api_object *pod = world_publish(
        &w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':"
                           "'d'},'spec':{'containers':[{'name':'c','image':'i'}]}}"));
    struct sched_report report;
    int64_t before = ns;
    sched_examine(w.s, pod, &a, &report);
    assert_int_equal(ns, before);
    PLUGIN_TIME(&w, FILTER, FIT, SUCCESS, 0);
    api_object_unref(pod);
    arena_release(&a);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_a_plugin_is_measured),
        cmocka_unit_test(a_filter_has_the_status_of_what_it_rejects),
        cmocka_unit_test(without_a_stopwatch_nobody_measures),
        cmocka_unit_test(questions_are_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
