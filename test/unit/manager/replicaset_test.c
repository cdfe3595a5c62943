/* ReplicaSets and ReplicationControllers at work. */
#include "managed.h"

#define SPEC(name, replicas, more)                                                   \
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: " name                 \
    "}, spec: {replicas: " #replicas ", " more "selector: {matchLabels: {app: " name \
    "}}, template: {metadata: {labels: {app: " name                                  \
    "}}, spec: {containers: [{name: c, image: i}]}}}}"

static const struct api_replica_set_status *status_of(struct managed *m, const char *name) {
    const struct api_object *o = world_get(&m->w, API_T_replica_set, name);
    assert_non_null(o);
    return &((const struct api_replica_set *)o->body)->status;
}

static void check_owner(void *arg, const struct api_object *o) {
    const struct api_owner_reference *ref = api_object_controller(o);
    assert_non_null(ref);
    assert_true(str_is(ref->name, arg));
    assert_true(str_is(ref->kind, "ReplicaSet"));
    assert_true(str_is(ref->api_version, "apps/v1"));
    assert_true(ref->block_owner_deletion.v);
    assert_true(str_is(o->meta->generate_name, "web-"));
}

static void pods_are_made(void **state) {
    struct managed m;
    char web[] = "web";
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 10, ""));
    world_run(&m.w, 1);
    assert_int_equal(world_each(&m.w, API_T_pod, check_owner, web), 10);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_CREATE], 10);
    const struct api_replica_set_status *s = status_of(&m, "web");
    assert_int_equal(s->replicas, 10);
    assert_int_equal(s->fully_labeled_replicas, 10);
    assert_int_equal(s->ready_replicas, 0);
    assert_int_equal(s->observed_generation, 1);
    assert_true(s->terminating_replicas.set);
    const struct api_event *e = world_event(&m.w, "SuccessfulCreate", "web");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Created pod: web-")));
    assert_true(str_is(e->source.component, "replicaset-controller"));
    size_t updates = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 600);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], updates);
    managed_stop(&m);
}

static void more_than_a_burst_is_made(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 1200, ""));
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 1200);
    world_patch(&m.w, API_T_replica_set, "web", NULL, "{\"spec\":{\"replicas\":0}}");
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_DELETE], 1200);
    assert_int_equal(status_of(&m, "web")->replicas, 0);
    managed_stop(&m);
}

static void pods_become_available(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 2, "minReadySeconds: 30, "));
    world_run(&m.w, 1);
    managed_pods_run(&m, true);
    world_run(&m.w, 1);
    assert_int_equal(status_of(&m, "web")->ready_replicas, 2);
    assert_int_equal(status_of(&m, "web")->available_replicas, 0);
    world_run(&m.w, 27);
    assert_int_equal(status_of(&m, "web")->available_replicas, 0);
    world_run(&m.w, 2);
    assert_int_equal(status_of(&m, "web")->available_replicas, 2);
    managed_stop(&m);
}

/* Its time would be over before it begins, if it were added up carelessly. */
static void a_pod_that_will_be_ready_is_not_available(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 1, "minReadySeconds: 30, "));
    world_run(&m.w, 1);
    struct managed_names names = managed_names(&m, API_T_pod);
    world_patch(&m.w, API_T_pod, names.v.v[0], "status",
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
                "\"True\",\"lastTransitionTime\":\"" MANAGED_FAR "\"}]}}");
    world_run(&m.w, 60);
    assert_int_equal(status_of(&m, "web")->ready_replicas, 1);
    assert_int_equal(status_of(&m, "web")->available_replicas, 0);
    vec_release(&names.v);
    managed_stop(&m);
}

static void what_goes_is_replaced(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 3, ""));
    world_run(&m.w, 1);
    struct managed_names names = managed_names(&m, API_T_pod);
    world_delete(&m.w, API_T_pod, names.v.v[0]);
    world_patch(&m.w, API_T_pod, names.v.v[1], "status", "{\"status\":{\"phase\":\"Failed\"}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 4); /* the failed one stays */
    assert_int_equal(status_of(&m, "web")->replicas, 3);
    vec_release(&names.v);
    managed_stop(&m);
}

static void those_that_are_not_ready_go_first(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, SPEC("web", 3, ""));
    world_run(&m.w, 1);
    struct managed_names names = managed_names(&m, API_T_pod);
    managed_pod_runs(&m, names.v.v[0], true);
    managed_pod_runs(&m, names.v.v[1], false);
    managed_pod_runs(&m, names.v.v[2], true);
    world_patch(&m.w, API_T_replica_set, "web", NULL, "{\"spec\":{\"replicas\":2}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    assert_null(world_get(&m.w, API_T_pod, names.v.v[1]));
    const struct api_event *e = world_event(&m.w, "SuccessfulDelete", "web");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Deleted pod: web-")));
    assert_int_equal(status_of(&m, "web")->observed_generation, 2);
    vec_release(&names.v);
    managed_stop(&m);
}

