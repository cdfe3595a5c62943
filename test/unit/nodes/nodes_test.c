/* Nodes without kubelets, on virtual time: they are made, live, and lead the lives of pods. */
#include "cluster.h"

static const struct api_node_condition *node_condition(const struct api_node *n, const char *type) {
    for (size_t i = 0; i < n->status.conditions.n; i++)
        if (str_is(n->status.conditions.v[i].type, type))
            return &n->status.conditions.v[i];
    return NULL;
}

static const struct api_lease *lease_of(struct cluster *c, const char *name) {
    const struct client_answer *a =
        world_send(&c->w, &(struct client_request){.verb = REGISTRY_VERB_GET,
                                                   .kind = client_kind(API_T_lease),
                                                   .namespace = STR("kube-node-lease"),
                                                   .name = str_of(name)});
    return a->object ? a->object->body : NULL;
}

/* ---- nodes ---- */

static void nodes_are_made_and_live(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 20);
    assert_int_equal(world_count(&c.w, API_T_node), 20);
    assert_int_equal(nodes_count(c.nodes), 20);
    const struct api_node *n = node_of(&c, "node-7");
    assert_true(str_is(labels_find(&n->metadata.labels, STR("zone"))->value, "a"));
    assert_true(
        str_is(labels_find(&n->metadata.labels, STR("kubernetes.io/hostname"))->value, "node-7"));
    assert_true(str_is(n->spec.taints.v[0].key, "sla"));
    assert_true(str_is(n->status.node_info.kernel_version, "5.15.0"));
    assert_int_equal(n->status.node_info.machine_id.n, 32);
    assert_int_equal(n->status.node_info.system_uuid.n, 36);
    assert_int_equal(n->status.node_info.boot_id.n, 36);
    assert_false(str_eq(n->status.node_info.boot_id, n->status.node_info.system_uuid));
    assert_true(str_is(n->status.addresses.v[0].address, "172.16.0.8"));
    const struct api_node_condition *ready = node_condition(n, "Ready");
    assert_true(str_is(ready->status, "True") && str_is(ready->reason, "KubeletReady"));
    assert_int_equal(n->status.capacity.n, 4);
    /* Leases are renewed every 10 s, heartbeats come every 5 min. */
    world_run(&c.w, 1000);
    for (int i = 0; i < 20; i++) {
        const char *name = arena_printf(&c.w.arena, "node-%d", i).p;
        const struct api_lease *lease = lease_of(&c, name);
        assert_in_range(lease->spec.renew_time.sec, 1700000991, 1700001001);
        assert_int_equal(lease->spec.lease_duration_seconds.v, 40);
        assert_true(str_is(lease->spec.holder_identity, name));
        n = node_of(&c, name);
        assert_in_range(node_condition(n, "Ready")->last_heartbeat_time.sec, 1700000701,
                        1700001001);
        assert_int_equal(node_condition(n, "Ready")->last_transition_time.sec, 1700000000);
    }
    end(&c);
}

static void count_renewed(void *arg, const struct api_object *o) {
    const struct api_lease *lease = o->body;
    size_t *seconds = arg;
    if (str_is(o->meta->namespace, "kube-node-lease"))
        seconds[lease->spec.renew_time.sec % 10]++;
}

/* In every second about as many Leases are renewed as in any other. */
static void renewals_are_spread(void **state) {
    (void)state;
    struct cluster c;
    size_t seconds[10] = {0};
    begin(&c, 1000);
    assert_int_equal(nodes_count(c.nodes), 1000);
    world_run(&c.w, 20);
    assert_int_equal(world_each(&c.w, API_T_lease, count_renewed, seconds), 1000);
    for (size_t i = 0; i < 10; i++)
        assert_in_range(seconds[i], 90, 110);
    end(&c);
}

