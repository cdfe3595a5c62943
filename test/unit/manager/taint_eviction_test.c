/* Pods on nodes with NoExecute taints, on virtual time: who stays, who goes, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "intern/intern.h"
#include "manager/manager.h"
#include "manager/manager_metrics.h"
#include "manager/taint_eviction_int.h"
#include "match/match.h"
#include "tolexpr/tolexpr.h"

#define ALL_GATES                                                                     \
    "TaintTolerationComparisonOperators=true,TolerationAffinitySemverOperators=true," \
    "TaintTolerationCEL=true"

/* ---- the decision ---- */

static const struct {
    const char *tolerations, *taints;
    enum manager__eviction_code code;
    int64_t at;
} rows[] = {
    {"[]", "[]", MANAGER__STAYS, 0},
    {"[]", "[{key: a, effect: NoSchedule}]", MANAGER__STAYS, 0},
    {"[]", "[{key: a, effect: NoExecute}]", MANAGER__EVICTED, 0},
    {"[{operator: Exists}]", "[{key: a, effect: NoExecute}]", MANAGER__STAYS, 0},
    {"[{operator: Exists, tolerationSeconds: 30}]", "[{key: a, effect: NoExecute}]",
     MANAGER__EVICTED_AT, 1000 + 30 * CLOCK_SECOND},
    /* The first toleration that matches a taint counts, and of these the least time. */
    {"[{operator: Exists, tolerationSeconds: 30}, "
     "{key: a, operator: Exists, tolerationSeconds: 5}]",
     "[{key: a, effect: NoExecute}]", MANAGER__EVICTED_AT, 1000 + 30 * CLOCK_SECOND},
    {"[{key: a, operator: Exists, tolerationSeconds: 30}, "
     "{operator: Exists, tolerationSeconds: 5}]",
     "[{key: a, effect: NoExecute}, {key: b, effect: NoExecute}]", MANAGER__EVICTED_AT,
     1000 + 5 * CLOCK_SECOND},
    {"[{operator: Exists, tolerationSeconds: 0}]", "[{key: a, effect: NoExecute}]",
     MANAGER__EVICTED_AT, 1000},
    {"[{operator: Exists, tolerationSeconds: 9223372036}]", "[{key: a, effect: NoExecute}]",
     MANAGER__EVICTED_AT, INT64_C(9223372036000001000)},
    {"[{operator: Exists, tolerationSeconds: 9223372037}]", "[{key: a, effect: NoExecute}]",
     MANAGER__STAYS, 0},
    {"[{key: sla, operator: Gt, value: '950'}]", "[{key: sla, value: '960', effect: NoExecute}]",
     MANAGER__STAYS, 0},
    {"[{key: sla, operator: Gt, value: '950'}]", "[{key: sla, value: '940', effect: NoExecute}]",
     MANAGER__EVICTED, 0},
};

static void read_list(struct arena *a, enum api_type_id type, const char *name, const char *list,
                      void *out) {
    struct json tree;
    struct str text = arena_printf(a, "{%s: %s}", name, list);
    assert_int_equal(yml_parse(a, text, &tree, NULL), 0);
    assert_int_equal(api_struct_decode(a, &api_types[type], &tree, out, NULL), 0);
}

static void decisions(void **state) {
    (void)state;
    struct feature_set gates = {0};
    feature_set_put(&gates, FEATURE_TaintTolerationComparisonOperators, true);
    struct arena a = {0};
    struct intern *atoms = intern_new(1);
    struct match *m = match_new(atoms, &gates, NULL, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct api_pod_spec pod = {0};
        struct api_node_spec node = {0};
        read_list(&a, API_T_pod_spec, "tolerations", rows[i].tolerations, &pod);
        read_list(&a, API_T_node_spec, "taints", rows[i].taints, &node);
        struct manager__eviction_verdict v =
            manager__judge_eviction(m, &pod.tolerations, &node.taints, 1000);
        if (v.code != rows[i].code || v.at != rows[i].at)
            fail_msg("row %zu: %d at %lld", i, v.code, (long long)v.at);
    }
    match_free(m);
    intern_free(atoms);
    arena_release(&a);
}

/* ---- in a cluster ---- */

struct cluster {
    struct world w;
    struct feature_config gates;
    struct tolexpr *expressions;
    struct manager *manager;
};

static void start_manager(struct cluster *c) {
    struct err err = {0};
    static const struct str names[] = {STR_INIT("taint-eviction-controller")};
    c->manager = manager_new(
        &(struct manager_opts){
            .client = c->w.client,
            .informers = c->w.informers,
            .log = &c->w.log,
            .gates = &c->gates.enabled,
            .engine = tolexpr_match_engine(c->expressions),
            .seed = 1,
            .controllers = names,
            .controller_count = 1,
        },
        &err);
    assert_non_null(c->manager);
}

