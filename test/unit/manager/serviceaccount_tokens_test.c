/* Secrets with tokens of service accounts. */
#include "auth/token.h"
#include "managed.h"

#define CONTROLLER "serviceaccount-token-controller"

static const char account[] = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}";
static const char secret[] =
    "{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: "
    "{kubernetes.io/service-account.name: robot}}, type: kubernetes.io/service-account-token}";

/* A key of nobody. */
static const char key[] = "-----BEGIN PRIVATE KEY-----\n"
                          "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdcE087J4ls4Z/2En\n"
                          "qrjKZjoiiAHCGn3v5FaTyNkSwdqhRANCAASvBX9tp2gd9rdJQW16gIJH8rtxEsv9\n"
                          "6rYMv/20Tpzc2Jlg/e5UlJ2XagV04leAHQYaV2vXr9SsAxT2zPcV4J/F\n"
                          "-----END PRIVATE KEY-----\n";

struct signing {
    struct managed m;
    struct auth_keys *keys;
    struct auth_issuer issuer;
};

static void start(struct signing *s) {
    struct str pem = str_of(key);
    struct err err = {0};
    s->keys = auth_keys_new(&(struct api_strs){.v = &pem, .n = 1}, &err);
    assert_non_null(s->keys);
    s->issuer = (struct auth_issuer){.keys = s->keys};
    managed_start_signing(&s->m, CONTROLLER, "", &s->issuer);
}

static void stop(struct signing *s) {
    managed_stop(&s->m);
    auth_keys_free(s->keys);
}

static struct str data_of(struct signing *s, const char *name) {
    const struct api_object *o = world_get(&s->m.w, API_T_secret, "s");
    const struct label *l =
        o ? labels_find(&((const struct api_secret *)o->body)->data, str_of(name)) : NULL;
    return l ? l->value : STR("");
}

static void a_secret_gets_its_token(void **state) {
    struct signing s;
    (void)state;
    start(&s);
    world_create(&s.m.w, account);
    world_create(&s.m.w, secret);
    world_run(&s.m.w, 1);
    assert_true(str_is(data_of(&s, "namespace"), "default"));
    assert_true(str_is(data_of(&s, "ca.crt"), "the authority"));
    assert_true(str_starts(data_of(&s, "token"), STR("ey")));
    const struct api_object *o = world_get(&s.m.w, API_T_secret, "s");
    assert_non_null(labels_find(&o->meta->annotations, STR("kubernetes.io/service-account.uid")));
    size_t updates = s.m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&s.m.w, 60);
    assert_int_equal(s.m.counting.sent[REGISTRY_VERB_UPDATE], updates);
    stop(&s);
}

static void a_secret_goes_with_its_account(void **state) {
    struct signing s;
    (void)state;
    start(&s);
    world_create(&s.m.w, account);
    world_create(&s.m.w, secret);
    world_run(&s.m.w, 1);
    world_delete(&s.m.w, API_T_service_account, "robot");
    world_create(&s.m.w, account); /* one of the same name is another one */
    world_run(&s.m.w, 1);
    assert_null(world_get(&s.m.w, API_T_secret, "s"));
    stop(&s);
}

static void a_reference_goes_with_its_secret(void **state) {
    struct signing s;
    (void)state;
    start(&s);
    world_create(&s.m.w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, secrets: "
                         "[{name: s}, {name: other}]}");
    world_create(&s.m.w, secret);
    world_run(&s.m.w, 1);
    world_delete(&s.m.w, API_T_secret, "s");
    world_run(&s.m.w, 1);
    const struct api_object *o = world_get(&s.m.w, API_T_service_account, "robot");
    const struct api_object_reference_list *list =
        &((const struct api_service_account *)o->body)->secrets;
    assert_int_equal(list->n, 1);
    assert_true(str_is(list->v[0].name, "other"));
    stop(&s);
}

/* An account of the same name refers to a Secret that is still to come. */
static void a_reference_of_another_account_stays(void **state) {
    struct signing s;
    (void)state;
    start(&s);
    world_create(&s.m.w, account);
    world_create(&s.m.w, secret);
    world_run(&s.m.w, 1);
    world_delete(&s.m.w, API_T_service_account, "robot");
    world_create(&s.m.w, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, secrets: "
                         "[{name: s}]}");
    world_run(&s.m.w, 1);
    assert_null(world_get(&s.m.w, API_T_secret, "s"));
    const struct api_object *o = world_get(&s.m.w, API_T_service_account, "robot");
    assert_int_equal(((const struct api_service_account *)o->body)->secrets.n, 1);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_gets_its_token),
        cmocka_unit_test(a_secret_goes_with_its_account),
        cmocka_unit_test(a_reference_goes_with_its_secret),
        cmocka_unit_test(a_reference_of_another_account_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
