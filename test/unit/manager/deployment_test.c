/* Deployments at work, with the controller of ReplicaSets. */
#include "managed.h"

#define SPEC(replicas, more, image)                                                              \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: " #replicas \
    ", " more "selector: {matchLabels: {app: web}}, template: {metadata: {labels: "              \
    "{app: web}}, spec: {containers: [{name: c, image: " image "}]}}}}"

#define BOTH "deployment-controller,replicaset-controller"

static const struct api_deployment *get(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_deployment, "web");
    assert_non_null(o);
    return o->body;
}

static void set_image(struct managed *m, const char *image) {
    struct str patch = arena_printf(&m->w.arena,
                                    "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":"
                                    "\"c\",\"image\":\"%s\"}]}}}}",
                                    image);
    world_patch(&m->w, API_T_deployment, "web", NULL, patch.p);
}

static const struct api_deployment_condition *condition(const struct api_deployment *d,
                                                        const char *type) {
    for (size_t i = 0; i < d->status.conditions.n; i++)
        if (str_is(d->status.conditions.v[i].type, type))
            return &d->status.conditions.v[i];
    return NULL;
}

static void assert_condition(struct managed *m, const char *type, const char *status,
                             const char *reason) {
    const struct api_deployment_condition *c = condition(get(m), type);
    if (!c)
        fail_msg("there is no %s", type);
    if (!str_is(c->status, status) || !str_is(c->reason, reason))
        fail_msg("%s is %.*s for %.*s", type, STR_ARG(c->status), STR_ARG(c->reason));
}

/* Lets every pod become ready as soon as it is there, for so many seconds. */
static void roll(struct managed *m, int seconds) {
    for (int i = 0; i < seconds; i++) {
        managed_pods_run(m, true);
        world_run(&m->w, 1);
    }
}

/* The sum over ReplicaSets by image. */
struct sizes {
    const char *image;
    int32_t replicas;
    size_t sets;
    struct str revision, history;
};

static void add_size(void *arg, const struct api_object *o) {
    struct sizes *s = arg;
    const struct api_replica_set *set = o->body;
    if (!str_is(set->spec.template.spec.containers.v[0].image, s->image))
        return;
    const struct label *revision =
        labels_find(&o->meta->annotations, STR("deployment.kubernetes.io/revision"));
    const struct label *history =
        labels_find(&o->meta->annotations, STR("deployment.kubernetes.io/revision-history"));
    s->replicas += set->spec.replicas.v;
    s->sets++;
    s->revision = revision ? revision->value : STR("");
    s->history = history ? history->value : STR("");
}

static struct sizes sizes(struct managed *m, const char *image) {
    struct sizes s = {.image = image};
    world_each(&m->w, API_T_replica_set, add_size, &s);
    return s;
}

static void one_is_rolled_out(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(3, "", "one"));
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_replica_set), 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 3);
    assert_condition(&m, "Available", "False", "MinimumReplicasUnavailable");
    assert_condition(&m, "Progressing", "True", "ReplicaSetUpdated");
    roll(&m, 2);
    const struct api_deployment *d = get(&m);
    assert_int_equal(d->status.replicas, 3);
    assert_int_equal(d->status.updated_replicas, 3);
    assert_int_equal(d->status.available_replicas, 3);
    assert_int_equal(d->status.unavailable_replicas, 0);
    assert_int_equal(d->status.observed_generation, 1);
    assert_condition(&m, "Available", "True", "MinimumReplicasAvailable");
    assert_condition(&m, "Progressing", "True", "NewReplicaSetAvailable");
    const struct label *revision =
        labels_find(&get(&m)->metadata.annotations, STR("deployment.kubernetes.io/revision"));
    assert_non_null(revision);
    assert_true(str_is(revision->value, "1"));
    const struct api_event *e = world_event(&m.w, "ScalingReplicaSet", "web");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Scaled up replica set web-")));
    assert_true(str_ends(e->message, STR(" from 0 to 3")));
    struct managed_names names = managed_names(&m, API_T_replica_set);
    const struct api_object *set = world_get(&m.w, API_T_replica_set, names.v.v[0]);
    const struct label *hash = labels_find(&set->meta->labels, STR("pod-template-hash"));
    assert_true(str_ends(set->meta->name, hash->value));
    assert_true(str_is(
        labels_find(&set->meta->annotations, STR("deployment.kubernetes.io/desired-replicas"))
            ->value,
        "3"));
    assert_true(str_is(
        labels_find(&set->meta->annotations, STR("deployment.kubernetes.io/max-replicas"))->value,
        "4"));
    vec_release(&names.v);
    size_t writes = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 3600);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], writes);
    managed_stop(&m);
}