/* A node that somebody made is looked after as well, and says what it lacked. */
static void nodes_of_others(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 0);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: mine}, status: {capacity: "
                       "{cpu: 2, pods: 3}}}");
    world_run(&c.w, 1);
    const struct api_node *n = node_of(&c, "mine");
    assert_true(str_is(node_condition(n, "Ready")->status, "True"));
    assert_int_equal(n->status.allocatable.n, 2);
    /* What was said of it stays said, but for Unknown. */
    world_patch(&c.w, API_T_node, "mine", "status",
                "{\"status\":{\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"True\"},"
                "{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}");
    world_run(&c.w, 1);
    n = node_of(&c, "mine");
    assert_true(str_is(node_condition(n, "Ready")->status, "True"));
    assert_true(str_is(node_condition(n, "MemoryPressure")->status, "True"));
    end(&c);
}

#define RENEW "{\"spec\":{\"renewTime\":\"2023-11-14T22:%s:00.000000Z\"}}"

static void renew_as_others(struct cluster *c, const char *minute) {
    struct client_request r = {.verb = REGISTRY_VERB_PATCH,
                               .kind = client_kind(API_T_lease),
                               .namespace = STR("kube-node-lease"),
                               .name = STR("node-0"),
                               .patch_type = CLIENT_PATCH_MERGE,
                               .patch = arena_printf(&c->w.arena, RENEW, minute)};
    assert_int_equal(world_send(&c->w, &r)->code, ERR_NONE);
}

/* What a node has stays: one of a dump may be of another kind. */
static void nodes_of_others_get_labels(void **state) {
    struct cluster c = {0};
    (void)state;
    begin(&c, 0);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: other, labels: "
                       "{kubernetes.io/arch: arm64}}}");
    world_run(&c.w, 1);
    const struct labels *labels = &node_of(&c, "other")->metadata.labels;
    assert_true(str_is(labels_find(labels, STR("kubernetes.io/hostname"))->value, "other"));
    assert_true(str_is(labels_find(labels, STR("kubernetes.io/os"))->value, "linux"));
    assert_true(str_is(labels_find(labels, STR("kubernetes.io/arch"))->value, "arm64"));
    assert_true(str_is(node_condition(node_of(&c, "other"), "Ready")->status, "True"));
    end(&c);
}

static void leases_of_others(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    renew_as_others(&c, "20");
    world_run(&c.w, 30);
    assert_int_equal(nodes_count(c.nodes), 0);
    renew_as_others(&c, "21");
    world_run(&c.w, 30);
    assert_int_equal(nodes_count(c.nodes), 0);
    assert_int_equal(lease_of(&c, "node-0")->spec.renew_time.sec, 1700000460);
    world_run(&c.w, 11);
    assert_int_equal(nodes_count(c.nodes), 1);
    end(&c);
}

static void kubelets_that_are_stopped(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/kubelet\":\"stopped\"}}}");
    world_run(&c.w, 100);
    assert_in_range(lease_of(&c, "node-0")->spec.renew_time.sec, 1700000000, 1700000002);
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: node-0, "
                       "containers: [{name: c, image: i}]}}");
    world_run(&c.w, 10);
    assert_true(str_is(
        ((const struct api_pod *)world_get(&c.w, API_T_pod, "p")->body)->status.phase, "Pending"));
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/kubelet\":null}}}");
    world_run(&c.w, 10);
    assert_in_range(lease_of(&c, "node-0")->spec.renew_time.sec, 1700000111, 1700000121);
    assert_true(str_is(
        ((const struct api_pod *)world_get(&c.w, API_T_pod, "p")->body)->status.phase, "Running"));
    end(&c);
}

/* ---- pods ---- */

static void expect_condition(const struct api_pod *pod, const char *type, const char *status,
                             const char *reason, const char *message) {
    for (size_t i = 0; i < pod->status.conditions.n; i++) {
        const struct api_pod_condition *c = &pod->status.conditions.v[i];
        if (!str_is(c->type, type))
            continue;
        if (!str_is(c->status, status) || !str_is(c->reason, reason) ||
            !str_is(c->message, message))
            fail_msg("%s: %.*s %.*s %.*s", type, STR_ARG(c->status), STR_ARG(c->reason),
                     STR_ARG(c->message));
        return;
    }
    fail_msg("no condition %s", type);
}

