/* What comes next for a pod: a table of objects and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cost.h"
#include "base/clock.h"
#include "codec/yml.h"
#include "feature/feature.h"
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
#define RUNNING(name)                                                \
    "{name: " name ", ready: true, started: true, restartCount: 1, " \
    "state: {running: {startedAt: " AT(30) "}}}"
#define RUNS \
    "startTime: " AT(30) ", phase: Running, containerStatuses: [" RUNNING("a") ", " RUNNING("b") "]"
#define WAITING(name)                                                                  \
    "{name: " name ", restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}, " \
    "lastState: {terminated: {exitCode: 1, startedAt: " AT(30) ", finishedAt: " AT(35) "}}}"
#define WAITS \
    "startTime: " AT(30) ", phase: Running, containerStatuses: [" WAITING("a") ", " WAITING("b") "]"
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
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", BEGUN), NODES__POD_WRITES, -1, "Failed"},
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", WAITS), NODES__POD_WRITES, -1, "Failed"},
    {POD(DELETED(AT(39), "0"), "", ""), NODES__POD_WRITES, -1, "Failed"},
    {POD(DELETED(AT(39), "0"), "", "phase: Failed"), NODES__POD_WAITS, -1, ""},
    {POD(DELETED("'1970-01-01T00:17:09Z'", "30"), "", "phase: Succeeded"), NODES__POD_GOES, -1, ""},
    {POD(DELETED(AT(39), "0"), "", "phase: Succeeded"), NODES__POD_WAITS, -1, ""},
    {POD("", "", "phase: Failed"), NODES__POD_WAITS, -1, ""},
    /* Times that nobody lives to see, and seconds that no clock counts. */
    {POD("", "", "startTime: '9999-12-31T23:59:59Z'"), NODES__POD_WRITES, -1, "Pending"},
    {POD("", "activeDeadlineSeconds: 5", "startTime: '0001-01-02T00:00:00Z'"), NODES__POD_WRITES,
     -1, "Failed"},
    {POD(DELETED("'9999-12-31T23:59:59Z'", "253402300000"), "", RUNS), NODES__POD_WRITES, -1,
     "Failed"},
    {POD(DELETED(AT(40), "9223372036854775807"), "", RUNS), NODES__POD_WRITES, -1, "Failed"},
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

/* ---- containers that live differently ---- */

/* Leads a pod on until nothing changes at this moment, and then second by second. */
struct story {
    struct arena a;
    struct api_object *pod;
    struct nodes__pod_facts facts;
    struct nodes__pod_next next;
};

static const struct api_pod_status *go_on(struct story *s, int64_t seconds) {
    struct api_pod *body = api_own_body(s->pod);
    for (int64_t i = 0; i <= seconds; i++) {
        for (int k = 0; k < 4; k++) {
            struct api_pod_status status = {0};
            s->next = nodes__next_of_pod(&s->a, s->pod, &s->facts, &status);
            if (s->next.step != NODES__POD_WRITES)
                break;
            body->status = status;
        }
        assert_int_not_equal(s->next.step, NODES__POD_WRITES);
        if (i < seconds)
            s->facts.now += CLOCK_SECOND;
    }
    return &body->status;
}

static struct story begin(const char *meta, const char *spec) {
    struct story s = {.facts = facts};
    AUTO(buf_release) struct buf text = BUF_INIT(65536);
    s.facts.start_delay = 0;
    buf_addf(&text,
             "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u, "
             "generation: 1, %s}, spec: {%s}}",
             meta, spec);
    buf_add_char(&text, 0);
    s.pod = object_of(&s.a, text.p);
    struct feature_config gates;
    feature_config_init(&gates, FEATURE_NEWEST);
    api_object_default(s.pod, &gates.enabled);
    return s;
}

static void end(struct story *s) {
    api_object_free(s->pod);
    arena_release(&s->a);
}

static const struct api_container_status *of(const struct api_container_status_list *list,
                                             const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].name, name))
            return &list->v[i];
    fail_msg("no container %s", name);
    return NULL;
}

