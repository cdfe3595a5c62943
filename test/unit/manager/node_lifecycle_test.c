/* Nodes that are heard of, and nodes that are not, on virtual time: conditions, taints, evictions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "manager/manager.h"
#include "manager/node_taints_int.h"

/* ---- decisions ---- */

static void zones(void **state) {
    (void)state;
    static const struct {
        size_t ready, not_ready;
        enum manager__zone_state state;
    } rows[] = {
        {0, 0, MANAGER__NORMAL},
        {0, 1, MANAGER__FULL_DISRUPTION},
        {1, 1, MANAGER__NORMAL},
        {1, 2, MANAGER__NORMAL},
        {4, 4, MANAGER__NORMAL},
        {1, 3, MANAGER__PARTIAL_DISRUPTION},
        {9, 11, MANAGER__PARTIAL_DISRUPTION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(manager__zone_state(rows[i].ready, rows[i].not_ready), rows[i].state);
    assert_int_equal(manager__zone_pause(MANAGER__NORMAL, 3), 10 * CLOCK_SECOND);
    assert_int_equal(manager__zone_pause(MANAGER__FULL_DISRUPTION, 3), 10 * CLOCK_SECOND);
    assert_int_equal(manager__zone_pause(MANAGER__PARTIAL_DISRUPTION, 50), INT64_MAX);
    assert_int_equal(manager__zone_pause(MANAGER__PARTIAL_DISRUPTION, 51), 100 * CLOCK_SECOND);
}

/* ---- in a cluster ---- */

/* What stands between the controllers and the server, and may be in trouble. */
struct middle {
    struct client base;
    struct client *inner;
    int refusals; /* so many patches of pods are refused */
    bool is_deaf; /* renewals of Leases are not told */
    client_event_fn *on_lease;
    void *arg; /* of that */
};

static struct client_call *middle_send(struct client *c, const struct client_request *request,
                                       client_answer_fn *done, void *arg) {
    struct middle *m = heap_entry(c, struct middle, base);
    struct client_request copy = *request;
    bool is_patch =
        request->verb == REGISTRY_VERB_PATCH && request->kind->type == &api_types[API_T_pod];
    if (is_patch && m->refusals > 0 && m->refusals--)
        copy.patch = STR("{");
    return client_send(m->inner, &copy, done, arg);
}

static void middle_cancel(struct client_call *call) {
    client_cancel(call);
}

static void tell_lease(void *arg, const struct client_event *e) {
    struct middle *m = arg;
    if (!m->is_deaf || e->type != CLIENT_MODIFIED)
        m->on_lease(m->arg, e);
}

static struct client_watch *middle_watch(struct client *c, const struct api_kind *kind,
                                         const struct client_selection *selection,
                                         client_event_fn *tell, void *arg) {
    struct middle *m = heap_entry(c, struct middle, base);
    if (kind->type != &api_types[API_T_lease])
        return client_watch_start(m->inner, kind, selection, tell, arg);
    m->on_lease = tell;
    m->arg = arg;
    return client_watch_start(m->inner, kind, selection, tell_lease, m);
}

struct cluster {
    struct world w;
    struct middle middle;
    struct informers *informers;
    struct manager *manager;
    size_t nodes;  /* node-0, node-1, … */
    size_t silent; /* so many of them, the last ones, are not heard of */
};

#define READY                                                             \
    "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"," \
    "\"reason\":\"KubeletReady\",\"lastHeartbeatTime\":\"2023-11-14T22:13:20Z\"}]}}"

static const char *name_of(struct cluster *c, size_t i) {
    return arena_printf(&c->w.arena, "node-%zu", i).p;
}

static void set_ready(struct cluster *c, size_t i, const char *status) {
    world_patch(&c->w, API_T_node, name_of(c, i), "status",
                arena_printf(&c->w.arena, READY, status).p);
}

static void send_lease(struct cluster *c, size_t i, bool is_new) {
    struct str text = arena_printf(&c->w.arena,
                                   "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: "
                                   "{name: node-%zu, namespace: kube-node-lease}}",
                                   i);
    struct api_object *o = world_object(&c->w, text.p);
    struct api_lease *lease = api_own_body(o);
    lease->spec.renew_time = (struct api_time){c->w.clock.wall_ns / CLOCK_SECOND, 0, true};
    lease->spec.holder_identity = STR("kubelet");
    lease->spec.lease_duration_seconds = (struct api_opt_i32){true, 40};
    if (!is_new) {
        struct client_request get = {.verb = REGISTRY_VERB_GET,
                                     .kind = o->kind,
                                     .namespace = STR("kube-node-lease"),
                                     .name = o->meta->name};
        lease->metadata.resource_version =
            arena_str(&c->w.arena, world_send(&c->w, &get)->object->meta->resource_version);
    }
    struct client_request r = {.verb = is_new ? REGISTRY_VERB_CREATE : REGISTRY_VERB_UPDATE,
                               .kind = o->kind,
                               .namespace = STR("kube-node-lease"),
                               .name = arena_str(&c->w.arena, o->meta->name),
                               .object = o};
    const struct client_answer *answer = world_send(&c->w, &r);
    if (answer->code)
        fail_msg("%.*s", STR_ARG(answer->message));
}

static void begin(struct cluster *c, size_t nodes) {
    struct err err = {0};
    static const struct str names[] = {STR_INIT("taint-eviction-controller"),
                                       STR_INIT("node-lifecycle-controller")};
    static const struct client_carrier carrier = {
        .send = middle_send, .cancel = middle_cancel, .watch_start = middle_watch};
    *c = (struct cluster){.nodes = nodes};
    world_start(&c->w, "");
    c->middle =
        (struct middle){.base = {.carrier = &carrier, .loop = c->w.loop}, .inner = c->w.client};
    c->informers = informers_new(&c->middle.base, &c->w.log);
    c->manager = manager_new(&(struct manager_opts){.client = &c->middle.base,
                                                    .informers = c->informers,
                                                    .log = &c->w.log,
                                                    .gates = &c->w.gates.enabled,
                                                    .seed = 1,
                                                    .controllers = names,
                                                    .controller_count = 2},
                             &err);
    assert_non_null(c->manager);
    world_create(&c->w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}");
    for (size_t i = 0; i < nodes; i++) {
        struct str text = arena_printf(
            &c->w.arena,
            "{apiVersion: v1, kind: Node, metadata: {name: node-%zu, labels: {kubernetes.io/os: "
            "linux}}}",
            i);
        world_create(&c->w, text.p);
        set_ready(c, i, "True");
        send_lease(c, i, true);
    }
    world_run(&c->w, 1);
}

static void end(struct cluster *c) {
    manager_free(c->manager);
    informers_free(c->informers);
    world_stop(&c->w);
}

/* Lets seconds pass, in which the kubelets that are heard of renew their leases. */
static void run(struct cluster *c, int seconds) {
    for (int t = 0; t < seconds; t += 5) {
        for (size_t i = 0; i + c->silent < c->nodes; i++)
            send_lease(c, i, false);
        world_run(&c->w, 5);
    }
}

static bool has_taint(struct cluster *c, const char *node, const char *key, const char *effect) {
    const struct api_node *n = world_get(&c->w, API_T_node, node)->body;
    for (size_t i = 0; i < n->spec.taints.n; i++)
        if (str_is(n->spec.taints.v[i].key, key) && str_is(n->spec.taints.v[i].effect, effect))
            return true;
    return false;
}

static const struct api_node_condition *ready_of(struct cluster *c, const char *node) {
    const struct api_node *n = world_get(&c->w, API_T_node, node)->body;
    for (size_t i = 0; i < n->status.conditions.n; i++)
        if (str_is(n->status.conditions.v[i].type, "Ready"))
            return &n->status.conditions.v[i];
    return NULL;
}

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

static void conditions_are_taints(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    /* Admission has put it on, and it went when the node was ready. */
    assert_false(has_taint(&c, "node-0", NOT_READY, "NoSchedule"));
    world_patch(
        &c.w, API_T_node, "node-0", "status",
        "{\"status\":{\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"True\"}]}}");
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"mine\",\"effect\":"
                "\"NoSchedule\"}]}}");
    run(&c, 5);
    assert_true(has_taint(&c, "node-0", "node.kubernetes.io/memory-pressure", "NoSchedule"));
    assert_true(has_taint(&c, "node-0", "node.kubernetes.io/unschedulable", "NoSchedule"));
    assert_true(has_taint(&c, "node-0", "mine", "NoSchedule"));
    const struct api_object *node = world_get(&c.w, API_T_node, "node-0");
    assert_true(
        str_is(labels_find(&node->meta->labels, STR("beta.kubernetes.io/os"))->value, "linux"));
    world_patch(
        &c.w, API_T_node, "node-0", "status",
        "{\"status\":{\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"False\"}]}}");
    world_patch(&c.w, API_T_node, "node-0", NULL, "{\"spec\":{\"unschedulable\":null}}");
    run(&c, 5);
    assert_false(has_taint(&c, "node-0", "node.kubernetes.io/memory-pressure", "NoSchedule"));
    assert_false(has_taint(&c, "node-0", "node.kubernetes.io/unschedulable", "NoSchedule"));
    assert_true(has_taint(&c, "node-0", "mine", "NoSchedule"));
    set_ready(&c, 0, "False");
    run(&c, 5);
    assert_true(has_taint(&c, "node-0", NOT_READY, "NoSchedule"));
    assert_true(has_taint(&c, "node-0", NOT_READY, "NoExecute"));
    const struct api_event *e = world_event(&c.w, "RegisteredNode", "node-0");
    assert_true(str_is(e->message, "Node node-0 event: Registered Node node-0 in Controller"));
    assert_true(str_is(e->source.component, "node-controller"));
    end(&c);
}

static void add_pod(struct cluster *c, const char *name, const char *more) {
    struct str text = arena_printf(&c->w.arena,
                                   "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: "
                                   "{nodeName: node-1, terminationGracePeriodSeconds: 0, "
                                   "containers: [{name: c, image: i}]%s}}",
                                   name, more);
    world_create(&c->w, text.p);
    world_patch(&c->w, API_T_pod, name, "status",
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
}

static const struct api_pod *pod_of(struct cluster *c, const char *name) {
    const struct api_object *o = world_get(&c->w, API_T_pod, name);
    return o ? o->body : NULL;
}

/* The second node falls silent after a minute: 50 s later it is unreachable, and its pods have as
 * long as they tolerate that. */
static void nodes_fall_silent(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    add_pod(&c, "usual", "");
    add_pod(&c, "hasty",
            ", tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, "
            "effect: NoExecute, tolerationSeconds: 10}]");
    add_pod(&c, "stoic", ", tolerations: [{operator: Exists}]");
    run(&c, 60);
    c.silent = 1;
    run(&c, 40);
    assert_true(str_is(ready_of(&c, "node-1")->status, "True"));
    run(&c, 5);
    const struct api_node_condition *ready = ready_of(&c, "node-1");
    assert_true(str_is(ready->status, "Unknown") && str_is(ready->reason, "NodeStatusUnknown"));
    assert_true(str_is(ready->message, "Kubelet stopped posting node status."));
    assert_true(str_is(ready_of(&c, "node-0")->status, "True"));
    assert_true(has_taint(&c, "node-1", UNREACHABLE, "NoSchedule"));
    assert_true(has_taint(&c, "node-1", UNREACHABLE, "NoExecute"));
    const struct api_pod *pod = pod_of(&c, "usual");
    assert_true(str_is(pod->status.conditions.v[0].type, "Ready"));
    assert_true(str_is(pod->status.conditions.v[0].status, "False"));
    const struct api_event *e = world_event(&c.w, "NodeNotReady", "node-1");
    assert_true(str_is(e->message, "Node node-1 status is now: NodeNotReady"));
    e = world_event(&c.w, "NodeNotReady", "usual");
    assert_true(str_is(e->message, "Node is not ready") && str_is(e->type, "Warning"));
    run(&c, 10);
    assert_null(pod_of(&c, "hasty"));
    run(&c, 280);
    assert_non_null(pod_of(&c, "usual"));
    run(&c, 15);
    assert_null(pod_of(&c, "usual"));
    assert_non_null(pod_of(&c, "stoic"));
    c.silent = 0;
    send_lease(&c, 1, false);
    set_ready(&c, 1, "True");
    run(&c, 5);
    assert_false(has_taint(&c, "node-1", UNREACHABLE, "NoSchedule"));
    assert_false(has_taint(&c, "node-1", UNREACHABLE, "NoExecute"));
    end(&c);
}

static bool is_pod_ready(struct cluster *c, const char *name) {
    const struct api_pod_status *s = &pod_of(c, name)->status;
    for (size_t i = 0; i < s->conditions.n; i++)
        if (str_is(s->conditions.v[i].type, "Ready"))
            return str_is(s->conditions.v[i].status, "True");
    return false;
}

/* Pods are as the kubelet says that they are, for as long as it says something. */
static void what_a_kubelet_says_of_its_node_is_not_about_pods(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    add_pod(&c, "usual", "");
    run(&c, 5);
    set_ready(&c, 1, "False");
    run(&c, 20);
    assert_true(has_taint(&c, "node-1", NOT_READY, "NoExecute"));
    assert_true(is_pod_ready(&c, "usual"));
    assert_null(world_event(&c.w, "NodeNotReady", "node-1"));
    assert_null(world_event(&c.w, "NodeNotReady", "usual"));
    end(&c);
}

/* A pod that could not be marked is marked later. */
static void marks_are_tried_again(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    add_pod(&c, "usual", "");
    run(&c, 5);
    c.silent = 1;
    c.middle.refusals = 3;
    run(&c, 60);
    assert_int_equal(c.middle.refusals, 0);
    assert_false(is_pod_ready(&c, "usual"));
    assert_non_null(world_event(&c.w, "NodeNotReady", "usual"));
    end(&c);
}

/* While renewals are not told, no node is given up: the server has them. */
static void a_late_informer_condemns_nobody(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 2);
    run(&c, 5);
    c.middle.is_deaf = true;
    run(&c, 180);
    assert_true(str_is(ready_of(&c, "node-0")->status, "True"));
    assert_true(str_is(ready_of(&c, "node-1")->status, "True"));
    c.middle.is_deaf = false;
    run(&c, 10);
    c.silent = 1;
    run(&c, 90);
    assert_true(str_is(ready_of(&c, "node-0")->status, "True"));
    assert_true(str_is(ready_of(&c, "node-1")->status, "Unknown"));
    end(&c);
}

static size_t count_tainted(struct cluster *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->nodes; i++)
        n += has_taint(c, name_of(c, i), UNREACHABLE, "NoExecute");
    return n;
}

