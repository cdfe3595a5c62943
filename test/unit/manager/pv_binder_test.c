/* Claims and volumes find each other, are made for each other, and part. */
#include "managed.h"

#define BINDER "persistentvolume-binder-controller"
#define ALL    BINDER ",berth-volume-provisioner,persistentvolume-protection-controller"

#define CLAIM(name, more)                                                               \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name "}, spec: {" \
    "accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}" more "}}"
#define VOLUME(name, size, more)                                                             \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {capacity: " \
    "{storage: " size "}, accessModes: [ReadWriteOnce], hostPath: {path: /tmp/x}" more "}}"
#define CLASS(name, more)                                                              \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name "}, " \
    "provisioner: disks.example.com" more "}"

#define NO_CLASS ", storageClassName: ''"

static const struct api_persistent_volume_claim *claim_of(struct managed *m, const char *name) {
    const struct api_object *o = world_get(&m->w, API_T_persistent_volume_claim, name);
    assert_non_null(o);
    return o->body;
}

static const struct api_persistent_volume *volume_of(struct managed *m, const char *name) {
    const struct api_object *o = world_get(&m->w, API_T_persistent_volume, name);
    return o ? o->body : NULL;
}

static void check_claim(struct managed *m, const char *name, const char *phase,
                        const char *volume) {
    const struct api_persistent_volume_claim *c = claim_of(m, name);
    if (!str_is(c->status.phase, phase) || !str_is(c->spec.volume_name, volume))
        fail_msg("%s is %.*s with '%.*s', not %s with '%s'", name, STR_ARG(c->status.phase),
                 STR_ARG(c->spec.volume_name), phase, volume);
}

static void check_phase(struct managed *m, const char *name, const char *phase) {
    const struct api_persistent_volume *v = volume_of(m, name);
    if (!v || !str_is(v->status.phase, phase))
        fail_msg("%s is %.*s, not %s", name, v ? (int)v->status.phase.n : 4,
                 v ? v->status.phase.p : "gone", phase);
}

static void check_event(struct managed *m, const char *reason, const char *name,
                        const char *message) {
    const struct api_event *e = world_event(&m->w, reason, name);
    if (!e)
        fail_msg("no event %s of %s", reason, name);
    else if (!str_is(e->message, message))
        fail_msg("%s says: %.*s", reason, STR_ARG(e->message));
}

static bool has_annotation(const struct api_object_meta *meta, const char *key) {
    return labels_find(&meta->annotations, str_of(key));
}

static void the_smallest_that_is_large_enough(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, VOLUME("small", "1Gi", ""));
    world_create(&m.w, VOLUME("large", "9Gi", ""));
    world_create(&m.w, VOLUME("right", "3Gi", ""));
    world_run(&m.w, 1);
    check_phase(&m, "right", "Available");
    world_create(&m.w, CLAIM("data", NO_CLASS));
    world_run(&m.w, 1);
    check_claim(&m, "data", "Bound", "right");
    check_phase(&m, "right", "Bound");
    check_phase(&m, "large", "Available");
    const struct api_persistent_volume_claim *c = claim_of(&m, "data");
    assert_true(has_annotation(&c->metadata, "pv.kubernetes.io/bind-completed"));
    assert_true(has_annotation(&c->metadata, "pv.kubernetes.io/bound-by-controller"));
    struct quantity three;
    quantity_parse(&m.w.arena, STR("3Gi"), &three, NULL);
    assert_int_equal(quantity_cmp(&c->status.capacity.v[0].value, &three), 0);
    assert_true(str_is(c->status.access_modes.v[0], "ReadWriteOnce"));
    const struct api_object_reference *ref = volume_of(&m, "right")->spec.claim_ref;
    assert_true(str_is(ref->name, "data") && str_is(ref->kind, "PersistentVolumeClaim"));
    assert_true(
        has_annotation(&volume_of(&m, "right")->metadata, "pv.kubernetes.io/bound-by-controller"));
    managed_stop(&m);
}

/* What a claim asks for, and which of the volumes it gets; "": none. */
static const struct {
    const char *claim, *volume;
} wishes[] = {
    {", storageClassName: fast", "of-class"},
    {", storageClassName: '', volumeMode: Block", "block"},
    {", storageClassName: '', selector: {matchLabels: {a: b}}", "labelled"},
    {", storageClassName: '', volumeName: many", "many"},
    {", storageClassName: none", ""},
};

