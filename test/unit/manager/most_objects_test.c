/*
 * Workloads that ask for two billion pods get as many as controllers make, a few hundred at a time,
 * and the rest when there is room again.
 */
#include "managed.h"

#include "base/limits.h"
#include "manager/controller_int.h"

#define TEMPLATE(policy) \
    "{metadata: {labels: {a: b}}, spec: {" policy "containers: [{name: c, image: i}]}}"
#define APP(kind, spec)                                         \
    "{apiVersion: apps/v1, kind: " kind                         \
    ", metadata: {name: w}, spec: {replicas: 2147483647, " spec \
    "selector: {matchLabels: {a: b}}, template: " TEMPLATE("") "}}"
#define CLAIM                                                                   \
    "{metadata: {name: c%d}, spec: {accessModes: [ReadWriteOnce], resources: {" \
    "requests: {storage: 1Gi}}}}"

enum { MOST = 20 };

static void start(struct managed *m, const char *controller) {
    managed_start_with(m, controller, "", &(struct manager_opts){.most_objects = MOST});
}

static void check_told(struct managed *m, const char *why) {
    const struct api_event *e = world_event(&m->w, "FailedCreate", "w");
    assert_non_null(e);
    assert_true(str_find(e->message, str_of(why)) != STR_NONE);
}

static void no_more_pods_are_made_than_may_be(void **state) {
    static const struct {
        const char *controller, *object;
    } rows[] = {
        {"replicaset-controller", APP("ReplicaSet", "")},
        {"replicationcontroller-controller",
         "{apiVersion: v1, kind: ReplicationController, metadata: {name: w}, spec: {replicas: "
         "2147483647, selector: {a: b}, template: " TEMPLATE("") "}}"},
        {"statefulset-controller", APP("StatefulSet", "podManagementPolicy: Parallel, ")},
        {"job-controller",
         "{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {parallelism: 2147483647, "
         "template: " TEMPLATE("restartPolicy: Never, ") "}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct managed m;
        start(&m, rows[i].controller);
        world_create(&m.w, rows[i].object);
        world_run(&m.w, 5);
        assert_int_equal(world_count(&m.w, API_T_pod), MOST);
        world_run(&m.w, 600);
        assert_int_equal(world_count(&m.w, API_T_pod), MOST);
        assert_true(m.counting.sent[REGISTRY_VERB_CREATE] <= MOST + 1); /* and a revision */
        check_told(&m, "there are 20 pods, and Berth's controllers make no more");
        managed_stop(&m);
    }
}

/* With its surge it would be more than there are numbers. */
static void a_deployment_gets_as_many_as_there_may_be(void **state) {
    struct managed m;
    (void)state;
    start(&m, "deployment-controller,replicaset-controller");
    world_create(&m.w, APP("Deployment", ""));
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), MOST);
    struct managed_names names = managed_names(&m, API_T_replica_set);
    assert_int_equal(names.v.n, 1);
    const struct api_object *o = world_get(&m.w, API_T_replica_set, names.v.v[0]);
    assert_int_equal(((const struct api_replica_set *)o->body)->spec.replicas.v, INT32_MAX);
    const struct label *most =
        labels_find(&o->meta->annotations, STR("deployment.kubernetes.io/max-replicas"));
    assert_true(str_is(most->value, "2147483647"));
    vec_release(&names.v);
    managed_stop(&m);
}

static void as_many_as_LIMIT_MANAGED_OBJECTS_may_be_made(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    assert_int_equal(manager__room(m.manager, API_T_pod), LIMIT_MANAGED_OBJECTS);
    world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{"
                       "name: c, image: i}]}}");
    world_run(&m.w, 1);
    assert_int_equal(manager__room(m.manager, API_T_pod), LIMIT_MANAGED_OBJECTS - 1);
    managed_stop(&m);
}

/* ---- StatefulSets ---- */

static void ordered_members_come_one_by_one_however_many_there_shall_be(void **state) {
    struct managed m;
    (void)state;
    start(&m, "statefulset-controller");
    world_create(&m.w, APP("StatefulSet", "ordinals: {start: 2147483646}, "));
    for (int i = 0; i < 5; i++) {
        managed_pods_run(&m, true);
        world_run(&m.w, 1);
    }
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    assert_non_null(world_get(&m.w, API_T_pod, "w-2147483646"));
    assert_non_null(world_get(&m.w, API_T_pod, "w-2147483647"));
    managed_stop(&m);
}

/* A set with this many templates of claims, in the arena of the world. */
static const char *set_with_claims(struct managed *m, int templates) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_addf(&text, "%s",
             "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: w}, spec: {replicas: "
             "2147483647, podManagementPolicy: Parallel, selector: {matchLabels: {a: b}}, "
             "template: " TEMPLATE("") ", volumeClaimTemplates: [");
    for (int i = 0; i < templates; i++) {
        buf_addf(&text, i ? ", " : "");
        buf_addf(&text, CLAIM, i);
    }
    buf_add(&text, STR("]}}"));
    const char *copy = arena_str(&m->w.arena, buf_view(&text)).p;
    buf_release(&text);
    return copy;
}

static void no_more_claims_are_made_than_may_be(void **state) {
    struct managed m;
    (void)state;
    start(&m, "statefulset-controller");
    world_create(&m.w, set_with_claims(&m, 8));
    world_run(&m.w, 600);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 16);
    check_told(&m, "there are 20 persistentvolumeclaims, and Berth's controllers make no more");
    managed_stop(&m);
}

static void members_have_at_most_LIMIT_POD_VOLUMES_claims(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct managed m;
        managed_start(&m, "statefulset-controller", "");
        world_create(&m.w, set_with_claims(&m, LIMIT_POD_VOLUMES + more));
        world_patch(&m.w, API_T_stateful_set, "w", NULL, "{\"spec\":{\"replicas\":1}}");
        world_run(&m.w, 10);
        assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim),
                         more ? 0 : LIMIT_POD_VOLUMES);
        assert_int_equal(world_count(&m.w, API_T_pod), more ? 0 : 1);
        if (more)
            check_told(&m, "its members would have more than 1000 volumes");
        managed_stop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_pods_are_made_than_may_be),
        cmocka_unit_test(a_deployment_gets_as_many_as_there_may_be),
        cmocka_unit_test(as_many_as_LIMIT_MANAGED_OBJECTS_may_be_made),
        cmocka_unit_test(ordered_members_come_one_by_one_however_many_there_shall_be),
        cmocka_unit_test(no_more_claims_are_made_than_may_be),
        cmocka_unit_test(members_have_at_most_LIMIT_POD_VOLUMES_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