/* A zone loses a node in 10 s; less when more than half of a small one is gone, and none when
 * nothing is left. */
static void zones_lose_nodes_slowly(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 10);
    c.silent = 3;
    run(&c, 55);
    assert_int_equal(count_tainted(&c), 1);
    run(&c, 10);
    assert_int_equal(count_tainted(&c), 2);
    run(&c, 10);
    assert_int_equal(count_tainted(&c), 3);
    run(&c, 60);
    c.silent = 7;
    run(&c, 120);
    assert_true(str_is(ready_of(&c, "node-3")->status, "Unknown"));
    assert_in_range(count_tainted(&c), 3, 4);
    c.silent = 10;
    run(&c, 60);
    assert_true(str_is(ready_of(&c, "node-0")->status, "Unknown"));
    assert_int_equal(count_tainted(&c), 0);
    assert_true(has_taint(&c, "node-0", UNREACHABLE, "NoSchedule"));
    end(&c);
}

/* In a large zone of which more than half is gone a node comes in 100 s, and in 10 s again when
 * enough of them are back. */
static void a_large_zone_loses_nodes_more_slowly(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 60);
    c.silent = 34;
    run(&c, 55);
    assert_int_equal(count_tainted(&c), 1);
    run(&c, 60);
    assert_int_equal(count_tainted(&c), 1);
    run(&c, 50);
    assert_int_equal(count_tainted(&c), 2);
    c.silent = 20;
    run(&c, 5);
    for (size_t i = 26; i < 40; i++)
        set_ready(&c, i, "True");
    run(&c, 5);
    size_t before = count_tainted(&c); /* some of them may be back */
    run(&c, 40);
    assert_in_range(count_tainted(&c), before + 3, before + 4);
    end(&c);
}