static bool is_true(const struct api_pod_status *status, const char *type) {
    for (size_t i = 0; i < status->conditions.n; i++)
        if (str_is(status->conditions.v[i].type, type))
            return str_is(status->conditions.v[i].status, "True");
    fail_msg("no condition %s", type);
    return false;
}

static void first_containers_run_in_turn(void **state) {
    (void)state;
    struct story s = begin(
        "annotations: {z.berth.dev/run-seconds: '3', x.berth.dev/run-seconds: '2'}",
        "restartPolicy: Never, initContainers: [{name: z, image: i}, {name: side, image: i, "
        "restartPolicy: Always, startupProbe: {initialDelaySeconds: 4, exec: {command: [x]}}}, "
        "{name: x, image: i}], containers: [{name: c, image: i, command: [sleep, '5']}]");
    const struct api_pod_status *t = go_on(&s, 0);
    assert_non_null(of(&t->init_container_statuses, "z")->state.running);
    assert_non_null(of(&t->init_container_statuses, "side")->state.waiting);
    assert_true(str_is(t->phase, "Pending"));
    assert_true(is_true(t, "PodReadyToStartContainers"));
    t = go_on(&s, 3);
    assert_true(of(&t->init_container_statuses, "z")->ready);
    assert_non_null(of(&t->init_container_statuses, "side")->state.running);
    assert_false(of(&t->init_container_statuses, "side")->started.v);
    assert_non_null(of(&t->init_container_statuses, "x")->state.waiting);
    t = go_on(&s, 4);
    assert_true(of(&t->init_container_statuses, "side")->started.v);
    assert_non_null(of(&t->init_container_statuses, "x")->state.running);
    assert_false(is_true(t, "Initialized"));
    t = go_on(&s, 2);
    assert_true(is_true(t, "Initialized"));
    assert_true(is_true(t, "Ready"));
    assert_true(str_is(t->phase, "Running"));
    t = go_on(&s, 5);
    assert_true(str_is(t->phase, "Succeeded"));
    assert_int_equal(of(&t->init_container_statuses, "side")->state.terminated->exit_code, 143);
    end(&s);
}

static void first_containers_fail(void **state) {
    (void)state;
    static const char inits[] = "initContainers: [{name: z, image: i, command: ['false']}], "
                                "containers: [{name: c, image: i}]";
    struct story s = begin("", inits);
    const struct api_pod_status *t = go_on(&s, 1);
    assert_true(
        str_is(of(&t->init_container_statuses, "z")->state.waiting->reason, "CrashLoopBackOff"));
    assert_int_equal(of(&t->init_container_statuses, "z")->restart_count, 1);
    assert_true(str_is(t->phase, "Pending"));
    t = go_on(&s, 30);
    assert_int_equal(of(&t->init_container_statuses, "z")->restart_count, 3);
    end(&s);
    AUTO(buf_release) struct buf never = BUF_INIT(4096);
    buf_addf(&never, "restartPolicy: Never, %s", inits);
    buf_add_char(&never, 0);
    s = begin("", never.p);
    t = go_on(&s, 1);
    assert_true(str_is(t->phase, "Failed"));
    assert_non_null(of(&t->container_statuses, "c")->state.waiting);
    end(&s);
}

/* One goes, the other stays: policies and rules of containers before that of the pod. */
static void containers_are_restarted_by_themselves(void **state) {
    (void)state;
    struct story s =
        begin("annotations: {b.berth.dev/run-seconds: '5', b.berth.dev/exit-code: '7'}",
              "restartPolicy: Never, containers: [{name: b, image: i}, {name: a, image: i, "
              "command: [sh, -c, 'exit 42'], restartPolicy: Never, restartPolicyRules: [{action: "
              "Restart, exitCodes: {operator: In, values: [42]}}]}]");
    const struct api_pod_status *t = go_on(&s, 1);
    assert_true(str_is(t->container_statuses.v[0].name, "a"));
    assert_int_equal(of(&t->container_statuses, "a")->restart_count, 1);
    assert_true(str_is(of(&t->container_statuses, "a")->state.waiting->reason, "CrashLoopBackOff"));
    assert_non_null(of(&t->container_statuses, "b")->state.running);
    assert_false(is_true(t, "Ready"));
    t = go_on(&s, 5);
    assert_int_equal(of(&t->container_statuses, "b")->state.terminated->exit_code, 7);
    assert_true(str_is(t->phase, "Running"));
    /* The id of a run is that of the container, and then that of the last one. */
    struct str id = of(&t->container_statuses, "a")->container_id;
    assert_true(str_eq(id, of(&t->container_statuses, "a")->last_state.terminated->container_id));
    end(&s);
}