static void pods_are_adopted_and_released(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: alone, labels: {app: web}}, "
                       "spec: {containers: [{name: c, image: i}]}}");
    world_create(&m.w, SPEC("web", 2, ""));
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    const struct api_object *pod = world_get(&m.w, API_T_pod, "alone");
    assert_true(str_is(api_object_controller(pod)->name, "web"));
    world_patch(&m.w, API_T_pod, "alone", NULL, "{\"metadata\":{\"labels\":{\"app\":\"x\"}}}");
    world_run(&m.w, 1);
    pod = world_get(&m.w, API_T_pod, "alone");
    assert_null(api_object_controller(pod));
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    /* And back again: one is too many now. */
    world_patch(&m.w, API_T_pod, "alone", NULL, "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    managed_stop(&m);
}

static const char quota[] = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: "
                            "{hard: {pods: '2'}}, status: {hard: {pods: '2'}, used: {pods: '0'}}}";

/* One pod, then two at a time, are asked for; the first refusal ends it, and each further try costs
 * one request, ever less often. */
static void refused_pods_are_not_asked_for_in_a_hurry(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, quota);
    world_patch(&m.w, API_T_resource_quota, "q", "status",
                "{\"status\":{\"hard\":{\"pods\":\"2\"},\"used\":{\"pods\":\"0\"}}}");
    world_create(&m.w, SPEC("web", 100, ""));
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    size_t tries = m.counting.sent[REGISTRY_VERB_CREATE];
    assert_in_range(tries, 4, 20);
    const struct api_event *e = world_event(&m.w, "FailedCreate", "web");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Error creating: pods \"web-")));
    assert_true(str_is(e->type, "Warning"));
    world_run(&m.w, 3600);
    assert_in_range(m.counting.sent[REGISTRY_VERB_CREATE], tries + 2, tries + 8);
    const struct api_replica_set_status *s = status_of(&m, "web");
    assert_int_equal(s->replicas, 2);
    assert_int_equal(s->conditions.n, 1);
    assert_true(str_is(s->conditions.v[0].type, "ReplicaFailure"));
    assert_true(str_is(s->conditions.v[0].status, "True"));
    assert_true(str_is(s->conditions.v[0].reason, "FailedCreate"));
    assert_true(str_find(s->conditions.v[0].message, STR("exceeded quota: q")) != STR_NONE);
    world_patch(&m.w, API_T_replica_set, "web", NULL, "{\"spec\":{\"replicas\":2}}");
    world_run(&m.w, 1);
    assert_int_equal(status_of(&m, "web")->conditions.n, 0);
    managed_stop(&m);
}

static void one_that_goes_makes_nothing(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    world_create(&m.w, "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, finalizers: "
                       "[example.com/x]}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, "
                       "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, "
                       "image: i}]}}}}");
    world_delete(&m.w, API_T_replica_set, "web");
    world_patch(&m.w, API_T_replica_set, "web", NULL, "{\"spec\":{\"replicas\":3}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    managed_stop(&m);
}

static void replication_controllers_do_the_same(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicationcontroller-controller", "");
    world_create(&m.w, "{apiVersion: v1, kind: ReplicationController, metadata: {name: old}, spec: "
                       "{replicas: 3, selector: {app: old}, template: {metadata: {labels: {app: "
                       "old}}, spec: {containers: [{name: c, image: i}]}}}}");
    world_run(&m.w, 1);
    managed_pods_run(&m, true);
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    const struct api_object *o = world_get(&m.w, API_T_replication_controller, "old");
    const struct api_replication_controller *rc = o->body;
    assert_int_equal(rc->status.replicas, 3);
    assert_int_equal(rc->status.available_replicas, 3);
    assert_int_equal(rc->status.observed_generation, 1);
    const struct api_event *e = world_event(&m.w, "SuccessfulCreate", "old");
    assert_true(str_is(e->source.component, "replication-controller"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_made),
        cmocka_unit_test(more_than_a_burst_is_made),
        cmocka_unit_test(pods_become_available),
        cmocka_unit_test(a_pod_that_will_be_ready_is_not_available),
        cmocka_unit_test(what_goes_is_replaced),
        cmocka_unit_test(those_that_are_not_ready_go_first),
        cmocka_unit_test(pods_are_adopted_and_released),
        cmocka_unit_test(refused_pods_are_not_asked_for_in_a_hurry),
        cmocka_unit_test(one_that_goes_makes_nothing),
        cmocka_unit_test(replication_controllers_do_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
