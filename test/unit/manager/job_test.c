/* Jobs at work: counting, back-off, deadlines, suspension. */
#include <stdio.h>

#include "job_world.h"
#include "manager/manager_metrics.h"

static void check_released(void *arg, const struct api_object *o) {
    (void)arg;
    assert_false(has_finalizer(o));
}

static void check_tracked(void *arg, const struct api_object *o) {
    const struct api_owner_reference *ref = api_object_controller(o);
    (void)arg;
    assert_true(has_finalizer(o));
    assert_true(str_is(ref->kind, "Job"));
    assert_true(str_is(ref->api_version, "batch/v1"));
    assert_true(str_is(o->meta->generate_name, "pi-"));
}

static void a_job_completes(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "completions: 5, parallelism: 2, "));
    world_run(&m.w, 2);
    assert_int_equal(world_each(&m.w, API_T_pod, check_tracked, NULL), 2);
    assert_int_equal(job_status(&m, "pi")->active, 2);
    assert_int_equal(job_status(&m, "pi")->ready.v, 0);
    assert_true(job_status(&m, "pi")->start_time.set);
    managed_pods_run(&m, true);
    world_run(&m.w, 2);
    assert_int_equal(job_status(&m, "pi")->ready.v, 2);
    end_pods(&m, 0);
    world_run(&m.w, 3);
    assert_int_equal(job_status(&m, "pi")->succeeded, 2);
    assert_int_equal(job_status(&m, "pi")->active, 2);
    end_pods(&m, 0);
    world_run(&m.w, 3);
    assert_int_equal(job_status(&m, "pi")->active, 1);
    check_end(&m, "pi", NULL, NULL, NULL);
    end_pods(&m, 0);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    assert_int_equal(job_status(&m, "pi")->succeeded, 5);
    assert_true(job_status(&m, "pi")->completion_time.set);
    assert_int_equal(world_each(&m.w, API_T_pod, check_released, NULL), 5);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_CREATE], 5);
    assert_true(str_is(world_event(&m.w, "Completed", "pi")->message, "Job completed"));
    assert_non_null(world_event(&m.w, "SuccessfulCreate", "pi"));
    size_t updates = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 600);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], updates);
    managed_stop(&m);
}

/* Without completions the first success ends it, once the others have ended. */
static void a_queue_of_work_completes(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 3, "));
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":2}}");
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    assert_int_equal(names.v.n, 2);
    end_pod(&m, names.v.v[0], 0);
    world_run(&m.w, 30);
    assert_int_equal(count_living(&m), 1);
    check_end(&m, "pi", NULL, NULL, NULL);
    end_pod(&m, names.v.v[1], 1);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    assert_int_equal(job_status(&m, "pi")->succeeded, 1);
    assert_int_equal(job_status(&m, "pi")->failed, 1);
    vec_release(&names.v);
    managed_stop(&m);
}

/* Seconds until there is a living pod again. */
static int seconds_until_alive(struct managed *m) {
    int seconds = 0;
    for (; seconds < 2000 && !count_living(m); seconds++)
        world_run(&m->w, 1);
    return seconds;
}

static void failures_are_followed_by_ever_longer_waits(void **state) {
    static const int waits[] = {10, 20, 40, 80, 160, 320, 600, 600};
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "completions: 2, backoffLimit: 9, "));
    world_run(&m.w, 2);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        end_pods(&m, 1);
        assert_in_range(seconds_until_alive(&m), waits[i] - 1, waits[i] + 2);
    }
    end_pods(&m, 0); /* which ends the back-off */
    assert_in_range(seconds_until_alive(&m), 0, 3);
    end_pods(&m, 1);
    assert_in_range(seconds_until_alive(&m), 9, 12);
    assert_int_equal(job_status(&m, "pi")->failed, 9);
    end_pods(&m, 1);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Failed", "BackoffLimitExceeded",
              "Job has reached the specified backoff limit");
    assert_int_equal(job_status(&m, "pi")->failed, 10);
    const struct api_event *e = world_event(&m.w, "BackoffLimitExceeded", "pi");
    assert_true(str_is(e->type, "Warning"));
    assert_true(str_is(e->message, "Job has reached the specified backoff limit"));
    assert_false(job_status(&m, "pi")->completion_time.set);
    managed_stop(&m);
}