static void probes(void **state) {
    (void)state;
    struct story s =
        begin("annotations: {slow.berth.dev/ready-seconds: '6', sick.berth.dev/live-seconds: '4', "
              "late.berth.dev/startup-seconds: '100'}",
              "containers: [{name: slow, image: i, readinessProbe: {initialDelaySeconds: 2, exec: "
              "{command: [x]}}}, {name: sick, image: i, livenessProbe: {periodSeconds: 2, exec: "
              "{command: [x]}}}, {name: late, image: i, startupProbe: {periodSeconds: 5, "
              "failureThreshold: 2, exec: {command: [x]}}}, {name: ok, image: i, readinessProbe: "
              "{initialDelaySeconds: 3, exec: {command: [x]}}}]");
    const struct api_pod_status *t = go_on(&s, 2);
    assert_false(of(&t->container_statuses, "ok")->ready);
    assert_true(of(&t->container_statuses, "ok")->started.v);
    t = go_on(&s, 1);
    assert_true(of(&t->container_statuses, "ok")->ready);
    assert_false(of(&t->container_statuses, "slow")->ready);
    t = go_on(&s, 3);
    assert_true(of(&t->container_statuses, "slow")->ready);
    assert_true(of(&t->container_statuses, "sick")->ready);
    assert_false(of(&t->container_statuses, "late")->started.v);
    /* Three failures, 2 s apart; then two, 5 s apart. */
    t = go_on(&s, 4);
    assert_int_equal(of(&t->container_statuses, "sick")->restart_count, 1);
    assert_int_equal(of(&t->container_statuses, "late")->restart_count, 1);
    assert_int_equal(of(&t->container_statuses, "late")->last_state.terminated->exit_code, 143);
    end(&s);
    s = begin("annotations: {berth.dev/ready: 'false'}", "containers: [{name: c, image: i}]");
    assert_false(is_true(go_on(&s, 60), "Ready"));
    end(&s);
}

/* Hooks take their time, and what takes longer than the grace is killed. */
static void stops(void **state) {
    (void)state;
    struct story s =
        begin("", "initContainers: [{name: side, image: i, restartPolicy: Always}], containers: "
                  "[{name: c, image: i, lifecycle: {preStop: {sleep: {seconds: 4}}}}, {name: d, "
                  "image: i}]");
    go_on(&s, 1);
    struct api_object_meta *meta = api_own_meta(s.pod);
    meta->deletion_timestamp = (struct api_time){.sec = 1001 + 30, .set = true};
    meta->deletion_grace_period_seconds = (struct api_opt_i64){true, 30};
    const struct api_pod_status *t = go_on(&s, 3);
    assert_non_null(of(&t->container_statuses, "d")->state.terminated);
    assert_non_null(of(&t->container_statuses, "c")->state.running);
    t = go_on(&s, 3);
    assert_non_null(of(&t->init_container_statuses, "side")->state.running);
    t = go_on(&s, 1);
    assert_int_equal(of(&t->container_statuses, "c")->state.terminated->exit_code, 143);
    assert_non_null(of(&t->init_container_statuses, "side")->state.terminated);
    assert_true(str_is(t->phase, "Failed"));
    assert_int_equal(s.next.step, NODES__POD_GOES);
    end(&s);
    s = begin("annotations: {berth.dev/stop-seconds: '60'}", "containers: [{name: c, image: i}]");
    go_on(&s, 1);
    meta = api_own_meta(s.pod);
    meta->deletion_timestamp = (struct api_time){.sec = 1001 + 2, .set = true};
    meta->deletion_grace_period_seconds = (struct api_opt_i64){true, 2};
    t = go_on(&s, 2);
    assert_int_equal(of(&t->container_statuses, "c")->state.terminated->exit_code, 137);
    end(&s);
}