static void a_volume_must_match(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct managed m;
        managed_start(&m, BINDER, "");
        world_create(&m.w, VOLUME("of-class", "2Gi", ", storageClassName: fast"));
        world_create(&m.w, VOLUME("block", "2Gi", ", volumeMode: Block"));
        world_create(&m.w, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: labelled, "
                           "labels: {a: b}}, spec: {capacity: {storage: 7Gi}, accessModes: "
                           "[ReadWriteOnce], hostPath: {path: /tmp/x}}}");
        world_create(&m.w, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: many}, spec: "
                           "{capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce, "
                           "ReadOnlyMany], hostPath: {path: /tmp/x}}}");
        world_run(&m.w, 1);
        world_create(&m.w, arena_printf(&m.w.arena, CLAIM("data", "%s"), wishes[i].claim).p);
        world_run(&m.w, 1);
        check_claim(&m, "data", *wishes[i].volume ? "Bound" : "Pending", wishes[i].volume);
        managed_stop(&m);
    }
}

static void a_claim_waits_for_a_volume(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, CLAIM("data", NO_CLASS));
    world_run(&m.w, 1);
    check_claim(&m, "data", "Pending", "");
    check_event(&m, "FailedBinding", "data",
                "no persistent volumes available for this claim and no storage class is set");
    world_create(&m.w, VOLUME("v", "2Gi", ""));
    world_run(&m.w, 16);
    check_claim(&m, "data", "Bound", "v");
    managed_stop(&m);
}

/* Two claims do not get one volume, however fast they come. */
static void a_volume_has_one_claim(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, VOLUME("v", "2Gi", ""));
    world_run(&m.w, 1);
    world_create(&m.w, CLAIM("one", NO_CLASS));
    world_create(&m.w, CLAIM("two", NO_CLASS));
    world_run(&m.w, 1);
    check_claim(&m, "one", "Bound", "v");
    check_claim(&m, "two", "Pending", "");
    managed_stop(&m);
}

static void volumes_and_claims_ask_for_each_other(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, VOLUME("mine", "9Gi", ", claimRef: {namespace: default, name: data}"));
    world_create(&m.w, VOLUME("other", "2Gi", ""));
    world_run(&m.w, 1);
    check_phase(&m, "mine", "Available");
    world_create(&m.w, CLAIM("data", NO_CLASS));
    world_create(&m.w, CLAIM("misfit", ", storageClassName: fast, volumeName: other"));
    world_create(&m.w, CLAIM("late", ", storageClassName: '', volumeName: mine"));
    world_run(&m.w, 1);
    check_claim(&m, "data", "Bound", "mine");
    assert_false(
        has_annotation(&volume_of(&m, "mine")->metadata, "pv.kubernetes.io/bound-by-controller"));
    check_event(&m, "VolumeMismatch", "misfit",
                "Cannot bind to requested volume \"other\": storageClassName does not match");
    check_event(&m, "FailedBinding", "late", "volume \"mine\" already bound to a different claim.");
    managed_stop(&m);
}

/* Reclaim policies, and what becomes of the volume; "": it is gone. */
static const struct {
    const char *more, *phase, *reason, *message;
} policies[] = {
    {"", "Released", NULL, NULL},
    {", persistentVolumeReclaimPolicy: Delete", "", NULL, NULL},
    {", persistentVolumeReclaimPolicy: Recycle", "Available", "VolumeRecycled", "Volume recycled"},
};

static void volumes_are_reclaimed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct managed m;
        managed_start(&m, BINDER ",persistentvolume-protection-controller", "");
        world_create(&m.w, arena_printf(&m.w.arena, VOLUME("v", "2Gi", "%s"), policies[i].more).p);
        world_run(&m.w, 1);
        world_create(&m.w, CLAIM("data", NO_CLASS));
        world_run(&m.w, 1);
        check_phase(&m, "v", "Bound");
        world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                    "{\"metadata\":{\"finalizers\":null}}");
        world_delete(&m.w, API_T_persistent_volume_claim, "data");
        world_run(&m.w, 1);
        if (*policies[i].phase)
            check_phase(&m, "v", policies[i].phase);
        else
            assert_null(volume_of(&m, "v"));
        if (policies[i].reason)
            check_event(&m, policies[i].reason, "v", policies[i].message);
        managed_stop(&m);
    }
}

