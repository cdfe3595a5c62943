/* StatefulSets at work. */
#include "managed.h"

#define STS "statefulset-controller"
#define CLAIMS                                                                              \
    "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], " \
    "resources: {requests: {storage: 1Gi}}}}], "
#define SPEC(replicas, more, image)                                                              \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: " #replicas \
    ", serviceName: db, " more "selector: {matchLabels: {app: db}}, template: "                  \
    "{metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: " image "}]}}}}"

static const struct api_stateful_set_status *status_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_stateful_set, "db");
    assert_non_null(o);
    return &((const struct api_stateful_set *)o->body)->status;
}

static bool has_image(struct managed *m, const char *pod, const char *image) {
    const struct api_object *o = world_get(&m->w, API_T_pod, pod);
    return o && str_is(((const struct api_pod *)o->body)->spec.containers.v[0].image, image);
}

static void roll(struct managed *m, int seconds) {
    for (int i = 0; i < seconds; i++) {
        managed_pods_run(m, true);
        world_run(&m->w, 1);
    }
}

static void set_image(struct managed *m, const char *image) {
    world_patch(&m->w, API_T_stateful_set, "db", NULL,
                arena_printf(&m->w.arena,
                             "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
                             "\"image\":\"%s\"}]}}}}",
                             image)
                    .p);
}

static void scale(struct managed *m, int replicas) {
    world_patch(&m->w, API_T_stateful_set, "db", NULL,
                arena_printf(&m->w.arena, "{\"spec\":{\"replicas\":%d}}", replicas).p);
}

static void members_come_one_after_the_other(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(3, CLAIMS, "one"));
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 1);
    roll(&m, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    roll(&m, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    const struct api_object *o = world_get(&m.w, API_T_pod, "db-1");
    const struct api_pod *pod = o->body;
    assert_true(str_is(pod->spec.hostname, "db-1"));
    assert_true(str_is(pod->spec.subdomain, "db"));
    assert_true(str_is(pod->spec.volumes.v[0].volume_source.persistent_volume_claim->claim_name,
                       "data-db-1"));
    assert_true(
        str_is(labels_find(&o->meta->labels, STR("apps.kubernetes.io/pod-index"))->value, "1"));
    assert_true(str_is(
        labels_find(&o->meta->labels, STR("statefulset.kubernetes.io/pod-name"))->value, "db-1"));
    assert_non_null(world_get(&m.w, API_T_persistent_volume_claim, "data-db-2"));
    const struct api_stateful_set_status *s = status_of(&m);
    assert_int_equal(s->replicas, 3);
    assert_int_equal(s->available_replicas, 3);
    assert_int_equal(s->current_replicas, 3);
    assert_int_equal(s->updated_replicas, 3);
    assert_true(str_eq(s->current_revision, s->update_revision));
    assert_true(str_starts(s->current_revision, STR("db-")));
    const struct api_event *e = world_event(&m.w, "SuccessfulCreate", "db");
    assert_true(str_is(e->message, "Create Claim data-db-0 Pod db-0 in StatefulSet db success") ||
                str_is(e->message, "Create Pod db-0 in StatefulSet db successful"));
    size_t writes = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 600);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], writes);
    managed_stop(&m);
}

static void the_last_goes_first(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(3, CLAIMS, "one"));
    roll(&m, 5);
    world_patch(&m.w, API_T_pod, "db-2", NULL,
                "{\"metadata\":{\"finalizers\":[\"example.com/x\"]}}");
    scale(&m, 1);
    world_run(&m.w, 3);
    assert_true(world_get(&m.w, API_T_pod, "db-2")->meta->deletion_timestamp.set);
    assert_false(world_get(&m.w, API_T_pod, "db-1")->meta->deletion_timestamp.set);
    world_patch(&m.w, API_T_pod, "db-2", NULL,
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"example.com/x\"]}}");
    world_run(&m.w, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_non_null(world_get(&m.w, API_T_pod, "db-0"));
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 3); /* they are retained */
    managed_stop(&m);
}

