/* The garbage collector at work, mostly on ConfigMaps that own each other. */
#include "managed.h"

#define GC "garbage-collector-controller"

static const char *uid_of(struct managed *m, enum api_type_id type, const char *name) {
    const struct api_object *o = world_get(&m->w, type, name);
    assert_non_null(o);
    return arena_str(&m->w.arena, o->meta->uid).p;
}

/* A reference to a ConfigMap, as YAML. */
static const char *ref(struct managed *m, const char *name, const char *uid, bool blocks) {
    return arena_printf(&m->w.arena,
                        "{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s, blockOwnerDeletion: "
                        "%s}",
                        name, uid ? uid : uid_of(m, API_T_config_map, name),
                        blocks ? "true" : "false")
        .p;
}

/* A ConfigMap with references to owners, and more metadata. */
static void make(struct managed *m, const char *name, const char *refs, const char *more) {
    world_create(&m->w, arena_printf(&m->w.arena,
                                     "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, "
                                     "ownerReferences: [%s]%s}}",
                                     name, refs, more)
                            .p);
}

static bool there(struct managed *m, const char *name) {
    return world_get(&m->w, API_T_config_map, name);
}

static void delete_with(struct managed *m, const char *name, const char *propagation) {
    world_send(&m->w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                               .kind = client_kind(API_T_config_map),
                                               .namespace = STR("default"),
                                               .name = str_of(name),
                                               .deletion.propagation = str_of(propagation)});
}

static void release(struct managed *m, const char *name) {
    world_patch(&m->w, API_T_config_map, name, NULL,
                "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"example.com/x\"]}}");
}

#define HELD ", finalizers: [example.com/x]"

static void dependents_follow_their_owner(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "b", ref(&m, "a", NULL, false), "");
    make(&m, "c", ref(&m, "b", NULL, false), "");
    make(&m, "other", "", "");
    world_run(&m.w, 60);
    assert_true(there(&m, "c"));
    assert_int_equal(m.counting.sent[REGISTRY_VERB_DELETE], 0);
    delete_with(&m, "a", "Background");
    assert_false(there(&m, "a"));
    world_run(&m.w, 1);
    assert_false(there(&m, "b"));
    assert_false(there(&m, "c"));
    assert_true(there(&m, "other"));
    managed_stop(&m);
}

static void an_owner_that_never_was_is_gone(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "b", ref(&m, "a", "1-2-3", false), "");
    world_run(&m.w, 1);
    assert_false(there(&m, "b"));
    managed_stop(&m);
}

static void what_was_there_before_is_looked_at(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "replicaset-controller", "");
    manager_free(m.manager);
    make(&m, "a", "", "");
    make(&m, "b", ref(&m, "a", NULL, false), "");
    make(&m, "c", ref(&m, "a", "another", false), "");
    struct str name = STR(GC);
    struct informers *old = m.w.informers;
    m.w.informers = informers_new(m.w.client, &m.w.log);
    informers_free(old);
    m.manager = manager_new(&(struct manager_opts){.client = &m.counting.base,
                                                   .informers = m.w.informers,
                                                   .log = &m.w.log,
                                                   .gates = &m.w.gates.enabled,
                                                   .controllers = &name,
                                                   .controller_count = 1},
                            NULL);
    world_run(&m.w, 1);
    assert_true(there(&m, "b"));
    assert_false(there(&m, "c"));
    managed_stop(&m);
}

static void one_owner_is_enough(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "b", "", "");
    make(&m, "c",
         arena_printf(&m.w.arena, "%s, %s", ref(&m, "a", NULL, true), ref(&m, "b", NULL, true)).p,
         "");
    delete_with(&m, "a", "Background");
    world_run(&m.w, 1);
    const struct api_object *c = world_get(&m.w, API_T_config_map, "c");
    assert_non_null(c);
    assert_int_equal(c->meta->owner_references.n, 1);
    assert_true(str_is(c->meta->owner_references.v[0].name, "b"));
    delete_with(&m, "b", "Background");
    world_run(&m.w, 1);
    assert_false(there(&m, "c"));
    managed_stop(&m);
}

