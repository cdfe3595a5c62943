/*
 * Configurations: test/sched/config.jsonl has what files say, and either the error or parts of what
 * comes of it; a case without "config" is the default.
 */
#include "../data.h"
#include "api/object.h"
#include "base/limits.h"
#include "sched/config.h"

static struct json strs(struct arena *a, const struct str *v, size_t n) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < n; i++)
        json_append(a, &out, json_of_str(v[i]));
    return out;
}

static struct json order(struct arena *a, const struct sched_order *o) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < o->n; i++)
        json_append(a, &out, json_of_str(sched_plugin_name((enum sched_plugin)o->v[i])));
    return out;
}

static struct json weights(struct arena *a, const struct sched_profile *p) {
    struct json out = {.kind = JSON_OBJECT};
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
        if (p->weights[i])
            json_add(a, &out, sched_plugin_name((enum sched_plugin)i), json_of_i64(p->weights[i]));
    return out;
}

static struct json resources(struct arena *a, const struct sched_weighted_resource *v, size_t n) {
    struct json out = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < n; i++)
        json_add(a, &out, v[i].name, json_of_i64(v[i].weight));
    return out;
}

static struct json shape(struct arena *a, const struct sched_shape_point *v, size_t n) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < n; i++) {
        json_append(a, &out, json_of_i64(v[i].utilization));
        json_append(a, &out, json_of_i64(v[i].score));
    }
    return out;
}

static struct json spread(struct arena *a, const struct api_topology_spread_constraint_list *list) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; list && i < list->n; i++)
        json_append(a, &out, json_of_str(list->v[i].topology_key));
    return out;
}

static struct json affinity(struct arena *a, const struct api_node_affinity *v) {
    return v ? api_struct_encode(a, &api_types[API_T_node_affinity], v)
             : (struct json){.kind = JSON_NULL};
}

static void add_orders(struct arena *a, struct json *out, const struct sched_profile *p) {
    static const char *const names[] = {"preEnqueue", "preFilter", "filter",
                                        "postFilter", "preScore",  "score"};
    for (int i = 0; i < SCHED_POINT_COUNT; i++)
        json_add(a, out, str_of(names[i]), order(a, &p->points[i]));
    json_add(a, out, STR("weights"), weights(a, p));
}

static struct json profile(struct arena *a, const struct sched_profile *p) {
    static const char *const strategies[] = {"Least", "Most", "Ratio"};
    struct json out = {.kind = JSON_OBJECT};
    json_add(a, &out, STR("name"), json_of_str(p->scheduler_name));
    add_orders(a, &out, p);
    json_add(a, &out, STR("strategy"), json_of_str(str_of(strategies[p->strategy])));
    json_add(a, &out, STR("fit"), resources(a, p->fit_resources, p->fit_resource_count));
    json_add(a, &out, STR("shape"), shape(a, p->shape, p->shape_count));
    json_add(a, &out, STR("ignored"), strs(a, p->ignored_resources, p->ignored_resource_count));
    json_add(a, &out, STR("ignoredGroups"),
             strs(a, p->ignored_resource_groups, p->ignored_resource_group_count));
    json_add(a, &out, STR("balanced"),
             resources(a, p->balanced_resources, p->balanced_resource_count));
    json_add(a, &out, STR("affinity"), affinity(a, p->added_affinity));
    json_add(a, &out, STR("spread"), spread(a, p->default_spread));
    json_add(a, &out, STR("systemSpread"), json_of_bool(p->system_spread));
    json_add(a, &out, STR("hardWeight"), json_of_i64(p->hard_pod_affinity_weight));
    json_add(a, &out, STR("ignorePreferred"),
             json_of_bool(p->ignore_preferred_terms_of_existing_pods));
    json_add(a, &out, STR("candidatesPercentage"), json_of_i64(p->min_candidate_nodes_percentage));
    json_add(a, &out, STR("candidatesAbsolute"), json_of_i64(p->min_candidate_nodes_absolute));
    json_add(a, &out, STR("bindTimeout"), json_of_i64(p->bind_timeout_seconds));
    json_add(a, &out, STR("volumeShape"), shape(a, p->volume_shape, p->volume_shape_count));
    json_add(a, &out, STR("percentage"), json_of_i64(p->percentage_of_nodes_to_score));
    return out;
}