static void pods_run(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "", "");
    world_run(&c.w, 1);
    const struct api_pod *pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Pending"));
    assert_int_equal(pod->status.start_time.sec, 1700000001);
    assert_true(str_is(container_of(pod)->state.waiting->reason, "ContainerCreating"));
    expect_condition(pod, "Ready", "False", "ContainersNotReady",
                     "containers with unready status: [c]");
    expect_condition(pod, "Initialized", "True", "", "");
    expect_condition(pod, "PodScheduled", "True", "", "");
    world_run(&c.w, 2);
    pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Running"));
    assert_true(str_is(pod->status.host_ip, "172.16.0.1"));
    assert_true(str_is(pod->status.pod_ip, "10.1.0.2"));
    assert_true(str_is(pod->status.pod_ips.v[0].ip, "10.1.0.2"));
    assert_int_equal(container_of(pod)->state.running->started_at.sec, 1700000003);
    assert_true(container_of(pod)->ready);
    expect_condition(pod, "Ready", "True", "", "");
    expect_condition(pod, "ContainersReady", "True", "", "");
    expect_condition(pod, "PodReadyToStartContainers", "True", "", "");
    add_pod(&c, "q", "", "");
    world_run(&c.w, 5);
    assert_true(str_is(pod_of(&c, "q")->status.pod_ip, "10.1.0.3"));
    end(&c);
}

static void pods_end(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "good", "berth.dev/run-seconds: '5'", "restartPolicy: Never");
    add_pod(&c, "bad", "berth.dev/run-seconds: '5', berth.dev/exit-code: '3'",
            "restartPolicy: Never");
    add_pod(&c, "late", "", "activeDeadlineSeconds: 6");
    world_run(&c.w, 6.5);
    assert_true(str_is(pod_of(&c, "good")->status.phase, "Running"));
    world_run(&c.w, 1);
    const struct api_pod *pod = pod_of(&c, "good");
    assert_true(str_is(pod->status.phase, "Succeeded"));
    assert_true(str_is(container_of(pod)->state.terminated->reason, "Completed"));
    expect_condition(pod, "Ready", "False", "PodCompleted", "");
    expect_condition(pod, "Initialized", "True", "PodCompleted", "");
    pod = pod_of(&c, "bad");
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_int_equal(container_of(pod)->state.terminated->exit_code, 3);
    assert_true(str_is(container_of(pod)->state.terminated->reason, "Error"));
    expect_condition(pod, "Ready", "False", "PodFailed", "");
    pod = pod_of(&c, "late");
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_true(str_is(pod->status.reason, "DeadlineExceeded"));
    end(&c);
}

/* The first restart comes at once, the second after 10 s, the third after 20 s. */
static void pods_restart(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "berth.dev/run-seconds: '4', berth.dev/exit-code: '1'",
            "restartPolicy: OnFailure");
    world_run(&c.w, 7);
    const struct api_pod *pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Running"));
    assert_int_equal(container_of(pod)->restart_count, 1);
    assert_int_equal(container_of(pod)->last_state.terminated->exit_code, 1);
    assert_int_equal(container_of(pod)->state.running->started_at.sec, 1700000007);
    world_run(&c.w, 5);
    pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Running"));
    assert_true(str_is(container_of(pod)->state.waiting->reason, "CrashLoopBackOff"));
    struct str message = container_of(pod)->state.waiting->message;
    assert_true(
        str_starts(message, STR("back-off 10s restarting failed container=c pod=p_default(")));
    expect_condition(pod, "Ready", "False", "ContainersNotReady",
                     "containers with unready status: [c]");
    world_run(&c.w, 10);
    pod = pod_of(&c, "p");
    assert_int_equal(container_of(pod)->restart_count, 2);
    assert_int_equal(container_of(pod)->state.running->started_at.sec, 1700000021);
    world_run(&c.w, 5);
    message = container_of(pod_of(&c, "p"))->state.waiting->message;
    assert_true(str_starts(message, STR("back-off 20s ")));
    end(&c);
}

