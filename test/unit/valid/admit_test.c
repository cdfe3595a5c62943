/*
 * Admission against upstream's plug-ins: each line of test/valid/admit.jsonl is a pod (and the one
 * it replaces), the classes of the cluster, and the fields that change, or the error. Lines with an
 * expression are our own: upstream has none.
 */
#include "../data.h"
#include "valid/admit.h"

enum { MOST_CLASSES = 8 };

static struct api_object *decode(const struct json *tree) {
    struct feature_config config;
    struct api_object *o = NULL;
    struct err err;
    feature_config_init(&config, FEATURE_NEWEST);
    if (api_object_decode(tree, NULL, &o, &err) < 0)
        fail_msg("%s", err.msg);
    api_object_default(o, &config.enabled);
    return o;
}

static void compare(struct arena *a, struct str id, const struct json *want,
                    const struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    const struct json *spec = json_get(&tree, STR("spec"));
    for (uint32_t i = 0; i < want->n; i++) {
        const struct json_member *m = &want->members[i];
        const struct json *got = json_get(spec, m->key);
        if (m->value.kind == JSON_NULL ? got != NULL : !got || !json_equal(&m->value, got))
            fail_msg("%.*s: %.*s", STR_ARG(id), STR_ARG(m->key));
    }
    assert_true(want->n == 4);
}

static void check_line(struct arena *a, const struct json *line) {
    const struct json *classes = json_get(line, STR("classes")), *old = json_get(line, STR("old"));
    const struct json *error = json_get(line, STR("error"));
    struct str id = json_str(json_get(line, STR("id")));
    const struct api_object *given[MOST_CLASSES] = {NULL};
    struct valid_admit_opts opts = VALID_ADMIT_DEFAULTS;
    opts.priority_classes = given;
    for (uint32_t i = 0; classes && i < classes->n; i++)
        given[opts.priority_class_count++] = decode(&classes->items[i]);
    struct api_object *o = decode(json_get(line, STR("object")));
    struct api_object *was = old ? decode(old) : NULL;
    struct err err = {0};
    int rc = 0;
    if (was)
        valid_admit_pod_update(o, was, &opts);
    else
        rc = valid_admit_pod_create(o, &opts, &err);
    if (error && (rc == 0 || err.code != ERR_FORBIDDEN || !str_is(json_str(error), err.msg)))
        fail_msg("%.*s: %s", STR_ARG(id), err.msg);
    if (!error && rc < 0)
        fail_msg("%.*s: %s", STR_ARG(id), err.msg);
    if (!error)
        compare(a, id, json_get(line, STR("after")), o);
    for (size_t i = 0; i < opts.priority_class_count; i++)
        api_object_unref((struct api_object *)given[i]);
    api_object_unref(was);
    api_object_unref(o);
}

static void test_lines(void **state) {
    (void)state;
    data_each("test/valid/admit.jsonl", 30, check_line);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
