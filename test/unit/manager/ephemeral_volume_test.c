/* Claims that are made for a pod. */
#include "managed.h"

#define CONTROLLER "ephemeral-volume-controller"

static const char pod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], "
    "volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: "
    "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}";

static void a_pod_gets_its_claim(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, CONTROLLER, "");
    world_create(&m.w, pod);
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "p-scratch");
    assert_non_null(o);
    assert_true(str_is(labels_find(&o->meta->labels, STR("a"))->value, "b"));
    assert_true(str_is(api_object_controller(o)->kind, "Pod"));
    assert_true(str_is(api_object_controller(o)->name, "p"));
    world_patch(&m.w, API_T_persistent_volume_claim, "p-scratch", NULL,
                "{\"metadata\":{\"finalizers\":null}}");
    world_delete(&m.w, API_T_persistent_volume_claim, "p-scratch");
    world_run(&m.w, 1);
    assert_non_null(world_get(&m.w, API_T_persistent_volume_claim, "p-scratch"));
    managed_stop(&m);
}

static void a_claim_of_others_is_left_alone(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, CONTROLLER, "");
    world_create(&m.w, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p-scratch}, "
                       "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
                       "1Gi}}}}");
    world_create(&m.w, pod);
    world_run(&m.w, 1);
    const struct api_event *e = world_event(&m.w, "FailedBinding", "p");
    assert_non_null(e);
    assert_true(str_is(e->message, "ephemeral volume scratch: PVC default/p-scratch was not "
                                   "created for pod default/p (pod is not owner)"));
    world_run(&m.w, 300);
    world_patch(&m.w, API_T_persistent_volume_claim, "p-scratch", NULL,
                "{\"metadata\":{\"finalizers\":null}}");
    world_delete(&m.w, API_T_persistent_volume_claim, "p-scratch");
    world_run(&m.w, 1); /* its name is free, and the pod need not wait any longer */
    const struct api_object *o = world_get(&m.w, API_T_persistent_volume_claim, "p-scratch");
    assert_true(o && str_is(api_object_controller(o)->name, "p"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_gets_its_claim),
        cmocka_unit_test(a_claim_of_others_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
