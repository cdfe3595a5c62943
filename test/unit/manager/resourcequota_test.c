/* ResourceQuotas, whose status admission needs. */
#include "managed.h"

static const char quota[] = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: "
                            "{hard: {pods: '2', requests.cpu: '4', configmaps: '10', "
                            "count/deployments.apps: '5', example.com/things: '1'}}}";

#define POD(name)                                                                            \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {containers: [{name: c, " \
    "image: i, resources: {requests: {cpu: '1500m'}}}]}}"

static bool is_used(struct managed *m, const char *name, const char *amount) {
    const struct api_object *o = world_get(&m->w, API_T_resource_quota, "q");
    const struct api_resource_quota *q = o->body;
    for (size_t i = 0; i < q->status.used.n; i++)
        if (str_is(q->status.used.v[i].key, name)) {
            AUTO(buf_release) struct buf text = BUF_INIT(64);
            quantity_write(&text, &q->status.used.v[i].value);
            return str_is(buf_view(&text), amount);
        }
    return !amount;
}

static void what_is_there_is_counted(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "resourcequota-controller", "");
    world_create(&m.w, POD("a"));
    world_create(&m.w, quota);
    world_run(&m.w, 1);
    const struct api_object *o = world_get(&m.w, API_T_resource_quota, "q");
    assert_int_equal(((const struct api_resource_quota *)o->body)->status.hard.n, 5);
    assert_true(is_used(&m, "pods", "1"));
    assert_true(is_used(&m, "requests.cpu", "1500m"));
    assert_true(is_used(&m, "configmaps", "0"));
    assert_true(is_used(&m, "count/deployments.apps", "0"));
    assert_true(is_used(&m, "example.com/things", NULL));
    world_create(&m.w, POD("b")); /* by admission */
    assert_true(is_used(&m, "pods", "2"));
    world_run(&m.w, 1);
    assert_true(is_used(&m, "requests.cpu", "3"));
    managed_stop(&m);
}

static void what_goes_is_given_back(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "resourcequota-controller", "");
    world_create(&m.w, quota);
    world_run(&m.w, 1);
    world_create(&m.w, POD("a"));
    world_create(&m.w, POD("b"));
    world_run(&m.w, 1);
    assert_true(is_used(&m, "pods", "2"));
    world_patch(&m.w, API_T_pod, "a", "status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    world_run(&m.w, 1);
    assert_true(is_used(&m, "pods", "1"));
    world_delete(&m.w, API_T_pod, "b");
    world_run(&m.w, 1);
    assert_true(is_used(&m, "pods", "0"));
    assert_true(is_used(&m, "requests.cpu", "0"));
    managed_stop(&m);
}

static void a_new_limit_is_told(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, "resourcequota-controller", "");
    world_create(&m.w, quota);
    world_run(&m.w, 1);
    world_patch(&m.w, API_T_resource_quota, "q", NULL,
                "{\"spec\":{\"hard\":{\"secrets\":\"3\",\"pods\":null}}}");
    world_run(&m.w, 1);
    assert_true(is_used(&m, "secrets", "0"));
    assert_true(is_used(&m, "pods", NULL));
    size_t sent = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 1800);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], sent);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_counted),
        cmocka_unit_test(what_goes_is_given_back),
        cmocka_unit_test(a_new_limit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
