/* The scheduler at work on a cluster in memory: what it binds, says and writes. */
#include "refusal.h"

static int begin(void **state) {
    static struct scene x;
    scene_start(&x, "", "");
    *state = &x;
    return 0;
}

static int end(void **state) {
    scene_stop(*state);
    return 0;
}

/* ---- pods that fit ---- */

static void pods_are_bound(void **state) {
    struct scene *x = *state;
    scene_node(x, "n", 4, "[]");
    scene_pod(x, "a", "");
    scene_pod(x, "other", ", schedulerName: other");
    world_run(&x->w, 1);
    scene_expect_node(x, "a", "n");
    scene_expect_node(x, "other", "");
    scene_expect_event(x, "Scheduled", "a", 1, "Successfully assigned default/a to n");
    const struct api_event *e = world_event(&x->w, "Scheduled", "a");
    assert_true(str_is(e->type, "Normal"));
    assert_true(str_is(e->source.component, "default-scheduler"));
    assert_null(world_event(&x->w, "FailedScheduling", "other"));
    assert_int_equal(x->s->under_way, 0);
    assert_int_equal(x->s->flights.live, 0);
}

/* A pod that has come before the node may not be told that there is none. */
static void nothing_is_decided_before_all_is_known(void **state) {
    struct scene *x = *state;
    scene_end_scheduler(x);
    scene_node(x, "n", 4, "[]");
    scene_pod(x, "a", "");
    scene_begin_scheduler(x);
    assert_false(scheduler_has_synced(x->s));
    world_run(&x->w, 1);
    assert_true(scheduler_has_synced(x->s));
    scene_expect_node(x, "a", "n");
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
}

struct load {
    size_t bound;
    int on_node[100];
};

static void count_pod(void *arg, const struct api_object *o) {
    struct load *load = arg;
    const struct api_pod *pod = o->body;
    int64_t node;
    if (!pod->spec.node_name.n)
        return;
    assert_true(str_to_i64(str_sub(pod->spec.node_name, 1, pod->spec.node_name.n), &node));
    load->bound++;
    load->on_node[node]++;
}

static void many_pods_fill_nodes_and_no_more(void **state) {
    struct scene *x = *state;
    struct load load = {0};
    char name[16];
    size_t most = 0;
    world_run(&x->w, 1);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "n%d", i);
        scene_node(x, name, 20, "[]");
    }
    scene_end_scheduler(x); /* so that all pods wait at once */
    for (int i = 0; i < 2010; i++) {
        snprintf(name, sizeof name, "p%d", i);
        scene_pod(x, name, "");
    }
    scene_begin_scheduler(x);
    for (int i = 0; i < 1000; i++) {
        net_loop_turn(x->w.loop, 0);
        most = x->s->under_way > most ? x->s->under_way : most;
    }
    world_run(&x->w, 5);
    assert_in_range(most, 64, LIMIT_SCHEDULER_CALLS);
    world_each(&x->w, API_T_pod, count_pod, &load);
    assert_int_equal(load.bound, 2000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(load.on_node[i], 20);
}

/* ---- pods that do not ---- */

static void a_pod_that_fits_nowhere_is_told_once(void **state) {
    struct scene *x = *state;
    const char *message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
                          "available: 1 Preemption is not helpful for scheduling.";
    struct scheduler__condition condition = {"PodScheduled", "False", "Unschedulable",
                                             str_of(message)};
    scene_node(x, "small", 0, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 5);
    scene_expect_condition(x, "a", &condition);
    scene_expect_event(x, "FailedScheduling", "a", 1, message);
    assert_int_equal(scene_condition(x, "a", "PodScheduled")->observed_generation, 1);
    struct arena *a = &x->w.arena;
    struct str revision = arena_str(a, scene_get(x, "a")->metadata.resource_version);
    world_run(&x->w, 200);
    assert_true(str_eq(revision, scene_get(x, "a")->metadata.resource_version));
    scene_expect_event(x, "FailedScheduling", "a", 1, message);
    scene_node(x, "n", 4, "[]");
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
    scene_expect_condition(x, "a",
                           &(struct scheduler__condition){"PodScheduled", "True", "", STR("")});
}