static void delete_gracefully(struct cluster *c, const char *name) {
    struct client_request r = {.verb = REGISTRY_VERB_DELETE,
                               .kind = client_kind(API_T_pod),
                               .namespace = STR("default"),
                               .name = str_of(name)};
    assert_int_equal(world_send(&c->w, &r)->code, ERR_NONE);
}

static void pods_stop(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "", "");
    add_pod(&c, "slow", "berth.dev/stop-seconds: '20'", "");
    add_pod(&c, "short", "berth.dev/stop-seconds: '20'", "terminationGracePeriodSeconds: 5");
    add_pod(&c, "ended", "berth.dev/run-seconds: '1'", "restartPolicy: Never");
    world_run(&c.w, 9);
    delete_gracefully(&c, "p");
    delete_gracefully(&c, "slow");
    delete_gracefully(&c, "short");
    delete_gracefully(&c, "ended");
    world_run(&c.w, 1);
    assert_null(pod_of(&c, "ended"));
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Running"));
    world_run(&c.w, 3);
    assert_null(pod_of(&c, "p"));
    assert_non_null(pod_of(&c, "short"));
    world_run(&c.w, 2);
    assert_null(pod_of(&c, "short"));
    assert_non_null(pod_of(&c, "slow"));
    world_run(&c.w, 15);
    assert_null(pod_of(&c, "slow"));
    end(&c);
}

/* The time that a stop takes counts from the deletion, not from the second in which that was: who
 * deletes a pod and then looks for it finds it, and not yet one of the same name. */
static void a_stop_takes_its_time(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "berth.dev/stop-seconds: '1'", "");
    world_run(&c.w, 9.7);
    delete_gracefully(&c, "p");
    world_run(&c.w, 0.9);
    assert_non_null(pod_of(&c, "p"));
    world_run(&c.w, 0.2);
    assert_null(pod_of(&c, "p"));
    end(&c);
}

/* What is bound without being asked for is asked by the kubelet. */
static void pods_rejected(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "windows", "", "nodeSelector: {zone: b}");
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"sla\",\"value\":\"940\",\"effect\":"
                "\"NoExecute\"}]}}");
    world_run(&c.w, 1);
    add_pod(&c, "numeric", "", "tolerations: [{key: sla, operator: Gt, value: '900'}]");
    add_pod(&c, "exists", "", "tolerations: [{key: sla, operator: Exists}]");
    world_run(&c.w, 5);
    const struct api_pod *pod = pod_of(&c, "windows");
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_true(str_is(pod->status.reason, "NodeAffinity"));
    pod = pod_of(&c, "numeric"); /* the gate is off in this kubelet */
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_true(str_is(pod->status.reason, "TaintToleration"));
    assert_true(str_is(pod->status.message,
                       "Pod was rejected: Predicate TaintToleration failed: node(s) had taints "
                       "that the pod didn't tolerate"));
    assert_true(str_is(pod_of(&c, "exists")->status.phase, "Running"));
    const struct api_event *e = world_event(&c.w, "TaintToleration", "numeric");
    assert_non_null(e);
    assert_true(str_is(e->type, "Warning"));
    assert_int_equal(nodes_rejections(c.nodes, STR("TaintToleration")), 1);
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    nodes_write_metrics(c.nodes, &text);
    assert_true(str_find(buf_view(&text),
                         STR("kubelet_admission_rejections_total{reason=\"NodeAffinity\"} 1\n")) !=
                STR_NONE);
    end(&c);
}

