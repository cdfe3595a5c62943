/* Finished Jobs that go in time, and the annotation of nodes. */
#include <stdio.h>

#include "job_world.h"

static void finished_jobs_go_in_time(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "job-controller,ttl-after-finished-controller,garbage-collector-controller",
                  "");
    world_create(&m.w, JOB("pi", "ttlSecondsAfterFinished: 100, "));
    world_create(&m.w, JOB("stays", ""));
    world_create(&m.w, JOB("works", "ttlSecondsAfterFinished: 0, "));
    world_run(&m.w, 2);
    struct managed_names names = living_pods(&m);
    for (size_t i = 0; i < names.v.n; i++)
        if (strncmp(names.v.v[i], "works", 5) != 0)
            end_pod(&m, names.v.v[i], 0);
    world_run(&m.w, 99);
    assert_non_null(world_get(&m.w, API_T_job, "pi"));
    world_patch(&m.w, API_T_job, "pi", NULL, "{\"spec\":{\"ttlSecondsAfterFinished\":200}}");
    world_run(&m.w, 99);
    assert_non_null(world_get(&m.w, API_T_job, "pi"));
    world_run(&m.w, 10);
    assert_null(world_get(&m.w, API_T_job, "pi"));
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    world_patch(&m.w, API_T_job, "stays", NULL, "{\"spec\":{\"ttlSecondsAfterFinished\":1}}");
    world_run(&m.w, 2);
    assert_null(world_get(&m.w, API_T_job, "stays"));
    assert_non_null(world_get(&m.w, API_T_job, "works"));
    vec_release(&names.v);
    managed_stop(&m);
}

/* What is finished in a year that nobody lives to see stays. */
static void a_job_may_end_very_late(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "ttl-after-finished-controller", "");
    world_create(&m.w, JOB("pi", "ttlSecondsAfterFinished: 2147483647, "));
    world_patch(&m.w, API_T_job, "pi", "status",
                "{\"status\":{\"startTime\":\"2020-01-01T00:00:00Z\",\"succeeded\":1,"
                "\"completionTime\":\"9999-12-31T00:00:00Z\",\"conditions\":["
                "{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"},"
                "{\"type\":\"Complete\",\"status\":\"True\","
                "\"lastTransitionTime\":\"9999-12-31T00:00:00Z\"}]}}");
    world_run(&m.w, 100);
    assert_non_null(world_get(&m.w, API_T_job, "pi"));
    assert_int_equal(m.counting.sent[REGISTRY_VERB_DELETE], 0);
    managed_stop(&m);
}

static void check_ttl(struct managed *m, const char *node, const char *seconds) {
    const struct api_object *o = world_get(&m->w, API_T_node, node);
    const struct label *l = labels_find(&o->meta->annotations, STR("node.alpha.kubernetes.io/ttl"));
    if (!l || !str_is(l->value, seconds))
        fail_msg("%s: %.*s", node, STR_ARG(l ? l->value : STR("absent")));
}

static void add_nodes(struct managed *m, int from, int to) {
    for (int i = from; i < to; i++) {
        char text[100];
        snprintf(text, sizeof text, "{apiVersion: v1, kind: Node, metadata: {name: node-%d}}", i);
        world_create(&m->w, text);
    }
    world_run(&m->w, 1);
}

static void large_clusters_ask_less_often(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "ttl-controller", "");
    add_nodes(&m, 0, 100);
    check_ttl(&m, "node-0", "0");
    check_ttl(&m, "node-99", "0");
    add_nodes(&m, 100, 101);
    check_ttl(&m, "node-100", "15");
    check_ttl(&m, "node-0", "0");
    world_patch(&m.w, API_T_node, "node-0", NULL, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    world_run(&m.w, 1);
    check_ttl(&m, "node-0", "15");
    world_delete(&m.w, API_T_node, "node-100"); /* 100: still as it was */
    world_patch(&m.w, API_T_node, "node-1", NULL,
                "{\"metadata\":{\"annotations\":{\"node.alpha.kubernetes.io/ttl\":\"x\"}}}");
    world_run(&m.w, 1);
    check_ttl(&m, "node-1", "15");
    for (int i = 89; i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d", i);
        world_delete(&m.w, API_T_node, name);
    }
    world_run(&m.w, 1);
    world_patch(&m.w, API_T_node, "node-1", NULL, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    world_run(&m.w, 1);
    check_ttl(&m, "node-1", "0");
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finished_jobs_go_in_time),
        cmocka_unit_test(a_job_may_end_very_late),
        cmocka_unit_test(large_clusters_ask_less_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
