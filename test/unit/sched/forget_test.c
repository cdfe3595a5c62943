/* What becomes of a pod whose binding failed: it waits again, and all that it took is free. */
#include "sched/metrics_int.h"
#include "sched/sched_int.h"
#include "world.h"

/* The node has room for one pod. */
static int begin(void **state) {
    static struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    world_set(&w,
              object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
                             "'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'1'}}}"));
    *state = &w;
    return 0;
}

static int end(void **state) {
    struct world *w = *state;
    sched_free(w->s);
    return 0;
}

static void set_pod(struct world *w, const char *name, const char *spec) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
                                "'namespace':'d','uid':'%s'},'spec':{'containers':[{'name':'c',"
                                "'image':'i'}]%s}}",
                                name, name, spec));
}

static struct sched_pod_name named(const char *name) {
    return (struct sched_pod_name){STR("d"), str_of(name), str_of(name)};
}

/* Tries the next pod, which must be this one. */
static void expect_next(struct world *w, const char *name, enum sched_outcome outcome) {
    struct sched_result r;
    assert_true(sched_next(w->s, &r));
    assert_true(str_is(r.pod.name, name));
    assert_int_equal(r.outcome, outcome);
}

static void expect_nothing(struct world *w) {
    struct sched_result r;
    assert_false(sched_next(w->s, &r));
}

static void its_node_is_free_for_whoever_waits(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    set_pod(w, "b", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    expect_nothing(w);
    assert_true(sched_forget(w->s, &a));
    expect_next(w, "b", SCHED_SCHEDULED);
    expect_nothing(w); /* a is in its back-off */
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    expect_next(w, "a", SCHED_UNSCHEDULABLE);
}

static void it_backs_off_longer_each_time(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    for (int64_t seconds = 1; seconds <= 8; seconds *= 2) {
        expect_next(w, "a", SCHED_SCHEDULED);
        assert_true(sched_forget(w->s, &a));
        clock_manual_advance(&w->clock, seconds * CLOCK_SECOND);
        expect_nothing(w);
        clock_manual_advance(&w->clock, CLOCK_SECOND);
    }
}

static void it_is_tried_as_it_was_last_told_of(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    set_pod(w, "a", ",'nodeSelector':{'not':'there'}");
    assert_true(sched_forget(w->s, &a));
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    expect_next(w, "a", SCHED_UNSCHEDULABLE);
}

static struct api_object *node_named(const char *name) {
    return object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s'}}", name);
}

/* Neither time nor news end it: whoever binds the pod tells what became of it. */
static void an_assumed_pod_stays_until_somebody_tells(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    set_pod(w, "b", "");
    for (int day = 0; day < 365; day++) {
        clock_manual_advance(&w->clock, 86400 * CLOCK_SECOND);
        set_pod(w, "a", ""); /* a late echo */
        expect_next(w, "b", SCHED_UNSCHEDULABLE);
        expect_nothing(w);
    }
    assert_true(sched_forget(w->s, &a));
    expect_next(w, "b", SCHED_SCHEDULED);
}

/* The node may go meanwhile. What is left of it goes with the pod. */
static void the_node_of_an_assumed_pod_may_go(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    world_delete(w, node_named("n"));
    assert_int_equal(w->s->nodes.by_name.live, 1);
    assert_true(sched_forget(w->s, &a));
    assert_int_equal(w->s->nodes.by_name.live, 0);
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    expect_next(w, "a", SCHED_UNSCHEDULABLE);
}

/* Another pod of its name, or its own end, are news enough. */
static void the_end_of_an_assumed_pod_frees_its_node(void **state) {
    struct world *w = *state;
    static const char *const ends[] = {"'uid':'other'},'status':{'phase':'Pending'}",
                                       "'uid':'a'},'status':{'phase':'Failed'}"};
    for (size_t i = 0; i < 2; i++) {
        set_pod(w, "a", "");
        expect_next(w, "a", SCHED_SCHEDULED);
        world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','spec':{'schedulerName':"
                                    "'none'},'metadata':{'name':'a','namespace':'d',%s}",
                                    ends[i]));
        set_pod(w, "b", "");
        expect_next(w, "b", SCHED_SCHEDULED);
        world_delete(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'b',"
                                       "'namespace':'d'}}"));
    }
}

static void only_an_assumed_pod_is_forgotten(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a"), other = {STR("d"), STR("a"), STR("other")};
    set_pod(w, "a", "");
    assert_false(sched_forget(w->s, &a)); /* it waits */
    expect_next(w, "a", SCHED_SCHEDULED);
    assert_false(sched_forget(w->s, &other));
    set_pod(w, "a", ",'nodeName':'n'");
    assert_false(sched_forget(w->s, &a)); /* it is there */
    world_delete(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a',"
                                   "'namespace':'d'}}"));
    assert_false(sched_forget(w->s, &a)); /* it is gone */
}

static uint64_t count_attempts(const struct world *w, enum sched_outcome outcome) {
    return sched__metrics_value(w->s->metrics, SCHED__METRIC_ATTEMPTS,
                                SCHED__LABELS(0, (uint16_t)outcome));
}

/* An attempt counts once it is known how its binding ended. */
static void a_failed_binding_is_a_failed_attempt(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    assert_int_equal(count_attempts(w, SCHED_SCHEDULED), 0);
    assert_true(sched_forget(w->s, &a));
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    expect_next(w, "a", SCHED_SCHEDULED);
    set_pod(w, "a", ",'nodeName':'n'");
    assert_int_equal(count_attempts(w, SCHED_FAILED), 1);
    assert_int_equal(count_attempts(w, SCHED_SCHEDULED), 1);
}

