/* Every namespace has the authority behind the server's certificate. */
#include "managed.h"

static const char name[] = "kube-root-ca.crt";

static struct str published(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_config_map, name);
    assert_non_null(o);
    const struct label *l =
        labels_find(&((const struct api_config_map *)o->body)->data, STR("ca.crt"));
    return l ? l->value : STR("");
}

static void every_namespace_has_it(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "root-ca-certificate-publisher-controller", "");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_config_map), world_count(&m.w, API_T_namespace));
    assert_true(str_is(published(&m), "the authority"));
    world_delete(&m.w, API_T_config_map, name);
    world_run(&m.w, 1);
    assert_true(str_is(published(&m), "the authority"));
    managed_stop(&m);
}

static void what_others_write_is_put_right(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "root-ca-certificate-publisher-controller", "");
    world_run(&m.w, 1);
    struct api_object *draft = api_object_derive(world_get(&m.w, API_T_config_map, name));
    labels_put(&draft->arena, &((struct api_config_map *)api_own_body(draft))->data,
               (struct label){STR("ca.crt"), STR("another")});
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_UPDATE,
                                              .kind = draft->kind,
                                              .namespace = STR("default"),
                                              .name = str_of(name),
                                              .object = draft});
    world_run(&m.w, 1);
    assert_true(str_is(published(&m), "the authority"));
    size_t sent = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 60);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], sent);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_namespace_has_it),
        cmocka_unit_test(what_others_write_is_put_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