/* A kubelet that starts again asks its pods again; what is rejected has run, and runs no more. */
static void pods_that_ran_are_rejected(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "", "restartPolicy: Always");
    world_run(&c.w, 5);
    const struct api_pod *pod = pod_of(&c, "p");
    assert_int_equal(pod->status.container_statuses.n, 1);
    int64_t begun = pod->status.start_time.sec;
    stop_nodes(&c);
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]}}");
    c.w.informers = informers_new(c.w.client, &c.w.log);
    start_nodes(&c);
    world_run(&c.w, 5);
    pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_true(str_is(pod->status.reason, "TaintToleration"));
    assert_true(str_is(pod->status.qos_class, "BestEffort"));
    assert_int_equal(pod->status.start_time.sec, begun);
    assert_int_equal(pod->status.container_statuses.n, 0);
    assert_int_equal(pod->status.pod_ip.n + pod->status.host_ip.n, 0);
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        assert_false(str_is(pod->status.conditions.v[i].type, "Ready"));
    end(&c);
}

static const char *large_pod(struct cluster *c, const char *name) {
    return arena_printf(&c->w.arena,
                        "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {nodeName: "
                        "node-0, containers: [{name: c, image: i, resources: {requests: {cpu: "
                        "20}}}]}}",
                        name)
        .p;
}

static void add_large_pod(struct cluster *c, const char *name) {
    world_create(&c->w, large_pod(c, name));
}

/* Two pods at the same moment do not take the same room. */
static void pods_share_a_node(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_large_pod(&c, "x");
    add_large_pod(&c, "z");
    world_run(&c.w, 5);
    assert_true(str_is(pod_of(&c, "x")->status.phase, "Running"));
    assert_true(str_is(pod_of(&c, "z")->status.reason, "OutOfcpu"));
    /* When the first is gone there is room again. */
    world_delete(&c.w, API_T_pod, "x");
    world_delete(&c.w, API_T_pod, "z");
    add_large_pod(&c, "z");
    world_run(&c.w, 5);
    assert_true(str_is(pod_of(&c, "z")->status.phase, "Running"));
    end(&c);
}

/* Addresses are of the range that the node has, also when it gets it late. */
static void pods_have_addresses_of_their_node(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: other}}");
    const char *text = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {nodeName: other, "
                       "containers: [{name: c, image: i}]}}";
    world_create(&c.w, arena_printf(&c.w.arena, text, "p").p);
    world_run(&c.w, 5);
    assert_true(str_starts(pod_of(&c, "p")->status.pod_ip, STR("10.1.")));
    world_patch(&c.w, API_T_node, "other", NULL,
                "{\"spec\":{\"podCIDR\":\"10.244.9.0/24\",\"podCIDRs\":[\"10.244.9.0/24\"]}}");
    world_create(&c.w, arena_printf(&c.w.arena, text, "q").p);
    world_run(&c.w, 5);
    assert_true(str_starts(pod_of(&c, "p")->status.pod_ip, STR("10.1.")));
    assert_true(str_starts(pod_of(&c, "q")->status.pod_ip, STR("10.244.9.")));
    end(&c);
}

static void bind_next(void *arg, const struct api_object *old, const struct api_object *o) {
    struct cluster *c = arg;
    if (!api_pod_has_ended(o->body) || (old && api_pod_has_ended(old->body)))
        return;
    struct client_request r = {.verb = REGISTRY_VERB_CREATE,
                               .kind = client_kind(API_T_pod),
                               .namespace = STR("default"),
                               .object = world_object(&c->w, large_pod(c, "z"))};
    client_send(c->w.client, &r, world__answered, &c->w);
}

/* Who sees that a pod has ended may bind the next one to its room at once. */
static void room_is_free_at_the_end(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    struct informers *others = informers_new(c.w.client, &c.w.log);
    informer_listen(informers_of(others, client_kind(API_T_pod)),
                    &(struct informer_handler){.set = bind_next, .arg = &c});
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: x, annotations: "
                       "{berth.dev/run-seconds: '3'}}, spec: {nodeName: node-0, restartPolicy: "
                       "Never, containers: [{name: c, image: i, resources: {requests: {cpu: "
                       "20}}}]}}");
    world_run(&c.w, 20);
    assert_true(str_is(pod_of(&c, "x")->status.phase, "Succeeded"));
    assert_true(str_is(pod_of(&c, "z")->status.phase, "Running"));
    informers_free(others);
    end(&c);
}