/* A server with all gates, and a controller with these. */
static void begin(struct cluster *c, const char *gates) {
    struct str list = str_of(gates);
    struct feature_flags flags = {.gates = {&list, list.n > 0}};
    world_start(&c->w, ALL_GATES);
    assert_int_equal(feature_configure(&flags, &c->gates, NULL), 0);
    c->expressions = tolexpr_new(
        &(struct tolexpr_opts){.compat = FEATURE_NEWEST, .clock = &c->w.clock.clock, .seed = 1});
    start_manager(c);
    world_create(&c->w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}");
    world_create(&c->w, "{apiVersion: v1, kind: Node, metadata: {name: node-1}}");
    world_patch(&c->w, API_T_node, "node-1", NULL, "{\"spec\":{\"taints\":null}}");
    world_run(&c->w, 1);
}

static void end(struct cluster *c) {
    manager_free(c->manager);
    world_stop(&c->w);
    tolexpr_free(c->expressions);
}

static void add_pod(struct cluster *c, const char *name, const char *tolerations) {
    struct str text =
        arena_printf(&c->w.arena,
                     "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: "
                     "{nodeName: node-1, terminationGracePeriodSeconds: 0, containers: "
                     "[{name: c, image: i}], tolerations: [%s]}}",
                     name, tolerations);
    world_create(&c->w, text.p);
}

static void set_taints(struct cluster *c, const char *taints) {
    world_patch(&c->w, API_T_node, "node-1", NULL,
                arena_printf(&c->w.arena, "{\"spec\":{\"taints\":[%s]}}", taints).p);
}

#define TAINT(key, value) "{\"key\":\"" key "\",\"value\":\"" value "\",\"effect\":\"NoExecute\"}"

static bool is_there(struct cluster *c, const char *name) {
    return world_get(&c->w, API_T_pod, name) != NULL;
}

static void expect_event(struct cluster *c, const char *name, const char *message) {
    const struct api_event *e = world_event(&c->w, "TaintManagerEviction", name);
    assert_non_null(e);
    if (!str_is(e->message, message))
        fail_msg("%.*s", STR_ARG(e->message));
    assert_true(str_is(e->type, "Normal"));
    assert_true(str_is(e->source.component, "taint-eviction-controller"));
}

/* KEP-5471: the reliability of a node falls from 960 to 940. */
static void numbers(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, ALL_GATES);
    add_pod(&c, "strict", "{key: sla, operator: Gt, value: '950', effect: NoExecute}");
    add_pod(&c, "loose", "{key: sla, operator: Gt, value: '900', effect: NoExecute}");
    add_pod(&c, "slow",
            "{key: sla, operator: Lt, value: '950', effect: NoExecute, tolerationSeconds: 30}, "
            "{key: sla, operator: Gt, value: '950', effect: NoExecute}");
    set_taints(&c, TAINT("sla", "960"));
    world_run(&c.w, 60);
    assert_true(is_there(&c, "strict") && is_there(&c, "loose") && is_there(&c, "slow"));
    set_taints(&c, TAINT("sla", "940"));
    world_run(&c.w, 1);
    assert_false(is_there(&c, "strict"));
    assert_true(is_there(&c, "loose") && is_there(&c, "slow"));
    expect_event(&c, "strict", "Marking for deletion Pod default/strict");
    world_run(&c.w, 28.9);
    assert_true(is_there(&c, "slow"));
    world_run(&c.w, 0.2);
    assert_false(is_there(&c, "slow"));
    world_run(&c.w, 600);
    assert_true(is_there(&c, "loose"));
    end(&c);
}

static void versions_and_expressions(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, ALL_GATES);
    add_pod(&c, "newer", "{key: kernel, operator: SemverGt, value: 5.10.0, effect: NoExecute}");
    add_pod(&c, "older", "{key: kernel, operator: SemverLt, value: 5.10.0, effect: NoExecute}");
    add_pod(&c, "cel", "{expression: \"taint.key.startsWith('ker')\"}");
    add_pod(&c, "timed", "{expression: \"taint.key == 'kernel'\", tolerationSeconds: 10}");
    set_taints(&c, TAINT("kernel", "5.15.0"));
    world_run(&c.w, 5);
    assert_true(is_there(&c, "newer") && is_there(&c, "cel") && is_there(&c, "timed"));
    assert_false(is_there(&c, "older"));
    world_run(&c.w, 6);
    assert_false(is_there(&c, "timed"));
    set_taints(&c, TAINT("kernel", "4.18.0"));
    world_run(&c.w, 5);
    assert_false(is_there(&c, "newer"));
    assert_true(is_there(&c, "cel"));
    set_taints(&c, TAINT("other", "1"));
    world_run(&c.w, 5);
    assert_false(is_there(&c, "cel"));
    end(&c);
}

