/*
 * What pods ask for: test/sched/requests.jsonl has pods of all sorts with the requests that
 * upstream's PodRequests gives for them, gates on and off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "api/object.h"
#include "base/limits.h"
#include "feature/feature.h"
#include "sched/requests.h"

static void read_gates(const struct json *gates, struct feature_set *out) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    *out = config.enabled;
    for (uint32_t i = 0; i < gates->n; i++) {
        enum feature f;
        assert_true(feature_find(gates->members[i].key, &f));
        feature_set_put(out, f, gates->members[i].value.b);
    }
}

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

static void check_member(const struct json *line, const struct json_member *got) {
    const struct json *want = json_get(line, got->key);
    if (want && json_equal(want, &got->value))
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    json_write(&text, &got->value, NULL);
    struct str id = json_str(json_get(line, STR("id")));
    fail_msg("%.*s: %.*s: got %.*s", STR_ARG(id), STR_ARG(got->key), STR_ARG(buf_view(&text)));
}

static void check_line(struct arena *a, struct str text) {
    struct json line;
    struct err err;
    struct api_pod pod = {0};
    struct feature_set gates;
    struct sched_requests requests;
    assert_int_equal(json_parse(a, text, NULL, &line, &err), 0);
    assert_int_equal(
        api_struct_decode(a, &api_types[API_T_pod], json_get(&line, STR("pod")), &pod, &err), 0);
    read_gates(json_get(&line, STR("gates")), &gates);
    sched_requests_get(a, &pod, &gates, json_get(&line, STR("use_status"))->b, &requests);
    struct json got = encode_requests(a, &requests);
    for (uint32_t i = 0; i < got.n; i++)
        check_member(&line, &got.members[i]);
}

static void requests_as_upstream(void **state) {
    (void)state;
    FILE *f = fopen("test/sched/requests.jsonl", "re");
    assert_non_null(f);
    struct arena arena = {0};
    char *line = NULL;
    size_t cap = 0, lines = 0;
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0; lines++) {
        arena_reset(&arena);
        check_line(&arena, (struct str){line, (size_t)n});
    }
    assert_true(lines >= 100);
    free(line);
    arena_release(&arena);
    fclose(f);
}

/* ---- pods that upstream's tool cannot write ---- */

static struct sched_requests requests_of(struct arena *a, const char *json) {
    struct feature_config config;
    struct api_pod pod = {0};
    struct json tree;
    struct err err;
    struct sched_requests out;
    feature_config_init(&config, FEATURE_NEWEST);
    assert_int_equal(json_parse(a, str_of(json), NULL, &tree, &err), 0);
    assert_int_equal(api_struct_decode(a, &api_types[API_T_pod], &tree, &pod, &err), 0);
    sched_requests_get(a, &pod, &config.enabled, true, &out);
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
