/* What comes next for a pod: a table of objects and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "codec/yml.h"
#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"

#define NOW (INT64_C(1000) * CLOCK_SECOND)

static struct api_object *object_of(struct arena *a, const char *text) {
    struct json tree;
    struct err err = {0};
    struct api_object *o;
    if (yml_parse(a, str_of(text), &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

#define POD(meta, spec, status)                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u, " meta \
    "}, spec: {containers: [{name: a, image: i}, {name: b, image: i}], " spec           \
    "}, status: {" status "}}"
#define AT(second) "'1970-01-01T00:16:" #second "Z'" /* second 40 is the thousandth */

#define BEGUN "startTime: " AT(30) ", phase: Pending"
#define RUNS                                                                             \
    "startTime: " AT(30) ", phase: Running, containerStatuses: [{name: a, ready: true, " \
                         "restartCount: 1, state: {running: {startedAt: " AT(30) "}}}]"
#define WAITS                                                                                      \
    "startTime: " AT(                                                                              \
        30) ", phase: Running, containerStatuses: [{name: a, restartCount: 2, "                    \
            "state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, " \
            "startedAt: " AT(30) ", finishedAt: " AT(35) "}}}]"
#define DELETED(at, grace) "deletionTimestamp: " at ", deletionGracePeriodSeconds: " grace

static const struct {
    const char *pod;
    enum nodes__pod_step step;
    int64_t in; /* seconds until it is looked at again; -1: never */
    const char *phase;
} rows[] = {
    {POD("", "", ""), NODES__POD_WRITES, 2, "Pending"},
    {POD("annotations: {berth.dev/start-seconds: '0'}", "", ""), NODES__POD_WRITES, -1, "Running"},
    {POD("annotations: {berth.dev/start-seconds: '7'}", "", ""), NODES__POD_WRITES, 7, "Pending"},
    {POD("annotations: {berth.dev/start-seconds: soon}", "", ""), NODES__POD_WRITES, 2, "Pending"},
    {POD("", "", BEGUN), NODES__POD_WRITES, -1, "Running"},
    {POD("annotations: {berth.dev/run-seconds: '4'}", "restartPolicy: Never", BEGUN),
     NODES__POD_WRITES, 4, "Running"},
    /* It has run for 10 s, and once before. */
    {POD("annotations: {berth.dev/run-seconds: '10'}", "restartPolicy: Never", RUNS),
     NODES__POD_WRITES, -1, "Succeeded"},
    {POD("annotations: {berth.dev/run-seconds: '10', berth.dev/exit-code: '2'}",
         "restartPolicy: Never", RUNS),
     NODES__POD_WRITES, -1, "Failed"},
    {POD("annotations: {berth.dev/run-seconds: '10'}", "restartPolicy: OnFailure", RUNS),
     NODES__POD_WRITES, -1, "Succeeded"},
    {POD("annotations: {berth.dev/run-seconds: '10'}", "restartPolicy: Always", RUNS),
     NODES__POD_WRITES, 10, "Running"},
    {POD("annotations: {berth.dev/run-seconds: '12'}", "restartPolicy: Always", RUNS),
     NODES__POD_WRITES, 2, "Running"},
    {POD("", "", WAITS), NODES__POD_WRITES, 15, "Running"},
    {POD("", "activeDeadlineSeconds: 10", RUNS), NODES__POD_WRITES, -1, "Failed"},
    {POD("", "activeDeadlineSeconds: 15", RUNS), NODES__POD_WRITES, 5, "Running"},
    /* Deleted at second 39, with 30 s of grace, of which it takes 3. */
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", RUNS), NODES__POD_WRITES, 2, "Running"},
    {POD(DELETED("'1970-01-01T00:17:07Z'", "30"), "", RUNS), NODES__POD_WRITES, -1, "Failed"},
    {POD(DELETED(AT(40), "1"), "", RUNS), NODES__POD_WRITES, -1, "Failed"},
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", BEGUN), NODES__POD_GOES, -1, ""},
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", WAITS), NODES__POD_GOES, -1, ""},
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", "phase: Succeeded"), NODES__POD_GOES, -1, ""},
    {POD(DELETED(AT(39), "0"), "", "phase: Succeeded"), NODES__POD_WAITS, -1, ""},
    {POD("", "", "phase: Failed"), NODES__POD_WAITS, -1, ""},
};

static const struct nodes__pod_facts facts = {
    .now = NOW,
    .start_delay = 2 * CLOCK_SECOND,
    .stop_delay = 3 * CLOCK_SECOND,
    .host_ip = STR_INIT("172.16.0.1"),
    .pod_ip = STR_INIT("10.0.0.2"),
};

