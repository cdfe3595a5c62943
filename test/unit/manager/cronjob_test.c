/* CronJobs, on virtual time: Jobs at their times. The clock begins at 22:13:20 UTC. */
#include <stdio.h>

#include "job_world.h"
#include "manager/manager_metrics.h"

#define ALL "cronjob-controller,job-controller,garbage-collector-controller"
#define CRON(schedule, spec)                                                                    \
    "{apiVersion: batch/v1, kind: CronJob, metadata: {name: tick}, spec: {schedule: '" schedule \
    "', " spec "jobTemplate: {metadata: {labels: {a: b}, annotations: {e: f}}, spec: "          \
    "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}"

/* The minute of the Unix epoch in which the clock begins. */
#define MINUTE (INT64_C(1700000000) / 60)

static const struct api_cron_job_status *status_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_cron_job, "tick");
    return &((const struct api_cron_job *)o->body)->status;
}

/* The Job of so many minutes behind the beginning, or NULL. */
static const struct api_object *job_of(struct managed *m, int64_t minute) {
    char name[64];
    snprintf(name, sizeof name, "tick-%lld", (long long)(MINUTE + minute));
    return world_get(&m->w, API_T_job, name);
}

static const char *annotation(const struct api_object *o) {
    return labels_find(&o->meta->annotations,
                       STR("batch.kubernetes.io/cronjob-scheduled-timestamp"))
        ->value.p;
}

static void jobs_are_made_at_their_times(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("*/2 * * * *", ""));
    world_run(&m.w, 39); /* 22:13:59 */
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    world_run(&m.w, 3);
    const struct api_object *o = job_of(&m, 1);
    assert_non_null(o);
    assert_true(str_starts(str_of(annotation(o)), STR("2023-11-14T22:14:00Z")));
    assert_non_null(labels_find(&o->meta->labels, STR("a")));
    assert_non_null(labels_find(&o->meta->annotations, STR("e")));
    assert_true(str_is(api_object_controller(o)->kind, "CronJob"));
    const struct api_cron_job_status *s = status_of(&m);
    assert_int_equal(s->active.n, 1);
    assert_true(str_is(s->active.v[0].kind, "Job"));
    assert_true(str_is(s->active.v[0].api_version, "batch/v1"));
    assert_true(s->active.v[0].resource_version.n > 0);
    assert_int_equal(s->last_schedule_time.sec, (MINUTE + 1) * 60);
    assert_true(str_starts(world_event(&m.w, "SuccessfulCreate", "tick")->message,
                           STR("Created job tick-")));
    end_pods(&m, 0);
    world_run(&m.w, 5);
    s = status_of(&m);
    assert_int_equal(s->active.n, 0);
    assert_true(s->last_successful_time.set);
    assert_true(str_ends(world_event(&m.w, "SawCompletedJob", "tick")->message,
                         STR(", condition: Complete")));
    world_run(&m.w, 240);
    assert_null(job_of(&m, 2));
    assert_non_null(job_of(&m, 3));
    assert_non_null(job_of(&m, 5)); /* beside the one before, which is still at work */
    assert_int_equal(status_of(&m)->active.n, 2);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    manager_metrics_write(m.manager, &text);
    assert_true(str_find(buf_view(&text),
                         STR("cronjob_controller_job_creation_skew_duration_seconds_bucket{le="
                             "\"1\"} 3\n")) != STR_NONE);
    managed_stop(&m);
}

static void history_is_kept_as_far_as_wished(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", "successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: "
                                         "1, startingDeadlineSeconds: 30, "));
    world_patch(&m.w, API_T_cron_job, "tick", NULL,
                "{\"spec\":{\"jobTemplate\":{\"spec\":{\"backoffLimit\":0}}}}");
    world_run(&m.w, 45);
    for (int i = 0; i < 8; i++) {
        end_pods(&m, i % 2);
        world_run(&m.w, 60);
    }
    assert_int_equal(world_count(&m.w, API_T_job), 4); /* two, one, and one at work */
    assert_non_null(job_of(&m, 9));
    assert_non_null(job_of(&m, 8));
    assert_non_null(job_of(&m, 7));
    assert_null(job_of(&m, 6));
    assert_non_null(job_of(&m, 5));
    assert_non_null(world_event(&m.w, "SuccessfulDelete", "tick"));
    managed_stop(&m);
}

static void one_at_a_time_if_others_are_forbidden(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", "concurrencyPolicy: Forbid, "));
    world_run(&m.w, 300);
    assert_int_equal(world_count(&m.w, API_T_job), 1);
    const struct api_event *e = world_event(&m.w, "JobAlreadyActive", "tick");
    assert_true(str_is(e->message, "Not starting job because prior execution is running and "
                                   "concurrency policy is Forbid"));
    end_pods(&m, 0);
    world_run(&m.w, 3); /* the last time that was missed is made up for */
    assert_int_equal(world_count(&m.w, API_T_job), 2);
    assert_non_null(job_of(&m, 5));
    managed_stop(&m);
}