static struct json encode(struct arena *a, const struct sched_config *c) {
    struct json out = {.kind = JSON_OBJECT}, profiles = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < c->profile_count; i++)
        json_append(a, &profiles, profile(a, &c->profiles[i]));
    json_add(a, &out, STR("profiles"), profiles);
    json_add(a, &out, STR("sample"), json_of_bool(c->sample_nodes));
    json_add(a, &out, STR("percentage"), json_of_i64(c->percentage_of_nodes_to_score));
    json_add(a, &out, STR("initialBackoff"), json_of_i64(c->initial_backoff_seconds));
    json_add(a, &out, STR("maxBackoff"), json_of_i64(c->max_backoff_seconds));
    return out;
}

/* Is everything that is wanted there? Lists of profiles are compared one by one. */
static void check_part(struct arena *a, struct str name, const struct json *wanted,
                       const struct json *got) {
    for (uint32_t i = 0; i < wanted->n; i++) {
        const struct json_member *m = &wanted->members[i];
        const struct json *value = json_get(got, m->key);
        assert_non_null(value);
        if (str_is(m->key, "profiles")) {
            assert_int_equal(m->value.n, value->n);
            for (uint32_t k = 0; k < value->n; k++)
                check_part(a, name, &m->value.items[k], &value->items[k]);
        } else {
            data_expect_same(arena_printf(a, "%.*s: %.*s", STR_ARG(name), STR_ARG(m->key)),
                             &m->value, value);
        }
    }
}

static void run_case(struct arena *a, const struct json *c) {
    struct str name = json_str(json_get(c, STR("name")));
    const struct json *tree = json_get(c, STR("config")), *error = json_get(c, STR("error"));
    struct sched_config *config = NULL;
    struct err err = {0};
    int rc = 0;
    if (tree)
        rc = sched_config_read(a, tree, &config, &err);
    else
        config = sched_config_default(a);
    if (!error && rc < 0)
        fail_msg("%.*s: %s", STR_ARG(name), err.msg);
    if (error && !str_is(json_str(error), err.msg))
        fail_msg("%.*s: rc %d: %s", STR_ARG(name), rc, err.msg);
    if (error)
        return;
    struct json got = encode(a, config);
    check_part(a, name, json_get(c, STR("want")), &got);
}

static void files_mean_what_they_mean_upstream(void **state) {
    (void)state;
    data_each("test/sched/config.jsonl", 60, run_case);
}

static void plugins_are_found_by_name(void **state) {
    (void)state;
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++) {
        enum sched_plugin found;
        assert_true(sched_plugin_find(sched_plugin_name((enum sched_plugin)i), &found));
        assert_int_equal(found, i);
    }
    enum sched_plugin none;
    assert_false(sched_plugin_find(STR("nodename"), &none));
}

/* A configuration with one member, or one profile with it. */
static struct json config_with(struct arena *a, struct str name, struct json value) {
    struct json tree = {.kind = JSON_OBJECT};
    json_add(a, &tree, STR("apiVersion"), json_of_str(STR("kubescheduler.config.k8s.io/v1")));
    json_add(a, &tree, STR("kind"), json_of_str(STR("KubeSchedulerConfiguration")));
    json_add(a, &tree, name, value);
    return tree;
}

static struct json profile_with(struct arena *a, struct str name, struct json value) {
    struct json profiles = {.kind = JSON_ARRAY}, one = {.kind = JSON_OBJECT};
    json_add(a, &one, name, value);
    json_append(a, &profiles, one);
    return config_with(a, STR("profiles"), profiles);
}

/* Names "0", "1", and so on, as members of this key. */
static struct json named_items(struct arena *a, struct str key, int n) {
    struct json list = {.kind = JSON_ARRAY};
    for (int i = 0; i < n; i++) {
        struct json item = {.kind = JSON_OBJECT};
        json_add(a, &item, key, json_of_str(arena_printf(a, "%d", i)));
        json_append(a, &list, item);
    }
    return list;
}

static void expect(struct arena *a, const struct json *tree, const char *error) {
    struct sched_config *config;
    struct err err = {0};
    int rc = sched_config_read(a, tree, &config, &err);
    assert_string_equal(err.msg, error);
    assert_int_equal(rc, *error ? -1 : 0);
}