static void without_nodes_pods_wait(void **state) {
    struct scene *x = *state;
    scene_pod(x, "a", "");
    world_run(&x->w, 3);
    scene_expect_condition(x, "a",
                           &(struct scheduler__condition){"PodScheduled", "False", "Unschedulable",
                                                          STR("no nodes available to schedule "
                                                              "pods")});
    scene_node(x, "n", 4, "[]");
    world_run(&x->w, 30);
    scene_expect_node(x, "a", "n");
}

/* Something keeps the pod although it is deleted. */
static void a_pod_that_is_being_deleted_is_skipped(void **state) {
    struct scene *x = *state;
    scene_end_scheduler(x);
    scene_node(x, "n", 4, "[]");
    scene_create(x, "{apiVersion: v1, kind: Pod, metadata: {name: a, finalizers: [example.com/f]}, "
                    "spec: {containers: [{name: c, image: i}]}}");
    world_delete(&x->w, API_T_pod, "a");
    scene_begin_scheduler(x);
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "");
    scene_expect_event(x, "FailedScheduling", "a", 1, "skip schedule deleting pod: default/a");
    assert_null(scene_condition(x, "a", "PodScheduled"));
}

/* Each profile has its pods, and speaks in its own name. */
static void profiles_have_names(void **state) {
    struct scene *x = *state;
    struct sched_config *config = sched_config_default(&x->w.arena);
    struct sched_profile *profiles = arena_array(&x->w.arena, struct sched_profile, 2);
    profiles[0] = profiles[1] = config->profiles[0];
    profiles[1].scheduler_name = STR("other");
    config->profiles = profiles;
    config->profile_count = 2;
    scene_end_scheduler(x);
    x->config = config;
    scene_begin_scheduler(x);
    scene_node(x, "n", 4, "[]");
    scene_pod(x, "a", "");
    scene_pod(x, "b", ", schedulerName: other");
    scene_pod(x, "c", ", schedulerName: nobody");
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
    scene_expect_node(x, "b", "n");
    scene_expect_node(x, "c", "");
    assert_true(
        str_is(world_event(&x->w, "Scheduled", "a")->source.component, "default-scheduler"));
    assert_true(str_is(world_event(&x->w, "Scheduled", "b")->source.component, "other"));
}

/* ---- bindings that fail ---- */

static void a_refused_binding_is_forgotten(void **state) {
    struct scene *x = *state;
    struct refusal r = {
        .verb = REGISTRY_VERB_CREATE, .subresource = "binding", .code = ERR_FORBIDDEN, .times = 1};
    refusal_start(x, &r);
    scene_node(x, "n", 1, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 0.5);
    scene_expect_node(x, "a", "");
    scene_expect_condition(
        x, "a",
        &(struct scheduler__condition){"PodScheduled", "False", "SchedulerError",
                                       STR("running Bind plugin \"DefaultBinder\": not now")});
    scene_expect_event(x, "FailedScheduling", "a", 1,
                       "running Bind plugin \"DefaultBinder\": not now");
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
    assert_int_equal(r.seen, 2);
}

static void a_server_in_trouble_is_asked_again(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_CREATE,
                        .subresource = "binding",
                        .code = ERR_UNAVAILABLE,
                        .times = 3};
    refusal_start(x, &r);
    scene_node(x, "n", 1, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 0.4);
    scene_expect_node(x, "a", "n");
    assert_int_equal(r.seen, 4);
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
}

static void but_not_for_ever(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_CREATE,
                        .subresource = "binding",
                        .code = ERR_UNAVAILABLE,
                        .times = 4};
    refusal_start(x, &r);
    scene_node(x, "n", 1, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 0.4);
    assert_int_equal(r.seen, 4);
    assert_non_null(world_event(&x->w, "FailedScheduling", "a"));
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
}

