/* Volumes of pods that are bound: what is written before, and what a pod waits for. */
#include "scene.h"

static int begin(void **state) {
    static struct scene x;
    scene_start(&x, "", "");
    scene_node(&x, "n", 4, "[]");
    scene_create(&x, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: there}, "
                     "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: "
                     "WaitForFirstConsumer}");
    scene_create(&x, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, "
                     "provisioner: example.com/disks, volumeBindingMode: WaitForFirstConsumer}");
    *state = &x;
    return 0;
}

static int end(void **state) {
    scene_stop(*state);
    return 0;
}

static void volume(struct scene *x, const char *name) {
    scene_create(x,
                 "{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: "
                 "{storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: there, "
                 "hostPath: {path: /d}}}",
                 name);
    world_patch(&x->w, API_T_persistent_volume, name, "status",
                "{\"status\":{\"phase\":\"Available\"}}");
}

/* A claim and a pod of that name with it. */
static void pod_with_claim(struct scene *x, const char *name, const char *class) {
    struct arena a = {0};
    scene_create(x,
                 "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: "
                 "{storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: "
                 "{storage: 1Gi}}}}",
                 name, class);
    scene_pod(
        x, name,
        arena_printf(&a, ", volumes: [{name: d, persistentVolumeClaim: {claimName: %s}}]", name).p);
    arena_release(&a);
}

/* What the controller of volumes does in the end. */
static void complete(struct scene *x, const char *claim, const char *volume_name) {
    struct arena a = {0};
    struct str patch = arena_printf(
        &a,
        "{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":"
        "{\"volumeName\":\"%s\"}}",
        volume_name);
    world_patch(&x->w, API_T_persistent_volume_claim, claim, NULL, patch.p);
    arena_release(&a);
}

static struct str annotation(struct scene *x, enum api_type_id type, const char *name,
                             struct str key) {
    const struct label *label = labels_find(&world_get(&x->w, type, name)->meta->annotations, key);
    return label ? arena_str(&x->w.arena, label->value) : (struct str){0};
}

static void a_volume_is_bound_to_its_claim(void **state) {
    struct scene *x = *state;
    volume(x, "v");
    pod_with_claim(x, "a", "there");
    world_run(&x->w, 5);
    struct str uid =
        arena_str(&x->w.arena, world_get(&x->w, API_T_persistent_volume_claim, "a")->meta->uid);
    const struct api_persistent_volume *v = world_get(&x->w, API_T_persistent_volume, "v")->body;
    assert_non_null(v->spec.claim_ref);
    assert_true(str_is(v->spec.claim_ref->name, "a"));
    assert_true(str_is(v->spec.claim_ref->namespace, "default"));
    assert_true(str_eq(v->spec.claim_ref->uid, uid));
    assert_true(str_is(
        annotation(x, API_T_persistent_volume, "v", STR("pv.kubernetes.io/bound-by-controller")),
        "yes"));
    scene_expect_node(x, "a", "");
    assert_true(str_is(scene_get(x, "a")->status.nominated_node_name, "n"));
    complete(x, "a", "v");
    world_run(&x->w, 0.5);
    scene_expect_node(x, "a", "n");
    assert_null(x->s->waiting);
}

static void a_claim_is_provisioned_for_the_node(void **state) {
    struct scene *x = *state;
    pod_with_claim(x, "a", "made");
    world_run(&x->w, 100);
    assert_true(str_is(annotation(x, API_T_persistent_volume_claim, "a",
                                  STR("volume.kubernetes.io/selected-node")),
                       "n"));
    scene_expect_node(x, "a", "");
    volume(x, "made");
    complete(x, "a", "made");
    world_run(&x->w, 0.5);
    scene_expect_node(x, "a", "n");
}

/* The provisioner takes the annotation away. */
static void provisioning_may_fail(void **state) {
    struct scene *x = *state;
    pod_with_claim(x, "a", "made");
    world_run(&x->w, 1);
    world_patch(&x->w, API_T_persistent_volume_claim, "a", NULL,
                "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":null,"
                "\"a\":\"b\"}}}");
    world_run(&x->w, 0.5);
    scene_expect_event(x, "FailedScheduling", "a", 1,
                       "running PreBind plugin \"VolumeBinding\": binding volumes: provisioning "
                       "failed for PVC \"a\"");
    world_run(&x->w, 5); /* it is tried again */
    assert_true(str_is(annotation(x, API_T_persistent_volume_claim, "a",
                                  STR("volume.kubernetes.io/selected-node")),
                       "n"));
}

static void nobody_waits_for_ever(void **state) {
    struct scene *x = *state;
    pod_with_claim(x, "a", "made");
    world_run(&x->w, 599);
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
    world_run(&x->w, 2);
    scene_expect_event(x, "FailedScheduling", "a", 1,
                       "running PreBind plugin \"VolumeBinding\": binding volumes: context "
                       "deadline exceeded");
    scene_expect_condition(x, "a",
                           &(struct scheduler__condition){
                               "PodScheduled", "False", "SchedulerError",
                               STR("running PreBind plugin \"VolumeBinding\": binding volumes: "
                                   "context deadline exceeded")});
}

static void a_pod_that_waits_may_go(void **state) {
    struct scene *x = *state;
    pod_with_claim(x, "a", "made");
    world_run(&x->w, 1);
    assert_non_null(x->s->waiting);
    world_delete(&x->w, API_T_pod, "a");
    world_run(&x->w, 2);
    assert_null(x->s->waiting);
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
}

static void the_next_scheduler_waits_on(void **state) {
    struct scene *x = *state;
    volume(x, "v");
    pod_with_claim(x, "a", "there");
    world_run(&x->w, 1);
    scene_end_scheduler(x);
    scene_begin_scheduler(x);
    world_run(&x->w, 1);
    scene_expect_node(x, "a", "");
    complete(x, "a", "v");
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
}

/* A more important pod needs the node: one that waits is sent back to the queue. */
static void a_pod_that_waits_is_preempted_in_memory(void **state) {
    struct scene *x = *state;
    scene_create(x, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: "
                    "{name: high}, value: 9}");
    pod_with_claim(x, "a", "made");
    world_run(&x->w, 1);
    scene_create(x, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: "
                    "high, containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}}");
    struct str uid = arena_str(&x->w.arena, scene_get(x, "p")->metadata.uid);
    world_run(&x->w, 5);
    scene_expect_node(x, "p", "n");
    scene_expect_node(x, "a", "");
    scene_expect_event(x, "Preempted", "a", 1,
                       arena_printf(&x->w.arena,
                                    "Preempted by pod %.*s on node n (in kube-scheduler memory).",
                                    STR_ARG(uid))
                           .p);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_volume_is_bound_to_its_claim),
        TEST(a_claim_is_provisioned_for_the_node),
        TEST(provisioning_may_fail),
        TEST(nobody_waits_for_ever),
        TEST(a_pod_that_waits_may_go),
        TEST(the_next_scheduler_waits_on),
        TEST(a_pod_that_waits_is_preempted_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
