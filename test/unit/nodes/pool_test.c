/* NodePools: what they say, what is wrong with them, and which nodes they make. */
#include "cluster.h"

#include "base/limits.h"
#include "nodes/pool.h"

static int read_pool(struct arena *a, const char *spec, struct nodes_pool *out, struct err *err) {
    struct json tree;
    struct str text = arena_printf(
        a, "{apiVersion: berth.dev/v1alpha1, kind: NodePool, metadata: {name: gpu}, spec: {%s}}",
        spec);
    if (yml_parse(a, text, &tree, err) < 0)
        fail_msg("%s", err->msg);
    assert_true(nodes_pool_is(&tree));
    return nodes_pool_read(a, &tree, out, err);
}

#define STRICT "NodePool in version \"v1alpha1\" cannot be handled as a NodePool: "
#define BAD    "NodePool.berth.dev \"gpu\" is invalid: spec."

static const struct {
    const char *spec, *error;
} rows[] = {
    {"", NULL},
    {"count: 5, prefix: x, seed: 3, zones: [a], faults: {slow: 40, stopped: 60}", NULL},
    {"count: many", STRICT "json: cannot unmarshal string into Go struct field NodePool.spec.count "
                           "of type int32"},
    {"count: -1", BAD "count: Invalid value: -1: must be between 0 and 50000, inclusive"},
    {"count: 1.5", STRICT "json: cannot unmarshal number into Go struct field NodePool.spec.count "
                          "of type int32"},
    {"size: 3", STRICT "strict decoding error: unknown field \"spec.size\""},
    {"a: 1, template: {spec: {taint: []}}",
     STRICT "strict decoding error: unknown field \"spec.a\", unknown field "
            "\"spec.template.spec.taint\""},
    {"template: [1]", STRICT "json: cannot unmarshal array into Go struct field "
                             "NodePool.spec.template of type object"},
    {"zones: []", BAD "zones: Invalid value: must have between 1 and 1000 items"},
    {"zones: [1]", STRICT "json: cannot unmarshal number into Go struct field "
                          "NodePool.spec.zones[0] of type string"},
    {"vary: [{values: [a]}]",
     BAD "vary[0]: Required value: one of label, annotation, taint and nodeInfo"},
    {"vary: [{label: a, taint: b, values: [a]}]",
     BAD "vary[0].taint: Forbidden: only one of label, annotation, taint and nodeInfo"},
    {"vary: [{taint: a, values: [x]}], template: {spec: {taints: [{key: b}]}}",
     BAD "vary[0].taint: Invalid value: \"a\": no taint in spec.template.spec.taints has this key; "
         "add one there, with its effect"},
    {"vary: [{taint: b, values: [x]}], template: {spec: {taints: [{key: b}]}}", NULL},
    {"vary: [{label: a}]", BAD "vary[0].values: Required value"},
    {"vary: [{label: a, values: [x], random: 1}]",
     STRICT "json: cannot unmarshal number into Go struct field NodePool.spec.vary[0].random of "
            "type bool"},
    {"vary: [{nodeInfo: bootID, values: [x]}]",
     BAD "vary[0].nodeInfo: Unsupported value: \"bootID\": supported values: "
         "\"containerRuntimeVersion\", \"kernelVersion\", \"kubeletVersion\", \"osImage\""},
    {"faults: {stopped: 60, slow: 41}",
     BAD "faults: Invalid value: more than 100 of a hundred nodes"},
    {"faults: {tired: 1}", STRICT "strict decoding error: unknown field \"spec.faults.tired\""},
};

static void what_is_wrong_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = {0};
        struct err err = {0};
        struct nodes_pool pool;
        int rc = read_pool(&a, rows[i].spec, &pool, &err);
        if (rc != (rows[i].error ? -1 : 0) || (rows[i].error && !strstr(err.msg, rows[i].error)))
            fail_msg("%s: %s", rows[i].spec, rc ? err.msg : "good");
        arena_release(&a);
    }
}

/* A list of so many items. */
static const char *list_of(struct arena *a, const char *head, const char *item, int n) {
    struct buf text = BUF_INIT(1 << 20);
    buf_addf(&text, "%s: [", head);
    for (int i = 0; i < n; i++)
        buf_addf(&text, "%s%s", i ? ", " : "", item);
    buf_add_char(&text, ']');
    const char *out = arena_str(a, buf_view(&text)).p;
    buf_release(&text);
    return out;
}