static void resize(struct cluster *c, const char *cpu) {
    struct str patch = arena_printf(&c->w.arena,
                                    "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{"
                                    "\"requests\":{\"cpu\":\"%s\"}}}]}}",
                                    cpu);
    world_patch(&c->w, API_T_pod, "x", "resize", patch.p);
}

/* What is not there is waited for, with what the container has. */
static void pods_are_resized(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_large_pod(&c, "x");
    world_run(&c.w, 5);
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: z}, spec: {nodeName: node-0, "
                       "containers: [{name: c, image: i, resources: {requests: {cpu: 10}}}]}}");
    world_run(&c.w, 5);
    resize(&c, "21");
    world_run(&c.w, 1);
    const struct api_pod *pod = pod_of(&c, "x");
    assert_int_equal(quantity_value(&container_of(pod)->allocated_resources.v[0].value), 21);
    assert_int_equal(container_of(pod)->restart_count, 0);
    resize(&c, "30");
    world_run(&c.w, 1);
    pod = pod_of(&c, "x");
    assert_int_equal(quantity_value(&container_of(pod)->allocated_resources.v[0].value), 21);
    assert_int_equal(quantity_value(&container_of(pod)->resources->requests.v[0].value), 21);
    expect_condition(pod, "PodResizePending", "True", "Deferred",
                     "Node didn't have enough resource: cpu, requested: 30000, used: 10000, "
                     "capacity: 32000");
    world_delete(&c.w, API_T_pod, "z");
    world_run(&c.w, 11);
    pod = pod_of(&c, "x");
    assert_int_equal(quantity_value(&container_of(pod)->allocated_resources.v[0].value), 30);
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        assert_false(str_is(pod->status.conditions.v[i].type, "PodResizePending"));
    end(&c);
}

/* More resources are admitted as a new pod is: also a label that has gone since has them wait. */
static void resizes_are_admitted(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {nodeName: node-0, "
                       "nodeSelector: {zone: a}, containers: [{name: c, image: i, resources: "
                       "{requests: {cpu: 1}}}]}}");
    world_run(&c.w, 5);
    world_patch(&c.w, API_T_node, "node-0", NULL, "{\"metadata\":{\"labels\":{\"zone\":\"b\"}}}");
    world_run(&c.w, 1);
    resize(&c, "2");
    world_run(&c.w, 1);
    const struct api_pod *pod = pod_of(&c, "x");
    assert_int_equal(quantity_value(&container_of(pod)->allocated_resources.v[0].value), 1);
    expect_condition(pod, "PodResizePending", "True", "Deferred",
                     "Predicate NodeAffinity failed: node(s) didn't match Pod's node "
                     "affinity/selector");
    world_patch(&c.w, API_T_node, "node-0", NULL, "{\"metadata\":{\"labels\":{\"zone\":\"a\"}}}");
    world_run(&c.w, 11);
    pod = pod_of(&c, "x");
    assert_int_equal(quantity_value(&container_of(pod)->allocated_resources.v[0].value), 2);
    end(&c);
}

/* A carrier that tells of changed nodes only when it is told to, in front of another. */
struct late {
    struct client base;
    struct client *inner;
    bool holds;
};

struct late_watch {
    struct client_watch base;
    struct client_watch *inner;
    client_event_fn *tell;
    void *arg;
};

static struct client_call *late_send(struct client *c, const struct client_request *request,
                                     client_answer_fn *done, void *arg) {
    return client_send(heap_entry(c, struct late, base)->inner, request, done, arg);
}

static void late_cancel(struct client_call *call) {
    client_cancel(call);
}