static void all_at_once_if_the_order_does_not_matter(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w,
                 SPEC(7, CLAIMS "podManagementPolicy: Parallel, ordinals: {start: 3}, ", "one"));
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), 7);
    assert_non_null(world_get(&m.w, API_T_pod, "db-9"));
    assert_null(world_get(&m.w, API_T_pod, "db-2"));
    scale(&m, 2);
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    managed_stop(&m);
}

static void updates_go_down(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(3, "", "one"));
    roll(&m, 5);
    set_image(&m, "two");
    world_run(&m.w, 2);
    assert_true(has_image(&m, "db-2", "two"));
    assert_true(has_image(&m, "db-1", "one"));
    world_run(&m.w, 5);
    assert_true(has_image(&m, "db-1", "one")); /* the last is not ready yet */
    assert_false(str_eq(status_of(&m)->current_revision, status_of(&m)->update_revision));
    assert_int_equal(status_of(&m)->updated_replicas, 1);
    assert_int_equal(status_of(&m)->current_replicas, 2);
    roll(&m, 6);
    assert_true(has_image(&m, "db-0", "two"));
    assert_true(str_eq(status_of(&m)->current_revision, status_of(&m)->update_revision));
    assert_int_equal(status_of(&m)->updated_replicas, 3);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    managed_stop(&m);
}

/* Below the partition members stay, and come back, as they were. */
static void a_partition_is_kept(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(3, "updateStrategy: {rollingUpdate: {partition: 2}}, ", "one"));
    roll(&m, 5);
    set_image(&m, "two");
    roll(&m, 5);
    assert_true(has_image(&m, "db-2", "two"));
    assert_true(has_image(&m, "db-1", "one"));
    world_delete(&m.w, API_T_pod, "db-1");
    roll(&m, 3);
    assert_true(has_image(&m, "db-1", "one"));
    managed_stop(&m);
}

static void on_delete_waits(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(2, "updateStrategy: {type: OnDelete}, ", "one"));
    roll(&m, 5);
    set_image(&m, "two");
    roll(&m, 5);
    assert_true(has_image(&m, "db-1", "one"));
    world_delete(&m.w, API_T_pod, "db-1");
    roll(&m, 3);
    assert_true(has_image(&m, "db-1", "two"));
    assert_true(has_image(&m, "db-0", "one"));
    managed_stop(&m);
}

/* What a StatefulSet's first revision keeps, as text, with what older versions wrote beside it. The
 * revision and the StatefulSet are gone then. */
static struct str old_data(struct managed *m) {
    static const struct str mark = STR_INIT("\"metadata\":{");
    struct buf text = BUF_INIT(SIZE_MAX);
    struct managed_names names = managed_names(m, API_T_controller_revision);
    assert_int_equal(names.v.n, 1);
    const struct api_object *o = world_get(&m->w, API_T_controller_revision, names.v.v[0]);
    json_write(&text, &((const struct api_controller_revision *)o->body)->data, NULL);
    struct str data = arena_str(&m->w.arena, buf_view(&text));
    size_t at = str_find(data, mark) + mark.n;
    assert_true(at < data.n);
    world_delete(&m->w, API_T_stateful_set, "db");
    world_delete(&m->w, API_T_controller_revision, names.v.v[0]);
    vec_release(&names.v);
    buf_release(&text);
    struct str head = str_sub(data, 0, at), tail = str_sub(data, at, data.n);
    return arena_printf(&m->w.arena, "%.*s\"creationTimestamp\":null,%.*s", STR_ARG(head),
                        STR_ARG(tail));
}