static void longer_lists_are_refused(void **state) {
    (void)state;
    struct arena a = {0};
    const int most = LIMIT_CONFIG_ITEMS;
    struct json tree =
        config_with(&a, STR("profiles"), named_items(&a, STR("schedulerName"), most));
    expect(&a, &tree, "");
    tree = config_with(&a, STR("profiles"), named_items(&a, STR("schedulerName"), most + 1));
    expect(&a, &tree, "profiles: Too many: 1001: must have at most 1000 items");
    tree = profile_with(&a, STR("pluginConfig"), named_items(&a, STR("name"), most));
    expect(&a, &tree, "");
    tree = profile_with(&a, STR("pluginConfig"), named_items(&a, STR("name"), most + 1));
    expect(&a, &tree, "profiles[0].pluginConfig: Too many: 1001: must have at most 1000 items");
    arena_release(&a);
}

/* A list of one plug-in, whose name has so many umlauts behind its x. */
static struct json long_name(struct arena *a, int umlauts) {
    struct json list = {.kind = JSON_ARRAY}, item = {.kind = JSON_OBJECT};
    struct buf name = BUF_INIT(SIZE_MAX);
    buf_add_char(&name, 'x');
    for (int i = 0; i < umlauts; i++)
        buf_add(&name, STR("\xc3\xa4"));
    json_add(a, &item, STR("name"), json_of_str(arena_str(a, buf_view(&name))));
    json_add(a, &item, STR("args"), (struct json){.kind = JSON_OBJECT});
    json_append(a, &list, item);
    buf_release(&name);
    return list;
}

#define TEN_UMLAUTS                                                    \
    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4" \
    "\xc3\xa4\xc3\xa4"
#define FORTY_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS TEN_UMLAUTS
#define NINE_UMLAUTS  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"

/* Of a name of more than 100 bytes an error shows whole characters and an ellipsis. */
static void long_names_are_shown_shortened(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = profile_with(&a, STR("pluginConfig"), long_name(&a, 100000));
    expect(&a, &tree,
           "profiles[0].pluginConfig[0].name: Invalid value: \"x" FORTY_UMLAUTS NINE_UMLAUTS
           "...\": no supported plugin of this name has args");
    tree = profile_with(&a, STR("pluginConfig"), long_name(&a, 40));
    expect(&a, &tree,
           "profiles[0].pluginConfig[0].name: Invalid value: \"x" FORTY_UMLAUTS
           "\": no supported plugin of this name has args");
    arena_release(&a);
}

static void the_process_around_it(void **state) {
    static const char text[] =
        "{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
        "\"KubeSchedulerConfiguration\",\"leaderElection\":{\"leaseDuration\":\"1m\","
        "\"renewDeadline\":\"40s\",\"retryPeriod\":\"5s\",\"resourceName\":\"second\","
        "\"resourceNamespace\":\"x\"},\"clientConnection\":{\"qps\":12.5,\"burst\":30,"
        "\"kubeconfig\":\"k\"}}";
    AUTO(arena_release) struct arena a = {0};
    struct sched_config *c;
    struct json tree;
    struct err err;
    (void)state;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, &err), 0);
    assert_int_equal(sched_config_read(&a, &tree, &c, &err), 0);
    assert_false(c->process.is_alone);
    assert_int_equal(c->process.lease_duration, INT64_C(60000000000));
    assert_int_equal(c->process.renew_deadline, INT64_C(40000000000));
    assert_int_equal(c->process.retry_period, INT64_C(5000000000));
    assert_true(str_is(c->process.lease, "second"));
    assert_true(str_is(c->process.lease_namespace, "x"));
    assert_true(str_is(c->process.kubeconfig, "k"));
    assert_true(c->process.qps > 12.4 && c->process.qps < 12.6);
    assert_int_equal(c->process.burst, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_mean_what_they_mean_upstream),
        cmocka_unit_test(plugins_are_found_by_name),
        cmocka_unit_test(longer_lists_are_refused),
        cmocka_unit_test(long_names_are_shown_shortened),
        cmocka_unit_test(the_process_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