static void restarts_within_pods_count(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, "{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {"
                       "backoffLimit: 3, template: {spec: {restartPolicy: OnFailure, containers: "
                       "[{name: c, image: i}]}}}}");
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    world_patch(&m.w, API_T_pod, names.v.v[0], "status",
                "{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","
                "\"image\":\"i\",\"imageID\":\"i\",\"ready\":true,\"restartCount\":2}]}}");
    world_run(&m.w, 3);
    check_end(&m, "pi", NULL, NULL, NULL);
    world_patch(&m.w, API_T_pod, names.v.v[0], "status",
                "{\"status\":{\"containerStatuses\":[{\"name\":\"c\","
                "\"image\":\"i\",\"imageID\":\"i\",\"ready\":true,\"restartCount\":3}]}}");
    world_run(&m.w, 3);
    check_end(&m, "pi", "Failed", "BackoffLimitExceeded",
              "Job has reached the specified backoff limit");
    assert_int_equal(job_status(&m, "pi")->failed, 1);
    vec_release(&names.v);
    managed_stop(&m);
}

/* Anybody may write a status: a sum that no number tells is not another one. */
static void restarts_below_nothing_do_not_count(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, "{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {"
                       "backoffLimit: 3, template: {spec: {restartPolicy: OnFailure, containers: "
                       "[{name: c, image: i}, {name: d, image: i}]}}}}");
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    world_patch(&m.w, API_T_pod, names.v.v[0], "status",
                "{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","
                "\"image\":\"i\",\"imageID\":\"i\",\"ready\":true,\"restartCount\":-2147483648},"
                "{\"name\":\"d\",\"image\":\"i\",\"imageID\":\"i\",\"ready\":true,"
                "\"restartCount\":-1}]}}");
    world_run(&m.w, 3);
    assert_non_null(world_get(&m.w, API_T_pod, names.v.v[0]));
    check_end(&m, "pi", NULL, NULL, NULL);
    vec_release(&names.v);
    managed_stop(&m);
}

static void a_deadline_ends_it(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 3, completions: 9, activeDeadlineSeconds: 30, "));
    world_run(&m.w, 2);
    managed_pods_run(&m, true);
    world_run(&m.w, 27);
    assert_int_equal(count_living(&m), 3);
    world_run(&m.w, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    check_end(&m, "pi", "Failed", "DeadlineExceeded",
              "Job was active longer than specified deadline");
    assert_int_equal(job_status(&m, "pi")->failed, 3);
    assert_non_null(world_event(&m.w, "DeadlineExceeded", "pi"));
    assert_non_null(world_event(&m.w, "SuccessfulDelete", "pi"));
    managed_stop(&m);
}

static void a_suspended_job_rests(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 2, suspend: true, activeDeadlineSeconds: 20, "));
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_false(job_status(&m, "pi")->start_time.set);
    const struct api_job_condition *c = job_condition(&m, "pi", "Suspended");
    assert_true(str_is(c->reason, "JobSuspended"));
    assert_true(str_is(c->message, "Job suspended"));
    assert_non_null(world_event(&m.w, "Suspended", "pi"));
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"suspend\":false}}");
    world_run(&m.w, 2);
    assert_int_equal(count_living(&m), 2);
    assert_true(job_status(&m, "pi")->start_time.set);
    assert_null(job_condition(&m, "pi", "Suspended"));
    assert_true(str_is(job_status(&m, "pi")->conditions.v[0].reason, "JobResumed"));
    assert_true(str_is(world_event(&m.w, "Resumed", "pi")->message, "Job resumed"));
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"suspend\":true}}");
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_int_equal(job_status(&m, "pi")->active, 0);
    assert_int_equal(job_status(&m, "pi")->failed, 0);
    assert_false(job_status(&m, "pi")->start_time.set);
    check_end(&m, "pi", NULL, NULL, NULL);
    managed_stop(&m);
}

static void parallelism_may_change(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 4, completions: 100, "));
    world_run(&m.w, 2);
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":1}}");
    world_run(&m.w, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_int_equal(job_status(&m, "pi")->active, 1);
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":0}}");
    world_run(&m.w, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":700}}");
    world_run(&m.w, 5);
    assert_int_equal(job_status(&m, "pi")->active, 100);
    assert_int_equal(job_status(&m, "pi")->failed, 0);
    managed_stop(&m);
}

/* More pods end at a time than the status may name. */
static void each_pod_counts_once(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 1200, completions: 1200, "));
    world_run(&m.w, 10);
    assert_int_equal(count_living(&m), 1200);
    end_pods(&m, 0);
    world_run(&m.w, 10);
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    assert_int_equal(job_status(&m, "pi")->succeeded, 1200);
    assert_int_equal(world_each(&m.w, API_T_pod, check_released, NULL), 1200);
    managed_stop(&m);
}