static void the_new_one_replaces_the_old(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", "concurrencyPolicy: Replace, "));
    world_run(&m.w, 45);
    assert_non_null(job_of(&m, 1));
    world_run(&m.w, 60);
    assert_null(job_of(&m, 1));
    assert_non_null(job_of(&m, 2));
    assert_int_equal(status_of(&m)->active.n, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    managed_stop(&m);
}

static void it_rests_while_it_is_suspended(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", "suspend: true, startingDeadlineSeconds: 10, "));
    world_run(&m.w, 625); /* 22:23:45 */
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    world_patch(&m.w, API_T_cron_job, "tick", NULL, "{\"spec\":{\"suspend\":false}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    world_run(&m.w, 16);
    assert_int_equal(world_count(&m.w, API_T_job), 1);
    managed_stop(&m);
}

/* Of many that were missed one is made, and it is told. */
static void what_was_missed_is_made_up_for_once(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", "suspend: true, "));
    world_run(&m.w, 101 * 60);
    world_patch(&m.w, API_T_cron_job, "tick", NULL, "{\"spec\":{\"suspend\":false}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_job), 1);
    assert_non_null(job_of(&m, 101));
    const struct api_event *e = world_event(&m.w, "TooManyMissedTimes", "tick");
    assert_true(str_is(e->message, "too many missed start times. Set or decrease "
                                   ".spec.startingDeadlineSeconds or check clock skew"));
    managed_stop(&m);
}

/* A new schedule counts from now on. */
static void a_new_schedule_looks_ahead(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("0 0 1 1 *", ""));
    world_run(&m.w, 605);
    world_patch(&m.w, API_T_cron_job, "tick", NULL, "{\"spec\":{\"schedule\":\"* * * * *\"}}");
    world_run(&m.w, 10);
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_job), 1);
    assert_non_null(job_of(&m, 11));
    managed_stop(&m);
}

static void zones_have_their_own_time(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("0 4 * * *", "timeZone: Asia/Kathmandu, ")); /* 22:15 UTC */
    world_run(&m.w, 99);
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    world_run(&m.w, 3);
    const struct api_object *o = job_of(&m, 2);
    assert_non_null(o);
    assert_true(str_starts(str_of(annotation(o)), STR("2023-11-15T04:00:00+05:45")));
    world_run(&m.w, 86400);
    assert_int_equal(world_count(&m.w, API_T_job), 2);
    managed_stop(&m);
}

static void a_schedule_that_never_comes_is_told(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("59 23 31 2 *", ""));
    world_run(&m.w, 3600);
    assert_int_equal(world_count(&m.w, API_T_job), 0);
    const struct api_event *e = world_event(&m.w, "InvalidSchedule", "tick");
    assert_true(str_is(e->message, "invalid schedule: 59 23 31 2 * : time difference between two "
                                   "schedules is less than 1 second"));
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], 0);
    managed_stop(&m);
}

/* Jobs that somebody made from the CronJob, or took away. */
static void other_jobs_are_told_of(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "cronjob-controller", "");
    const struct api_object *cron = world_create(&m.w, CRON("0 0 1 1 *", ""));
    struct str job = arena_printf(
        &m.w.arena,
        "{apiVersion: batch/v1, kind: Job, metadata: {name: mine, ownerReferences: [{apiVersion: "
        "batch/v1, kind: CronJob, name: tick, uid: %.*s, controller: true}]}, spec: {template: "
        "{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
        STR_ARG(cron->meta->uid));
    world_create(&m.w, job.p);
    world_run(&m.w, 1);
    assert_true(str_is(world_event(&m.w, "UnexpectedJob", "tick")->message,
                       "Saw a job that the controller did not create or forgot: mine"));
    world_patch(&m.w, API_T_cron_job, "tick", "status",
                "{\"status\":{\"active\":[{\"kind\":\"Job\",\"namespace\":\"default\",\"name\":"
                "\"lost\",\"uid\":\"x\"}]}}");
    world_run(&m.w, 1);
    assert_int_equal(status_of(&m)->active.n, 0);
    assert_true(
        str_is(world_event(&m.w, "MissingJob", "tick")->message, "Active job went missing: lost"));
    managed_stop(&m);
}

/* The Job was made, but the CronJob's status could not tell of it. */
static void a_job_that_was_forgotten_is_found_again(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CRON("* * * * *", ""));
    world_run(&m.w, 45);
    world_patch(&m.w, API_T_cron_job, "tick", "status",
                "{\"status\":{\"active\":null,\"lastScheduleTime\":null}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_job), 1);
    assert_int_equal(status_of(&m)->active.n, 1);
    assert_int_equal(status_of(&m)->last_schedule_time.sec, (MINUTE + 1) * 60);
    managed_stop(&m);
}

/* Refused Jobs are asked for ever less often. */
static void refused_jobs_are_not_asked_for_in_a_hurry(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: "
                       "{count/jobs.batch: '0'}}}");
    world_patch(&m.w, API_T_resource_quota, "q", "status",
                "{\"status\":{\"hard\":{\"count/jobs.batch\":\"0\"},\"used\":{\"count/"
                "jobs.batch\":\"0\"}}}");
    world_create(&m.w, CRON("0 * * * *", ""));
    world_run(&m.w, 3000); /* 23:03 */
    assert_in_range(m.counting.sent[REGISTRY_VERB_CREATE], 10, 18);
    assert_true(str_starts(world_event(&m.w, "FailedCreate", "tick")->message,
                           STR("Error creating job: jobs.batch \"tick-")));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_made_at_their_times),
        cmocka_unit_test(history_is_kept_as_far_as_wished),
        cmocka_unit_test(one_at_a_time_if_others_are_forbidden),
        cmocka_unit_test(the_new_one_replaces_the_old),
        cmocka_unit_test(it_rests_while_it_is_suspended),
        cmocka_unit_test(what_was_missed_is_made_up_for_once),
        cmocka_unit_test(a_new_schedule_looks_ahead),
        cmocka_unit_test(zones_have_their_own_time),
        cmocka_unit_test(a_schedule_that_never_comes_is_told),
        cmocka_unit_test(other_jobs_are_told_of),
        cmocka_unit_test(a_job_that_was_forgotten_is_found_again),
        cmocka_unit_test(refused_jobs_are_not_asked_for_in_a_hurry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