static void nobody_deletes_what_is_elsewhere(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: "
                       "{capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], nfs: {server: s, "
                       "path: /x}, persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: "
                       "default, name: gone, uid: u-1}}}");
    world_run(&m.w, 1);
    check_phase(&m, "v", "Failed");
    check_event(&m, "VolumeFailedDelete", "v",
                "error getting deleter volume plugin for volume \"v\": no deletable volume plugin "
                "matched");
    managed_stop(&m);
}

/* A volume that an old plug-in has made. */
static void make_old(struct managed *m, const char *policy, const char *finalizers) {
    world_create(&m->w,
                 arena_printf(&m->w.arena,
                              "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, "
                              "annotations: {pv.kubernetes.io/provisioned-by: "
                              "kubernetes.io/host-path}, finalizers: [%s]}, spec: {capacity: "
                              "{storage: 2Gi}, accessModes: [ReadWriteOnce], hostPath: {path: "
                              "/tmp/x}, persistentVolumeReclaimPolicy: %s, claimRef: {namespace: "
                              "default, name: gone, uid: u-1}}}",
                              finalizers, policy)
                     .p);
    world_run(&m->w, 1);
}

static void a_volume_of_an_old_plugin_is_deleted(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER ",persistentvolume-protection-controller", "");
    make_old(&m, "Delete", "");
    assert_null(volume_of(&m, "v"));
    assert_true(m.counting.sent[REGISTRY_VERB_UPDATE] < 10);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_DELETE], 1);
    managed_stop(&m);
}

/* Only volumes that are deleted with their claims are protected by the finalizer. */
static void a_volume_that_stays_needs_no_finalizer(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    make_old(&m, "Retain", "external-provisioner.volume.kubernetes.io/finalizer, a.b/c");
    check_phase(&m, "v", "Released");
    const struct api_strs *left = &volume_of(&m, "v")->metadata.finalizers;
    assert_int_equal(left->n, 2);
    assert_true(str_is(left->v[0], "a.b/c"));
    assert_true(str_is(left->v[1], "kubernetes.io/pv-protection"));
    managed_stop(&m);
}

static void a_claim_can_lose_its_volume(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, VOLUME("v", "2Gi", ""));
    world_run(&m.w, 1);
    world_create(&m.w, CLAIM("data", NO_CLASS));
    world_run(&m.w, 1);
    world_patch(&m.w, API_T_persistent_volume, "v", NULL, "{\"metadata\":{\"finalizers\":null}}");
    world_delete(&m.w, API_T_persistent_volume, "v");
    world_run(&m.w, 1);
    check_claim(&m, "data", "Lost", "v");
    assert_int_equal(claim_of(&m, "data")->status.capacity.n, 0);
    check_event(&m, "ClaimLost", "data",
                "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    managed_stop(&m);
}

/* What was lost is found, with the claim's name on it or without. */
static void a_volume_may_come_back(void **state) {
    (void)state;
    for (int is_named = 0; is_named < 2; is_named++) {
        struct managed m;
        managed_start(&m, BINDER, "");
        world_create(&m.w, VOLUME("v", "2Gi", ""));
        world_create(&m.w, CLAIM("data", NO_CLASS ", volumeName: v"));
        world_run(&m.w, 1);
        check_claim(&m, "data", "Bound", "v");
        struct str uid = arena_str(&m.w.arena, claim_of(&m, "data")->metadata.uid);
        world_patch(&m.w, API_T_persistent_volume, "v", NULL,
                    "{\"metadata\":{\"finalizers\":null}}");
        world_delete(&m.w, API_T_persistent_volume, "v");
        world_run(&m.w, 1);
        check_claim(&m, "data", "Lost", "v");
        struct str ref =
            is_named ? arena_printf(&m.w.arena,
                                    ", claimRef: {namespace: default, name: data, uid: %.*s}",
                                    STR_ARG(uid))
                     : STR("");
        world_create(&m.w, arena_printf(&m.w.arena, VOLUME("v", "2Gi", "%.*s"), STR_ARG(ref)).p);
        world_run(&m.w, 1);
        check_claim(&m, "data", "Bound", "v");
        check_phase(&m, "v", "Bound");
        managed_stop(&m);
    }
}