static void check_bounds(struct managed *m, int32_t least, size_t most) {
    assert_in_range(world_count(&m->w, API_T_pod), 0, most);
    assert_true(get(m)->status.available_replicas >= least);
}

/* 10 replicas, 2 more allowed and 3 less: never more than 12 pods, never fewer than 7 available. */
static void a_change_rolls_within_its_bounds(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w,
                 SPEC(10, "strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 3}}, ", "one"));
    roll(&m, 3);
    set_image(&m, "two");
    world_run(&m.w, 0.5);
    assert_int_equal(sizes(&m, "one").replicas, 7);
    assert_int_equal(sizes(&m, "two").replicas, 5);
    for (int i = 0; i < 20; i++) {
        check_bounds(&m, 7, 12);
        roll(&m, 1);
    }
    assert_int_equal(sizes(&m, "one").replicas, 0);
    assert_int_equal(sizes(&m, "two").replicas, 10);
    assert_true(str_is(sizes(&m, "two").revision, "2"));
    assert_condition(&m, "Progressing", "True", "NewReplicaSetAvailable");
    assert_int_equal(get(&m)->status.updated_replicas, 10);
    /* Back to the first template: its ReplicaSet is used again, as a new revision. */
    set_image(&m, "one");
    roll(&m, 20);
    assert_int_equal(world_count(&m.w, API_T_replica_set), 2);
    assert_int_equal(sizes(&m, "one").replicas, 10);
    assert_true(str_is(sizes(&m, "one").revision, "3"));
    assert_true(str_is(sizes(&m, "one").history, "1"));
    managed_stop(&m);
}

/* The name of the ReplicaSet of an image. */
struct search {
    struct world *w;
    const char *image, *name;
};

static void look(void *arg, const struct api_object *o) {
    struct search *s = arg;
    const struct api_replica_set *set = o->body;
    if (str_is(set->spec.template.spec.containers.v[0].image, s->image))
        s->name = arena_str(&s->w->arena, o->meta->name).p;
}

/* Has the ReplicaSet of an image say that it has so many pods, all of which are available. */
static void say_available(struct managed *m, const char *image, int32_t pods) {
    struct search s = {&m->w, image, NULL};
    world_each(&m->w, API_T_replica_set, look, &s);
    struct str patch = arena_printf(
        &m->w.arena, "{\"status\":{\"replicas\":%d,\"readyReplicas\":%d,\"availableReplicas\":%d}}",
        (int)pods, (int)pods, (int)pods);
    world_patch(&m->w, API_T_replica_set, s.name, "status", patch.p);
    world_run(&m->w, 0.5);
}

/* Pods that go still count as available in the status of their ReplicaSet: no others go until it
 * says that they are gone. */
static void pods_that_go_do_not_count(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "deployment-controller", "");
    world_create(&m.w,
                 SPEC(10, "strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}, ", "one"));
    world_run(&m.w, 1);
    say_available(&m, "one", 10);
    set_image(&m, "two");
    world_run(&m.w, 1);
    assert_int_equal(sizes(&m, "one").replicas, 8);
    assert_int_equal(sizes(&m, "two").replicas, 5);
    say_available(&m, "two", 5);
    assert_int_equal(sizes(&m, "one").replicas, 8);
    say_available(&m, "one", 8);
    assert_int_equal(sizes(&m, "one").replicas, 3);
    managed_stop(&m);
}

