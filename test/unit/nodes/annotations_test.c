/* Annotations that tell what to simulate, and what is said of those that cannot be taken. */
#include "cluster.h"
#include "nodes/kubelets_int.h"

#define NUMBER "must be a whole number from 0 to 2147483647"

static const struct {
    const char *kind, *annotations;
    const char *fault; /* of the first; NULL: none */
} rows[] = {
    {"Pod", "", NULL},
    {"Pod", "example.com/run-seconds: soon, run-seconds: soon, notberth.dev/ready: 'no'", NULL},
    {"Pod", "berth.dev/run-seconds: '5', berth.dev/ready: 'false', c.berth.dev/exit-code: '255'",
     NULL},
    {"Pod", "berth.dev/silence: dup, first.berth.dev/start-seconds: '0'", NULL},
    {"Pod", "berth.dev/run-seconds: 5s",
     "annotation berth.dev/run-seconds is ignored: the value \"5s\" " NUMBER},
    {"Pod", "berth.dev/start-seconds: '-1'",
     "annotation berth.dev/start-seconds is ignored: the value \"-1\" " NUMBER},
    {"Pod", "c.berth.dev/exit-code: '256'",
     "annotation c.berth.dev/exit-code is ignored: the value \"256\" must be a whole number from 0 "
     "to 255"},
    {"Pod", "berth.dev/ready: 'no'",
     "annotation berth.dev/ready is ignored: the value \"no\" must be true or false"},
    {"Pod", "d.berth.dev/ready: 'true'",
     "annotation d.berth.dev/ready is ignored: there is no container \"d\""},
    {"Pod", "berth.dev/kubelet: stopped",
     "annotation berth.dev/kubelet is ignored: a pod has berth.dev/start-seconds, "
     "berth.dev/run-seconds, berth.dev/exit-code, berth.dev/stop-seconds, berth.dev/ready-seconds, "
     "berth.dev/ready, berth.dev/startup-seconds, berth.dev/live-seconds, berth.dev/image"},
    {"Pod", "berth.dev/image: there",
     "annotation berth.dev/image is ignored: the value \"there\" must be missing"},
    {"Node", "berth.dev/kubelet: crashed, berth.dev/slow-seconds: '3'", NULL},
    {"Node", "berth.dev/kubelet: slow, berth.dev/slow-seconds: ten",
     "annotation berth.dev/slow-seconds is ignored: the value \"ten\" " NUMBER},
    {"Node", "berth.dev/kubelet: dead",
     "annotation berth.dev/kubelet is ignored: the value \"dead\" must be stopped, crashed, "
     "partitioned or slow"},
    {"Node", "a.berth.dev/kubelet: slow",
     "annotation a.berth.dev/kubelet is ignored: a node has berth.dev/kubelet, "
     "berth.dev/slow-seconds"},
    {"Node",
     "berth.dev/slow-seconds: "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "annotation berth.dev/slow-seconds is ignored: the value "
     "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"… " NUMBER},
};

static void faults(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str out[2];
        struct str text = arena_printf(
            &c.w.arena,
            "{apiVersion: v1, kind: %s, metadata: {name: o, annotations: {%s}}, spec: {%s}}",
            rows[i].kind, rows[i].annotations,
            strcmp(rows[i].kind, "Pod") == 0
                ? "initContainers: [{name: first, image: i}], containers: [{name: c, image: i}]"
                : "");
        struct api_object *o = world_object(&c.w, text.p);
        size_t n = nodes__annotation_faults(&c.w.arena, o, out, 2);
        if (n != (rows[i].fault != NULL) || (n && !str_is(out[0], rows[i].fault)))
            fail_msg("%s: %.*s", rows[i].annotations, n ? (int)out[0].n : 0, out[0].p);
        api_object_free(o);
    }
    end(&c);
}

/* Once for a pod, and again when it is annotated anew. */
static void they_are_told(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add_pod(&c, "p", "berth.dev/run-seconds: soon", "");
    world_run(&c.w, 100);
    assert_int_equal(world_event(&c.w, "InvalidAnnotation", "p")->count, 1);
    add_pod(&c, "q", "", "");
    world_run(&c.w, 10);
    assert_null(world_event(&c.w, "InvalidAnnotation", "q"));
    world_patch(&c.w, API_T_pod, "q", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/ready\":\"no\"}}}");
    world_run(&c.w, 10);
    const struct api_event *e = world_event(&c.w, "InvalidAnnotation", "q");
    assert_non_null(e);
    assert_true(str_is(e->type, "Warning"));
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/kubelet\":\"dead\"}}}");
    world_run(&c.w, 10);
    assert_non_null(world_event(&c.w, "InvalidAnnotation", "node-0"));
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(they_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