/* What a program said last is why it failed. */
static void messages(void **state) {
    (void)state;
    struct story s =
        begin("", "restartPolicy: Never, containers: [{name: c, image: i, command: [sh, "
                  "-c, 'echo one; echo -n two; exit 1'], terminationMessagePolicy: "
                  "FallbackToLogsOnError}, {name: d, image: i, command: ['false']}]");
    const struct api_pod_status *t = go_on(&s, 1);
    assert_true(str_is(of(&t->container_statuses, "c")->state.terminated->message, "one\ntwo"));
    assert_int_equal(of(&t->container_statuses, "d")->state.terminated->message.n, 0);
    end(&s);
}

static void ephemeral_containers(void **state) {
    (void)state;
    struct story s = begin("", "containers: [{name: c, image: i}], ephemeralContainers: [{name: e, "
                               "image: busybox, command: [sleep, '3']}]");
    const struct api_pod_status *t = go_on(&s, 1);
    assert_non_null(of(&t->ephemeral_container_statuses, "e")->state.running);
    t = go_on(&s, 3);
    assert_int_equal(of(&t->ephemeral_container_statuses, "e")->state.terminated->exit_code, 0);
    assert_true(str_is(t->phase, "Running"));
    assert_true(is_true(t, "Ready"));
    end(&s);
}

static void backoff(void **state) {
    (void)state;
    static const int64_t seconds[] = {10, 10, 20, 40, 80, 160, 300, 300};
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(nodes__backoff_seconds(i), seconds[i]);
    assert_int_equal(nodes__backoff_seconds(INT32_MAX), 300);
}

/* ---- what another kubelet has told ---- */

#define FOREIGN(name, id, restarts, state)                                                       \
    "{name: " name ", image: 'docker.io/library/i:1', imageID: 'docker.io/library/i@sha256:0', " \
    "containerID: 'containerd://" id "', restartCount: " restarts                                \
    ", allocatedResources: {cpu: 1}, resources: {requests: {cpu: 1}}, volumeMounts: [{name: v, " \
    "mountPath: /v}], " state "}"
#define UP         "ready: true, started: true, state: {running: {startedAt: " AT(30) "}}"
#define TOLD       "type: Ready, status: 'True', lastTransitionTime: " AT(31)
#define TRUE(type) "{type: " type ", status: 'True', observedGeneration: 3}"

/* A pod of a dump: its images and ids are those of a runtime, its conditions in an order of its
 * own. */
static struct api_object *foreign_pod(struct arena *a, const char *spec, const char *containers) {
    struct str text = arena_printf(
        a,
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u, generation: "
        "3}, spec: {containers: [{name: a, image: 'i:1', resources: {requests: {cpu: 1}}}, {name: "
        "b, image: 'i:1', resources: {requests: {cpu: %s}}}]}, status: {phase: Running, "
        "observedGeneration: 3, startTime: " AT(
            30) ", hostIP: 192.0.2.1, podIP: 10.9.9.9, podIPs: "
                "[{ip: 10.9.9.9}], conditions: [{" TOLD
                "}, {type: example.com/gate, status: 'False'}, " TRUE("PodScheduled") ", " TRUE(
                    "Initialized") ", " TRUE("ContainersReady") ", " TRUE("PodReadyToStartContainer"
                                                                          "s") "], "
                                                                               "containerStatuses: "
                                                                               "[%s]}}",
        spec, containers);
    return object_of(a, text.p);
}

static void pods_of_others_stay(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod =
        foreign_pod(&a, "1", FOREIGN("a", "1a", "0", UP) ", " FOREIGN("b", "2b", "4", UP));
    struct nodes__pod_next next = nodes__next_of_pod(&a, pod, &facts, &status);
    assert_int_equal(next.step, NODES__POD_WAITS);
    assert_true(next.at == INT64_MAX);
    api_object_free(pod);
    arena_release(&a);
}