/* Progress that will be made is not late. */
static void a_deadline_in_the_far_future_is_not_over(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(1, "progressDeadlineSeconds: 60, ", "broken"));
    world_run(&m.w, 5);
    assert_condition(&m, "Progressing", "True", "ReplicaSetUpdated");
    world_patch(&m.w, API_T_deployment, "web", "status",
                "{\"status\":{\"conditions\":[{\"type\":\"Progressing\",\"lastUpdateTime\":"
                "\"" MANAGED_FAR "\"}]}}");
    world_run(&m.w, 200);
    assert_condition(&m, "Progressing", "True", "ReplicaSetUpdated");
    managed_stop(&m);
}

static void nothing_goes_while_new_ones_are_not_ready(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(4, "progressDeadlineSeconds: 60, ", "one"));
    roll(&m, 3);
    set_image(&m, "broken");
    world_run(&m.w, 50);
    assert_int_equal(sizes(&m, "one").replicas, 3);
    assert_int_equal(sizes(&m, "broken").replicas, 2);
    assert_condition(&m, "Progressing", "True", "ReplicaSetUpdated");
    assert_condition(&m, "Available", "True", "MinimumReplicasAvailable");
    world_run(&m.w, 20);
    assert_condition(&m, "Progressing", "False", "ProgressDeadlineExceeded");
    assert_true(
        str_ends(condition(get(&m), "Progressing")->message, STR("\" has timed out progressing.")));
    set_image(&m, "one");
    roll(&m, 10);
    assert_int_equal(sizes(&m, "one").replicas, 4);
    assert_int_equal(sizes(&m, "broken").replicas, 0);
    assert_condition(&m, "Progressing", "True", "NewReplicaSetAvailable");
    managed_stop(&m);
}

static void all_old_ones_go_first(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(3, "strategy: {type: Recreate}, ", "one"));
    roll(&m, 3);
    struct managed_names names = managed_names(&m, API_T_pod);
    /* This pod takes its time to go. */
    world_patch(&m.w, API_T_pod, names.v.v[0], NULL,
                "{\"metadata\":{\"finalizers\":[\"example.com/x\"]}}");
    set_image(&m, "two");
    world_run(&m.w, 5);
    assert_int_equal(sizes(&m, "one").replicas, 0);
    assert_int_equal(sizes(&m, "two").sets, 0);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    world_patch(&m.w, API_T_pod, names.v.v[0], NULL,
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"example.com/x\"]}}");
    roll(&m, 3);
    assert_int_equal(sizes(&m, "two").replicas, 3);
    assert_condition(&m, "Progressing", "True", "NewReplicaSetAvailable");
    vec_release(&names.v);
    managed_stop(&m);
}

static void a_pause_is_kept(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(3, "", "one"));
    roll(&m, 3);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"paused\":true}}");
    set_image(&m, "two");
    roll(&m, 3);
    assert_condition(&m, "Progressing", "Unknown", "DeploymentPaused");
    assert_int_equal(sizes(&m, "two").sets, 0);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"replicas\":5}}");
    roll(&m, 3);
    assert_int_equal(sizes(&m, "one").replicas, 5);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"paused\":false}}");
    roll(&m, 15);
    assert_int_equal(sizes(&m, "two").replicas, 5);
    assert_condition(&m, "Progressing", "True", "NewReplicaSetAvailable");
    managed_stop(&m);
}