/* The server knows the operators, this controller does not: who relied on them goes. */
static void gate_off(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, "");
    add_pod(&c, "numeric", "{key: sla, operator: Gt, value: '950', effect: NoExecute}");
    add_pod(&c, "plain", "{key: sla, operator: Exists, effect: NoExecute}");
    add_pod(&c, "cel", "{expression: \"true\"}");
    world_run(&c.w, 5);
    assert_true(is_there(&c, "numeric") && is_there(&c, "cel"));
    set_taints(&c, TAINT("sla", "960"));
    world_run(&c.w, 5);
    assert_false(is_there(&c, "numeric"));
    assert_false(is_there(&c, "cel"));
    assert_true(is_there(&c, "plain"));
    end(&c);
}

static void timers(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, "");
    set_taints(&c, TAINT("a", ""));
    add_pod(&c, "saved", "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 30}");
    world_run(&c.w, 20);
    set_taints(&c, "");
    world_run(&c.w, 60);
    assert_true(is_there(&c, "saved"));
    expect_event(&c, "saved", "Cancelling deletion of Pod default/saved");
    /* A second taint that is tolerated for a shorter time does not shorten a timer that runs. */
    add_pod(&c, "kept",
            "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 30}, "
            "{key: b, operator: Exists, effect: NoExecute, tolerationSeconds: 5}");
    set_taints(&c, TAINT("a", ""));
    world_run(&c.w, 1);
    set_taints(&c, TAINT("a", "") "," TAINT("b", ""));
    world_run(&c.w, 20);
    assert_true(is_there(&c, "kept"));
    world_run(&c.w, 10);
    assert_false(is_there(&c, "kept"));
    end(&c);
}

static const struct api_pod_condition *find_condition(const struct api_pod *pod, const char *type) {
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        if (str_is(pod->status.conditions.v[i].type, type))
            return &pod->status.conditions.v[i];
    return NULL;
}

/* A pod with time to end is marked first, and then waits for its kubelet. */
static void marks(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, "");
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: node-1, "
                       "containers: [{name: c, image: i}]}}");
    set_taints(&c, TAINT("a", ""));
    world_run(&c.w, 1);
    const struct api_object *o = world_get(&c.w, API_T_pod, "p");
    assert_non_null(o);
    assert_true(o->meta->deletion_timestamp.set);
    const struct api_pod_condition *condition = find_condition(o->body, "DisruptionTarget");
    assert_non_null(condition);
    assert_true(str_is(condition->status, "True"));
    assert_true(str_is(condition->reason, "DeletionByTaintManager"));
    assert_true(str_is(condition->message, "Taint manager: deleting due to NoExecute taint"));
    assert_int_equal(condition->last_transition_time.sec, 1700000001);
    end(&c);
}

static bool shows(const struct buf *text, const char *line) {
    return str_find(buf_view(text), str_of(line)) != STR_NONE;
}

static void counts(void **state) {
    (void)state;
    struct cluster c;
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 16);
    begin(&c, "");
    add_pod(&c, "a", "");
    add_pod(&c, "b", "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 30}");
    set_taints(&c, TAINT("a", ""));
    world_run(&c.w, 10);
    manager_metrics_write(c.manager, &text);
    assert_true(shows(&text, "\ntaint_eviction_controller_pod_deletions_total 1\n"));
    assert_true(shows(&text, "pod_deletion_duration_seconds_bucket{le=\"0.005\"} 1\n"));
    world_run(&c.w, 30);
    buf_clear(&text);
    manager_metrics_write(c.manager, &text);
    assert_true(shows(&text, "\ntaint_eviction_controller_pod_deletions_total 2\n"));
    assert_true(shows(&text, "pod_deletion_duration_seconds_count 2\n"));
    end(&c);
}

/* Taints and pods that are there when the controller starts are judged as well; and it can be
 * stopped with work at hand. */
static void restarts(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, "");
    manager_free(c.manager);
    informers_free(c.w.informers);
    c.w.informers = informers_new(c.w.client, &c.w.log);
    add_pod(&c, "now", "");
    add_pod(&c, "later", "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 30}");
    set_taints(&c, TAINT("a", ""));
    world_run(&c.w, 100);
    assert_true(is_there(&c, "now"));
    start_manager(&c);
    world_run(&c.w, 29);
    assert_false(is_there(&c, "now"));
    assert_true(is_there(&c, "later"));
    world_run(&c.w, 2);
    assert_false(is_there(&c, "later"));
    add_pod(&c, "left", "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 30}");
    world_run(&c.w, 1);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions),
        cmocka_unit_test(numbers),
        cmocka_unit_test(versions_and_expressions),
        cmocka_unit_test(gate_off),
        cmocka_unit_test(timers),
        cmocka_unit_test(marks),
        cmocka_unit_test(counts),
        cmocka_unit_test(restarts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
