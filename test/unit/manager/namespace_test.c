/* Namespaces that go. */
#include "managed.h"

#define NS "namespace-controller"

static void make(struct managed *m, const char *kind, const char *name, const char *more) {
    world_create(&m->w, arena_printf(&m->w.arena,
                                     "{apiVersion: v1, kind: %s, metadata: {name: %s, namespace: "
                                     "gone%s}, %s}",
                                     kind, name, more,
                                     strcmp(kind, "Pod") == 0
                                         ? "spec: {terminationGracePeriodSeconds: 20, containers: "
                                           "[{name: c, image: i}]}"
                                         : "immutable: false")
                            .p);
}

static const struct api_namespace_condition *condition(struct managed *m, const char *type) {
    const struct api_object *o = world_get(&m->w, API_T_namespace, "gone");
    assert_non_null(o);
    const struct api_namespace *ns = o->body;
    for (size_t i = 0; i < ns->status.conditions.n; i++)
        if (str_is(ns->status.conditions.v[i].type, type))
            return &ns->status.conditions.v[i];
    return NULL;
}

static void delete_namespace(struct managed *m) {
    world_send(&m->w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                               .kind = client_kind(API_T_namespace),
                                               .name = STR("gone")});
}

static void release(struct managed *m, enum api_type_id type, const char *name) {
    world_send(&m->w, &(struct client_request){
                          .verb = REGISTRY_VERB_PATCH,
                          .kind = client_kind(type),
                          .namespace = STR("gone"),
                          .name = str_of(name),
                          .patch_type = CLIENT_PATCH_STRATEGIC,
                          .patch = STR("{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":"
                                       "[\"example.com/x\"]}}")});
    assert_int_equal(m->w.last.code, ERR_NONE);
}

static void one_goes_with_all_that_is_in_it(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, NS, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}}");
    make(&m, "ConfigMap", "a", "");
    make(&m, "Secret", "b", "");
    make(&m, "Pod", "c", "");
    size_t maps = world_count(&m.w, API_T_config_map);
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_config_map), maps);
    delete_namespace(&m);
    world_run(&m.w, 4);
    assert_non_null(world_get(&m.w, API_T_namespace, "gone"));
    world_run(&m.w, 3);
    assert_null(world_get(&m.w, API_T_namespace, "gone"));
    assert_int_equal(world_count(&m.w, API_T_config_map), maps - 1);
    assert_int_equal(world_count(&m.w, API_T_secret), 0);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    assert_non_null(world_get(&m.w, API_T_namespace, "default"));
    managed_stop(&m);
}

static void what_has_finalizers_is_waited_for(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, NS, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}}");
    make(&m, "ConfigMap", "a", ", finalizers: [example.com/x]");
    make(&m, "ConfigMap", "b", ", finalizers: [example.com/x]");
    make(&m, "Secret", "c", "");
    delete_namespace(&m);
    world_run(&m.w, 7);
    assert_int_equal(world_count(&m.w, API_T_secret), 0);
    const struct api_namespace_condition *c = condition(&m, "NamespaceContentRemaining");
    assert_true(str_is(c->status, "True"));
    assert_true(str_is(c->reason, "SomeResourcesRemain"));
    assert_true(
        str_is(c->message, "Some resources are remaining: configmaps. has 2 resource instances"));
    c = condition(&m, "NamespaceFinalizersRemaining");
    assert_true(str_is(c->message, "Some content in the namespace has finalizers remaining: "
                                   "example.com/x in 2 resource instances"));
    c = condition(&m, "NamespaceDeletionContentFailure");
    assert_true(str_is(c->status, "False"));
    assert_true(str_is(c->reason, "ContentDeleted"));
    release(&m, API_T_config_map, "a");
    release(&m, API_T_config_map, "b");
    world_run(&m.w, 20);
    assert_null(world_get(&m.w, API_T_namespace, "gone"));
    managed_stop(&m);
}

/* While a pod takes its time, nothing else is touched. */
static void pods_go_first(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, NS, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}}");
    make(&m, "Pod", "p", ", finalizers: [example.com/x]");
    make(&m, "Secret", "c", "");
    delete_namespace(&m);
    world_run(&m.w, 10);
    assert_int_equal(world_count(&m.w, API_T_secret), 1);
    const struct api_namespace_condition *c = condition(&m, "NamespaceContentRemaining");
    assert_true(str_is(c->status, "False"));
    release(&m, API_T_pod, "p");
    world_run(&m.w, 30);
    assert_null(world_get(&m.w, API_T_namespace, "gone"));
    assert_int_equal(world_count(&m.w, API_T_secret), 0);
    managed_stop(&m);
}

/* A pod may ask for more time than there is: the namespace goes when it is gone nevertheless. */
static void a_grace_without_end_is_looked_at_again(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, NS, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}}");
    world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: gone, "
                       "finalizers: [example.com/x]}, spec: {terminationGracePeriodSeconds: "
                       "9223372036854775807, containers: [{name: c, image: i}]}}");
    delete_namespace(&m);
    world_run(&m.w, 20);
    size_t looks = m.counting.sent[REGISTRY_VERB_DELETE_COLLECTION];
    assert_in_range(looks, 1, 5);
    release(&m, API_T_pod, "p");
    world_run(&m.w, 310);
    assert_null(world_get(&m.w, API_T_namespace, "gone"));
    managed_stop(&m);
}

static void others_may_keep_it(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, NS, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}, spec: "
                       "{finalizers: [kubernetes, example.com/mine]}}");
    delete_namespace(&m);
    world_run(&m.w, 30);
    const struct api_object *o = world_get(&m.w, API_T_namespace, "gone");
    assert_non_null(o);
    const struct api_namespace *ns = o->body;
    assert_int_equal(ns->spec.finalizers.n, 1);
    assert_true(str_is(ns->spec.finalizers.v[0], "example.com/mine"));
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_goes_with_all_that_is_in_it),
        cmocka_unit_test(what_has_finalizers_is_waited_for),
        cmocka_unit_test(pods_go_first),
        cmocka_unit_test(a_grace_without_end_is_looked_at_again),
        cmocka_unit_test(others_may_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