static void tell_but_nodes(void *arg, const struct client_event *e) {
    struct late_watch *w = arg;
    const struct late *late = heap_entry(w->base.client, struct late, base);
    if (!late->holds || e->type != CLIENT_MODIFIED || !api_object_is(e->object, API_T_node))
        w->tell(w->arg, e);
}

static struct client_watch *late_start(struct client *c, const struct api_kind *kind,
                                       const struct client_selection *selection,
                                       client_event_fn *tell, void *arg) {
    struct late_watch *w = xcalloc(1, sizeof *w);
    *w = (struct late_watch){.base = {c}, .tell = tell, .arg = arg};
    w->inner = client_watch_start(heap_entry(c, struct late, base)->inner, kind, selection,
                                  tell_but_nodes, w);
    return &w->base;
}

static void late_stop(struct client_watch *base) {
    struct late_watch *w = heap_entry(base, struct late_watch, base);
    client_watch_stop(w->inner);
    free(w);
}

/* A pod may be bound before its kubelet hears that what it said of its node was stored: it knows
 * what it said. */
static void pods_come_before_their_nodes(void **state) {
    static const struct client_carrier carrier = {.send = late_send,
                                                  .cancel = late_cancel,
                                                  .watch_start = late_start,
                                                  .watch_stop = late_stop};
    (void)state;
    struct cluster c = {0};
    world_start(&c.w, "");
    feature_config_init(&c.gates, FEATURE_NEWEST);
    world_create(&c.w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}");
    struct late late = {
        .base = {.carrier = &carrier, .loop = c.w.loop}, .inner = c.w.client, .holds = true};
    struct client *inner = c.w.client;
    informers_free(c.w.informers);
    c.w.client = &late.base;
    c.w.informers = informers_new(&late.base, &c.w.log);
    start_nodes(&c);
    c.w.client = inner;
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: node-0}}");
    world_run(&c.w, 1);
    add_pod(&c, "p", "", "nodeSelector: {kubernetes.io/hostname: node-0}");
    world_run(&c.w, 5);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Running"));
    assert_int_equal(nodes_rejections(c.nodes, STR("")), 0);
    end(&c);
}

/* Two processes share the nodes of a cluster. */
static void nodes_are_chosen(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 0);
    stop_nodes(&c);
    c.w.informers = informers_new(c.w.client, &c.w.log);
    c.is_choosy = true;
    c.pool.count = 2;
    for (int i = 1; i <= 3; i++)
        world_create(
            &c.w,
            arena_printf(&c.w.arena, "{apiVersion: v1, kind: Node, metadata: {name: n%d}}", i).p);
    start_nodes(&c);
    world_run(&c.w, 30);
    assert_int_equal(nodes_count(c.nodes), 4);
    assert_non_null(node_condition(node_of(&c, "n1"), "Ready"));
    assert_null(node_condition(node_of(&c, "n2"), "Ready"));
    assert_non_null(node_condition(node_of(&c, "n3"), "Ready"));
    assert_non_null(node_condition(node_of(&c, "node-1"), "Ready"));
    end(&c);
}

/* Who owns a pod waits for its end, though nothing of it ever ran. */
static void pods_that_never_ran_come_to_an_end(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    stop_nodes(&c);
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [a.com/b]}, "
                       "spec: {nodeName: node-0, containers: [{name: c, image: i}]}}");
    delete_gracefully(&c, "p");
    c.w.informers = informers_new(c.w.client, &c.w.log);
    start_nodes(&c);
    world_run(&c.w, 1);
    const struct api_pod *p = pod_of(&c, "p");
    assert_true(str_is(p->status.phase, "Failed"));
    assert_true(p->status.start_time.set);
    assert_int_equal(p->metadata.deletion_grace_period_seconds.v, 0);
    world_patch(&c.w, API_T_pod, "p", NULL, "{\"metadata\":{\"finalizers\":null}}");
    assert_null(pod_of(&c, "p"));
    end(&c);
}

