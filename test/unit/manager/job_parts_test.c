/* What the controller of Jobs decides with, part by part, as tables. */
#include "job_world.h"

#include "manager/batch/job_int.h"

/* ---- indexes ---- */

static const struct {
    const char *text;
    int32_t completions;
    const char *read;
    int32_t total;
} lists[] = {
    {"", 10, "", 0},
    {"0", 10, "0", 1},
    {"0,1", 10, "0,1", 2},
    {"1-3", 10, "1-3", 3},
    {"0,1,2,4,6-9", 10, "0-2,4,6-9", 8},
    {"0,2-7", 5, "0,2-4", 4},
    {"1,7", 5, "1", 1},
    {"7", 5, "", 0},
    {"x,3", 5, "3", 1},
    {"1-x,3", 5, "3", 1},
    {"3-1,4", 5, "4", 1},
    {"-1,2", 5, "2", 1},
    {"99999999999999999999", 5, "", 0},
    {"0-2147483647", INT32_MAX, "0-2147483646", INT32_MAX},
};

static void lists_of_indexes_are_read(void **state) {
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct job__indexes list =
            job__indexes_parse(&a, str_of(lists[i].text), lists[i].completions);
        struct str text = job__indexes_text(&a, &list);
        if (!str_is(text, lists[i].read))
            fail_msg("%s: %.*s", lists[i].text, STR_ARG(text));
        assert_int_equal(job__indexes_total(&list), lists[i].total);
    }
    arena_release(&a);
}

static const struct {
    const char *x, *y, *both;
    int32_t common;
} pairs[] = {
    {"", "", "", 0},          {"0-2", "", "0-2", 0},        {"0,2,4", "1,3", "0-4", 0},
    {"0-5", "2-3", "0-5", 2}, {"0-2,7-9", "2-7", "0-9", 2}, {"0-9", "1,3,5-7", "0-9", 5},
    {"5", "1", "1,5", 0},     {"1-4,6-8", "3-7", "1-8", 4},
};

static void lists_of_indexes_are_joined(void **state) {
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct job__indexes x = job__indexes_parse(&a, str_of(pairs[i].x), 100);
        struct job__indexes y = job__indexes_parse(&a, str_of(pairs[i].y), 100);
        struct job__indexes both = job__indexes_join(&a, &x, &y);
        assert_true(str_is(job__indexes_text(&a, &both), pairs[i].both));
        assert_int_equal(job__indexes_common(&x, &y), pairs[i].common);
        assert_int_equal(job__indexes_common(&y, &x), pairs[i].common);
    }
    arena_release(&a);
}

static const struct {
    const char *taken;
    int32_t completions;
    size_t most;
    const char *free;
} gaps[] = {
    {"", 3, 10, "0-2"},     {"", 30, 2, "0,1"},       {"0,2", 5, 10, "1,3,4"}, {"0-9", 10, 10, ""},
    {"3-5", 8, 4, "0-2,6"}, {"1,3,5", 7, 3, "0,2,4"}, {"0-1,4", 5, 10, "2,3"},
};

static void free_indexes_are_found(void **state) {
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        size_t n;
        struct job__indexes taken = job__indexes_parse(&a, str_of(gaps[i].taken), 100);
        int32_t *v = job__indexes_free(&a, &taken, gaps[i].completions, gaps[i].most, &n);
        struct job__indexes list = job__indexes_of(&a, v, n);
        assert_true(str_is(job__indexes_text(&a, &list), gaps[i].free));
        for (int32_t k = 0; k < gaps[i].completions; k++)
            assert_false(job__indexes_have(&taken, k) && job__indexes_have(&list, k));
    }
    arena_release(&a);
}

/* ---- back-off ---- */

enum { S = 1, F = 2, OLD = 4 };

static const struct {
    struct job__backoff before;
    struct {
        int what;
        int64_t at;
    } pods[4];
    struct job__backoff after;
    int64_t now, left; /* all of it in seconds */
} records[] = {
    {{0, 0}, {{0}}, {0, 0}, 100, 0},
    {{3, 50}, {{0}}, {3, 50}, 60, 30},
    {{0, 0}, {{F, 90}}, {1, 90}, 95, 5},
    {{0, 0}, {{F, 90}}, {1, 90}, 100, 0},
    {{0, 0}, {{F, 80}, {F, 90}, {F, 85}}, {3, 90}, 100, 30},
    {{4, 70}, {{F, 80}}, {5, 80}, 100, 140},
    {{4, 70}, {{S, 80}}, {0, 0}, 100, 0},
    {{4, 70}, {{S, 80}, {F, 75}}, {0, 0}, 100, 0},
    {{4, 70}, {{S, 80}, {F, 75}, {F, 85}, {F, 95}}, {2, 95}, 100, 15},
    {{1, 70}, {{F | OLD, 80}}, {1, 70}, 75, 5},
    {{70, 70}, {{0}}, {70, 70}, 75, 595},
    {{INT32_MAX - 1, 70}, {{F, 71}}, {INT32_MAX, 71}, 75, 596},
};

/* Times that are further apart than can be told. */
static void a_wait_has_its_limits(void **state) {
    (void)state;
    const struct job__backoff first = {1, -(INT64_MAX / 2 + 1)}, last = {1, INT64_MAX};
    assert_int_equal(job__backoff_left(&first, INT64_MAX), 0);
    assert_true(job__backoff_left(&last, 0) == INT64_MAX);
    assert_true(job__backoff_left(&last, -CLOCK_SECOND) == INT64_MAX);
}

