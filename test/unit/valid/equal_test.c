/*
 * Equality of structs, as updates see it: pairs of objects, as JSON, that are equal or not. The
 * first member says which type they are of.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "valid/valid_int.h"

static const struct {
    enum api_type_id type;
    const char *a, *b;
    bool equal;
} pairs[] = {
    {API_T_container, "{}", "{}", true},
    {API_T_container, "{\"name\":\"a\"}", "{\"name\":\"b\"}", false},
    {API_T_container, "{\"args\":[]}", "{}", true},
    {API_T_container, "{\"args\":[\"x\"]}", "{\"args\":[\"x\",\"y\"]}", false},
    {API_T_container, "{\"args\":[\"x\"]}", "{\"args\":[\"y\"]}", false},
    {API_T_container, "{\"ports\":[]}", "{}", true},
    {API_T_container, "{\"ports\":[{\"containerPort\":1}]}", "{\"ports\":[{\"containerPort\":2}]}",
     false},
    {API_T_container, "{\"ports\":[{\"containerPort\":1}]}", "{}", false},
    {API_T_container, "{\"tty\":true}", "{}", false},
    {API_T_container, "{\"restartPolicy\":\"\"}", "{}", false},
    {API_T_container, "{\"foo\":1}", "{\"foo\":2}", true},
    {API_T_resource_requirements, "{\"limits\":{\"cpu\":\"1\"}}",
     "{\"limits\":{\"cpu\":\"1000m\"}}", true},
    {API_T_resource_requirements, "{\"limits\":{\"cpu\":\"1\"}}", "{\"limits\":{\"cpu\":\"2\"}}",
     false},
    {API_T_resource_requirements, "{\"limits\":{\"cpu\":\"1\"}}", "{\"limits\":{\"gpu\":\"1\"}}",
     false},
    {API_T_resource_requirements, "{\"limits\":{}}", "{}", true},
    {API_T_label_selector, "{\"matchLabels\":{\"a\":\"b\"}}", "{\"matchLabels\":{\"a\":\"c\"}}",
     false},
    {API_T_label_selector, "{\"matchLabels\":{\"a\":\"b\"}}", "{\"matchLabels\":{\"c\":\"b\"}}",
     false},
    {API_T_label_selector, "{\"matchLabels\":{}}", "{}", true},
    {API_T_security_context, "{\"privileged\":false}", "{}", false},
    {API_T_security_context, "{\"privileged\":false}", "{\"privileged\":false}", true},
    {API_T_security_context, "{\"runAsUser\":1}", "{\"runAsUser\":2}", false},
    {API_T_security_context, "{\"capabilities\":{}}", "{}", false},
    {API_T_http_get_action, "{\"port\":1}", "{\"port\":\"1\"}", false},
    {API_T_http_get_action, "{\"port\":\"a\"}", "{\"port\":\"a\"}", true},
    {API_T_http_get_action, "{\"port\":1}", "{\"port\":2}", false},
    {API_T_rolling_update_deployment, "{\"maxSurge\":1}", "{}", false},
    {API_T_rolling_update_deployment, "{\"maxSurge\":\"1%\"}", "{\"maxSurge\":\"1%\"}", true},
    {API_T_empty_dir_volume_source, "{\"sizeLimit\":\"1Ki\"}", "{\"sizeLimit\":\"1024\"}", true},
    {API_T_empty_dir_volume_source, "{\"sizeLimit\":\"1\"}", "{}", false},
    {API_T_resource_field_selector, "{\"divisor\":\"1\"}", "{\"divisor\":\"1000m\"}", true},
    {API_T_resource_field_selector, "{\"divisor\":\"1\"}", "{\"divisor\":\"2\"}", false},
    {API_T_pod_failure_policy_on_exit_codes_requirement, "{\"values\":[1,2]}", "{\"values\":[1,2]}",
     true},
    {API_T_pod_failure_policy_on_exit_codes_requirement, "{\"values\":[1,2]}", "{\"values\":[1,3]}",
     false},
    {API_T_pod_security_context, "{\"supplementalGroups\":[1]}", "{\"supplementalGroups\":[1]}",
     true},
    {API_T_pod_security_context, "{\"supplementalGroups\":[1]}", "{\"supplementalGroups\":[2]}",
     false},
    {API_T_taint, "{\"timeAdded\":\"2020-01-01T00:00:00Z\"}",
     "{\"timeAdded\":\"2020-01-01T01:00:00+01:00\"}", true},
    {API_T_taint, "{\"timeAdded\":\"2020-01-01T00:00:00Z\"}", "{}", false},
    {API_T_pod_disruption_budget_status, "{\"disruptedPods\":{\"a\":\"2020-01-01T00:00:00Z\"}}",
     "{\"disruptedPods\":{\"a\":\"2020-01-01T00:00:00Z\"}}", true},
    {API_T_pod_disruption_budget_status, "{\"disruptedPods\":{\"a\":\"2020-01-01T00:00:00Z\"}}",
     "{\"disruptedPods\":{\"a\":\"2020-01-01T00:00:01Z\"}}", false},
    {API_T_managed_fields_entry, "{\"fieldsV1\":{\"a\":1}}", "{\"fieldsV1\":{\"a\":1}}", true},
    {API_T_managed_fields_entry, "{\"fieldsV1\":{\"a\":1}}", "{\"fieldsV1\":{\"a\":2}}", false},
    {API_T_object_meta, "{\"generation\":1}", "{\"generation\":2}", false},
    {API_T_object_meta, "{\"deletionGracePeriodSeconds\":1}", "{}", false},
    {API_T_pod_template_spec, "{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}",
     true},
    {API_T_volume, "{\"name\":\"a\",\"nfs\":{\"server\":\"x\"}}",
     "{\"name\":\"a\",\"nfs\":{\"server\":\"y\"}}", false},
};

static void *read_struct(struct arena *a, enum api_type_id type, const char *text) {
    struct json tree;
    void *body = arena_calloc(a, 1, api_types[type].size);
    if (json_parse(a, str_of(text), NULL, &tree, NULL) < 0 ||
        api_struct_decode(a, &api_types[type], &tree, body, NULL) < 0)
        fail_msg("%s cannot be decoded", text);
    return body;
}

static void structs_compare_by_meaning(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct arena a = {0};
        const void *x = read_struct(&a, pairs[i].type, pairs[i].a);
        const void *y = read_struct(&a, pairs[i].type, pairs[i].b);
        if (valid__equal(pairs[i].type, x, y) != pairs[i].equal ||
            valid__equal(pairs[i].type, y, x) != pairs[i].equal)
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        assert_true(valid__equal(pairs[i].type, x, x));
        assert_false(valid__equal(pairs[i].type, x, NULL));
        arena_release(&a);
    }
    assert_true(valid__equal(API_T_container, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(structs_compare_by_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
