/* Claims and volumes that are in use stay. */
#include "managed.h"

#define BOTH "persistentvolumeclaim-protection-controller,persistentvolume-protection-controller"

static const char claim[] = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, "
                            "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
                            "1Gi}}}}";

static void make_pod(struct managed *m, const char *node) {
    world_create(&m->w, arena_printf(&m->w.arena,
                                     "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {%s"
                                     "containers: [{name: c, image: i}], volumes: [{name: v, "
                                     "persistentVolumeClaim: {claimName: data}}]}}",
                                     node)
                            .p);
}

static void a_claim_in_use_stays(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, claim);
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "data");
    assert_int_equal(o->meta->finalizers.n, 1);
    make_pod(&m, "nodeName: node1, ");
    world_delete(&m.w, API_T_persistent_volume_claim, "data");
    world_run(&m.w, 10);
    assert_non_null(world_get(&m.w, API_T_persistent_volume_claim, "data"));
    world_delete(&m.w, API_T_pod, "p");
    world_run(&m.w, 1);
    assert_null(world_get(&m.w, API_T_persistent_volume_claim, "data"));
    managed_stop(&m);
}

/* A pod without a node does not use anything yet. */
static void a_claim_that_is_only_asked_for_goes(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, claim);
    make_pod(&m, "");
    world_delete(&m.w, API_T_persistent_volume_claim, "data");
    world_run(&m.w, 1);
    assert_null(world_get(&m.w, API_T_persistent_volume_claim, "data"));
    managed_stop(&m);
}

static void a_finalizer_that_is_missing_comes_back(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, claim);
    world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":"
                "[\"kubernetes.io/pvc-protection\"]}}");
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "data");
    assert_int_equal(o->meta->finalizers.n, 1);
    managed_stop(&m);
}

/* The condition Unused of the claim says this, for this reason. */
static void assert_unused(struct managed *m, const char *status, const char *reason) {
    const struct api_object *o = world_get(&m->w, API_T_persistent_volume_claim, "data");
    const struct api_persistent_volume_claim *body = o->body;
    assert_int_equal(body->status.conditions.n, 1);
    const struct api_persistent_volume_claim_condition *c = body->status.conditions.v;
    if (!str_is(c->type, "Unused") || !str_is(c->status, status) || !str_is(c->reason, reason))
        fail_msg("%.*s is %.*s for %.*s", STR_ARG(c->type), STR_ARG(c->status), STR_ARG(c->reason));
}

/* A claim that is bound tells whether there is a pod that names it, with or without a node. */
static void claims_tell_whether_they_are_used(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, claim);
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "data");
    assert_int_equal(((const struct api_persistent_volume_claim *)o->body)->status.conditions.n, 0);
    world_patch(&m.w, API_T_persistent_volume_claim, "data", "status",
                "{\"status\":{\"phase\":\"Bound\"}}");
    world_run(&m.w, 1);
    assert_unused(&m, "True", "NoPodsUsingPVC");
    make_pod(&m, "");
    world_run(&m.w, 1);
    assert_unused(&m, "False", "PodUsingPVC");
    world_delete(&m.w, API_T_pod, "p");
    world_run(&m.w, 1);
    assert_unused(&m, "True", "NoPodsUsingPVC");
    make_pod(&m, "nodeName: node1, ");
    world_run(&m.w, 1);
    assert_unused(&m, "False", "PodUsingPVC");
    world_patch(&m.w, API_T_pod, "p", "status", "{\"status\":{\"phase\":\"Failed\"}}");
    world_run(&m.w, 1);
    assert_unused(&m, "True", "NoPodsUsingPVC");
    managed_stop(&m);
}

static void nothing_is_told_if_the_gate_is_off(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "PersistentVolumeClaimUnusedSinceTime=false");
    world_create(&m.w, claim);
    world_patch(&m.w, API_T_persistent_volume_claim, "data", "status",
                "{\"status\":{\"phase\":\"Bound\"}}");
    make_pod(&m, "");
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "data");
    assert_int_equal(((const struct api_persistent_volume_claim *)o->body)->status.conditions.n, 0);
    managed_stop(&m);
}

static void a_volume_that_is_bound_stays(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: "
                       "{capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: "
                       "/x}}}");
    world_patch(&m.w, API_T_persistent_volume, "v", "status", "{\"status\":{\"phase\":\"Bound\"}}");
    world_run(&m.w, 1);
    world_delete(&m.w, API_T_persistent_volume, "v");
    world_run(&m.w, 5);
    assert_non_null(world_get(&m.w, API_T_persistent_volume, "v"));
    world_patch(&m.w, API_T_persistent_volume, "v", "status",
                "{\"status\":{\"phase\":\"Released\"}}");
    world_run(&m.w, 1);
    assert_null(world_get(&m.w, API_T_persistent_volume, "v"));
    managed_stop(&m);
}

static void a_class_that_a_claim_names_stays(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "volumeattributesclass-protection-controller", "");
    world_create(&m.w, "{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: "
                       "{name: fast}, driverName: d, parameters: {iops: \"1\"}}");
    world_create(&m.w, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, "
                       "finalizers: []}, spec: {accessModes: [ReadWriteOnce], "
                       "volumeAttributesClassName: fast, resources: {requests: {storage: 1Gi}}}}");
    world_run(&m.w, 1);
    world_delete(&m.w, API_T_volume_attributes_class, "fast");
    world_run(&m.w, 10);
    assert_non_null(world_get(&m.w, API_T_volume_attributes_class, "fast"));
    world_delete(&m.w, API_T_persistent_volume_claim, "data");
    world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":"
                "[\"kubernetes.io/pvc-protection\"]}}");
    world_run(&m.w, 1);
    assert_null(world_get(&m.w, API_T_volume_attributes_class, "fast"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_in_use_stays),
        cmocka_unit_test(a_claim_that_is_only_asked_for_goes),
        cmocka_unit_test(a_finalizer_that_is_missing_comes_back),
        cmocka_unit_test(claims_tell_whether_they_are_used),
        cmocka_unit_test(nothing_is_told_if_the_gate_is_off),
        cmocka_unit_test(a_volume_that_is_bound_stays),
        cmocka_unit_test(a_class_that_a_claim_names_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
