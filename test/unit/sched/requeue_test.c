/*
 * Which pods are tried again, with the whole scheduler: a node's change wakes exactly those whose
 * plug-ins take it for good news, and equal pods are asked about once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/clock.h"
#include "feature/feature.h"
#include "sched/metrics.h"
#include "sched/metrics_int.h"

struct world {
    struct sched *s;
    struct clock_fake clock;
    struct feature_config gates;
};

static void start(struct world *w) {
    clock_fake_init(&w->clock, 1000 * CLOCK_SECOND);
    feature_config_init(&w->gates, FEATURE_NEWEST);
    feature_set_put(&w->gates.enabled, FEATURE_TaintTolerationComparisonOperators, true);
    w->s = sched_new(&(struct sched_opts){.gates = &w->gates.enabled, .clock = &w->clock.clock});
}

/* Objects are written with ' for ". */
static struct api_object *object(const char *fmt, ...) {
    char text[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    struct arena a = {0};
    struct json tree;
    struct err err;
    struct api_object *o = NULL;
    if (json_parse(&a, str_of(text), NULL, &tree, &err) < 0 ||
        api_object_decode(&tree, NULL, &o, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    arena_release(&a);
    return o;
}

static void set(struct world *w, struct api_object *o) {
    api_object_default(o, &w->gates.enabled);
    sched_set(w->s, o);
    api_object_unref(o);
}

static void set_node(struct world *w, const char *sla) {
    set(w, object("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'spec':{'taints':"
                  "[{'key':'sla','value':'%s','effect':'NoSchedule'}]},'status':{'allocatable':"
                  "{'cpu':'4','memory':'8Gi','pods':'110'}}}",
                  sla));
}

static void set_pod(struct world *w, const char *name, const char *above) {
    set(w, object("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'},'spec':"
                  "{'containers':[{'name':'c','image':'i'}],'tolerations':[{'key':'sla','operator':"
                  "'Gt','value':'%s','effect':'NoSchedule'}]}}",
                  name, above));
}

/* Tries pods while there are any; returns the names of those that were scheduled. */
static struct str run(struct world *w, struct buf *out, size_t *tried) {
    struct sched_result r;
    buf_clear(out);
    for (*tried = 0; sched_next(w->s, &r); ++*tried)
        if (r.outcome == SCHED_SCHEDULED)
            buf_addf(out, "%.*s ", STR_ARG(r.pod.name));
    return buf_view(out);
}

static void a_changed_taint_wakes_the_pods_it_admits(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    char name[20];
    size_t tried;
    start(&w);
    set_node(&w, "940");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "p950-%d", i);
        set_pod(&w, name, "950");
    }
    set_pod(&w, "p970", "970");
    set_pod(&w, "p930", "930");
    assert_true(str_is(run(&w, &out, &tried), "p930 "));
    assert_int_equal(tried, 102);
    clock_fake_advance(&w.clock, 5 * CLOCK_SECOND);
    set_node(&w, "945");
    assert_true(str_is(run(&w, &out, &tried), ""));
    assert_int_equal(tried, 0);
    set_node(&w, "960");
    struct str scheduled = run(&w, &out, &tried);
    assert_int_equal(tried, 100);
    assert_true(str_starts(scheduled, STR("p950-0 p950-1 p950-2 ")));
    struct sched__labels labels =
        SCHED__LABELS(SCHED__EVENT_NODE_TAINT, SCHED__HINT_QUEUE, SCHED_TAINT_TOLERATION);
    assert_int_equal(sched__metrics_value(w.s->metrics, SCHED__METRIC_HINT_SECONDS, labels), 1);
    assert_int_equal(
        sched__metrics_value(w.s->metrics, SCHED__METRIC_NUMERIC_TOLERATIONS, SCHED__LABELS(0)),
        101);
    assert_int_equal(
        sched__metrics_value(w.s->metrics, SCHED__METRIC_NUMERIC_MISMATCHES, SCHED__LABELS(0)),
        101);
    sched_free(w.s);
}

static void without_nodes_pods_are_tried_again_and_again(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    size_t tried;
    start(&w);
    set_pod(&w, "p", "1");
    run(&w, &out, &tried);
    assert_int_equal(tried, 1);
    assert_int_equal(sched_next_time(w.s), 1002 * CLOCK_SECOND);
    clock_fake_advance(&w.clock, 2 * CLOCK_SECOND);
    run(&w, &out, &tried);
    assert_int_equal(tried, 1);
    sched_free(w.s);
}

static void room_wakes_those_that_need_it(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    size_t tried;
    const char *pod = "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'},"
                      "'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':"
                      "{'cpu':'3'}}}],'tolerations':[{'operator':'Exists'}]}}";
    start(&w);
    set_node(&w, "1");
    set(&w, object(pod, "a"));
    set(&w, object(pod, "b"));
    assert_true(str_is(run(&w, &out, &tried), "a "));
    clock_fake_advance(&w.clock, 5 * CLOCK_SECOND);
    struct api_object *gone = object(pod, "a");
    sched_delete(w.s, gone);
    api_object_unref(gone);
    assert_true(str_is(run(&w, &out, &tried), "b "));
    buf_clear(&out);
    sched_metrics_write(w.s, &out);
    assert_true(str_find(buf_view(&out), STR("scheduler_queue_incoming_pods_total{event="
                                             "\"AssignedPodDelete\",queue=\"active\"} 1\n")) !=
                STR_NONE);
    sched_free(w.s);
}

static struct api_object *pod_with(const char *uid, const char *spec) {
    return object("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'d','uid':"
                  "'%s'},'spec':{'containers':[{'name':'c','image':'i'}],'tolerations':[{'operator'"
                  ":'Exists'}]%s}}",
                  uid, spec);
}

/* A watch may leave out that the one ended before the other came. */
static void a_pod_with_another_uid_is_another_pod(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    size_t tried;
    start(&w);
    set_node(&w, "1");
    set(&w, pod_with("1", ""));
    assert_true(str_is(run(&w, &out, &tried), "p "));
    set(&w, pod_with("1", "")); /* old news: it is assumed to be on its node */
    assert_true(str_is(run(&w, &out, &tried), ""));
    set(&w, pod_with("2", ""));
    assert_true(str_is(run(&w, &out, &tried), "p "));
    set(&w, pod_with("2", ",'nodeName':'n'"));
    set(&w, pod_with("3", ""));
    assert_true(str_is(run(&w, &out, &tried), "p "));
    sched_free(w.s);
}

static void a_plugin_that_is_no_longer_concerned_wakes_the_pod(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    size_t tried;
    start(&w);
    set_node(&w, "1");
    set(&w, pod_with("1", ",'nodeSelector':{'a':'b'}"));
    assert_true(str_is(run(&w, &out, &tried), ""));
    set(&w, pod_with("1", ""));
    clock_fake_advance(&w.clock, 5 * CLOCK_SECOND);
    set(&w, object("{'apiVersion':'v1','kind':'Node','metadata':{'name':'other'},'status':"
                   "{'allocatable':{'pods':'1'}}}"));
    assert_true(str_is(run(&w, &out, &tried), "p "));
    sched_free(w.s);
}

static void a_pod_on_a_node_that_is_not_known_makes_no_room(void **state) {
    (void)state;
    struct world w;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    struct arena a = {0};
    struct sched_report report;
    size_t tried;
    start(&w);
    set_node(&w, "1");
    set(&w, pod_with("1", ",'nodeSelector':{'a':'b'}"));
    run(&w, &out, &tried);
    set(&w, object("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q','namespace':'d'},'spec':"
                   "{'nodeName':'unknown','containers':[{'name':'c','image':'i'}]}}"));
    struct api_object *pod = pod_with("1", ",'nodeSelector':{'a':'b'}");
    api_object_default(pod, &w.gates.enabled);
    sched_examine(w.s, pod, &a, &report);
    assert_int_equal(report.feasible, 0);
    assert_true(str_starts(report.message, STR("0/1 nodes are available: 1 node(s) didn't match")));
    api_object_unref(pod);
    arena_release(&a);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_taint_wakes_the_pods_it_admits),
        cmocka_unit_test(without_nodes_pods_are_tried_again_and_again),
        cmocka_unit_test(room_wakes_those_that_need_it),
        cmocka_unit_test(a_pod_with_another_uid_is_another_pod),
        cmocka_unit_test(a_plugin_that_is_no_longer_concerned_wakes_the_pod),
        cmocka_unit_test(a_pod_on_a_node_that_is_not_known_makes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
