/* Preemption through the API: who has to go, what they are told, and who comes in their place. */
#include "refusal.h"

static void priority_class(struct scene *x, const char *name, int value) {
    scene_create(x,
                 "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, "
                 "value: %d}",
                 name, value);
}

/* A node with room for one pod. */
static int begin(void **state) {
    static struct scene x;
    scene_start(&x, "", "");
    priority_class(&x, "low", 1);
    priority_class(&x, "middle", 5);
    priority_class(&x, "high", 9);
    scene_node(&x, "n", 1, "[]");
    *state = &x;
    return 0;
}

static int end(void **state) {
    scene_stop(*state);
    return 0;
}

/* The pod that has to go has a grace period, for which nobody ends it. */
static void lingering_pod(struct scene *x, const char *name) {
    scene_create(x,
                 "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {priorityClassName: low, "
                 "terminationGracePeriodSeconds: 600, containers: [{name: c, image: i, "
                 "resources: {requests: {cpu: 1}}}]}}",
                 name);
    world_run(&x->w, 1);
    scene_expect_node(x, name, "n");
}

static void a_victim_is_deleted_and_its_place_taken(void **state) {
    struct scene *x = *state;
    struct arena *a = &x->w.arena;
    scene_pod(x, "v", ", priorityClassName: low");
    world_run(&x->w, 1);
    scene_expect_node(x, "v", "n");
    scene_pod(x, "p", ", priorityClassName: high");
    struct str uid = arena_str(a, scene_get(x, "p")->metadata.uid);
    world_run(&x->w, 5);
    assert_null(world_get(&x->w, API_T_pod, "v"));
    scene_expect_node(x, "p", "n");
    scene_expect_event(x, "Preempted", "v", 1,
                       arena_printf(a, "Preempted by pod %.*s on node n", STR_ARG(uid)).p);
    assert_int_equal(x->s->victims.live, 0);
}

static void what_a_victim_and_its_preemptor_are_told(void **state) {
    struct scene *x = *state;
    struct scheduler__condition target = {
        "DisruptionTarget", "True", "PreemptionByScheduler",
        STR("default-scheduler: preempting to accommodate a higher priority pod")};
    struct scheduler__condition waits = {
        "PodScheduled", "False", "Unschedulable",
        STR("0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement "
            "for pod on node n, preempting 1 victims")};
    lingering_pod(x, "v");
    scene_pod(x, "p", ", priorityClassName: high");
    world_run(&x->w, 5);
    scene_expect_condition(x, "v", &target);
    assert_true(scene_get(x, "v")->metadata.deletion_timestamp.set);
    scene_expect_condition(x, "p", &waits);
    assert_true(str_is(scene_get(x, "p")->status.nominated_node_name, "n"));
    scene_pod(x, "q", ", priorityClassName: low"); /* the place is not for others */
    world_delete(&x->w, API_T_pod, "v");
    world_run(&x->w, 20);
    scene_expect_node(x, "p", "n");
    scene_expect_node(x, "q", "");
    assert_int_equal(scene_get(x, "p")->status.nominated_node_name.n, 0);
}

/* The preemptor is tried again, with a less important victim in sight, while the deletion of the
 * one that was chosen is on its way. */
static void victims_are_not_chosen_twice(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_DELETE, .code = ERR_UNAVAILABLE, .times = 3};
    scene_pod(x, "v", ", priorityClassName: middle");
    world_run(&x->w, 1);
    refusal_start(x, &r);
    scene_pod(x, "p", ", priorityClassName: high");
    while (!r.seen)
        net_loop_turn(x->w.loop, 0);
    scene_pod(x, "w", ", priorityClassName: low, nodeName: other");
    scene_node(x, "other", 1, "[]");
    struct sched_pod_name p = {STR("default"), STR("p"), scene_get(x, "p")->metadata.uid};
    assert_true(sched_activate(x->s->core, &p));
    scheduler__wake(x->s);
    world_run(&x->w, 10);
    assert_int_equal(r.seen, 4);
    scene_expect_node(x, "w", "other");
    scene_expect_node(x, "p", "n");
}

/* A victim whose own binding is on the way may yet come to its node, and takes its place there
 * until it is deleted. */
static void a_victim_may_still_be_bound(void **state) {
    struct scene *x = *state;
    struct refusal binding = {.verb = REGISTRY_VERB_CREATE,
                              .subresource = "binding",
                              .code = ERR_UNAVAILABLE,
                              .times = 1};
    struct refusal deletion = {.verb = REGISTRY_VERB_DELETE, .code = ERR_UNAVAILABLE, .times = 3};
    refusal_start(x, &binding);
    refusal_start(x, &deletion);
    world_run(&x->w, 1);
    scene_pod(x, "v", ", priorityClassName: low");
    while (!binding.seen)
        net_loop_turn(x->w.loop, 0);
    scene_pod(x, "p", ", priorityClassName: high");
    while (!deletion.seen)
        net_loop_turn(x->w.loop, 0);
    world_run(&x->w, 0.2);
    scene_expect_node(x, "v", "n");
    scene_expect_node(x, "p", "");
    world_run(&x->w, 10);
    assert_null(world_get(&x->w, API_T_pod, "v"));
    scene_expect_node(x, "p", "n");
}

/* Then it is looked for others, at once. */
static void a_victim_may_stay(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_DELETE, .code = ERR_FORBIDDEN, .times = 2};
    x->w.log.fd = -1; /* it is an error, which is logged */
    scene_pod(x, "v", ", priorityClassName: low");
    world_run(&x->w, 1);
    refusal_start(x, &r);
    scene_pod(x, "p", ", priorityClassName: high");
    world_run(&x->w, 0.5);
    assert_int_equal(r.seen, 3); /* the third one passed */
    world_run(&x->w, 10);
    assert_null(world_get(&x->w, API_T_pod, "v"));
    scene_expect_node(x, "p", "n");
}

static void a_nomination_can_be_lost(void **state) {
    struct scene *x = *state;
    lingering_pod(x, "v");
    scene_pod(x, "p", ", priorityClassName: middle");
    world_run(&x->w, 2);
    assert_true(str_is(scene_get(x, "p")->status.nominated_node_name, "n"));
    scene_pod(x, "q", ", priorityClassName: high");
    world_run(&x->w, 2);
    assert_true(str_is(scene_get(x, "q")->status.nominated_node_name, "n"));
    assert_int_equal(scene_get(x, "p")->status.nominated_node_name.n, 0);
    world_delete(&x->w, API_T_pod, "v");
    world_run(&x->w, 20);
    scene_expect_node(x, "q", "n");
    scene_expect_node(x, "p", "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_victim_is_deleted_and_its_place_taken),
        TEST(what_a_victim_and_its_preemptor_are_told),
        TEST(victims_are_not_chosen_twice),
        TEST(a_victim_may_still_be_bound),
        TEST(a_victim_may_stay),
        TEST(a_nomination_can_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
