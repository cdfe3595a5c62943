/* What a decision tells whoever carries it out: volumes to be bound, nominations that were lost. */
#include "sched/sched_int.h"
#include "world.h"

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

static void set_pod(struct world *w, const char *name, const char *rest) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
                                "'namespace':'d','uid':'%s'},'spec':{'containers':[{'name':'c',"
                                "'image':'i'}]%s}",
                                name, name, rest));
}

/* Tries the next pod, which must be this one. */
static struct sched_result expect_next(struct world *w, const char *name,
                                       enum sched_outcome outcome) {
    struct sched_result r;
    assert_true(sched_next(w->s, &r));
    assert_true(str_is(r.pod.name, name));
    assert_int_equal(r.outcome, outcome);
    return r;
}

static void set_class(struct world *w, const char *name, const char *provisioner) {
    world_set(w,
              object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':"
                             "{'name':'%s'},'provisioner':'%s','volumeBindingMode':"
                             "'WaitForFirstConsumer'}",
                             name, provisioner));
}

static void set_claim(struct world *w, const char *name, const char *class) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':"
                                "{'name':'%s','namespace':'d','uid':'u-%s','resourceVersion':'1'},"
                                "'spec':{'storageClassName':'%s','accessModes':['ReadWriteOnce'],"
                                "'resources':{'requests':{'storage':'1Gi'}}}}",
                                name, name, class));
}

static void expect_task(const struct sched_volume_task *task, const char *claim, const char *uid,
                        const char *volume) {
    assert_true(str_is(task->claim, claim));
    assert_true(str_is(task->claim_uid, uid));
    assert_int_equal(task->volume.p != NULL, volume != NULL);
    assert_true(!volume || str_is(task->volume, volume));
}

static void the_volumes_of_a_pod_are_told(void **state) {
    struct world *w = *state;
    set_class(w, "there", "kubernetes.io/no-provisioner");
    set_class(w, "made", "example.com/disks");
    set_claim(w, "a", "there");
    set_claim(w, "b", "made");
    world_set(w, object_of_text(
                     "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
                     "'resourceVersion':'1'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':"
                     "['ReadWriteOnce'],'storageClassName':'there','local':{'path':'/d'}},'status':"
                     "{'phase':'Available'}}"));
    set_pod(w, "p",
            ",'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'b'}},"
            "{'name':'e','persistentVolumeClaim':{'claimName':'a'}}]}");
    struct sched_result r = expect_next(w, "p", SCHED_SCHEDULED);
    assert_int_equal(r.volume_count, 2);
    expect_task(&r.volumes[0], "a", "u-a", "v");
    expect_task(&r.volumes[1], "b", "u-b", NULL);
}

static void a_pod_without_claims_has_no_tasks(void **state) {
    struct world *w = *state;
    set_pod(w, "p", "}");
    assert_int_equal(expect_next(w, "p", SCHED_SCHEDULED).volume_count, 0);
}

/* A more important pod takes the node that was kept for another. */
static void lost_nominations_are_told(void **state) {
    struct world *w = *state;
    set_pod(w, "low", ",'nodeName':'n','priority':1}");
    set_pod(w, "middle", ",'priority':5},'status':{'nominatedNodeName':'n'}");
    set_pod(w, "high", ",'priority':9}");
    struct sched_result r = expect_next(w, "high", SCHED_UNSCHEDULABLE);
    assert_true(str_is(r.nominated, "n"));
    assert_int_equal(r.victim_count, 1);
    assert_int_equal(r.outranked_count, 1);
    assert_true(str_is(r.outranked[0].name, "middle") && str_is(r.outranked[0].uid, "middle"));
}

static void a_pod_that_waits_can_be_activated(void **state) {
    struct world *w = *state;
    struct sched_pod_name a = {STR("d"), STR("a"), STR("a")}, other = {STR("d"), STR("a"), STR("")};
    struct sched_result r;
    set_pod(w, "on", ",'nodeName':'n'}");
    set_pod(w, "a", "}");
    expect_next(w, "a", SCHED_UNSCHEDULABLE);
    assert_false(sched_next(w->s, &r));
    assert_false(sched_activate(w->s, &other));
    assert_true(sched_activate(w->s, &a));
    assert_false(sched_activate(w->s, &a)); /* it is active already */
    expect_next(w, "a", SCHED_UNSCHEDULABLE);
    assert_false(sched_next(w->s, &r));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_volumes_of_a_pod_are_told, begin, end),
        cmocka_unit_test_setup_teardown(a_pod_without_claims_has_no_tasks, begin, end),
        cmocka_unit_test_setup_teardown(lost_nominations_are_told, begin, end),
        cmocka_unit_test_setup_teardown(a_pod_that_waits_can_be_activated, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