/* Somebody else binds the pod while our binding is on its way. */
static void a_binding_that_came_too_late_frees_the_node(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_CREATE,
                        .subresource = "binding",
                        .code = ERR_UNAVAILABLE,
                        .times = 1};
    refusal_start(x, &r);
    scene_node(x, "n", 1, "[]");
    world_run(&x->w, 1);
    scene_pod(x, "a", "");
    while (!r.seen)
        net_loop_turn(x->w.loop, 0);
    scene_node(x, "other", 0, "[]");
    world_send(&x->w,
               &(struct client_request){
                   .verb = REGISTRY_VERB_CREATE,
                   .kind = client_kind(API_T_pod),
                   .subresource = "binding",
                   .namespace = STR("default"),
                   .name = STR("a"),
                   .object = world_object(&x->w, "{apiVersion: v1, kind: Binding, metadata: {name: "
                                                 "a}, target: {kind: Node, name: other}}")});
    scene_pod(x, "b", "");
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "other");
    scene_expect_node(x, "b", "n");
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
    assert_null(world_event(&x->w, "Scheduled", "a"));
}

static void a_pod_that_goes_while_it_is_bound_frees_the_node(void **state) {
    struct scene *x = *state;
    struct refusal r = {.verb = REGISTRY_VERB_CREATE,
                        .subresource = "binding",
                        .code = ERR_UNAVAILABLE,
                        .times = 1};
    refusal_start(x, &r);
    scene_node(x, "n", 1, "[]");
    world_run(&x->w, 1);
    scene_pod(x, "a", "");
    while (!r.seen)
        net_loop_turn(x->w.loop, 0);
    world_delete(&x->w, API_T_pod, "a");
    scene_pod(x, "b", "");
    world_run(&x->w, 5);
    assert_null(world_get(&x->w, API_T_pod, "a"));
    scene_expect_node(x, "b", "n");
    assert_int_equal(x->s->flights.live, 0);
    assert_null(world_event(&x->w, "FailedScheduling", "a"));
}

/* ---- restarts ---- */

static void the_next_scheduler_goes_on(void **state) {
    struct scene *x = *state;
    scene_node(x, "n", 2, "[]");
    scene_pod(x, "a", "");
    scene_pod(x, "b", "");
    while (!x->s->under_way)
        net_loop_turn(x->w.loop, 0);
    scene_end_scheduler(x);
    scene_pod(x, "c", "");
    scene_begin_scheduler(x);
    world_run(&x->w, 5);
    scene_expect_node(x, "a", "n");
    scene_expect_node(x, "b", "n");
    scene_expect_node(x, "c", "");
    assert_non_null(world_event(&x->w, "FailedScheduling", "c"));
}

/* A scheduler that shares informers which know the cluster already. */
static void informers_may_be_older_than_it(void **state) {
    struct scene *x = *state;
    scene_end_scheduler(x);
    informers_of(x->w.informers, client_kind(API_T_node));
    scene_node(x, "n", 2, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 1);
    scene_begin_scheduler(x);
    world_run(&x->w, 1);
    scene_expect_node(x, "a", "n");
}

static void metrics_are_written(void **state) {
    struct scene *x = *state;
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    scene_node(x, "n", 2, "[]");
    scene_pod(x, "a", "");
    world_run(&x->w, 1);
    scheduler_metrics_write(x->s, &out);
    struct str line = STR("scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                          "result=\"scheduled\"} 1\n");
    assert_true(str_find(buf_view(&out), line) < out.n);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pods_are_bound),
        TEST(nothing_is_decided_before_all_is_known),
        TEST(many_pods_fill_nodes_and_no_more),
        TEST(a_pod_that_fits_nowhere_is_told_once),
        TEST(without_nodes_pods_wait),
        TEST(a_pod_that_is_being_deleted_is_skipped),
        TEST(profiles_have_names),
        TEST(a_refused_binding_is_forgotten),
        TEST(a_server_in_trouble_is_asked_again),
        TEST(but_not_for_ever),
        TEST(a_binding_that_came_too_late_frees_the_node),
        TEST(a_pod_that_goes_while_it_is_bound_frees_the_node),
        TEST(the_next_scheduler_goes_on),
        TEST(informers_may_be_older_than_it),
        TEST(metrics_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