static void steps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = {0};
        struct api_pod_status status = {0};
        struct api_object *pod = object_of(&a, rows[i].pod);
        struct nodes__pod_next next = nodes__next_of_pod(&a, pod, &facts, &status);
        int64_t in = next.at == INT64_MAX ? -1 : (next.at - NOW) / CLOCK_SECOND;
        if (next.step != rows[i].step || in != rows[i].in ||
            (next.step == NODES__POD_WRITES && !str_is(status.phase, rows[i].phase)))
            fail_msg("row %zu: %d in %lld s, %.*s", i, next.step, (long long)in,
                     STR_ARG(status.phase));
        api_object_free(pod);
        arena_release(&a);
    }
}

/* A status that was written is what the next look expects. */
static void settles(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod =
        object_of(&a, POD("annotations: {berth.dev/start-seconds: '0'}", "", ""));
    struct api_pod *body = api_own_body(pod);
    assert_int_equal(nodes__next_of_pod(&a, pod, &facts, &status).step, NODES__POD_WRITES);
    body->status = status;
    assert_int_equal(nodes__next_of_pod(&a, pod, &facts, &status).step, NODES__POD_WAITS);
    /* What others say beside it does not matter, unless the pod waits for it. */
    struct api_pod_readiness_gate gate = {.condition_type = STR("example.com/gate")};
    body->spec.readiness_gates = (struct api_pod_readiness_gate_list){&gate, 1};
    assert_int_equal(nodes__next_of_pod(&a, pod, &facts, &status).step, NODES__POD_WRITES);
    assert_true(str_is(status.conditions.v[2].type, "Ready"));
    assert_true(str_is(status.conditions.v[2].reason, "ReadinessGatesNotReady"));
    assert_true(str_is(status.conditions.v[2].message,
                       "corresponding condition of pod readiness gate \"example.com/gate\" does "
                       "not exist."));
    api_object_free(pod);
    arena_release(&a);
}

static void first_containers(void **state) {
    (void)state;
    static const char inits[] =
        "hostNetwork: true, initContainers: [{name: x, image: i}, {name: z, "
        "image: i, restartPolicy: Always}]";
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct str text = arena_printf(&a, POD("", "%s", ""), inits);
    struct api_object *pod = object_of(&a, text.p);
    nodes__next_of_pod(&a, pod, &facts, &status);
    assert_true(str_is(status.container_statuses.v[1].state.waiting->reason, "PodInitializing"));
    assert_true(str_is(status.conditions.v[1].message, "containers with incomplete status: [x z]"));
    assert_true(str_is(status.conditions.v[3].message, "containers with unready status: [z a b]"));
    text = arena_printf(&a, POD("", "%s", BEGUN), inits);
    api_object_free(pod);
    pod = object_of(&a, text.p);
    nodes__next_of_pod(&a, pod, &facts, &status);
    assert_true(str_is(status.init_container_statuses.v[0].state.terminated->reason, "Completed"));
    assert_true(status.init_container_statuses.v[0].ready);
    assert_non_null(status.init_container_statuses.v[1].state.running);
    assert_true(str_is(status.pod_ip, "172.16.0.1"));
    api_object_free(pod);
    arena_release(&a);
}

/* What a container was given is what it asks for, from its start on. */
static void resources(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod =
        object_of(&a, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: "
                      "a, image: i, resources: {requests: {cpu: 2}, limits: {cpu: 3}}}]}, status: "
                      "{" BEGUN "}}");
    nodes__next_of_pod(&a, pod, &facts, &status);
    const struct api_container_status *c = &status.container_statuses.v[0];
    assert_int_equal(c->allocated_resources.n, 1);
    assert_int_equal(c->resources->limits.n, 1);
    assert_int_equal(c->resources->requests.v[0].value.value, 2);
    api_object_free(pod);
    arena_release(&a);
}

static void backoff(void **state) {
    (void)state;
    static const int64_t seconds[] = {10, 10, 20, 40, 80, 160, 300, 300};
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(nodes__backoff_seconds(i), seconds[i]);
    assert_int_equal(nodes__backoff_seconds(INT32_MAX), 300);
}

static void addresses(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_node_address list[] = {
        {.type = STR("Hostname"), .address = STR("172.16.0.9")},
        {.type = STR("InternalIP"), .address = nodes__node_address(&a, 70000)}};
    struct api_node node = {.status.addresses = {list, 2}};
    uint32_t index = 0;
    assert_true(nodes__index_of(&node, &index));
    assert_int_equal(index, 70000);
    static const char *const others[] = {"10.0.0.1", "172.32.0.1", "172.16.0.0",  "172.16.0",
                                         "",         "172.16.0.x", "172.16.0.1.2"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        list[1].address = str_of(others[i]);
        assert_false(nodes__index_of(&node, &index));
    }
    assert_int_equal(nodes__number_of(258, nodes__pod_address(&a, 258, 77)), 77);
    assert_int_equal(nodes__number_of(259, nodes__pod_address(&a, 258, 77)), 0);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),     cmocka_unit_test(settles), cmocka_unit_test(first_containers),
        cmocka_unit_test(resources), cmocka_unit_test(backoff), cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
