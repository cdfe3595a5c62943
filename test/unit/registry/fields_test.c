#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "codec/json.h"
#include "registry/fields.h"

static const struct api_object *object_of(const char *text) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    struct api_object *o;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return api_publish(o);
}

static const char pod[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                          "\"namespace\":\"ns\"},\"spec\":{\"nodeName\":\"a,b\","
                          "\"hostNetwork\":true},\"status\":{\"phase\":\"Running\"}}";

/* What a selector makes of an object, or its error. */
struct row {
    const char *object, *selector;
    bool matches;
    const char *error;
};

static const struct row rows[] = {
    {pod, "", true, NULL},
    {pod, "metadata.name=p", true, NULL},
    {pod, "metadata.name==p,metadata.namespace=ns", true, NULL},
    {pod, "metadata.name!=p", false, NULL},
    {pod, "spec.nodeName=a\\,b", true, NULL},
    {pod, "spec.host=a\\,b", true, NULL},
    {pod, "spec.hostNetwork=true,status.phase!=Failed,status.phase!=Succeeded", true, NULL},
    {pod, "status.podIPs=", true, NULL},
    {pod, ",,metadata.name=p,", true, NULL},
    {pod, "foo=1", false, "field label not supported: foo"},
    {pod, "metadata.name", false,
     "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {pod, "metadata.name=a=b", false, "invalid field selector: unescaped character in value: 61"},
    {pod, "metadata.name=a\\x", false, "invalid field selector: invalid escape sequence: \\x"},
    {pod, "metadata.name=a\\", false, "invalid field selector: invalid escape sequence: \\"},
    {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}", "data.a=1",
     false,
     "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
    {"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"},"
     "\"status\":{\"succeeded\":3}}",
     "status.successful=3", true, NULL},
    {"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"}}", "x=", false,
     "field label \"x\" not supported for Job"},
    {"{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
     "\"reportingComponent\":\"kubelet\",\"source\":{}}",
     "source=kubelet,involvedObject.uid=", true, NULL},
};

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(arena_release) struct arena a = {0};
        const struct row *r = &rows[i];
        const struct api_object *o = object_of(r->object);
        struct registry_fields *f;
        struct str why = {0};
        int rc = registry_fields_parse(&a, o->kind, o->kind, str_of(r->selector), &f, &why);
        if (r->error ? rc == 0 || !str_is(why, r->error)
                     : rc < 0 || registry_fields_match(f, o) != r->matches)
            fail_msg("%s: %.*s", r->selector, STR_ARG(why));
        api_object_unref(o);
    }
}

static void test_events_of_two_groups(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    const struct api_object *o =
        object_of("{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\"},"
                  "\"involvedObject\":{\"name\":\"web\"}}");
    struct registry_fields *f;
    struct str why;
    const struct api_kind *asked = api_kind_find(STR("events.k8s.io/v1"), STR("Event"));
    assert_int_equal(registry_fields_parse(&a, asked, o->kind, STR("regarding.name=web"), &f, &why),
                     0);
    assert_true(registry_fields_match(f, o));
    api_object_unref(o);
}

static void test_name(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    const struct api_kind *kind = api_kind_find(STR("v1"), STR("Pod"));
    struct registry_fields *f;
    struct str why;
    assert_int_equal(registry_fields_parse(&a, kind, kind, STR("metadata.name=x"), &f, &why), 0);
    assert_true(str_is(registry_fields_name(f), "x"));
    assert_true(registry_fields_are_any(f));
    assert_int_equal(registry_fields_parse(&a, kind, kind, STR("metadata.name!=x"), &f, &why), 0);
    assert_null(registry_fields_name(f).p);
    assert_false(registry_fields_are_any(NULL));
    assert_true(registry_fields_match(NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_events_of_two_groups),
        cmocka_unit_test(test_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