/* What changes is told, and all else stays: who was restarted has an id of ours, who has not and
 * ended before keeps its own, with why it did. */
static void pods_of_others_go_on(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod = foreign_pod(
        &a, "1",
        FOREIGN("a", "1a", "0", UP) ", " FOREIGN(
            "b", "2b", "4",
            "ready: false, started: false, state: {terminated: {reason: OOMKilled, exitCode: 137, "
            "containerID: 'containerd://2b', startedAt: " AT(30) ", finishedAt: " AT(39) "}}"));
    struct api_pod *body = api_own_body(pod);
    assert_int_equal(nodes__next_of_pod(&a, pod, &facts, &status).step, NODES__POD_WRITES);
    const struct api_container_status *b = &status.container_statuses.v[1];
    assert_true(str_is(status.container_statuses.v[0].container_id, "containerd://1a"));
    assert_int_equal(status.container_statuses.v[0].volume_mounts.n, 1);
    assert_true(str_is(b->state.waiting->reason, "CrashLoopBackOff"));
    assert_true(str_is(b->container_id, "containerd://2b"));
    assert_true(str_is(b->last_state.terminated->reason, "OOMKilled"));
    assert_true(str_is(b->last_state.terminated->container_id, "containerd://2b"));
    body->status = status;
    struct nodes__pod_facts later = facts;
    later.now += 100 * CLOCK_SECOND;
    assert_int_equal(nodes__next_of_pod(&a, pod, &later, &status).step, NODES__POD_WRITES);
    b = &status.container_statuses.v[1];
    assert_int_equal(b->restart_count, 5);
    assert_true(str_is(b->image, "i:1"));
    assert_false(str_is(b->container_id, "containerd://2b"));
    assert_true(str_is(b->last_state.terminated->container_id, "containerd://2b"));
    assert_true(str_is(b->last_state.terminated->reason, "OOMKilled"));
    assert_true(str_is(status.pod_ip, "10.9.9.9"));
    api_object_free(pod);
    arena_release(&a);
}

/* What a pod has come to ask for is given to it, and told. */
static void pods_of_others_are_resized(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod =
        foreign_pod(&a, "2", FOREIGN("a", "1a", "0", UP) ", " FOREIGN("b", "2b", "4", UP));
    assert_int_equal(nodes__next_of_pod(&a, pod, &facts, &status).step, NODES__POD_WRITES);
    const struct api_container_status *b = &status.container_statuses.v[1];
    assert_int_equal(b->allocated_resources.v[0].value.value, 2);
    assert_int_equal(b->resources->requests.v[0].value.value, 2);
    assert_true(str_is(b->container_id, "containerd://2b"));
    assert_true(str_is(status.container_statuses.v[0].image, "docker.io/library/i:1"));
    api_object_free(pod);
    arena_release(&a);
}

/* ---- what others write ---- */

#define COUNTED(count, state) \
    BEGUN ", containerStatuses: [{name: a, restartCount: " count ", " state "}]"
#define ENDED_AT(from, to) "{terminated: {exitCode: 1, startedAt: " from ", finishedAt: " to "}}"
#define LONG_AGO           "'0000-01-01T00:00:00Z'"
#define IN_1600            "'1600-01-01T00:00:00Z'"
#define AT_LAST            "'9999-12-31T23:59:59Z'"
#define MOST               "2147483647"