static void failures_are_remembered(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct job__pod v[4];
        struct job__pods pods = {v, 0};
        for (; pods.n < 4 && records[i].pods[pods.n].what; pods.n++) {
            int what = records[i].pods[pods.n].what;
            v[pods.n] = (struct job__pod){.counts = true,
                                          .has_finalizer = true,
                                          .has_succeeded = what & S,
                                          .has_failed = what & F,
                                          .is_uncounted_failure = what & OLD,
                                          .finished_at = records[i].pods[pods.n].at * CLOCK_SECOND};
        }
        struct job__backoff before = records[i].before;
        before.last *= CLOCK_SECOND;
        struct job__backoff after = job__backoff_after(&before, &pods);
        assert_int_equal(after.failures, records[i].after.failures);
        assert_int_equal(after.last, records[i].after.last * CLOCK_SECOND);
        assert_int_equal(job__backoff_left(&after, records[i].now * CLOCK_SECOND),
                         records[i].left * CLOCK_SECOND);
    }
}

/* ---- podFailurePolicy ---- */

#define CODES(action, rest) "{action: " action ", onExitCodes: {" rest "}}"
#define CONDITION(action, type, status) \
    "{action: " action ", onPodConditions: [{type: " type ", status: '" status "'}]}"
#define ENDED(name, code) \
    "{name: " name ", image: i, imageID: i, state: {terminated: {exitCode: " code "}}}"
#define LIVES(name) "{name: " name ", image: i, imageID: i, state: {running: {}}}"

static const struct {
    const char *rules, *status;
    enum job__action action;
    const char *why;
} policies[] = {
    {CODES("FailJob", "operator: In, values: [2, 5]"), "containerStatuses: [" ENDED("c", "5") "]",
     JOB__FAIL_JOB,
     "Container c for pod default/p failed with exit code 5 matching FailJob rule at index 0"},
    {CODES("FailJob", "operator: In, values: [2, 5]"), "containerStatuses: [" ENDED("c", "3") "]",
     JOB__NO_RULE, NULL},
    {CODES("Ignore", "operator: NotIn, values: [5]"), "containerStatuses: [" ENDED("c", "3") "]",
     JOB__IGNORE, NULL},
    {CODES("Ignore", "operator: NotIn, values: [5]"), "containerStatuses: [" ENDED("c", "0") "]",
     JOB__NO_RULE, NULL},
    {CODES("Ignore", "operator: NotIn, values: [5]"), "containerStatuses: [" LIVES("c") "]",
     JOB__NO_RULE, NULL},
    {CODES("Count", "containerName: x, operator: In, values: [5]"),
     "containerStatuses: [" ENDED("c", "5") "]", JOB__NO_RULE, NULL},
    {CODES("Count", "containerName: x, operator: In, values: [5]"),
     "containerStatuses: [" ENDED("c", "1") ", " ENDED("x", "5") "]", JOB__COUNT, NULL},
    {CODES("FailIndex", "operator: In, values: [5]"),
     "initContainerStatuses: [" ENDED("x", "5") "]", JOB__FAIL_INDEX, NULL},
    {CODES("Count", "operator: In, values: [7]") ", " CODES("FailJob", "operator: In, values: [5]"),
     "containerStatuses: [" ENDED("c", "5") "]", JOB__FAIL_JOB,
     "Container c for pod default/p failed with exit code 5 matching FailJob rule at index 1"},
    {CONDITION("Ignore", "DisruptionTarget", "True"),
     "conditions: [{type: DisruptionTarget, status: 'True'}]", JOB__IGNORE, NULL},
    {CONDITION("Ignore", "DisruptionTarget", "True"),
     "conditions: [{type: DisruptionTarget, status: 'False'}]", JOB__NO_RULE, NULL},
    {CONDITION("FailJob", "X", "Unknown"), "conditions: [{type: X, status: Unknown}]",
     JOB__FAIL_JOB, "Pod default/p has condition X matching FailJob rule at index 0"},
    {CODES("NoSuchAction", "operator: In, values: [5]"), "containerStatuses: [" ENDED("c", "5") "]",
     JOB__NO_RULE, NULL},
};

static void rules_are_for_pods(void **state) {
    struct world w = {0};
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct str job =
            arena_printf(&w.arena,
                         "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: "
                         "{podFailurePolicy: {rules: [%s]}}}",
                         policies[i].rules);
        struct str pod = arena_printf(&w.arena,
                                      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "
                                      "default}, status: {phase: Failed, %s}}",
                                      policies[i].status);
        struct api_object *j = world_object(&w, job.p), *p = world_object(&w, pod.p);
        struct str why = {0};
        enum job__action action = job__match_failure_policy(
            &w.arena, ((const struct api_job *)j->body)->spec.pod_failure_policy, p, &why);
        if (action != policies[i].action)
            fail_msg("row %zu: %d", i, (int)action);
        if (policies[i].why && !str_is(why, policies[i].why))
            fail_msg("row %zu: %.*s", i, STR_ARG(why));
        api_object_free(j);
        api_object_free(p);
    }
    arena_release(&w.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_indexes_are_read), cmocka_unit_test(lists_of_indexes_are_joined),
        cmocka_unit_test(free_indexes_are_found),    cmocka_unit_test(failures_are_remembered),
        cmocka_unit_test(rules_are_for_pods),        cmocka_unit_test(a_wait_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