static void an_owner_waits_for_those_that_block(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "blocks", ref(&m, "a", NULL, true), HELD);
    make(&m, "follows", ref(&m, "a", NULL, false), HELD);
    make(&m, "below", ref(&m, "blocks", NULL, true), "");
    world_run(&m.w, 1);
    delete_with(&m, "a", "Foreground");
    world_run(&m.w, 5);
    assert_true(there(&m, "a"));
    assert_false(there(&m, "below"));
    assert_true(world_get(&m.w, API_T_config_map, "blocks")->meta->deletion_timestamp.set);
    assert_true(world_get(&m.w, API_T_config_map, "follows")->meta->deletion_timestamp.set);
    release(&m, "blocks");
    world_run(&m.w, 1);
    assert_false(there(&m, "blocks"));
    assert_false(there(&m, "a"));
    assert_true(there(&m, "follows"));
    managed_stop(&m);
}

static void a_reference_that_blocks_no_more_lets_go(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "b", ref(&m, "a", NULL, true), HELD);
    world_run(&m.w, 1);
    delete_with(&m, "a", "Foreground");
    world_run(&m.w, 1);
    assert_true(there(&m, "a"));
    world_patch(&m.w, API_T_config_map, "b", NULL,
                arena_printf(&m.w.arena,
                             "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"%s\","
                             "\"blockOwnerDeletion\":false}]}}",
                             uid_of(&m, API_T_config_map, "a"))
                    .p);
    world_run(&m.w, 1);
    assert_false(there(&m, "a"));
    managed_stop(&m);
}

static void dependents_are_left_alone(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "b", ref(&m, "a", NULL, true), "");
    make(&m, "c", ref(&m, "a", NULL, false), "");
    world_run(&m.w, 1);
    delete_with(&m, "a", "Orphan");
    world_run(&m.w, 1);
    assert_false(there(&m, "a"));
    const struct api_object *b = world_get(&m.w, API_T_config_map, "b");
    assert_non_null(b);
    assert_int_equal(b->meta->owner_references.n, 0);
    assert_true(there(&m, "c"));
    managed_stop(&m);
}

static void circles_end(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "a", "", "");
    make(&m, "b", ref(&m, "a", NULL, true), "");
    world_patch(&m.w, API_T_config_map, "a", NULL,
                arena_printf(&m.w.arena,
                             "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
                             "\"ConfigMap\",\"name\":\"b\",\"uid\":\"%s\",\"blockOwnerDeletion\":"
                             "true}]}}",
                             uid_of(&m, API_T_config_map, "b"))
                    .p);
    world_run(&m.w, 1);
    delete_with(&m, "a", "Foreground");
    world_run(&m.w, 10);
    assert_false(there(&m, "a"));
    assert_false(there(&m, "b"));
    managed_stop(&m);
}

static void an_owner_elsewhere_is_none(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: far}}");
    const struct api_object *owner = world_create(
        &m.w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: far}}");
    make(&m, "b", ref(&m, "a", arena_str(&m.w.arena, owner->meta->uid).p, false), "");
    world_run(&m.w, 1);
    assert_false(there(&m, "b"));
    const struct api_event *e = world_event(&m.w, "OwnerRefInvalidNamespace", "b");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("ownerRef [v1/ConfigMap, namespace: default, name: a")));
    managed_stop(&m);
}

/* Of an owner whose kind nobody serves it is not known that it is gone. */
static void an_owner_of_another_sort_stays(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, GC, "");
    make(&m, "b", "{apiVersion: example.com/v1, kind: Thing, name: t, uid: u}", "");
    world_run(&m.w, 60);
    assert_true(there(&m, "b"));
    managed_stop(&m);
}

static void a_deployment_goes_with_all_it_has(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "deployment-controller,replicaset-controller," GC, "");
    world_create(&m.w, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "
                       "{replicas: 30, selector: {matchLabels: {app: web}}, template: {metadata: "
                       "{labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}");
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), 30);
    world_delete(&m.w, API_T_deployment, "web");
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_replica_set), 0);
    assert_int_equal(world_count(&m.w, API_T_pod), 0);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependents_follow_their_owner),
        cmocka_unit_test(an_owner_that_never_was_is_gone),
        cmocka_unit_test(what_was_there_before_is_looked_at),
        cmocka_unit_test(one_owner_is_enough),
        cmocka_unit_test(an_owner_waits_for_those_that_block),
        cmocka_unit_test(a_reference_that_blocks_no_more_lets_go),
        cmocka_unit_test(dependents_are_left_alone),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(an_owner_elsewhere_is_none),
        cmocka_unit_test(an_owner_of_another_sort_stays),
        cmocka_unit_test(a_deployment_goes_with_all_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