/* Pods a and b with a claim each, and one volume. */
static void set_two_claims_of_one_volume(struct world *w) {
    static const char *const claims[] = {"a", "b"};
    world_set(w,
              object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':"
                             "{'name':'slow'},'provisioner':'kubernetes.io/no-provisioner',"
                             "'volumeBindingMode':'WaitForFirstConsumer'}"));
    world_set(w, object_of_text(
                     "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
                     "'resourceVersion':'1'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':"
                     "['ReadWriteOnce'],'storageClassName':'slow','local':{'path':'/d'}},'status':"
                     "{'phase':'Available'}}"));
    for (size_t i = 0; i < 2; i++) {
        world_set(w,
                  object_of_text("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':"
                                 "{'name':'%s','namespace':'d','uid':'c%s','resourceVersion':"
                                 "'1'},'spec':{'storageClassName':'slow','accessModes':"
                                 "['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}",
                                 claims[i], claims[i]));
        char spec[128];
        snprintf(spec, sizeof spec,
                 ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'%s'}}]", claims[i]);
        set_pod(w, claims[i], spec);
    }
}

/* Its volume was assumed to be bound to its claim. */
static void its_volume_is_free_again(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_two_claims_of_one_volume(w);
    expect_next(w, "a", SCHED_SCHEDULED);
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    assert_true(sched_forget(w->s, &a));
    expect_next(w, "b", SCHED_SCHEDULED);
}

/* The pod as it is while somebody deletes it. */
static void mark_deleted(struct world *w, const char *name, const char *spec) {
    world_set(w,
              object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
                             "'d','uid':'%s','deletionTimestamp':'2027-01-01T00:00:00Z'},'spec':"
                             "{'containers':[{'name':'c','image':'i'}]%s}}",
                             name, name, spec));
}

/* A binding that the server will refuse keeps nobody from the node. */
static void the_deletion_of_an_assumed_pod_frees_its_node(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    set_pod(w, "b", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    mark_deleted(w, "a", "");
    expect_next(w, "b", SCHED_SCHEDULED);
    mark_deleted(w, "a", ""); /* an echo */
    expect_nothing(w);
    assert_true(sched_forget(w->s, &a));
    clock_manual_advance(&w->clock, 2 * CLOCK_SECOND);
    expect_next(w, "a", SCHED_SKIPPED);
    expect_nothing(w);
}

/* The binding was faster than the deletion. */
static void a_deleted_pod_may_have_been_bound(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    mark_deleted(w, "a", "");
    mark_deleted(w, "a", ",'nodeName':'n'");
    assert_false(sched_forget(w->s, &a));
    assert_int_equal(count_attempts(w, SCHED_SCHEDULED), 1);
    set_pod(w, "b", "");
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
}

static void a_deleted_pod_may_be_gone_before_its_binding_fails(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_pod(w, "a", "");
    expect_next(w, "a", SCHED_SCHEDULED);
    mark_deleted(w, "a", "");
    world_delete(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a',"
                                   "'namespace':'d'}}"));
    assert_false(sched_forget(w->s, &a));
    expect_nothing(w);
}

static void a_pending_pod_that_is_deleted_is_skipped(void **state) {
    struct world *w = *state;
    struct sched_result r;
    set_pod(w, "a", "");
    mark_deleted(w, "a", "");
    assert_true(sched_next(w->s, &r));
    assert_int_equal(r.outcome, SCHED_SKIPPED);
    assert_true(str_is(r.message, "skip schedule deleting pod: d/a"));
    assert_int_equal(count_attempts(w, SCHED_FAILED), 0);
    expect_nothing(w);
    mark_deleted(w, "a", ",'nodeSelector':{'a':'b'}"); /* a change brings it back, as upstream */
    expect_next(w, "a", SCHED_SKIPPED);
    expect_nothing(w);
}

/* When the binding has failed; no hint of VolumeBinding looks at pods, so b is late to know. */
static void the_volume_of_a_deleted_pod_is_free_later(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = named("a");
    set_two_claims_of_one_volume(w);
    expect_next(w, "a", SCHED_SCHEDULED);
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
    clock_manual_advance(&w->clock, 5 * CLOCK_SECOND);
    mark_deleted(w, "a", ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'a'}}]");
    expect_next(w, "b", SCHED_UNSCHEDULABLE);
    assert_true(sched_forget(w->s, &a));
    clock_manual_advance(&w->clock, 400 * CLOCK_SECOND);
    expect_next(w, "b", SCHED_SCHEDULED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_node_is_free_for_whoever_waits, begin, end),
        cmocka_unit_test_setup_teardown(it_backs_off_longer_each_time, begin, end),
        cmocka_unit_test_setup_teardown(it_is_tried_as_it_was_last_told_of, begin, end),
        cmocka_unit_test_setup_teardown(an_assumed_pod_stays_until_somebody_tells, begin, end),
        cmocka_unit_test_setup_teardown(the_node_of_an_assumed_pod_may_go, begin, end),
        cmocka_unit_test_setup_teardown(the_end_of_an_assumed_pod_frees_its_node, begin, end),
        cmocka_unit_test_setup_teardown(only_an_assumed_pod_is_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_binding_is_a_failed_attempt, begin, end),
        cmocka_unit_test_setup_teardown(its_volume_is_free_again, begin, end),
        cmocka_unit_test_setup_teardown(the_deletion_of_an_assumed_pod_frees_its_node, begin, end),
        cmocka_unit_test_setup_teardown(a_deleted_pod_may_have_been_bound, begin, end),
        cmocka_unit_test_setup_teardown(a_deleted_pod_may_be_gone_before_its_binding_fails, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_pending_pod_that_is_deleted_is_skipped, begin, end),
        cmocka_unit_test_setup_teardown(the_volume_of_a_deleted_pod_is_free_later, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
