/* ClusterRoles that are made of others. */
#include "managed.h"

#define CONTROLLER "clusterrole-aggregation-controller"
#define ROLE(name, rules)                                                                  \
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " name \
    ", labels: {part: 'yes'}}, rules: [" rules "]}"
#define READ  "{apiGroups: [''], resources: [pods], verbs: [get]}"
#define LIST  "{apiGroups: [''], resources: [pods], verbs: [list]}"
#define WATCH "{apiGroups: [''], resources: [services], verbs: [watch]}"

static const char whole[] =
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: whole}, "
    "aggregationRule: {clusterRoleSelectors: [{matchLabels: {part: 'yes'}}]}, rules: []}";

static const struct api_policy_rule_list *rules_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_cluster_role, "whole");
    assert_non_null(o);
    return &((const struct api_cluster_role *)o->body)->rules;
}

static void rules_come_together(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, CONTROLLER, "");
    world_create(&m.w, whole);
    world_create(&m.w, ROLE("b", READ));
    world_create(&m.w, ROLE("a", LIST "," READ));
    world_run(&m.w, 1);
    assert_int_equal(rules_of(&m)->n, 2);
    assert_true(str_is(rules_of(&m)->v[0].verbs.v[0], "list"));
    assert_true(str_is(rules_of(&m)->v[1].verbs.v[0], "get"));
    world_delete(&m.w, API_T_cluster_role, "a");
    world_run(&m.w, 1);
    assert_int_equal(rules_of(&m)->n, 1);
    size_t patches = m.counting.sent[REGISTRY_VERB_PATCH];
    world_run(&m.w, 60);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_PATCH], patches);
    world_delete(&m.w, API_T_cluster_role, "b");
    world_run(&m.w, 1);
    assert_int_equal(rules_of(&m)->n, 0);
    managed_stop(&m);
}

/* Two selectors select the same role, and roles say the same: each rule is there once, those of the
 * first selector before those of the second. */
static void rules_of_many_selectors_are_there_once(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, CONTROLLER, "");
    world_create(&m.w, ROLE("b", READ));
    world_create(&m.w, ROLE("a", LIST "," READ));
    world_create(&m.w, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: "
                       "{name: first, labels: {other: 'yes'}}, rules: [" LIST "," WATCH "]}");
    world_create(
        &m.w, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: "
              "{name: whole}, aggregationRule: {clusterRoleSelectors: ["
              "{matchLabels: {part: 'yes'}}, {matchExpressions: [{key: part, operator: Exists}]}, "
              "{matchLabels: {other: 'yes'}}, {matchLabels: {part: 'yes'}}]}, rules: []}");
    world_run(&m.w, 1);
    const struct api_policy_rule_list *rules = rules_of(&m);
    size_t watches = 0;
    for (size_t i = 0; i < rules->n; i++)
        watches += str_is(rules->v[i].resources.v[0], "services");
    assert_true(rules->n >= 3);
    assert_true(str_is(rules->v[0].verbs.v[0], "list"));
    assert_true(str_is(rules->v[1].verbs.v[0], "get"));
    assert_int_equal(watches, 1);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_come_together),
        cmocka_unit_test(rules_of_many_selectors_are_there_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