/* Patched into a pod that ends at once and is restarted; its count then. */
static const struct {
    const char *meta, *spec, *status;
    int32_t restarts;
} hostile[] = {
    {"", "", COUNTED(MOST, "state: {running: {startedAt: " AT(30) "}}"), INT32_MAX},
    {"", "", COUNTED(MOST, "lastState: " ENDED_AT(AT(20), AT(21))), INT32_MAX},
    {"", "", COUNTED(MOST, "state: {running: {startedAt: " IN_1600 "}}"), INT32_MAX},
    {"", "", COUNTED("-2147483648", "lastState: " ENDED_AT(AT(30), AT(39))), 0},
    {"", "",
     COUNTED("-2147483648",
             "state: {running: {startedAt: " AT_LAST "}}, lastState: " ENDED_AT(AT(20), AT(21))),
     0},
    {"", "", COUNTED("0", "state: " ENDED_AT(AT_LAST, LONG_AGO)), 1},
    {"", "", COUNTED("7", "state: " ENDED_AT(LONG_AGO, AT_LAST)), 7},
    {DELETED(AT_LAST, "-9223372036854775808"), "",
     COUNTED("7", "state: {running: {startedAt: " LONG_AGO "}}"), 7},
    {DELETED(LONG_AGO, "9223372036854775807"), "",
     COUNTED("7", "state: {running: {startedAt: " AT_LAST "}}"), 7},
    {"annotations: {berth.dev/live-seconds: '" MOST "', berth.dev/stop-seconds: '" MOST "', "
     "berth.dev/startup-seconds: '" MOST "', berth.dev/start-seconds: '" MOST "'}",
     "activeDeadlineSeconds: 9223372036854775807",
     COUNTED("7", "state: {running: {startedAt: " AT_LAST "}}"), 7},
};

#define PROBE                                                                          \
    "{initialDelaySeconds: " MOST ", periodSeconds: " MOST ", failureThreshold: " MOST \
    ", successThreshold: " MOST "}"

/* Any time and count may stand in a status, and any second in a pod: nothing overflows, and the
 * container goes on to live. */
static void hostile_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct arena a = {0};
        struct api_pod_status status = {0};
        struct apiserver_log log = {0};
        struct str text = arena_printf(
            &a,
            "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u, %s}, spec: {containers: [{"
            "name: a, image: i, command: ['false'], startupProbe: " PROBE ", readinessProbe: " PROBE
            ", livenessProbe: " PROBE
            ", lifecycle: {preStop: {sleep: {seconds: 9223372036854775807}}}}], %s}, status: {%s}}",
            hostile[i].meta, hostile[i].spec, hostile[i].status);
        struct api_object *pod = object_of(&a, text.p);
        struct api_pod *body = api_own_body(pod);
        struct nodes__pod_next next = nodes__next_of_pod(&a, pod, &facts, &status);
        if (next.step != NODES__POD_WRITES || next.at <= NOW ||
            status.container_statuses.v[0].restart_count != hostile[i].restarts)
            fail_msg("row %zu: step %d, in %lld ns, %d restarts", i, next.step,
                     (long long)(next.at - NOW), status.container_statuses.v[0].restart_count);
        for (int is_previous = 0; is_previous < 2; is_previous++)
            nodes_read_log(&a, pod, STR("a"), is_previous, NOW, &log);
        body->status = status;
        nodes__next_of_pod(&a, pod, &facts, &status);
        api_object_free(pod);
        arena_release(&a);
    }
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
    arena_release(&a);
}

/* The range of a node's pods, its first address and how many there are. */
static const struct {
    const char *cidr, *second;
    uint32_t most;
} ranges[] = {
    {"", "10.2.3.2", 254},
    {"10.244.7.0/24", "10.244.7.2", 254},
    {"10.244.7.9/16", "10.244.0.2", 254},
    {"10.0.3.192/26", "10.0.3.194", 62},
    {"10.0.3.6/30", "10.0.3.6", 2},
    {"10.0.3.6/31", "10.2.3.2", 254},
    {"10.0.3.0/0", "10.2.3.2", 254},
    {"10.0.3.0/x", "10.2.3.2", 254},
    {"10.0.3/24", "10.2.3.2", 254},
    {"fd00::/64", "10.2.3.2", 254},
};

