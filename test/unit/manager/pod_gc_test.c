/* Pods that nobody else would remove, on virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "manager/manager.h"
#include "manager/pod_gc_int.h"

struct cluster {
    struct world w;
    struct manager *manager;
};

static void begin(struct cluster *c) {
    struct err err = {0};
    static const struct str names[] = {STR_INIT("pod-garbage-collector-controller")};
    world_start(&c->w, "");
    c->manager = manager_new(&(struct manager_opts){.client = c->w.client,
                                                    .informers = c->w.informers,
                                                    .log = &c->w.log,
                                                    .gates = &c->w.gates.enabled,
                                                    .seed = 1,
                                                    .controllers = names,
                                                    .controller_count = 1},
                             &err);
    assert_non_null(c->manager);
    world_create(&c->w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}");
    world_create(&c->w, "{apiVersion: v1, kind: Node, metadata: {name: node-0}}");
}

static void end(struct cluster *c) {
    manager_free(c->manager);
    world_stop(&c->w);
}

static void add_pod(struct cluster *c, const char *name, const char *more) {
    struct str text = arena_printf(&c->w.arena,
                                   "{apiVersion: v1, kind: Pod, metadata: {name: %s, finalizers: "
                                   "[test/held]}, spec: {containers: [{name: c, image: i}]%s}}",
                                   name, more);
    world_create(&c->w, text.p);
}

static const struct api_pod *pod_of(struct cluster *c, const char *name) {
    const struct api_object *o = world_get(&c->w, API_T_pod, name);
    return o ? o->body : NULL;
}

static void delete_gracefully(struct cluster *c, const char *name) {
    struct client_request r = {.verb = REGISTRY_VERB_DELETE,
                               .kind = client_kind(API_T_pod),
                               .namespace = STR("default"),
                               .name = str_of(name)};
    assert_int_equal(world_send(&c->w, &r)->code, ERR_NONE);
}

/* The node is gone: after the quarantine its pods have failed, and are deleted. A finalizer lets us
 * see how. */
static void orphans(void **state) {
    (void)state;
    struct cluster c;
    begin(&c);
    add_pod(&c, "p", ", nodeName: node-0");
    world_run(&c.w, 100);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Pending"));
    world_delete(&c.w, API_T_node, "node-0");
    world_run(&c.w, 40);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Pending"));
    world_run(&c.w, 21);
    const struct api_pod *pod = pod_of(&c, "p");
    assert_true(str_is(pod->status.phase, "Failed"));
    assert_true(pod->metadata.deletion_timestamp.set);
    const struct api_pod_condition *last = &pod->status.conditions.v[pod->status.conditions.n - 1];
    assert_true(str_is(last->type, "DisruptionTarget"));
    assert_true(str_is(last->reason, "DeletionByPodGC"));
    assert_true(str_is(last->message, "PodGC: node no longer exists"));
    end(&c);
}

/* A node that comes back within the quarantine keeps its pods. */
static void nodes_that_come_back(void **state) {
    (void)state;
    struct cluster c;
    begin(&c);
    add_pod(&c, "p", ", nodeName: node-0");
    world_delete(&c.w, API_T_node, "node-0");
    world_run(&c.w, 45);
    world_create(&c.w, "{apiVersion: v1, kind: Node, metadata: {name: node-0}}");
    world_run(&c.w, 45);
    world_delete(&c.w, API_T_node, "node-0");
    world_run(&c.w, 40);
    assert_true(str_is(pod_of(&c, "p")->status.phase, "Pending"));
    end(&c);
}

static void pods_without_a_kubelet(void **state) {
    (void)state;
    struct cluster c;
    begin(&c);
    add_pod(&c, "bound", ", nodeName: node-0");
    world_run(&c.w, 30);
    delete_gracefully(&c, "bound");
    world_run(&c.w, 60);
    assert_true(str_is(pod_of(&c, "bound")->status.phase, "Pending"));
    world_patch(&c.w, API_T_node, "node-0", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/out-of-service\",\"effect\":"
                "\"NoExecute\"}]}}");
    world_run(&c.w, 25);
    assert_true(str_is(pod_of(&c, "bound")->status.phase, "Failed"));
    assert_int_equal(pod_of(&c, "bound")->metadata.deletion_grace_period_seconds.v, 0);
    end(&c);
}

static struct api_object *ended_pod(struct world *w, const char *name, int64_t created,
                                    const char *reason) {
    struct api_object *o = world_object(w, "{apiVersion: v1, kind: Pod, metadata: {name: x}}");
    struct api_pod *pod = api_own_body(o);
    pod->metadata.name = str_of(name);
    pod->metadata.creation_timestamp = (struct api_time){created, 0, true};
    pod->status.phase = STR("Failed");
    pod->status.reason = str_of(reason);
    return o;
}

static void surplus(void **state) {
    (void)state;
    struct world w;
    world_start(&w, "");
    struct api_object *own[] = {
        ended_pod(&w, "young", 30, ""),
        ended_pod(&w, "evicted", 40, "Evicted"),
        ended_pod(&w, "old-b", 10, ""),
        ended_pod(&w, "old-a", 10, ""),
    };
    const struct api_object *v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = own[i];
    assert_int_equal(manager__gc_surplus(v, 4, 4), 0);
    assert_int_equal(manager__gc_surplus(v, 4, 1), 3);
    assert_ptr_equal(v[0], own[1]);
    assert_ptr_equal(v[1], own[3]);
    assert_ptr_equal(v[2], own[2]);
    for (size_t i = 0; i < 4; i++)
        api_object_free(own[i]);
    world_stop(&w);
}

static void judgements(void **state) {
    (void)state;
    struct world w;
    world_start(&w, "");
    struct api_object *o = world_object(&w, "{apiVersion: v1, kind: Pod, metadata: {name: x}}");
    struct api_pod *pod = api_own_body(o);
    struct api_node node = {0};
    assert_int_equal(manager__gc_judge(o, NULL, false), MANAGER__GC_NONE);
    pod->metadata.deletion_timestamp = (struct api_time){1, 0, true};
    assert_int_equal(manager__gc_judge(o, NULL, false), MANAGER__GC_UNSCHEDULED);
    pod->spec.node_name = STR("a");
    assert_int_equal(manager__gc_judge(o, NULL, false), MANAGER__GC_NONE);
    assert_int_equal(manager__gc_judge(o, NULL, true), MANAGER__GC_ORPHANED);
    assert_int_equal(manager__gc_judge(o, &node, true), MANAGER__GC_NONE);
    struct api_taint taint = {.key = STR("node.kubernetes.io/out-of-service"),
                              .effect = STR("NoExecute")};
    node.spec.taints = (struct api_taint_list){&taint, 1};
    assert_int_equal(manager__gc_judge(o, &node, false), MANAGER__GC_OUT_OF_SERVICE);
    api_object_free(o);
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judgements),
        cmocka_unit_test(surplus),
        cmocka_unit_test(orphans),
        cmocka_unit_test(nodes_that_come_back),
        cmocka_unit_test(pods_without_a_kubelet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