/* In the middle of a rollout, a new size is divided among old and new. */
static void a_size_is_given_in_proportion(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w,
                 SPEC(10, "strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}, ", "one"));
    roll(&m, 3);
    set_image(&m, "broken");
    world_run(&m.w, 2);
    assert_int_equal(sizes(&m, "one").replicas, 8);
    assert_int_equal(sizes(&m, "broken").replicas, 5);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"replicas\":15}}");
    world_run(&m.w, 2);
    /* 18 pods are allowed instead of 13: 8 become 11, and 5 become 7. */
    assert_int_equal(sizes(&m, "one").replicas, 11);
    assert_int_equal(sizes(&m, "broken").replicas, 7);
    managed_stop(&m);
}

static void old_revisions_go(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(1, "revisionHistoryLimit: 2, ", "i0"));
    roll(&m, 3);
    static const char *const images[] = {"i1", "i2", "i3", "i4"};
    for (size_t i = 0; i < 4; i++) {
        set_image(&m, images[i]);
        roll(&m, 5);
    }
    assert_int_equal(world_count(&m.w, API_T_replica_set), 3);
    assert_int_equal(sizes(&m, "i1").sets, 0);
    assert_int_equal(sizes(&m, "i2").sets, 1);
    assert_true(str_is(sizes(&m, "i4").revision, "5"));
    managed_stop(&m);
}

static void a_size_is_kept_up(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(3, "", "one"));
    roll(&m, 3);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"replicas\":1}}");
    roll(&m, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_int_equal(get(&m)->status.replicas, 1);
    assert_int_equal(get(&m)->status.observed_generation, 2);
    world_patch(&m.w, API_T_deployment, "web", NULL, "{\"spec\":{\"replicas\":0}}");
    roll(&m, 3);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_condition(&m, "Available", "True", "MinimumReplicasAvailable");
    managed_stop(&m);
}

static void failures_of_pods_are_told(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: "
                       "{pods: '0'}}}");
    world_patch(&m.w, API_T_resource_quota, "q", "status",
                "{\"status\":{\"hard\":{\"pods\":\"0\"},\"used\":{\"pods\":\"0\"}}}");
    world_create(&m.w, SPEC(3, "", "one"));
    world_run(&m.w, 5);
    assert_condition(&m, "ReplicaFailure", "True", "FailedCreate");
    managed_stop(&m);
}

/* The name of the ReplicaSet is taken by one of another owner: another name is found. */
static void a_name_that_is_taken_is_avoided(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, BOTH, "");
    world_create(&m.w, SPEC(1, "", "one"));
    roll(&m, 2);
    struct managed_names names = managed_names(&m, API_T_replica_set);
    struct str text = arena_printf(
        &m.w.arena,
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: %s}, spec: {replicas: 0, "
        "selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: "
        "{containers: [{name: c, image: i}]}}}}",
        names.v.v[0]);
    world_delete(&m.w, API_T_deployment, "web");
    world_delete(&m.w, API_T_replica_set, names.v.v[0]);
    world_run(&m.w, 1);
    world_create(&m.w, text.p);
    world_create(&m.w, SPEC(1, "", "one"));
    roll(&m, 2);
    assert_int_equal(get(&m)->status.collision_count.v, 1);
    assert_int_equal(sizes(&m, "one").sets, 1);
    assert_int_equal(sizes(&m, "one").replicas, 1);
    vec_release(&names.v);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_rolled_out),
        cmocka_unit_test(a_change_rolls_within_its_bounds),
        cmocka_unit_test(pods_that_go_do_not_count),
        cmocka_unit_test(nothing_goes_while_new_ones_are_not_ready),
        cmocka_unit_test(a_deadline_in_the_far_future_is_not_over),
        cmocka_unit_test(all_old_ones_go_first),
        cmocka_unit_test(a_pause_is_kept),
        cmocka_unit_test(a_size_is_given_in_proportion),
        cmocka_unit_test(old_revisions_go),
        cmocka_unit_test(a_size_is_kept_up),
        cmocka_unit_test(failures_of_pods_are_told),
        cmocka_unit_test(a_name_that_is_taken_is_avoided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
