/* What simulated containers print, by their pod and the time: a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "codec/yml.h"
#include "nodes/nodes.h"

#define AT(second)  "'1970-01-01T00:16:" #second "Z'" /* second 40 is the thousandth */
#define RUNS(since) "state: {running: {startedAt: " AT(since) "}}"
#define ENDED(from, to, code) \
    "{terminated: {exitCode: " #code ", startedAt: " AT(from) ", finishedAt: " AT(to) "}}"
#define SCRIPT "command: [sh, -c, 'echo a; sleep 5; echo b; sleep 10; echo c']"

static const struct {
    const char *meta, *container, *status;
    bool is_previous;
    const char *text; /* seconds behind the 960th */
    int64_t next;     /* likewise; -1: never */
    bool is_over;
} rows[] = {
    {"", SCRIPT, RUNS(36), false, "36 a\n", 41, false},
    {"", SCRIPT, RUNS(30), false, "30 a\n35 b\n", 45, false},
    {"", SCRIPT, "state: " ENDED(30, 36, 137), false, "30 a\n35 b\n", -1, true},
    {"", "", RUNS(38), false, "38 simulated: i is started, restart 2\n", -1, false},
    {"", "", RUNS(38) ", lastState: " ENDED(30, 33, 4), true,
     "30 simulated: i is started, restart 1\n33 simulated: the container exits with code 4\n", -1,
     true},
    {"", "", RUNS(38), true, "", 0, false},
    {"", "", "state: {waiting: {reason: CrashLoopBackOff}}, lastState: " ENDED(30, 33, 1), false,
     "30 simulated: i is started, restart 2\n33 simulated: the container exits with code 1\n", -1,
     true},
    {"", "", "state: {waiting: {reason: ContainerCreating}}", false, "", 0, false},
    {"annotations: {berth.dev/ready-seconds: '3'}",
     "startupProbe: {initialDelaySeconds: 2, failureThreshold: 9, periodSeconds: 1}, "
     "readinessProbe: {initialDelaySeconds: 1}",
     RUNS(38), false,
     "38 simulated: i is started, restart 2\n40 simulated: startup probe succeeds\n", 41, false},
    {"annotations: {berth.dev/live-seconds: '0'}",
     "livenessProbe: {failureThreshold: 2, periodSeconds: 3}", "state: " ENDED(30, 36, 143), false,
     "30 simulated: i is started, restart 2\n36 simulated: liveness probe has failed, the "
     "container "
     "is killed\n36 simulated: the container exits with code 143\n",
     -1, true},
    {"deletionTimestamp: '1970-01-01T00:17:09Z', deletionGracePeriodSeconds: 30", "", RUNS(30),
     false, "30 simulated: i is started, restart 2\n39 simulated: the container is told to stop\n",
     -1, false},
};

static void check(size_t row) {
    struct arena a = {0};
    struct json tree;
    struct err err = {0};
    struct api_object *pod;
    struct apiserver_log log = {0};
    struct buf text = BUF_INIT(65536);
    struct str yaml = arena_printf(
        &a,
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u, %s}, spec: "
        "{containers: [{name: c, image: i, %s}]}, status: {startTime: " AT(
            30) ", phase: Running, "
                "containerStatuses: [{name: c, restartCount: 2, %s}]}}",
        rows[row].meta, rows[row].container, rows[row].status);
    if (yml_parse(&a, yaml, &tree, &err) < 0)
        fail_msg("row %zu: %.*s", row, STR_ARG(yaml));
    if (api_object_decode(&tree, NULL, &pod, NULL) < 0)
        fail_msg("row %zu: %.*s", row, STR_ARG(yaml));
    nodes_read_log(&a, pod, STR("c"), rows[row].is_previous, 1000 * CLOCK_SECOND, &log);
    for (size_t i = 0; i < log.n; i++)
        buf_addf(&text, "%lld %.*s\n", (long long)(log.lines[i].at / CLOCK_SECOND - 960),
                 STR_ARG(log.lines[i].text));
    int64_t next = log.next == INT64_MAX ? -1 : log.next ? log.next / CLOCK_SECOND - 960 : 0;
    if (!str_is(buf_view(&text), rows[row].text) || next != rows[row].next ||
        log.is_over != rows[row].is_over || !log.run.n != !text.n)
        fail_msg("row %zu: next %lld, over %d, %.*s", row, (long long)next, log.is_over,
                 STR_ARG(buf_view(&text)));
    buf_release(&text);
    api_object_free(pod);
    arena_release(&a);
}

static void logs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
