/* Indexed Jobs at work. */
#include <stdio.h>

#include "job_world.h"

#define INDEXED(name, spec) JOB(name, "completionMode: Indexed, " spec)
#define FAILURES            "batch.kubernetes.io/job-index-failure-count"
#define IGNORED             "batch.kubernetes.io/job-index-ignored-failure-count"

static void check_annotation(struct managed *m, const char *pod, const char *key,
                             const char *value) {
    const struct api_object *o = world_get(&m->w, API_T_pod, pod);
    const struct label *l = labels_find(&o->meta->annotations, str_of(key));
    if (!value)
        assert_null(l);
    else if (!l || !str_is(l->value, value))
        fail_msg("%s of %s is %.*s", key, pod, STR_ARG(l ? l->value : STR("absent")));
}

static void end_index(struct managed *m, const char *index, int code) {
    const char *pod = pod_of_index(m, index);
    if (!pod)
        fail_msg("nobody works on index %s", index);
    end_pod(m, pod, code);
}

static void check_indexes(struct managed *m, const char *name, const char *completed,
                          const char *failed) {
    const struct api_job_status *s = job_status(m, name);
    if (!str_is(s->completed_indexes, completed))
        fail_msg("completed: %.*s", STR_ARG(s->completed_indexes));
    assert_true(!failed == !s->failed_indexes.p);
    if (failed && !str_is(s->failed_indexes, failed))
        fail_msg("failed: %.*s", STR_ARG(s->failed_indexes));
}

static void pods_know_their_index(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, INDEXED("pi", "completions: 3, parallelism: 3, "));
    world_run(&m.w, 2);
    const char *name = pod_of_index(&m, "1");
    const struct api_object *o = world_get(&m.w, API_T_pod, name);
    const struct api_pod *pod = o->body;
    assert_true(str_starts(o->meta->name, STR("pi-1-")));
    assert_int_equal(o->meta->name.n, 10);
    assert_true(str_is(pod->spec.hostname, "pi-1"));
    assert_true(str_is(labels_find(&o->meta->labels, STR(INDEX))->value, "1"));
    assert_null(labels_find(&o->meta->annotations, STR(FAILURES)));
    const struct api_env_var_list *env = &pod->spec.containers.v[0].env;
    assert_int_equal(env->n, 1);
    assert_true(str_is(env->v[0].name, "JOB_COMPLETION_INDEX"));
    assert_true(str_is(env->v[0].value_from->field_ref->field_path,
                       "metadata.labels['batch.kubernetes.io/job-completion-index']"));
    end_index(&m, "1", 0);
    world_run(&m.w, 3);
    check_indexes(&m, "pi", "1", NULL);
    end_index(&m, "2", 1);
    world_run(&m.w, 3);
    end_index(&m, "0", 0);
    world_run(&m.w, 20);
    check_indexes(&m, "pi", "0,1", NULL);
    end_index(&m, "2", 0);
    world_run(&m.w, 3);
    check_indexes(&m, "pi", "0-2", NULL);
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    assert_int_equal(job_status(&m, "pi")->succeeded, 3);
    assert_int_equal(job_status(&m, "pi")->failed, 1);
    managed_stop(&m);
}

static void each_index_fails_by_itself(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, INDEXED("pi", "completions: 3, parallelism: 3, backoffLimitPerIndex: 1, "));
    world_run(&m.w, 2);
    check_annotation(&m, pod_of_index(&m, "0"), FAILURES, "0");
    const char *first = pod_of_index(&m, "0");
    end_index(&m, "0", 1);
    world_run(&m.w, 5);
    assert_true(has_finalizer(world_get(&m.w, API_T_pod, first))); /* it knows the count */
    world_run(&m.w, 10);
    check_annotation(&m, pod_of_index(&m, "0"), FAILURES, "1");
    check_annotation(&m, pod_of_index(&m, "0"), IGNORED, NULL);
    assert_false(has_finalizer(world_get(&m.w, API_T_pod, first)));
    check_indexes(&m, "pi", "", "");
    end_index(&m, "0", 1);
    world_run(&m.w, 3);
    check_indexes(&m, "pi", "", "0");
    world_run(&m.w, 60);
    assert_null(pod_of_index(&m, "0"));
    end_index(&m, "1", 0);
    world_run(&m.w, 3);
    check_end(&m, "pi", NULL, NULL, NULL);
    end_index(&m, "2", 0);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Failed", "FailedIndexes", "Job has failed indexes");
    check_indexes(&m, "pi", "1,2", "0");
    assert_int_equal(job_status(&m, "pi")->failed, 2);
    managed_stop(&m);
}