static void a_bound_volume_is_not_given_away(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, VOLUME("v", "2Gi", ""));
    world_run(&m.w, 1);
    world_create(&m.w, CLAIM("data", NO_CLASS));
    world_run(&m.w, 1);
    world_create(&m.w, CLAIM("other", NO_CLASS));
    world_patch(&m.w, API_T_persistent_volume, "v", NULL, "{\"spec\":{\"claimRef\":null}}");
    world_run(&m.w, 20);
    check_phase(&m, "v", "Bound");
    assert_true(str_is(volume_of(&m, "v")->spec.claim_ref->name, "data"));
    check_claim(&m, "data", "Bound", "v");
    check_claim(&m, "other", "Pending", "");
    size_t updates = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 60);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], updates);
    managed_stop(&m);
}

/* The volume knows of the claim, but the claim does not know of the volume. */
static void a_claim_may_go_half_bound(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BINDER, "");
    world_create(&m.w, CLAIM("data", NO_CLASS ", volumeMode: Block"));
    struct str uid = claim_of(&m, "data")->metadata.uid;
    world_create(&m.w, arena_printf(&m.w.arena,
                                    VOLUME("v", "2Gi",
                                           ", claimRef: {namespace: default, name: data, "
                                           "uid: %.*s}"),
                                    STR_ARG(uid))
                           .p);
    world_run(&m.w, 1);
    check_claim(&m, "data", "Pending", "");
    world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                "{\"metadata\":{\"finalizers\":null}}");
    world_delete(&m.w, API_T_persistent_volume_claim, "data");
    world_run(&m.w, 1);
    check_phase(&m, "v", "Released");
    managed_stop(&m);
}

static void a_default_class_comes_late(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CLAIM("data", ""));
    world_run(&m.w, 1);
    check_claim(&m, "data", "Pending", "");
    world_create(&m.w, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: any, "
                       "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}, "
                       "provisioner: disks.example.com}");
    world_run(&m.w, 16);
    assert_true(str_is(claim_of(&m, "data")->spec.storage_class_name, "any"));
    assert_true(str_is(claim_of(&m, "data")->status.phase, "Bound"));
    managed_stop(&m);
}

/* ---- provisioning ---- */

static void a_volume_is_made_and_deleted(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, CLASS("disks", ", mountOptions: [noatime]"));
    world_create(&m.w, CLAIM("data", ", storageClassName: disks"));
    world_run(&m.w, 1);
    const struct api_persistent_volume_claim *c = claim_of(&m, "data");
    assert_true(str_is(c->status.phase, "Bound"));
    assert_true(has_annotation(&c->metadata, "volume.kubernetes.io/storage-provisioner"));
    assert_true(has_annotation(&c->metadata, "volume.beta.kubernetes.io/storage-provisioner"));
    const char *name = arena_str(&m.w.arena, c->spec.volume_name).p;
    check_event(&m, "ExternalProvisioning", "data",
                "Waiting for a volume to be created either by the external provisioner "
                "'disks.example.com' or manually by the system administrator. If volume creation "
                "is delayed, please verify that the provisioner is running and correctly "
                "registered.");
    check_event(&m, "ProvisioningSucceeded", "data",
                arena_printf(&m.w.arena, "Successfully provisioned volume %s", name).p);
    check_phase(&m, name, "Bound");
    const struct api_persistent_volume_spec *spec = &volume_of(&m, name)->spec;
    assert_true(str_starts(str_of(name), STR("pvc-")));
    assert_true(str_is(spec->persistent_volume_source.csi->driver, "disks.example.com"));
    assert_true(str_is(spec->persistent_volume_reclaim_policy, "Delete"));
    assert_true(str_is(spec->storage_class_name, "disks"));
    assert_int_equal(spec->mount_options.n, 1);
    assert_null(spec->node_affinity);
    world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                "{\"metadata\":{\"finalizers\":null}}");
    world_delete(&m.w, API_T_persistent_volume_claim, "data");
    world_run(&m.w, 1);
    assert_null(volume_of(&m, name));
    managed_stop(&m);
}

static void make_waiting(struct managed *m) {
    managed_start(m, ALL, "");
    world_create(&m->w, "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: "
                        "{topology.kubernetes.io/zone: north, topology.kubernetes.io/region: "
                        "here}}}");
    world_create(&m->w, CLASS("disks", ", volumeBindingMode: WaitForFirstConsumer"));
    world_create(&m->w, CLAIM("data", ", storageClassName: disks"));
    world_run(&m->w, 1);
}

