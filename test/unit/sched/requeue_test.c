/*
 * Which pods are tried again, with the whole scheduler: a node's change wakes exactly those whose
 * plug-ins take it for good news, and equal pods are asked about once.
 */
#include "sched/metrics.h"
#include "sched/metrics_int.h"
#include "sched/queue/queue_int.h"
#include "world.h"

/* A world for each test, and what the last run in it gave. */
struct scene {
    struct world w;
    struct buf scheduled; /* names, each with a blank behind it */
    size_t tried;
};

static int begin(void **state) {
    static struct scene s;
    struct feature_set gates = data_newest_gates();
    feature_set_put(&gates, FEATURE_TaintTolerationComparisonOperators, true);
    world_start(&s.w, gates, (struct sched_opts){0});
    s.scheduled = BUF_INIT(1 << 20);
    *state = &s;
    return 0;
}

static int end(void **state) {
    struct scene *s = *state;
    sched_free(s->w.s);
    buf_release(&s->scheduled);
    return 0;
}

static void set_node(struct world *w, const char *sla) {
    world_set(w, object_of_text(
                     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'spec':{'taints':"
                     "[{'key':'sla','value':'%s','effect':'NoSchedule'}]},'status':{'allocatable':"
                     "{'cpu':'4','memory':'8Gi','pods':'110'}}}",
                     sla));
}

static void set_pod(struct world *w, const char *name, const char *above) {
    world_set(w,
              object_of_text(
                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'},'spec':"
                  "{'containers':[{'name':'c','image':'i'}],'tolerations':[{'key':'sla','operator':"
                  "'Gt','value':'%s','effect':'NoSchedule'}]}}",
                  name, above));
}

/* Tries pods while there are any; returns the names of those that were scheduled. */
static struct str run(struct scene *s) {
    struct sched_result r;
    buf_clear(&s->scheduled);
    for (s->tried = 0; sched_next(s->w.s, &r); s->tried++)
        if (r.outcome == SCHED_SCHEDULED)
            buf_addf(&s->scheduled, "%.*s ", STR_ARG(r.pod.name));
    return buf_view(&s->scheduled);
}

static void a_changed_taint_wakes_the_pods_it_admits(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    char name[20];
    set_node(w, "940");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "p950-%d", i);
        set_pod(w, name, "950");
    }
    set_pod(w, "p970", "970");
    set_pod(w, "p930", "930");
    assert_true(str_is(run(s), "p930 "));
    assert_int_equal(s->tried, 102);
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    set_node(w, "945");
    assert_true(str_is(run(s), ""));
    assert_int_equal(s->tried, 0);
    set_node(w, "960");
    struct str scheduled = run(s);
    assert_int_equal(s->tried, 100);
    assert_true(str_starts(scheduled, STR("p950-0 p950-1 p950-2 ")));
    struct sched__labels labels =
        SCHED__LABELS(SCHED__EVENT_NODE_TAINT, SCHED__HINT_QUEUE, SCHED_TAINT_TOLERATION);
    assert_int_equal(sched__metrics_value(w->s->metrics, SCHED__METRIC_HINT_SECONDS, labels), 1);
    assert_int_equal(
        sched__metrics_value(w->s->metrics, SCHED__METRIC_NUMERIC_TOLERATIONS, SCHED__LABELS(0)),
        101);
    assert_int_equal(
        sched__metrics_value(w->s->metrics, SCHED__METRIC_NUMERIC_MISMATCHES, SCHED__LABELS(0)),
        101);
}

static void without_nodes_pods_are_tried_again_and_again(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    set_pod(w, "p", "1");
    run(s);
    assert_int_equal(s->tried, 1);
    assert_int_equal(sched_next_time(w->s), 1002 * CLOCK_SECOND);
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    run(s);
    assert_int_equal(s->tried, 1);
}

static struct api_object *large_pod(const char *name) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'},"
        "'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':"
        "{'cpu':'3'}}}],'tolerations':[{'operator':'Exists'}]}}",
        name);
}

static void room_wakes_those_that_need_it(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    set_node(w, "1");
    world_set(w, large_pod("a"));
    world_set(w, large_pod("b"));
    assert_true(str_is(run(s), "a "));
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    world_delete(w, large_pod("a"));
    assert_true(str_is(run(s), "b "));
    AUTO(buf_release) struct buf metrics = BUF_INIT(1 << 20);
    sched_metrics_write(w->s, &metrics);
    assert_true(str_find(buf_view(&metrics), STR("scheduler_queue_incoming_pods_total{event="
                                                 "\"AssignedPodDelete\",queue=\"active\"} 1\n")) !=
                STR_NONE);
}

static struct api_object *pod_with(const char *uid, const char *spec) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'d','uid':"
        "'%s'},'spec':{'containers':[{'name':'c','image':'i'}],'tolerations':[{'operator'"
        ":'Exists'}]%s}}",
        uid, spec);
}

/* A watch may leave out that the one ended before the other came. */
static void a_pod_with_another_uid_is_another_pod(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    set_node(w, "1");
    world_set(w, pod_with("1", ""));
    assert_true(str_is(run(s), "p "));
    world_set(w, pod_with("1", "")); /* old news: it is assumed to be on its node */
    assert_true(str_is(run(s), ""));
    world_set(w, pod_with("2", ""));
    assert_true(str_is(run(s), "p "));
    world_set(w, pod_with("2", ",'nodeName':'n'"));
    world_set(w, pod_with("3", ""));
    assert_true(str_is(run(s), "p "));
}

static void a_plugin_that_is_no_longer_concerned_wakes_the_pod(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    set_node(w, "1");
    world_set(w, pod_with("1", ",'nodeSelector':{'a':'b'}"));
    assert_true(str_is(run(s), ""));
    world_set(w, pod_with("1", ""));
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    world_set(
        w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'other'},'status':"
                          "{'allocatable':{'pods':'1'}}}"));
    assert_true(str_is(run(s), "p "));
}

static void a_pod_on_a_node_that_is_not_known_makes_no_room(void **state) {
    struct scene *s = *state;
    struct world *w = &s->w;
    struct arena a = {0};
    struct sched_report report;
    set_node(w, "1");
    world_set(w, pod_with("1", ",'nodeSelector':{'a':'b'}"));
    run(s);
    world_set(w,
              object_of_text(
                  "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q','namespace':'d'},'spec':"
                  "{'nodeName':'unknown','containers':[{'name':'c','image':'i'}]}}"));
    const struct api_object *pod = world_publish(w, pod_with("1", ",'nodeSelector':{'a':'b'}"));
    sched_examine(w->s, pod, &a, &report);
    assert_int_equal(report.feasible, 0);
    assert_true(str_starts(report.message, STR("0/1 nodes are available: 1 node(s) didn't match")));
    api_object_unref(pod);
    arena_release(&a);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_changed_taint_wakes_the_pods_it_admits),
        TEST(without_nodes_pods_are_tried_again_and_again),
        TEST(room_wakes_those_that_need_it),
        TEST(a_pod_with_another_uid_is_another_pod),
        TEST(a_plugin_that_is_no_longer_concerned_wakes_the_pod),
        TEST(a_pod_on_a_node_that_is_not_known_makes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