static void pods_have_the_range_of_their_node(void **state) {
    (void)state;
    struct arena a = {0};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct api_node node = {.spec.pod_cidr = str_of(ranges[i].cidr)};
        struct nodes__range r = nodes__range_of(&node, 259);
        if (!str_is(nodes__pod_address(&a, &r, 2), ranges[i].second) || r.most != ranges[i].most)
            fail_msg("%s: %.*s, %u", ranges[i].cidr, STR_ARG(nodes__pod_address(&a, &r, 2)),
                     r.most);
        assert_int_equal(nodes__number_of(&r, nodes__pod_address(&a, &r, 2)), 2);
        assert_int_equal(nodes__number_of(&r, nodes__pod_address(&a, &r, r.most)), r.most);
        r.first += 256;
        assert_int_equal(nodes__number_of(&r, str_of(ranges[i].second)), 0);
        r.first -= 512;
        assert_int_equal(nodes__number_of(&r, str_of(ranges[i].second)), 0);
        assert_int_equal(nodes__number_of(&r, STR("fd00::2")), 0);
    }
    arena_release(&a);
}

/* A pod that runs, with n readiness gates and n conditions, none of which are the gates'. */
static void look_at_gates(struct cost *c, size_t n) {
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod = object_of(&a, POD("", "", RUNS));
    struct api_pod *body = api_own_body(pod);
    body->spec.readiness_gates =
        (struct api_pod_readiness_gate_list){arena_array(&a, struct api_pod_readiness_gate, n), n};
    body->status.conditions =
        (struct api_pod_condition_list){arena_array(&a, struct api_pod_condition, n), n};
    for (size_t i = 0; i < n; i++) {
        body->spec.readiness_gates.v[i].condition_type = arena_printf(&a, "a.b/c%zu", i);
        body->status.conditions.v[i].type = arena_printf(&a, "a.b/d%zu", i);
    }
    cost_begin(c);
    nodes__next_of_pod(&a, pod, &facts, &status);
    cost_end(c);
    assert_true(str_is(status.conditions.v[n + 2].reason, "ReadinessGatesNotReady"));
    api_object_free(pod);
    arena_release(&a);
}

static void gates_and_conditions(void **state) {
    (void)state;
    double growth = cost_growth(look_at_gates, 4000);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many gates take %.1f times as long", growth);
}

/* The last container has begun, others have not, and n ephemeral ones stand behind them. */
static void lead_ephemeral(struct cost *c, size_t n) {
    struct arena a = {0};
    struct api_pod_status status = {0};
    struct api_object *pod =
        object_of(&a, POD("", "", "startTime: " AT(30) ", containerStatuses: [" RUNNING("b") "]"));
    struct api_pod *body = api_own_body(pod);
    struct api_container_list inits = {arena_array(&a, struct api_container, n), n};
    struct api_ephemeral_container_list others = {
        arena_array(&a, struct api_ephemeral_container, n), n};
    for (size_t i = 0; i < n; i++) {
        inits.v[i].name = arena_printf(&a, "i%zu", i);
        others.v[i].container.name = arena_printf(&a, "e%zu", i);
    }
    body->spec.init_containers = inits;
    body->spec.ephemeral_containers = others;
    cost_begin(c);
    nodes__next_of_pod(&a, pod, &facts, &status);
    cost_end(c);
    assert_int_equal(status.ephemeral_container_statuses.n, n);
    assert_true(status.ephemeral_container_statuses.v[0].state.running);
    api_object_free(pod);
    arena_release(&a);
}

static void many_containers_of_all_sorts(void **state) {
    (void)state;
    double growth = cost_growth(lead_ephemeral, 4000);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many containers take %.1f times as long", growth);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(settles),
        cmocka_unit_test(first_containers),
        cmocka_unit_test(resources),
        cmocka_unit_test(backoff),
        cmocka_unit_test(addresses),
        cmocka_unit_test(pods_have_the_range_of_their_node),
        cmocka_unit_test(first_containers_run_in_turn),
        cmocka_unit_test(first_containers_fail),
        cmocka_unit_test(containers_are_restarted_by_themselves),
        cmocka_unit_test(probes),
        cmocka_unit_test(stops),
        cmocka_unit_test(ephemeral_containers),
        cmocka_unit_test(messages),
        cmocka_unit_test(pods_of_others_stay),
        cmocka_unit_test(pods_of_others_go_on),
        cmocka_unit_test(pods_of_others_are_resized),
        cmocka_unit_test(hostile_values),
        cmocka_unit_test(gates_and_conditions),
        cmocka_unit_test(many_containers_of_all_sorts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