static void limits(void **state) {
    (void)state;
    struct arena a = {0};
    struct err err = {0};
    struct nodes_pool pool, pools[LIMIT_NODE_POOLS + 1];
    for (int more = 0; more < 2; more++) {
        const char *zones = list_of(&a, "zones", "a", LIMIT_NODE_POOL_VALUES + more);
        assert_int_equal(read_pool(&a, zones, &pool, &err), -more);
        const char *vary =
            list_of(&a, "vary", "{label: a, values: [b]}", LIMIT_NODE_POOL_VARIATIONS + more);
        assert_int_equal(read_pool(&a, vary, &pool, &err), -more);
    }
    for (int i = 0; i <= LIMIT_NODE_POOLS; i++)
        pools[i] = (struct nodes_pool){.count = 1, .prefix = arena_printf(&a, "p%d-", i)};
    assert_int_equal(nodes_pools_check(pools, LIMIT_NODE_POOLS, &err), 0);
    assert_int_equal(nodes_pools_check(pools, LIMIT_NODE_POOLS + 1, &err), -1);
    pools[1].prefix = pools[0].prefix;
    assert_int_equal(nodes_pools_check(pools, 2, &err), -1);
    assert_string_equal(err.msg, "two pools make nodes called p0-0");
    pools[2].count = LIMIT_SIMULATED_NODES;
    pools[1].prefix = STR("x");
    assert_int_equal(nodes_pools_check(pools, 3, &err), -1);
    assert_string_equal(err.msg, "50002 nodes are more than 50000");
    arena_release(&a);
}

static const char *text_of(struct arena *a, struct str s) {
    return arena_str(a, s).p;
}

static void nodes_are_drawn(void **state) {
    (void)state;
    struct arena a = {0};
    struct err err = {0};
    struct cluster c = {0};
    world_start(&c.w, "");
    feature_config_init(&c.gates, FEATURE_NEWEST);
    if (read_pool(&a,
                  "count: 200, zones: [a, b], seed: 1, template: {metadata: {labels: {tier: gold, "
                  "kubernetes.io/arch: arm64}}, spec: {taints: [{key: sla, value: '1', effect: "
                  "NoSchedule}]}, status: {capacity: {cpu: 4, pods: 9}, nodeInfo: {kernelVersion: "
                  "5.4.0}}}, vary: [{taint: sla, values: ['940', '950', '960']}, {label: rack, "
                  "values: [r1, r2, r3, r4], random: true}, {nodeInfo: kubeletVersion, values: "
                  "[v1.36.0]}], faults: {stopped: 25}",
                  &c.pool, &err) < 0)
        fail_msg("%s", err.msg);
    start_nodes(&c);
    world_run(&c.w, 2);
    assert_int_equal(world_count(&c.w, API_T_node), 200);
    size_t racks[5] = {0}, stopped = 0;
    for (int i = 0; i < 200; i++) {
        const struct api_node *n = node_of(&c, arena_printf(&a, "gpu-%d", i).p);
        const struct labels *labels = &n->metadata.labels;
        static const char *const values[] = {"940", "950", "960"};
        assert_true(str_is(labels_find(labels, STR("tier"))->value, "gold"));
        assert_true(str_is(labels_find(labels, STR("topology.kubernetes.io/zone"))->value,
                           i % 2 ? "b" : "a"));
        assert_string_equal(text_of(&a, n->spec.taints.v[0].value), values[i % 3]);
        assert_true(str_is(n->status.node_info.kernel_version, "5.4.0"));
        assert_true(str_is(n->status.node_info.kubelet_version, "v1.36.0"));
        assert_int_equal(n->status.allocatable.n, 2);
        racks[labels_find(labels, STR("rack"))->value.p[1] - '0']++;
        stopped += labels_find(&n->metadata.annotations, STR("berth.dev/kubelet")) != NULL;
    }
    for (size_t i = 1; i < 5; i++)
        assert_in_range(racks[i], 30, 70);
    assert_in_range(stopped, 30, 70);
    end(&c);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(limits),
        cmocka_unit_test(nodes_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
