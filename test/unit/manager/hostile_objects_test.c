/* What controllers do for hostile objects grows in proportion to these. */
#include "managed.h"

#include "../cost.h"
#include "base/limits.h"
#include "manager/disruption_int.h"
#include "manager/pods_int.h"

static void check(cost_fn *fn, size_t n) {
    double growth = cost_growth(fn, n);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many of %zu take %.1f times as long", n, growth);
}

/* Ends a list of items with commas between: the last comma goes. */
static void end_list(struct buf *out, const char *end) {
    out->n--;
    buf_addf(out, "%s", end);
}

static struct api_object *object_of(struct managed *m, struct buf *text) {
    struct json tree;
    struct err err = {0};
    struct api_object *o;
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    if (json_parse(&m->w.arena, arena_str(&m->w.arena, buf_view(text)), &any, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    buf_release(text);
    return o;
}

/* Sends an object, whose text is freed, as it comes or as an update. */
static void put(struct managed *m, enum registry_verb verb, struct buf *text) {
    struct api_object *o = object_of(m, text);
    struct client_request r = {.verb = verb, .kind = o->kind, .object = o};
    if (o->kind->namespaced)
        r.namespace = STR("default");
    if (verb == REGISTRY_VERB_UPDATE)
        r.name = arena_str(&m->w.arena, o->meta->name);
    const struct client_answer *answer = world_send(&m->w, &r);
    if (answer->code)
        fail_msg("%.*s", STR_ARG(answer->message));
}

/* ---- garbage-collector-controller ---- */

/* A ConfigMap with n owners of a kind that nobody knows, in this order or the other way round. */
static struct buf owned(size_t n, bool is_reversed) {
    struct buf out = BUF_INIT(SIZE_MAX);
    buf_addf(&out, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","
                   "\"ownerReferences\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "{\"apiVersion\":\"x/v1\",\"kind\":\"A\",\"name\":\"a\",\"uid\":\"u%zu\"},",
                 is_reversed ? n - i : i + 1);
    end_list(&out, "]}}");
    return out;
}

static void turn_owners_round(struct cost *c, size_t n) {
    struct managed m;
    managed_start(&m, "garbage-collector-controller", "");
    struct buf first = owned(n, false), second = owned(n, true);
    put(&m, REGISTRY_VERB_CREATE, &first);
    world_run(&m.w, 0.001);
    cost_begin(c);
    put(&m, REGISTRY_VERB_UPDATE, &second);
    world_run(&m.w, 0.001);
    cost_end(c);
    managed_stop(&m);
}

static void owners_of_an_object(void **state) {
    (void)state;
    check(turn_owners_round, 4000);
}

/* ---- selectors ---- */

/* What all objects of these tests begin with. */
#define NAMED(api, kind) \
    "{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\""

static void make_pods(struct managed *m, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct buf out = BUF_INIT(4096);
        buf_addf(&out,
                 NAMED("v1", "Pod") "p%zu\",\"labels\":{\"a\":\"b\",\"own\":\"p%zu\"}},\"spec\":{"
                                    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
                 i, i);
        put(m, REGISTRY_VERB_CREATE, &out);
    }
}

/* A selector with n requirements that pods satisfy by not having the labels. */
static void add_selector(struct buf *out, size_t n) {
    buf_addf(out, "\"selector\":{\"matchLabels\":{\"x\":\"y\"},\"matchExpressions\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "{\"key\":\"z%zu\",\"operator\":\"DoesNotExist\"},", i);
    end_list(out, "]}");
}

/* Pods come while there are a ReplicaSet and a budget with long selectors. */
static void meet_long_selectors(struct cost *c, size_t n) {
    struct managed m;
    struct buf set = BUF_INIT(SIZE_MAX), budget = BUF_INIT(SIZE_MAX);
    managed_start(&m, "replicaset-controller,disruption-controller", "");
    buf_addf(&set, NAMED("apps/v1", "ReplicaSet") "r\"},\"spec\":{\"replicas\":0,");
    add_selector(&set, n);
    buf_addf(&set, ",\"template\":{\"metadata\":{\"labels\":{\"x\":\"y\"}},\"spec\":{"
                   "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    put(&m, REGISTRY_VERB_CREATE, &set);
    buf_addf(&budget,
             NAMED("policy/v1", "PodDisruptionBudget") "b\"},\"spec\":{\"minAvailable\":1,");
    add_selector(&budget, n);
    buf_addf(&budget, "}}");
    put(&m, REGISTRY_VERB_CREATE, &budget);
    world_run(&m.w, 1);
    cost_begin(c);
    make_pods(&m, 50);
    world_run(&m.w, 1);
    cost_end(c);
    managed_stop(&m);
}

static void long_selectors_of_others(void **state) {
    (void)state;
    double growth = cost_growth(meet_long_selectors, 2000);
    if (growth > 2)
        fail_msg("four times as long selectors of others take %.1f times as long", growth);
}

/* A ClusterRole of n others, each of which another selector selects. */
static void gather_roles(struct cost *c, size_t n) {
    struct managed m;
    struct buf whole = BUF_INIT(SIZE_MAX);
    managed_start(&m, "clusterrole-aggregation-controller", "");
    buf_addf(&whole, NAMED("rbac.authorization.k8s.io/v1",
                           "ClusterRole") "whole\"},"
                                          "\"aggregationRule\":{\"clusterRoleSelectors\":[");
    for (size_t i = 0; i < n; i++) {
        struct buf role = BUF_INIT(4096);
        buf_addf(&role,
                 NAMED("rbac.authorization.k8s.io/v1", "ClusterRole") "r%zu\",\"labels\":{\"own\":"
                                                                      "\"r%zu\"}},\"rules\":[]}",
                 i, i);
        put(&m, REGISTRY_VERB_CREATE, &role);
        buf_addf(&whole, "{\"matchLabels\":{\"own\":\"r%zu\"}},", i);
    }
    end_list(&whole, "]},\"rules\":[]}");
    world_run(&m.w, 1);
    cost_begin(c);
    put(&m, REGISTRY_VERB_CREATE, &whole);
    world_run(&m.w, 1);
    cost_end(c);
    managed_stop(&m);
}

static void selectors_and_roles(void **state) {
    (void)state;
    check(gather_roles, 1000);
}

/* As many ReplicaSets and budgets as pods that they may adopt, each one of them. */
static void meet_pairs(struct cost *c, size_t n) {
    struct managed m;
    managed_start(&m, "replicaset-controller,disruption-controller", "");
    cost_begin(c);
    make_pods(&m, n);
    for (size_t i = 0; i < n; i++) {
        struct buf set = BUF_INIT(4096), budget = BUF_INIT(4096);
        buf_addf(&set,
                 NAMED("apps/v1", "ReplicaSet") "r%zu\"},\"spec\":{\"replicas\":1,\"selector\":{"
                                                "\"matchLabels\":{\"own\":\"p%zu\"}},\"template\":{"
                                                "\"metadata\":{\"labels\":{"
                                                "\"own\":\"p%zu\"}},\"spec\":{\"containers\":[{"
                                                "\"name\":\"c\",\"image\":\"i\"}]}}}}",
                 i, i, i);
        put(&m, REGISTRY_VERB_CREATE, &set);
        buf_addf(&budget,
                 NAMED("policy/v1", "PodDisruptionBudget") "b%zu\"},\"spec\":{\"minAvailable\":1,"
                                                           "\"selector\":{\"matchLabels\":{\"a\":"
                                                           "\"b\",\"own\":\"p%zu\"}}}}",
                 i, i);
        put(&m, REGISTRY_VERB_CREATE, &budget);
    }
    world_run(&m.w, 2);
    assert_int_equal(world_count(&m.w, API_T_pod), n);
    managed_pods_run(&m, true);
    world_run(&m.w, 2);
    cost_end(c);
    managed_stop(&m);
}

static void workloads_and_pods(void **state) {
    (void)state;
    check(meet_pairs, 250);
}

/* ---- namespace-controller ---- */

/* A namespace goes in which an object has n finalizers. */
static void wait_for_finalizers(struct cost *c, size_t n) {
    struct managed m;
    struct buf out = BUF_INIT(SIZE_MAX);
    managed_start(&m, "namespace-controller", "");
    buf_addf(&out, NAMED("v1", "ConfigMap") "c\",\"finalizers\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "\"a.b/f%zu\",", i);
    end_list(&out, "]}}");
    world_create(&m.w, "{apiVersion: v1, kind: Namespace, metadata: {name: gone}}");
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                              .kind = client_kind(API_T_config_map),
                                              .namespace = STR("gone"),
                                              .object = object_of(&m, &out)});
    world_send(&m.w, &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                              .kind = client_kind(API_T_namespace),
                                              .name = STR("gone")});
    assert_int_equal(m.w.last.code, ERR_NONE);
    cost_begin(c);
    world_run(&m.w, 7);
    cost_end(c);
    assert_non_null(world_get(&m.w, API_T_namespace, "gone"));
    managed_stop(&m);
}

static void finalizers_in_a_namespace(void **state) {
    (void)state;
    check(wait_for_finalizers, 4000);
}

/* ---- resourcequota-controller ---- */

/* A quota of n resources is counted twice. */
static void count_resources(struct cost *c, size_t n) {
    struct managed m;
    struct buf out = BUF_INIT(SIZE_MAX);
    managed_start(&m, "resourcequota-controller", "");
    buf_addf(&out, NAMED("v1", "ResourceQuota") "q\"},\"spec\":{\"hard\":{");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "\"requests.a.b/r%zu\":\"1\",", i);
    end_list(&out, "}}}");
    put(&m, REGISTRY_VERB_CREATE, &out);
    world_run(&m.w, 1);
    cost_begin(c);
    world_run(&m.w, 301);
    cost_end(c);
    managed_stop(&m);
}

