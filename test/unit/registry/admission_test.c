/*
 * Admission against upstream's plug-ins: each line of test/registry/admission.jsonl is a pod (and
 * the one it replaces), the classes of the cluster, and the fields that change, or the error. Lines
 * with an expression are our own: upstream has none.
 */
#include "../data.h"
#include "registry/admission/admission_int.h"
#include "registry/known.h"

static struct api_object *decode(const struct json *tree) {
    struct feature_config config;
    struct api_object *o = NULL;
    feature_config_init(&config, FEATURE_NEWEST);
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        fail_msg("cannot be decoded");
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

/* A cluster that has these classes and no others. */
static struct registry_known *known_of(const struct json *classes) {
    struct registry_known *known = registry_known_new(STR(""));
    registry_known_close(known, API_T_priority_class);
    for (uint32_t i = 0; classes && i < classes->n; i++) {
        const struct api_object *class = api_publish(decode(&classes->items[i]));
        registry_known_set(known, class);
        api_object_unref(class);
    }
    return known;
}

static void check_failure(struct str id, const struct json *want,
                          const struct registry_failure *got) {
    if (want ? got->code != ERR_FORBIDDEN || !str_eq(json_str(want), got->message) : got->code)
        fail_msg("%.*s: %.*s", STR_ARG(id), STR_ARG(got->message));
}

static void check_line(struct arena *a, const struct json *line) {
    const struct json *old = json_get(line, STR("old")), *error = json_get(line, STR("error"));
    struct str id = json_str(json_get(line, STR("id")));
    struct registry_known *known = known_of(json_get(line, STR("classes")));
    struct registry registry = {.view = registry_known_view(known),
                                .plugins = registry_plugins_offline()};
    struct registry_request request = {.namespace = STR("")};
    struct api_object *o = decode(json_get(line, STR("object")));
    struct api_object *was = old ? decode(old) : NULL;
    struct registry__admission m = {
        .registry = &registry, .request = &request, .a = a, .o = o, .old = was};
    m.operation = was ? REGISTRY_UPDATE : REGISTRY_CREATE;
    registry__mutate(&m);
    check_failure(id, error, &m.failure);
    if (!error)
        compare(a, id, json_get(line, STR("after")), o);
    api_object_free(was);
    api_object_free(o);
    registry_known_free(known);
}

static void test_lines(void **state) {
    (void)state;
    data_each("test/registry/admission.jsonl", 30, check_line);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
