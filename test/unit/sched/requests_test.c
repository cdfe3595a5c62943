/*
 * What pods ask for: test/sched/requests.jsonl has pods of all sorts with the requests that
 * upstream's PodRequests gives for them, gates on and off.
 */
#include "../data.h"
#include "api/object.h"
#include "sched/requests.h"

static struct json encode_requests(struct arena *a, const struct sched_requests *r) {
    struct json out = {.kind = JSON_OBJECT}, list = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < r->n; i++) {
        json_add(a, &list, r->v[i].name, json_of_i64(r->v[i].amount));
        assert_true(i == 0 || str_cmp(r->v[i - 1].name, r->v[i].name) < 0);
    }
    json_add(a, &out, STR("requests"), list);
    json_add(a, &out, STR("nonzero_cpu"), json_of_i64(r->nonzero_cpu));
    json_add(a, &out, STR("nonzero_memory"), json_of_i64(r->nonzero_memory));
    json_add(a, &out, STR("scored_cpu"), json_of_i64(r->scored_cpu));
    json_add(a, &out, STR("scored_memory"), json_of_i64(r->scored_memory));
    return out;
}

static void check_line(struct arena *a, const struct json *line) {
    struct api_pod pod = {0};
    struct feature_set gates = data_gates(line);
    struct sched_requests requests;
    struct str id = data_text(line, "id");
    assert_int_equal(
        api_struct_decode(a, &api_types[API_T_pod], json_get(line, STR("pod")), &pod, NULL), 0);
    unsigned use = json_get(line, STR("use_status"))->b ? SCHED_REQUESTS_RESIZE : 0;
    sched_requests_get(a, &pod, &gates, use | SCHED_REQUESTS_CLAIMS, &requests);
    struct json got = encode_requests(a, &requests);
    for (uint32_t i = 0; i < got.n; i++) {
        struct str key = got.members[i].key;
        data_expect_same(arena_printf(a, "%.*s: %.*s", STR_ARG(id), STR_ARG(key)),
                         json_get(line, key), &got.members[i].value);
    }
}

static void requests_as_upstream(void **state) {
    (void)state;
    data_each("test/sched/requests.jsonl", 100, check_line);
}

/* ---- pods that upstream's tool cannot write ---- */

static struct sched_requests requests_of(struct arena *a, const char *json) {
    struct feature_set gates = data_newest_gates();
    struct api_pod pod = {0};
    struct json tree;
    struct err err;
    struct sched_requests out;
    assert_int_equal(json_parse(a, str_of(json), NULL, &tree, &err), 0);
    assert_int_equal(api_struct_decode(a, &api_types[API_T_pod], &tree, &pod, NULL), 0);
    sched_requests_get(a, &pod, &gates, SCHED_REQUESTS_RESIZE | SCHED_REQUESTS_CLAIMS, &out);
    return out;
}

static void empty_status_counts_as_nothing_given(void **state) {
    (void)state;
    struct arena a = {0};
    struct sched_requests r = requests_of(
        &a, "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":"
            "{\"cpu\":\"2\"}}}]},\"status\":{\"containerStatuses\":[{\"name\":\"c\","
            "\"allocatedResources\":{},\"resources\":{\"requests\":{}}}],\"conditions\":"
            "[{\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}]}}");
    assert_int_equal(r.n, 0);
    assert_int_equal(r.nonzero_cpu, 100);
    arena_release(&a);
}

static void no_containers(void **state) {
    (void)state;
    struct arena a = {0};
    struct sched_requests r = requests_of(&a, "{}");
    assert_int_equal(r.n, 0);
    assert_int_equal(r.nonzero_cpu, 0);
    assert_int_equal(r.scored_memory, 0);
    arena_release(&a);
}

/* A sum that is too long to write down keeps its larger part. */
static void sums_without_end(void **state) {
    (void)state;
    struct arena a = {0};
    struct sched_requests r =
        requests_of(&a, "{\"spec\":{\"containers\":["
                        "{\"name\":\"a\",\"resources\":{\"requests\":{\"memory\":\"1\"}}},"
                        "{\"name\":\"b\",\"resources\":{\"requests\":{\"memory\":\"1e1000000\"}}},"
                        "{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}");
    assert_true(r.n > 0);
    assert_int_equal(r.v[0].amount, 1000);
    arena_release(&a);
}

static void names_that_count(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool extended, scalar;
    } rows[] = {
        {"example.com/gpu", true, true},   {"hugepages-2Mi", false, true},
        {"kubernetes.io/x", false, true},  {"attachable-volumes-a", false, true},
        {"storage", false, false},         {"requests.example.com/a", false, false},
        {"example.com/", false, false},    {"a/b/c", false, false},
        {"Example.com/gpu", false, false}, {"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(sched_resource_is_extended(str_of(rows[i].name)), rows[i].extended);
        assert_int_equal(sched_resource_is_scalar(str_of(rows[i].name)), rows[i].scalar);
    }
    char longest[600] = "example.com/";
    for (size_t i = 12; i < sizeof longest - 1; i++)
        longest[i] = 'a';
    assert_false(sched_resource_is_extended(str_of(longest)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_as_upstream),
        cmocka_unit_test(empty_status_counts_as_nothing_given),
        cmocka_unit_test(no_containers),
        cmocka_unit_test(sums_without_end),
        cmocka_unit_test(names_that_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