/* Until 1.33 revisions had a time of creation in their templates, which was null. */
static void revisions_of_older_versions_are_known(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(0, "", "one"));
    world_run(&m.w, 1);
    struct str data = old_data(&m);
    world_create(&m.w, arena_printf(&m.w.arena,
                                    "{apiVersion: apps/v1, kind: ControllerRevision, metadata: "
                                    "{name: db-old, labels: {app: db}}, revision: 1, data: %.*s}",
                                    STR_ARG(data))
                           .p);
    world_create(&m.w, SPEC(1, "", "one"));
    roll(&m, 3);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 1);
    assert_true(str_is(status_of(&m)->update_revision, "db-old"));
    assert_true(str_is(status_of(&m)->current_revision, "db-old"));
    set_image(&m, "two");
    roll(&m, 5);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    assert_true(has_image(&m, "db-0", "two"));
    managed_stop(&m);
}

static void several_may_be_unavailable(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "MaxUnavailableStatefulSet=true");
    world_create(&m.w, SPEC(5, "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, ", "one"));
    roll(&m, 8);
    set_image(&m, "two");
    world_run(&m.w, 0.5);
    assert_false(has_image(&m, "db-4", "one"));
    assert_false(has_image(&m, "db-3", "one"));
    assert_true(has_image(&m, "db-2", "one"));
    roll(&m, 12);
    assert_true(has_image(&m, "db-0", "two"));
    managed_stop(&m);
}

static void failed_members_are_replaced(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, SPEC(2, "", "one"));
    roll(&m, 4);
    world_patch(&m.w, API_T_pod, "db-0", "status", "{\"status\":{\"phase\":\"Failed\"}}");
    world_run(&m.w, 2);
    const struct api_object *o = world_get(&m.w, API_T_pod, "db-0");
    assert_true(str_is(((const struct api_pod *)o->body)->status.phase, "Pending"));
    managed_stop(&m);
}

/* By these policies a claim belongs to the set, and to the pod of a member that is too many. */
static void claims_go_with_their_owners(void **state) {
    struct managed m;
    (void)state;
    managed_start(
        &m, STS ",garbage-collector-controller,persistentvolumeclaim-protection-controller", "");
    world_create(&m.w, SPEC(3,
                            CLAIMS "persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, "
                                   "whenDeleted: Delete}, ",
                            "one"));
    roll(&m, 6);
    const struct api_object *claim = world_get(&m.w, API_T_persistent_volume_claim, "data-db-2");
    assert_true(str_is(claim->meta->owner_references.v[0].kind, "StatefulSet"));
    scale(&m, 1);
    roll(&m, 6);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_null(world_get(&m.w, API_T_persistent_volume_claim, "data-db-2"));
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 1);
    scale(&m, 2);
    roll(&m, 4);
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 2);
    world_delete(&m.w, API_T_stateful_set, "db");
    world_run(&m.w, 5);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_int_equal(world_count(&m.w, API_T_persistent_volume_claim), 0);
    managed_stop(&m);
}

static void a_refused_member_is_told(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, STS, "");
    world_create(&m.w, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: "
                       "{pods: '0'}}}");
    world_patch(&m.w, API_T_resource_quota, "q", "status",
                "{\"status\":{\"hard\":{\"pods\":\"0\"},\"used\":{\"pods\":\"0\"}}}");
    world_create(&m.w, SPEC(3, "", "one"));
    world_run(&m.w, 60);
    const struct api_event *e = world_event(&m.w, "FailedCreate", "db");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Create Pod db-0 in StatefulSet db failed error: pods "
                                           "\"db-0\" is forbidden: exceeded quota")));
    assert_in_range(m.counting.sent[REGISTRY_VERB_CREATE], 5, 20);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_one_after_the_other),
        cmocka_unit_test(the_last_goes_first),
        cmocka_unit_test(all_at_once_if_the_order_does_not_matter),
        cmocka_unit_test(updates_go_down),
        cmocka_unit_test(a_partition_is_kept),
        cmocka_unit_test(on_delete_waits),
        cmocka_unit_test(revisions_of_older_versions_are_known),
        cmocka_unit_test(several_may_be_unavailable),
        cmocka_unit_test(failed_members_are_replaced),
        cmocka_unit_test(claims_go_with_their_owners),
        cmocka_unit_test(a_refused_member_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
