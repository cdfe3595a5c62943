/* Every namespace has its account. */
#include "managed.h"

static void every_namespace_has_one(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "serviceaccount-controller", "");
    world_run(&m.w, 1);
    size_t namespaces = world_count(&m.w, API_T_namespace);
    assert_int_equal(world_count(&m.w, API_T_service_account), namespaces);
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: more}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_service_account), namespaces + 1);
    world_delete(&m.w, API_T_service_account, "default");
    world_run(&m.w, 1);
    assert_non_null(world_get(&m.w, API_T_service_account, "default"));
    managed_stop(&m);
}

static void one_that_goes_gets_none(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "serviceaccount-controller", "");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: more}}");
    world_run(&m.w, 1);
    size_t before = world_count(&m.w, API_T_service_account);
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_namespace),
                                              .name = STR("more")});
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_service_account),
                                              .namespace = STR("more"),
                                              .name = STR("default")});
    size_t sent = m.counting.sent[REGISTRY_VERB_CREATE];
    world_run(&m.w, 60);
    assert_int_equal(world_count(&m.w, API_T_service_account), before - 1);
    assert_in_range(m.counting.sent[REGISTRY_VERB_CREATE], sent, sent + 1);
    managed_stop(&m);
}

static void names_are_checked(void **state) {
    struct world w;
    struct err err = {0};
    struct str wrong = STR("nonsense");
    size_t n;
    (void)state;
    world_start(&w, "");
    assert_null(manager_new(&(struct manager_opts){.client = w.client,
                                                   .informers = w.informers,
                                                   .log = &w.log,
                                                   .gates = &w.gates.enabled,
                                                   .controllers = &wrong,
                                                   .controller_count = 1},
                            &err));
    assert_string_equal(err.msg, "\"nonsense\" is not in the list of known controllers");
    const char *const *names = manager_controllers(&n);
    assert_true(n > 0);
    assert_non_null(names[0]);
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_namespace_has_one),
        cmocka_unit_test(one_that_goes_gets_none),
        cmocka_unit_test(names_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