/* A pod that is deleted has failed; it is gone when it is counted. */
static void a_deleted_pod_has_failed(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", ""));
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    world_delete(&m.w, API_T_pod, names.v.v[0]);
    assert_non_null(world_get(&m.w, API_T_pod, names.v.v[0]));
    world_run(&m.w, 2);
    assert_null(world_get(&m.w, API_T_pod, names.v.v[0]));
    world_run(&m.w, 15);
    assert_int_equal(job_status(&m, "pi")->failed, 1);
    assert_int_equal(count_living(&m), 1);
    vec_release(&names.v);
    managed_stop(&m);
}

/* A kubelet has this pod now. */
static void bind(struct managed *m, const char *pod) {
    char text[400];
    snprintf(
        text, sizeof text,
        "{apiVersion: v1, kind: Binding, metadata: {name: %s}, target: {kind: Node, name: one}}",
        pod);
    struct api_object *o = world_object(&m->w, text);
    world_send(&m->w, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                               .kind = client_kind(API_T_pod),
                                               .subresource = "binding",
                                               .namespace = STR("default"),
                                               .name = str_of(pod),
                                               .object = o});
    assert_int_equal(m->w.last.code, ERR_NONE);
}

static void delete_softly(struct managed *m, enum api_type_id type, const char *name) {
    world_send(&m->w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                               .kind = client_kind(type),
                                               .namespace = STR("default"),
                                               .name = str_of(name)});
}

static void a_pod_that_goes_is_replaced_by_policy(void **state) {
    static const struct {
        const char *spec;
        size_t while_it_goes;
    } rows[] = {
        {JOB("pi", "backoffLimit: 9, "), 1},
        {JOB("pi", "backoffLimit: 9, podReplacementPolicy: Failed, "), 0},
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct managed m;
        managed_start(&m, "job-controller", "");
        world_create(&m.w, "{apiVersion: v1, kind: Node, metadata: {name: one}}");
        world_create(&m.w, rows[i].spec);
        world_run(&m.w, 2);
        struct managed_names names = living_pods(&m);
        bind(&m, names.v.v[0]);
        managed_pod_runs(&m, names.v.v[0], true);
        delete_softly(&m, API_T_pod, names.v.v[0]);
        world_run(&m.w, 20);
        assert_int_equal(count_living(&m), rows[i].while_it_goes);
        assert_int_equal(job_status(&m, "pi")->terminating.v, 1);
        end_pod(&m, names.v.v[0], 143);
        world_run(&m.w, 20);
        assert_int_equal(count_living(&m), 1);
        assert_int_equal(job_status(&m, "pi")->failed, 1);
        assert_int_equal(job_status(&m, "pi")->terminating.v, 0);
        vec_release(&names.v);
        managed_stop(&m);
    }
}

static void others_are_left_to_their_controller(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("theirs", "managedBy: example.com/jobs, "));
    world_create(&m.w, JOB("ours", "managedBy: kubernetes.io/job-controller, "));
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_false(job_status(&m, "theirs")->start_time.set);
    managed_stop(&m);
}

static void pods_are_adopted_and_released(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 2, completions: 2, "));
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    const char *name = names.v.v[0];
    world_patch(&m.w, API_T_pod, name, NULL, "{\"metadata\":{\"ownerReferences\":null}}");
    world_run(&m.w, 3);
    const struct api_object *pod = world_get(&m.w, API_T_pod, name);
    assert_true(str_is(api_object_controller(pod)->name, "pi"));
    assert_true(has_finalizer(pod));
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    world_patch(&m.w, API_T_pod, name, NULL, "{\"metadata\":{\"labels\":null}}");
    world_run(&m.w, 3);
    pod = world_get(&m.w, API_T_pod, name);
    assert_null(api_object_controller(pod));
    assert_false(has_finalizer(pod));
    assert_int_equal(job_status(&m, "pi")->active, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    vec_release(&names.v);
    managed_stop(&m);
}

static void pods_of_a_job_that_is_gone_are_let_go(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller,garbage-collector-controller", "");
    world_create(&m.w, JOB("pi", "parallelism: 3, completions: 3, "));
    world_run(&m.w, 2);
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_job),
                                              .namespace = STR("default"),
                                              .name = STR("pi"),
                                              .deletion = {.propagation = STR("Orphan")}});
    world_run(&m.w, 5);
    assert_null(world_get(&m.w, API_T_job, "pi"));
    assert_int_equal(world_each(&m.w, API_T_pod, check_released, NULL), 3);
    world_create(&m.w, JOB("e", "parallelism: 3, completions: 3, "));
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), 6);
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_job),
                                              .namespace = STR("default"),
                                              .name = STR("e"),
                                              .deletion = {.propagation = STR("Foreground")}});
    world_run(&m.w, 5);
    assert_null(world_get(&m.w, API_T_job, "e"));
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    managed_stop(&m);
}