static void a_claim_waits_for_its_first_consumer(void **state) {
    struct managed m;
    (void)state;
    make_waiting(&m);
    check_claim(&m, "data", "Pending", "");
    check_event(&m, "WaitForFirstConsumer", "data",
                "waiting for first consumer to be created before binding");
    world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: "
                       "[{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: "
                       "{claimName: data}}]}}");
    world_run(&m.w, 16);
    check_event(&m, "WaitForPodScheduled", "data", "waiting for pod p to be scheduled");
    world_patch(&m.w, API_T_persistent_volume_claim, "data", NULL,
                "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n1\"}}}");
    world_run(&m.w, 1);
    const struct api_persistent_volume_claim *c = claim_of(&m, "data");
    assert_true(str_is(c->status.phase, "Bound"));
    const char *name = arena_str(&m.w.arena, c->spec.volume_name).p;
    const struct api_node_selector *where = volume_of(&m, name)->spec.node_affinity->required;
    assert_int_equal(where->node_selector_terms.n, 1);
    assert_int_equal(where->node_selector_terms.v[0].match_expressions.n, 2);
    const struct api_node_selector_requirement *zone =
        &where->node_selector_terms.v[0].match_expressions.v[1];
    assert_true(str_is(zone->key, "topology.kubernetes.io/zone"));
    assert_true(str_is(zone->values.v[0], "north"));
    managed_stop(&m);
}

/* Provisioners that make nothing, and what is said of them. */
static const struct {
    const char *class, *message;
} refusals[] = {
    {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disks}, provisioner: "
     "kubernetes.io/no-provisioner}",
     "no volume plugin matched name: kubernetes.io/no-provisioner"},
    {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: other}, provisioner: "
     "a.b}",
     "storageclass.storage.k8s.io \"disks\" not found"},
};

static void some_provision_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct managed m;
        managed_start(&m, ALL, "");
        world_create(&m.w, refusals[i].class);
        world_create(&m.w, CLAIM("data", ", storageClassName: disks"));
        world_run(&m.w, 1);
        check_claim(&m, "data", "Pending", "");
        check_event(&m, "ProvisioningFailed", "data", refusals[i].message);
        managed_stop(&m);
    }
}

/* The driver of an old plug-in provisions in its place. */
static void old_plugins_have_drivers(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: "
                       "disks}, provisioner: kubernetes.io/aws-ebs}");
    world_create(&m.w, CLAIM("data", ", storageClassName: disks"));
    world_run(&m.w, 1);
    const struct api_persistent_volume_claim *c = claim_of(&m, "data");
    const struct label *by =
        labels_find(&c->metadata.annotations, STR("volume.kubernetes.io/storage-provisioner"));
    assert_true(by && str_is(by->value, "ebs.csi.aws.com"));
    assert_true(str_is(c->status.phase, "Bound"));
    managed_stop(&m);
}

static void others_may_provision(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: "
                       "disks, annotations: {berth.dev/provisioner: stopped}}, provisioner: a.b}");
    world_create(&m.w, CLAIM("data", ", storageClassName: disks"));
    world_run(&m.w, 20);
    check_claim(&m, "data", "Pending", "");
    world_patch(&m.w, API_T_storage_class, "disks", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/provisioner\":null}}}");
    world_run(&m.w, 1);
    assert_true(str_is(claim_of(&m, "data")->status.phase, "Bound"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_that_is_large_enough),
        cmocka_unit_test(a_volume_must_match),
        cmocka_unit_test(a_claim_waits_for_a_volume),
        cmocka_unit_test(a_volume_has_one_claim),
        cmocka_unit_test(volumes_and_claims_ask_for_each_other),
        cmocka_unit_test(volumes_are_reclaimed),
        cmocka_unit_test(nobody_deletes_what_is_elsewhere),
        cmocka_unit_test(a_volume_of_an_old_plugin_is_deleted),
        cmocka_unit_test(a_volume_that_stays_needs_no_finalizer),
        cmocka_unit_test(a_claim_can_lose_its_volume),
        cmocka_unit_test(a_volume_may_come_back),
        cmocka_unit_test(a_bound_volume_is_not_given_away),
        cmocka_unit_test(a_claim_may_go_half_bound),
        cmocka_unit_test(a_default_class_comes_late),
        cmocka_unit_test(a_volume_is_made_and_deleted),
        cmocka_unit_test(a_claim_waits_for_its_first_consumer),
        cmocka_unit_test(some_provision_nothing),
        cmocka_unit_test(old_plugins_have_drivers),
        cmocka_unit_test(others_may_provision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