static void too_many_failed_indexes_end_it(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, INDEXED("pi", "completions: 6, parallelism: 6, backoffLimitPerIndex: 0, "
                                     "maxFailedIndexes: 2, "));
    world_run(&m.w, 2);
    end_index(&m, "1", 1);
    end_index(&m, "3", 1);
    world_run(&m.w, 3);
    check_end(&m, "pi", NULL, NULL, NULL);
    end_index(&m, "5", 1);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Failed", "MaxFailedIndexesExceeded",
              "Job has exceeded the specified maximal number of failed indexes");
    check_indexes(&m, "pi", "", "1,3,5");
    assert_int_equal(count_living(&m), 0);
    managed_stop(&m);
}

static void rules_decide_about_indexes(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(
        &m.w,
        INDEXED("pi", "completions: 3, parallelism: 3, backoffLimitPerIndex: 1, "
                      "podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, "
                      "values: [42]}}, {action: Ignore, onExitCodes: {operator: In, values: "
                      "[43]}}]}, "));
    world_run(&m.w, 2);
    end_index(&m, "0", 42);
    end_index(&m, "1", 43);
    world_run(&m.w, 15);
    check_indexes(&m, "pi", "", "0");
    assert_null(pod_of_index(&m, "0"));
    check_annotation(&m, pod_of_index(&m, "1"), FAILURES, "0");
    check_annotation(&m, pod_of_index(&m, "1"), IGNORED, "1");
    assert_int_equal(job_status(&m, "pi")->failed, 1);
    managed_stop(&m);
}

static const struct {
    const char *policy, *ends; /* the indexes that succeed, one after the other */
    int rule;                  /* by which it has; -1: it has not */
} policies[] = {
    {"{succeededIndexes: '0'}", "1", -1},
    {"{succeededIndexes: '0'}", "10", 0},
    {"{succeededIndexes: 0-2}", "01", -1},
    {"{succeededIndexes: 0-2, succeededCount: 2}", "02", 0},
    {"{succeededCount: 3}", "14", -1},
    {"{succeededCount: 3}", "142", 0},
    {"{succeededIndexes: '0,4'}, {succeededIndexes: '1-3', succeededCount: 1}", "43", 1},
};

static void some_successes_are_enough(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct managed m;
        char job[600], message[64];
        snprintf(job, sizeof job,
                 "{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {completionMode: "
                 "Indexed, completions: 5, parallelism: 5, successPolicy: {rules: [%s]}, template: "
                 "{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
                 policies[i].policy);
        snprintf(message, sizeof message, "Matched rules at index %d", policies[i].rule);
        managed_start(&m, "job-controller", "");
        world_create(&m.w, job);
        world_run(&m.w, 2);
        for (const char *c = policies[i].ends; *c; c++)
            end_index(&m, (char[2]){*c}, 0);
        world_run(&m.w, 3);
        if (policies[i].rule < 0) {
            check_end(&m, "pi", NULL, NULL, NULL);
        } else {
            check_end(&m, "pi", "Complete", "SuccessPolicy", message);
            assert_int_equal(job_status(&m, "pi")->failed, 0);
            assert_int_equal(job_status(&m, "pi")->succeeded, (int)strlen(policies[i].ends));
        }
        managed_stop(&m);
    }
}

static void completions_follow_parallelism(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, INDEXED("pi", "completions: 2, parallelism: 2, "));
    world_run(&m.w, 2);
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":4,\"completions\":4}}");
    world_run(&m.w, 2);
    assert_int_equal(count_living(&m), 4);
    end_index(&m, "0", 0);
    end_index(&m, "3", 0);
    world_run(&m.w, 3);
    check_indexes(&m, "pi", "0,3", NULL);
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"parallelism\":2,\"completions\":2}}");
    world_run(&m.w, 3);
    assert_int_equal(count_living(&m), 1);
    check_indexes(&m, "pi", "0", NULL);
    assert_int_equal(job_status(&m, "pi")->succeeded, 1);
    end_index(&m, "1", 0);
    world_run(&m.w, 3);
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    managed_stop(&m);
}

static void one_pod_of_an_index_is_enough(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller", "");
    world_create(&m.w, INDEXED("pi", "completions: 2, parallelism: 2, "));
    world_run(&m.w, 2);
    const char *zero = pod_of_index(&m, "0"), *one = pod_of_index(&m, "1");
    managed_pod_runs(&m, zero, true);
    world_patch(&m.w, API_T_pod, one, NULL,
                "{\"metadata\":{\"annotations\":{\"" INDEX "\":\"0\"}}}");
    world_run(&m.w, 5);
    assert_int_equal(count_living(&m), 2);
    assert_string_equal(pod_of_index(&m, "0"), zero);
    assert_null(world_get(&m.w, API_T_pod, one));
    assert_non_null(pod_of_index(&m, "1"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_know_their_index),
        cmocka_unit_test(each_index_fails_by_itself),
        cmocka_unit_test(too_many_failed_indexes_end_it),
        cmocka_unit_test(rules_decide_about_indexes),
        cmocka_unit_test(some_successes_are_enough),
        cmocka_unit_test(completions_follow_parallelism),
        cmocka_unit_test(one_pod_of_an_index_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