/* Three pods, one after the other, end with these codes (0: none). */
static const struct {
    const char *rules;
    int codes[3];
    int32_t failed;
    const char *reason; /* of its failure; NULL: it goes on */
} rules[] = {
    {"{action: Ignore, onExitCodes: {operator: In, values: [5]}}", {5, 5, 5}, 0, NULL},
    {"{action: Ignore, onExitCodes: {operator: In, values: [5]}}", {5, 6, 5}, 1, NULL},
    {"{action: Ignore, onExitCodes: {operator: In, values: [5]}}",
     {6, 5, 6},
     2,
     "BackoffLimitExceeded"},
    {"{action: Count, onExitCodes: {operator: NotIn, values: [5]}}", {6, 0}, 1, NULL},
    {"{action: FailJob, onExitCodes: {operator: In, values: [5]}}", {6, 5}, 2, "PodFailurePolicy"},
    {"{action: Ignore, onExitCodes: {operator: In, values: [5, 7]}}, {action: FailJob, "
     "onExitCodes: {operator: In, values: [5, 6]}}",
     {5, 7, 6},
     1,
     "PodFailurePolicy"},
};

static void rules_decide_about_the_job(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct managed m;
        managed_start(&m, "job-controller", "");
        world_create(&m.w, arena_printf(&m.w.arena,
                                        JOB("pi", "backoffLimit: 1, podFailurePolicy: {rules: "
                                                  "[%s]}, "),
                                        rules[i].rules)
                               .p);
        for (int k = 0; k < 3 && rules[i].codes[k]; k++) {
            assert_in_range(seconds_until_alive(&m), 0, 50);
            world_run(&m.w, 2);
            end_pods(&m, rules[i].codes[k]);
        }
        world_run(&m.w, 3);
        assert_int_equal(job_status(&m, "pi")->failed, rules[i].failed);
        const struct api_job_condition *c = job_condition(&m, "pi", "Failed");
        assert_true(!c == !rules[i].reason);
        assert_true(!c || str_is(c->reason, rules[i].reason));
        managed_stop(&m);
    }
}

static bool shows(const struct buf *text, const char *line) {
    return str_find(buf_view(text), str_of(line)) != STR_NONE;
}

static void what_is_done_is_counted(void **state) {
    struct managed m;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, JOB("pi", ""));
    world_create(&m.w, JOB("e", "backoffLimit: 0, "));
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    for (size_t i = 0; i < names.v.n; i++)
        end_pod(&m, names.v.v[i], strncmp(names.v.v[i], "pi", 2) != 0);
    world_run(&m.w, 2);
    manager_metrics_write(m.manager, &text);
    assert_true(shows(&text, "\njob_controller_jobs_finished_total{completion_mode=\"NonIndexed\","
                             "reason=\"CompletionsReached\",result=\"succeeded\"} 1\n"));
    assert_true(shows(&text, "reason=\"BackoffLimitExceeded\",result=\"failed\"} 1\n"));
    assert_true(shows(&text, "\njob_controller_job_pods_finished_total{completion_mode="
                             "\"NonIndexed\",result=\"failed\"} 1\n"));
    assert_true(shows(&text, "\njob_controller_job_pods_creation_total{reason=\"new\",status="
                             "\"succeeded\"} 2\n"));
    assert_true(shows(&text, "\njob_controller_job_syncs_total{action=\"pods_created\",completion_"
                             "mode=\"NonIndexed\",result=\"success\"} 2\n"));
    assert_true(shows(&text, "total{event=\"add\"} 2\n"));
    assert_true(shows(&text, "total{event=\"delete\"} 2\n"));
    vec_release(&names.v);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_completes),
        cmocka_unit_test(a_queue_of_work_completes),
        cmocka_unit_test(failures_are_followed_by_ever_longer_waits),
        cmocka_unit_test(restarts_within_pods_count),
        cmocka_unit_test(restarts_below_nothing_do_not_count),
        cmocka_unit_test(a_deadline_ends_it),
        cmocka_unit_test(a_suspended_job_rests),
        cmocka_unit_test(parallelism_may_change),
        cmocka_unit_test(each_pod_counts_once),
        cmocka_unit_test(a_deleted_pod_has_failed),
        cmocka_unit_test(a_pod_that_goes_is_replaced_by_policy),
        cmocka_unit_test(others_are_left_to_their_controller),
        cmocka_unit_test(pods_are_adopted_and_released),
        cmocka_unit_test(pods_of_a_job_that_is_gone_are_let_go),
        cmocka_unit_test(rules_decide_about_the_job),
        cmocka_unit_test(what_is_done_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