/* A node of which no kubelet has ever spoken has a minute to appear. */
static void nodes_that_never_spoke(void **state) {
    (void)state;
    struct cluster c;
    begin(&c, 1);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: mute}}");
    run(&c, 55);
    assert_null(ready_of(&c, "mute"));
    run(&c, 10);
    assert_true(str_is(ready_of(&c, "mute")->status, "Unknown"));
    assert_true(str_is(ready_of(&c, "mute")->reason, "NodeStatusNeverUpdated"));
    assert_true(has_taint(&c, "mute", UNREACHABLE, "NoExecute"));
    world_delete(&c.w, API_T_node, "mute");
    run(&c, 5);
    assert_non_null(world_event(&c.w, "RemovingNode", "mute"));
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones),
        cmocka_unit_test(conditions_are_taints),
        cmocka_unit_test(nodes_fall_silent),
        cmocka_unit_test(what_a_kubelet_says_of_its_node_is_not_about_pods),
        cmocka_unit_test(marks_are_tried_again),
        cmocka_unit_test(a_late_informer_condemns_nobody),
        cmocka_unit_test(zones_lose_nodes_slowly),
        cmocka_unit_test(a_large_zone_loses_nodes_more_slowly),
        cmocka_unit_test(nodes_that_never_spoke),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