static void resources_of_a_quota(void **state) {
    (void)state;
    check(count_resources, 4000);
}

/* ---- node-lifecycle-controller ---- */

/* n nodes that are not ready come, each in a zone of its own. */
static void meet_zones(struct cost *c, size_t n) {
    struct managed m;
    managed_start(&m, "node-lifecycle-controller", "");
    cost_begin(c);
    for (size_t i = 0; i < n; i++) {
        struct buf out = BUF_INIT(4096);
        buf_addf(&out,
                 NAMED("v1", "Node") "n%zu\",\"labels\":{\"topology.kubernetes.io/zone\":"
                                     "\"z%zu\"}}}",
                 i, i);
        put(&m, REGISTRY_VERB_CREATE, &out);
    }
    world_run(&m.w, 1);
    cost_end(c);
    managed_stop(&m);
}

static void nodes_of_many_zones(void **state) {
    (void)state;
    check(meet_zones, 1000);
}

/* ---- pods ---- */

/* Two pods of n init containers, whose statuses stand the other way round. */
static void rank_pods(struct cost *c, size_t n) {
    struct managed m;
    struct buf out = BUF_INIT(SIZE_MAX);
    managed_start(&m, "", "");
    buf_addf(&out, NAMED("v1", "Pod") "p\"},\"spec\":{\"initContainers\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "{\"name\":\"c%zu\",\"restartPolicy\":\"Always\"},", i);
    end_list(&out, "]},\"status\":{\"initContainerStatuses\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "{\"name\":\"c%zu\",\"restartCount\":%zu},", n - 1 - i, i + 1);
    end_list(&out, "]}}");
    struct api_object *o = object_of(&m, &out);
    struct manager__candidate pods[] = {{.pod = o}, {.pod = o}};
    cost_begin(c);
    manager__rank_active(pods, 2);
    cost_end(c);
    api_object_free(o);
    managed_stop(&m);
}

static void sidecars_of_a_pod(void **state) {
    (void)state;
    check(rank_pods, 2000);
}

/* n pods, of which a budget knows n others that were to be deleted. */
static void look_for_disrupted(struct cost *c, size_t n) {
    struct managed m;
    struct buf out = BUF_INIT(SIZE_MAX);
    struct disruption__disrupted found;
    managed_start(&m, "", "");
    buf_addf(&out,
             NAMED("policy/v1", "PodDisruptionBudget") "b\"},\"status\":{\"disruptedPods\":{");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "\"x%zu\":\"2023-11-14T22:13:20Z\",", i);
    end_list(&out, "}}}");
    struct api_object *budget = object_of(&m, &out);
    struct manager__objects pods = {arena_array(&m.w.arena, const struct api_object *, n), n};
    for (size_t i = 0; i < n; i++) {
        buf_addf(&out, NAMED("v1", "Pod") "x%zu\"}}", i % 2 ? n + i : n - i);
        pods.v[i] = api_publish(object_of(&m, &out));
    }
    cost_begin(c);
    disruption__disrupted(&m.w.arena, budget->body, &pods, 0, &found);
    assert_int_equal(disruption__count_healthy(&pods, &found.pods), 0);
    cost_end(c);
    assert_int_equal(found.pods.n, (n + 1) / 2 - 1);
    for (size_t i = 1; i < found.pods.n; i++)
        assert_true(str_cmp(found.pods.v[i - 1].key, found.pods.v[i].key) < 0);
    for (size_t i = 0; i < n; i++)
        api_object_unref(pods.v[i]);
    api_object_free(budget);
    managed_stop(&m);
}

static void pods_of_a_budget(void **state) {
    (void)state;
    check(look_for_disrupted, 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_of_an_object),       cmocka_unit_test(long_selectors_of_others),
        cmocka_unit_test(selectors_and_roles),       cmocka_unit_test(workloads_and_pods),
        cmocka_unit_test(finalizers_in_a_namespace), cmocka_unit_test(resources_of_a_quota),
        cmocka_unit_test(nodes_of_many_zones),       cmocka_unit_test(sidecars_of_a_pod),
        cmocka_unit_test(pods_of_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
