/* Kubelets that crash, are cut off or slow, and what kubelets say, on virtual time. */
#include "cluster.h"

static void set_fault(struct cluster *c, const char *json) {
    struct str patch = arena_printf(&c->w.arena, "{\"metadata\":{\"annotations\":%s}}", json);
    world_patch(&c->w, API_T_node, "node-0", NULL, patch.p);
}

#define WELL "{\"berth.dev/kubelet\":null}"

static int64_t renewed(struct cluster *c) {
    const struct client_answer *a =
        world_send(&c->w, &(struct client_request){.verb = REGISTRY_VERB_GET,
                                                   .kind = client_kind(API_T_lease),
                                                   .namespace = STR("kube-node-lease"),
                                                   .name = STR("node-0")});
    return ((const struct api_lease *)a->object->body)->spec.renew_time.sec;
}

/* What ran has died, and is started again when the machine is. */
static void crashes(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "always", "", "");
    add_pod(&c, "never", "", "restartPolicy: Never");
    world_run(&c.w, 10);
    set_fault(&c, "{\"berth.dev/kubelet\":\"crashed\"}");
    int64_t before = renewed(&c);
    world_run(&c.w, 60);
    assert_int_equal(renewed(&c), before);
    assert_int_equal(container_of(pod_of(&c, "always"))->restart_count, 0);
    set_fault(&c, WELL);
    world_run(&c.w, 5);
    const struct api_container_status *s = container_of(pod_of(&c, "always"));
    assert_int_equal(s->restart_count, 1);
    assert_int_equal(s->last_state.terminated->exit_code, 255);
    assert_true(s->state.running->started_at.sec >= 1700000070);
    assert_true(str_is(pod_of(&c, "never")->status.phase, "Failed"));
    assert_int_equal(node_of(&c, "node-0")->status.node_info.boot_id.n, 36);
    assert_non_null(world_event(&c.w, "Rebooted", "node-0"));
    assert_non_null(world_event(&c.w, "Starting", "node-0"));
    /* Once is enough. */
    world_run(&c.w, 700);
    assert_int_equal(container_of(pod_of(&c, "always"))->restart_count, 1);
    end(&c);
}

/* What happened meanwhile happened then. */
static void is_cut_off(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "job", "berth.dev/run-seconds: '20'", "restartPolicy: Never");
    add_pod(&c, "web", "", "");
    world_run(&c.w, 10);
    set_fault(&c, "{\"berth.dev/kubelet\":\"partitioned\"}");
    world_run(&c.w, 60);
    assert_true(str_is(pod_of(&c, "job")->status.phase, "Running"));
    set_fault(&c, WELL);
    world_run(&c.w, 5);
    const struct api_container_status *s = container_of(pod_of(&c, "job"));
    assert_int_equal(s->state.terminated->finished_at.sec - s->state.terminated->started_at.sec,
                     20);
    assert_int_equal(container_of(pod_of(&c, "web"))->restart_count, 0);
    assert_true(renewed(&c) >= 1700000070);
    assert_null(world_event(&c.w, "Starting", "node-0"));
    end(&c);
}

static void is_slow(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    set_fault(&c, "{\"berth.dev/kubelet\":\"slow\",\"berth.dev/slow-seconds\":\"30\"}");
    world_run(&c.w, 1);
    add_pod(&c, "p", "", "");
    world_run(&c.w, 25);
    assert_false(pod_of(&c, "p")->status.start_time.set);
    assert_true(renewed(&c) >= 1700000010);
    world_run(&c.w, 100);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Running"));
    end(&c);
}

/* ---- events ---- */

static void expect(struct cluster *c, const char *reason, const char *name, const char *message) {
    const struct api_event *e = world_event(&c->w, reason, name);
    assert_non_null(e);
    if (!str_starts(e->message, str_of(message)))
        fail_msg("%s: %.*s", reason, STR_ARG(e->message));
    assert_true(str_is(e->source.component, "kubelet"));
    assert_true(str_is(e->source.host, "node-0"));
}

static void containers_are_told_of(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "berth.dev/run-seconds: '3', berth.dev/exit-code: '1'", "");
    add_pod(&c, "q", "", "");
    world_run(&c.w, 12);
    expect(&c, "Pulled", "p", "Container image \"i\" already present on machine");
    expect(&c, "Created", "p", "Container created");
    expect(&c, "Started", "p", "Container started");
    expect(&c, "BackOff", "p", "Back-off restarting failed container c in pod p_default(");
    assert_true(str_is(world_event(&c.w, "Started", "p")->involved_object.field_path,
                       "spec.containers{c}"));
    assert_int_equal(world_event(&c.w, "Started", "p")->count, 2);
    assert_null(world_event(&c.w, "Killing", "q"));
    world_patch(&c.w, API_T_pod, "q", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/ready\":\"false\"}}}");
    world_run(&c.w, 1);
    expect(&c, "Unhealthy", "q", "Readiness probe failed: simulated");
    struct client_request r = {.verb = REGISTRY_VERB_DELETE,
                               .kind = client_kind(API_T_pod),
                               .namespace = STR("default"),
                               .name = STR("q")};
    world_send(&c.w, &r);
    world_run(&c.w, 5);
    expect(&c, "Killing", "q", "Stopping container c");
    end(&c);
}

static void probes_are_told_of(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    world_create(&c.w,
                 "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
                 "{berth.dev/live-seconds: '2'}}, spec: {nodeName: node-0, containers: [{name: c, "
                 "image: i, livenessProbe: {periodSeconds: 1, exec: {command: [x]}}}]}}");
    world_run(&c.w, 10);
    expect(&c, "Unhealthy", "p", "Liveness probe failed: simulated");
    expect(&c, "Killing", "p", "Container c failed liveness probe, will be restarted");
    end(&c);
}

static void nodes_are_told_of(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 0);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: node-0}}");
    world_run(&c.w, 2);
    expect(&c, "NodeReady", "node-0", "Node node-0 status is now: NodeReady");
    end(&c);
}

/* Many pods at once are not told of one by one. */
static void there_is_a_limit(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 20);
    for (int i = 0; i < 600; i++) {
        struct str text =
            arena_printf(&c.w.arena,
                         "{apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {nodeName: "
                         "node-%d, containers: [{name: c, image: i}]}}",
                         i, i % 20);
        world_create(&c.w, text.p);
    }
    world_run(&c.w, 4);
    assert_in_range(world_count(&c.w, API_T_event), 1000, 1500);
    end(&c);
}

static void figures(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    add_pod(&c, "p", "", "");
    world_run(&c.w, 20);
    AUTO(buf_release) struct buf text = BUF_INIT(8192);
    nodes_write_metrics(c.nodes, &text);
    assert_true(str_find(buf_view(&text), STR("kubelet_running_pods 1\n")) != STR_NONE);
    assert_true(str_find(buf_view(&text), STR("berth_kubelets 2\n")) != STR_NONE);
    assert_true(str_find(buf_view(&text), STR("berth_kubelet_lease_renewals_total ")) != STR_NONE);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes),
        cmocka_unit_test(is_cut_off),
        cmocka_unit_test(is_slow),
        cmocka_unit_test(containers_are_told_of),
        cmocka_unit_test(probes_are_told_of),
        cmocka_unit_test(nodes_are_told_of),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
