/* PodDisruptionBudgets, with the controllers whose sizes they look at. */
#include "managed.h"

#define ALL "disruption-controller,deployment-controller,replicaset-controller"
#define BUDGET(spec)                                                                         \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {" spec \
    ", selector: {matchLabels: {app: web}}}}"

static const char deployment[] =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 4, selector: "
    "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: "
    "[{name: c, image: i}]}}}}";

static const char bare[] = "{apiVersion: v1, kind: Pod, metadata: {name: bare, labels: {app: web}},"
                           " spec: {containers: [{name: c, image: i}]}}";

static const struct api_pod_disruption_budget_status *status_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_pod_disruption_budget, "web");
    assert_non_null(o);
    return &((const struct api_pod_disruption_budget *)o->body)->status;
}

static void check(struct managed *m, const int32_t figures[4], const char *reason) {
    const struct api_pod_disruption_budget_status *s = status_of(m);
    assert_int_equal(s->expected_pods, figures[0]);
    assert_int_equal(s->desired_healthy, figures[1]);
    assert_int_equal(s->current_healthy, figures[2]);
    assert_int_equal(s->disruptions_allowed, figures[3]);
    assert_int_equal(s->conditions.n, 1);
    assert_true(str_is(s->conditions.v[0].type, "DisruptionAllowed"));
    assert_true(str_is(s->conditions.v[0].reason, reason));
}

/* Expected, desired, healthy, allowed: with four replicas, all of them ready. */
static const struct {
    const char *budget;
    int32_t figures[4];
    const char *reason;
} budgets[] = {
    {BUDGET("maxUnavailable: 1"), {4, 3, 4, 1}, "SufficientPods"},
    {BUDGET("maxUnavailable: 30%"), {4, 2, 4, 2}, "SufficientPods"},
    {BUDGET("maxUnavailable: 0"), {4, 4, 4, 0}, "InsufficientPods"},
    {BUDGET("maxUnavailable: 9"), {4, 0, 4, 4}, "SufficientPods"},
    {BUDGET("minAvailable: 3"), {4, 3, 4, 1}, "SufficientPods"},
    {BUDGET("minAvailable: 51%"), {4, 3, 4, 1}, "SufficientPods"},
    {BUDGET("minAvailable: 5"), {4, 5, 4, 0}, "InsufficientPods"},
};

static void figures_follow(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct managed m;
        managed_start(&m, ALL, "");
        world_create(&m.w, deployment);
        world_create(&m.w, budgets[i].budget);
        world_run(&m.w, 1);
        assert_int_equal(status_of(&m)->current_healthy, 0);
        managed_pods_run(&m, true);
        world_run(&m.w, 1);
        check(&m, budgets[i].figures, budgets[i].reason);
        assert_int_equal(status_of(&m)->observed_generation, 1);
        managed_stop(&m);
    }
}

static void evictions_are_counted(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, deployment);
    world_create(&m.w, BUDGET("maxUnavailable: 1"));
    world_run(&m.w, 1);
    managed_pods_run(&m, true);
    world_run(&m.w, 1);
    struct managed_names names = managed_names(&m, API_T_pod);
    for (size_t i = 0; i < 2; i++) {
        struct str text = arena_printf(
            &m.w.arena, "{apiVersion: policy/v1, kind: Eviction, metadata: {name: %s}}",
            names.v.v[i]);
        world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                                  .kind = client_kind(API_T_pod),
                                                  .subresource = "eviction",
                                                  .namespace = STR("default"),
                                                  .name = str_of(names.v.v[i]),
                                                  .object = world_object(&m.w, text.p)});
        assert_int_equal(m.w.last.code, i == 0 ? ERR_NONE : ERR_TOO_MANY);
    }
    world_run(&m.w, 1); /* a new pod is there, but not ready */
    check(&m, (const int32_t[]){4, 3, 3, 0}, "InsufficientPods");
    assert_int_equal(status_of(&m)->disrupted_pods.n, 0);
    managed_pods_run(&m, true);
    world_run(&m.w, 1);
    check(&m, (const int32_t[]){4, 3, 4, 1}, "SufficientPods");
    vec_release(&names.v);
    managed_stop(&m);
}

static void a_pod_that_should_be_gone_counts_again(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, bare);
    managed_pods_run(&m, true);
    world_create(&m.w, BUDGET("minAvailable: 0"));
    world_run(&m.w, 1);
    world_patch(&m.w, API_T_pod_disruption_budget, "web", "status",
                "{\"status\":{\"disruptedPods\":{\"bare\":\"2023-11-14T22:13:21Z\"}}}");
    world_run(&m.w, 1);
    assert_int_equal(status_of(&m)->current_healthy, 0);
    assert_int_equal(status_of(&m)->disrupted_pods.n, 1);
    world_run(&m.w, 125);
    assert_int_equal(status_of(&m)->current_healthy, 1);
    assert_int_equal(status_of(&m)->disrupted_pods.n, 0);
    assert_non_null(world_event(&m.w, "NotDeleted", "bare"));
    managed_stop(&m);
}