static struct str address_of(struct cluster *c, const char *name) {
    return node_of(c, name)->status.addresses.v[0].address;
}

static struct nodes *look_after(struct cluster *c, const struct str *name,
                                struct informers *informers) {
    return nodes_new(&(struct nodes_opts){.client = c->w.client,
                                          .informers = informers,
                                          .log = &c->w.log,
                                          .gates = &c->gates.enabled,
                                          .seed = 1,
                                          .is_choosy = true,
                                          .chosen = name,
                                          .chosen_count = 1});
}

/* Two processes give out addresses at the same moment: no two nodes have the same in the end. */
static void nodes_of_two_processes(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 0);
    stop_nodes(&c);
    for (int i = 0; i < 2; i++)
        world_create(&c.w, i ? "{apiVersion: v1, kind: Node, metadata: {name: n1}}"
                             : "{apiVersion: v1, kind: Node, metadata: {name: n3}}");
    c.w.informers = informers_new(c.w.client, &c.w.log);
    struct informers *others = informers_new(c.w.client, &c.w.log);
    c.nodes = look_after(&c, &chosen[0], c.w.informers);
    struct nodes *second = look_after(&c, &chosen[1], others);
    world_run(&c.w, 2);
    assert_true(str_is(address_of(&c, "n1"), "172.16.0.1"));
    assert_true(str_is(address_of(&c, "n3"), "172.16.0.2"));
    nodes_free(second);
    informers_free(others);
    end(&c);
}

/* A pod that is new when the process starts gets no address that a pod has which runs. */
static void addresses_outlive_the_process(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "z", "", "restartPolicy: Never");
    world_run(&c.w, 10);
    stop_nodes(&c);
    add_pod(&c, "a", "", "restartPolicy: Never");
    c.w.informers = informers_new(c.w.client, &c.w.log);
    start_nodes(&c);
    world_run(&c.w, 10);
    assert_true(str_is(pod_of(&c, "z")->status.pod_ip, "10.1.0.2"));
    assert_true(str_is(pod_of(&c, "a")->status.pod_ip, "10.1.0.3"));
    end(&c);
}

static void pods_outlive_the_process(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    add_pod(&c, "p", "berth.dev/run-seconds: '60'", "restartPolicy: Never");
    world_run(&c.w, 10);
    stop_nodes(&c);
    world_run(&c.w, 20);
    c.w.informers = informers_new(c.w.client, &c.w.log);
    start_nodes(&c);
    world_run(&c.w, 1);
    assert_int_equal(nodes_count(c.nodes), 1);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Running"));
    world_run(&c.w, 35);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Succeeded"));
    assert_int_equal(world_count(&c.w, API_T_node), 1);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_made_and_live),
        cmocka_unit_test(renewals_are_spread),
        cmocka_unit_test(nodes_of_others),
        cmocka_unit_test(nodes_of_others_get_labels),
        cmocka_unit_test(leases_of_others),
        cmocka_unit_test(kubelets_that_are_stopped),
        cmocka_unit_test(pods_run),
        cmocka_unit_test(pods_end),
        cmocka_unit_test(pods_restart),
        cmocka_unit_test(pods_stop),
        cmocka_unit_test(a_stop_takes_its_time),
        cmocka_unit_test(pods_rejected),
        cmocka_unit_test(pods_that_ran_are_rejected),
        cmocka_unit_test(pods_share_a_node),
        cmocka_unit_test(room_is_free_at_the_end),
        cmocka_unit_test(pods_have_addresses_of_their_node),
        cmocka_unit_test(pods_are_resized),
        cmocka_unit_test(resizes_are_admitted),
        cmocka_unit_test(pods_come_before_their_nodes),
        cmocka_unit_test(nodes_are_chosen),
        cmocka_unit_test(pods_that_never_ran_come_to_an_end),
        cmocka_unit_test(nodes_of_two_processes),
        cmocka_unit_test(addresses_outlive_the_process),
        cmocka_unit_test(pods_outlive_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