static void pods_without_a_controller_are_told_of(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, bare);
    world_create(&m.w, BUDGET("maxUnavailable: 1"));
    world_run(&m.w, 1);
    const struct api_event *e = world_event(&m.w, "UnmanagedPods", "web");
    assert_non_null(e);
    assert_true(
        str_find(e->message, STR("(selector: &LabelSelector{MatchLabels:map[string]string{app: "
                                 "web,},MatchExpressions:[]LabelSelectorRequirement{},})")) !=
        STR_NONE);
    check(&m, (const int32_t[]){0, 0, 0, 0}, "InsufficientPods");
    managed_stop(&m);
}

static void a_controller_without_a_size_is_a_failure(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: web}, "
                       "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, "
                       "controller: true}]}, spec: {containers: [{name: c, image: i}]}}");
    world_create(&m.w, BUDGET("maxUnavailable: 1"));
    world_run(&m.w, 1);
    const struct api_pod_disruption_budget_status *s = status_of(&m);
    assert_true(str_is(s->conditions.v[0].reason, "SyncFailed"));
    assert_true(str_is(s->conditions.v[0].message,
                       "daemonsets.apps does not implement the scale subresource"));
    world_run(&m.w, 600); /* nothing changes, so it is not told again */
    const struct api_event *e = world_event(&m.w, "CalculateExpectedPodCountFailed", "web");
    assert_non_null(e);
    assert_in_range(e->count, 1, 2);
    managed_stop(&m);
}

static void a_target_that_was_spared_is_none(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, bare);
    world_patch(&m.w, API_T_pod, "bare", "status",
                "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
                "\"reason\":\"PreemptionByScheduler\",\"lastTransitionTime\":"
                "\"2023-11-14T22:13:20Z\"}]}}");
    world_run(&m.w, 100);
    const struct api_pod *pod = world_get(&m.w, API_T_pod, "bare")->body;
    assert_true(str_is(pod->status.conditions.v[0].status, "True"));
    world_run(&m.w, 30);
    pod = world_get(&m.w, API_T_pod, "bare")->body;
    assert_true(str_is(pod->status.conditions.v[0].status, "False"));
    assert_int_equal(pod->status.conditions.v[0].observed_generation, pod->metadata.generation);
    managed_stop(&m);
}

/* Whoever made the second budget should know that such a pod cannot be evicted. */
static void several_budgets_of_a_pod_are_told_of(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, BUDGET("minAvailable: 1"));
    world_create(&m.w, bare);
    world_run(&m.w, 1);
    assert_null(world_event(&m.w, "MultiplePodDisruptionBudgets", "bare"));
    world_create(&m.w, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all}, "
                       "spec: {minAvailable: 1, selector: {}}}");
    world_run(&m.w, 1);
    managed_pods_run(&m, true);
    world_run(&m.w, 1);
    const struct api_event *e = world_event(&m.w, "MultiplePodDisruptionBudgets", "bare");
    assert_non_null(e);
    assert_true(str_is(e->type, "Warning"));
    assert_true(str_is(e->message, "Pod \"default\"/\"bare\" matches multiple "
                                   "PodDisruptionBudgets.  Chose \"all\" arbitrarily."));
    managed_stop(&m);
}

/* What is to come is not over. */
static void times_in_the_far_future_are_waited_for(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, ALL, "");
    world_create(&m.w, bare);
    managed_pods_run(&m, true);
    world_create(&m.w, BUDGET("minAvailable: 0"));
    world_run(&m.w, 1);
    world_patch(&m.w, API_T_pod, "bare", "status",
                "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
                "\"reason\":\"PreemptionByScheduler\",\"lastTransitionTime\":"
                "\"" MANAGED_FAR "\"}]}}");
    world_patch(&m.w, API_T_pod_disruption_budget, "web", "status",
                "{\"status\":{\"disruptedPods\":{\"bare\":\"" MANAGED_FAR "\"}}}");
    world_run(&m.w, 200);
    assert_int_equal(status_of(&m)->disrupted_pods.n, 1);
    assert_null(world_event(&m.w, "NotDeleted", "bare"));
    const struct api_pod *pod = world_get(&m.w, API_T_pod, "bare")->body;
    for (size_t i = 0; i < pod->status.conditions.n; i++)
        assert_true(str_is(pod->status.conditions.v[i].status, "True"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_follow),
        cmocka_unit_test(evictions_are_counted),
        cmocka_unit_test(a_pod_that_should_be_gone_counts_again),
        cmocka_unit_test(pods_without_a_controller_are_told_of),
        cmocka_unit_test(a_controller_without_a_size_is_a_failure),
        cmocka_unit_test(a_target_that_was_spared_is_none),
        cmocka_unit_test(several_budgets_of_a_pod_are_told_of),
        cmocka_unit_test(times_in_the_far_future_are_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
