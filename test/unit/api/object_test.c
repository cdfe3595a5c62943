/*
 * Objects against the real API server's code: each line of test/api/objects.jsonl is an object and
 * what upstream made of it (plain encoding, encoding after defaulting, or the decoding error).
 * What upstream has no counterpart for (unknown fields kept, sharing) is tested below in C.
 */
#include <string.h>

#include "../data.h"
#include "api/object.h"
#include "api/types.h"
#include "base/limits.h"

static void expect_json(struct arena *a, const struct json *line, const char *key,
                        struct json got) {
    const struct json *want = json_get(line, str_of(key));
    assert_non_null(want);
    struct str want_text = data_write(a, want), got_text = data_write(a, &got);
    if (!str_eq(want_text, got_text))
        fail_msg("%s\n want %s\n got  %s", key, want_text.p, got_text.p);
}

static void expect_failure(struct arena *a, const struct json *object, struct str want) {
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    assert_int_equal(api_object_decode(object, NULL, &o, &faults), -1);
    const struct api_fault *last = &faults.v[faults.n - 1];
    assert_int_equal(last->kind, API_FAULT_VALUE);
    if (!str_eq(want, last->text))
        fail_msg("want %.*s\ngot  %.*s", STR_ARG(want), STR_ARG(last->text));
}

static void check_line(struct arena *a, const struct json *line) {
    const struct json *object = json_get(line, STR("object"));
    const struct json *error = json_get(line, STR("error"));
    if (error) {
        expect_failure(a, object, json_str(error));
        return;
    }
    struct api_object *o = NULL;
    const struct api_decode_opts strict = {.strict = true};
    if (api_object_decode(object, &strict, &o, NULL) < 0)
        fail_msg("an object of the file cannot be decoded");
    expect_json(a, line, "plain", api_object_encode(o, a));
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    api_object_default(o, &config.enabled);
    expect_json(a, line, "defaulted", api_object_encode(o, a));
    api_object_free(o);
}

static void objects_are_read_as_upstream_reads_them(void **state) {
    (void)state;
    data_each("test/api/objects.jsonl", 151, check_line);
}

/* ---- what has no counterpart upstream ---- */

static void expect_text(const struct api_faults *faults, const char *want) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    api_faults_write(&text, faults);
    if (!str_is(buf_view(&text), want))
        fail_msg("want %s\ngot  %.*s", want, STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static struct json parse(struct arena *a, const char *text) {
    struct json v;
    struct err err = {0};
    const struct json_opts opts = {.allow_duplicates = true};
    if (json_parse(a, str_of(text), &opts, &v, &err) < 0)
        fail_msg("%s", err.msg);
    return v;
}

static void unknown_fields_survive_a_round_trip(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree =
        parse(&a, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{},\"spec\":{"
                  "\"containers\":[{\"name\":\"a\",\"resources\":{},\"gpu\":{\"n\":"
                  "[1.50,null]}}],\"berth\":\"b\"},\"status\":{},\"extra\":1e2}");
    struct api_object *o = NULL;
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    struct json back = api_object_encode(o, &a);
    assert_string_equal(data_write(&a, &back).p,
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{},\"spec\":{"
                        "\"containers\":[{\"name\":\"a\",\"resources\":{},\"gpu\":{\"n\":[1.5,null]"
                        "}}],\"berth\":\"b\"},\"status\":{},\"extra\":100}");
    api_object_free(o);
    arena_release(&a);
}

static void kinds_without_a_schema_are_kept_whole(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = parse(&a, "{\"kind\":\"Gadget\",\"apiVersion\":\"x.io/v2\",\"metadata\":{"
                                 "\"name\":\"g\"},\"spec\":{\"a\":[1,{\"b\":null}]}}");
    struct api_object *o = NULL;
    const struct api_decode_opts strict = {.strict = true};
    assert_int_equal(api_object_decode(&tree, &strict, &o, NULL), 0);
    assert_null(o->kind);
    assert_true(str_is(o->meta->name, "g"));
    struct json back = api_object_encode(o, &a);
    assert_true(json_equal(&back, &tree));
    api_object_free(o);
    arena_release(&a);
}

struct strict_case {
    const char *text, *problem;
};

static void strict_reading_names_every_problem(void **state) {
    (void)state;
    static const struct strict_case cases[] = {
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"foo\":1}}",
         "unknown field \"spec.foo\""},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"bar\":{},\"spec\":{\"containers\":[{},{\"x\":1}"
         "]}}",
         "unknown field \"bar\", unknown field \"spec.containers[1].x\""},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeName\":\"a\",\"nodeName\":\"b\"}"
         "}",
         "duplicate field \"spec.nodeName\""},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"k\":\"1\",\"k\":"
         "\"2\"}}}",
         "duplicate field \"metadata.labels.k\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct json tree = parse(&a, cases[i].text);
        struct api_object *o = NULL;
        struct api_faults faults;
        struct api_decode_opts opts = {.strict = true, .duplicates = true};
        api_faults_init(&faults, &a);
        assert_int_equal(api_object_decode(&tree, &opts, &o, &faults), -1);
        char want[256];
        snprintf(want, sizeof want,
                 "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: %s",
                 cases[i].problem);
        expect_text(&faults, want);
        opts.strict = false;
        assert_int_equal(api_object_decode(&tree, &opts, &o, NULL), 0);
        api_object_free(o);
        arena_release(&a);
    }
}

static void of_repeated_keys_the_last_wins(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree =
        parse(&a, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{"
                  "\"k\":\"1\",\"a\":\"x\",\"k\":\"2\"}},\"spec\":{\"nodeName\":\"a\","
                  "\"nodeName\":\"b\"}}");
    struct api_object *o = NULL;
    struct api_faults faults;
    struct api_decode_opts opts = {.duplicates = true};
    api_faults_init(&faults, &a);
    assert_int_equal(api_object_decode(&tree, &opts, &o, &faults), 0);
    assert_int_equal(faults.n, 2);
    assert_int_equal(faults.v[0].kind, API_FAULT_DUPLICATE);
    assert_true(str_is(faults.v[0].path, "metadata.labels.k"));
    assert_true(str_is(faults.v[1].path, "spec.nodeName"));
    const struct api_pod *pod = o->body;
    assert_true(str_is(pod->spec.node_name, "b"));
    assert_int_equal(pod->metadata.labels.n, 2);
    assert_true(str_is(pod->metadata.labels.v[1].value, "2"));
    api_object_free(o);
    arena_release(&a);
}

static void faults_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = {.kind = JSON_OBJECT};
    json_add(&a, &tree, STR("kind"), json_of_str(STR("Pod")));
    json_add(&a, &tree, STR("apiVersion"), json_of_str(STR("v1")));
    for (int i = 0; i < 2 * API_MOST_FAULTS; i++)
        json_add(&a, &tree, arena_printf(&a, "x%d", i), json_of_bool(true));
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, &a);
    assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), 0);
    assert_int_equal(faults.n, API_MOST_FAULTS);
    api_object_free(o);
    json_add(&a, &tree, STR("spec"), json_of_bool(true));
    assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), -1);
    assert_int_equal(faults.n, API_MOST_FAULTS + 1);
    assert_int_equal(faults.v[API_MOST_FAULTS].kind, API_FAULT_VALUE);
    arena_release(&a);
}

/* A text of n letters; NUL among them. */
static struct str long_text(struct arena *a, size_t n) {
    char *text = arena_alloc(a, n);
    memset(text, 'x', n);
    text[n / 2] = '\0';
    return (struct str){text, n};
}

/* A pod to which members can be added. */
static struct json new_pod(struct arena *a) {
    struct json tree = {.kind = JSON_OBJECT};
    json_add(a, &tree, STR("kind"), json_of_str(STR("Pod")));
    json_add(a, &tree, STR("apiVersion"), json_of_str(STR("v1")));
    return tree;
}

static void texts_of_faults_are_whole(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = new_pod(&a), meta = {.kind = JSON_OBJECT};
    struct str text = long_text(&a, 5000);
    json_add(&a, &meta, STR("creationTimestamp"), json_of_str(text));
    json_add(&a, &tree, text, json_of_bool(true));
    struct json *placed = json_add(&a, &tree, STR("metadata"), meta);
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, &a);
    assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), -1);
    const struct api_fault *last = &faults.v[faults.n - 1];
    assert_true(str_is(last->path, "metadata.creationTimestamp"));
    assert_in_range(last->text.n, 2 * text.n, 3 * text.n);
    placed->members[0].value = json_of_str(STR("2026-01-01T00:00:00Z"));
    assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), 0);
    assert_int_equal(faults.n, 1);
    assert_true(str_eq(faults.v[0].path, text));
    assert_int_equal(faults.v[0].text.n, text.n + strlen("unknown field \"\"") + strlen("x00"));
    api_object_free(o);
    arena_release(&a);
}

static void texts_of_faults_are_bounded(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = new_pod(&a);
    struct str text = long_text(&a, LIMIT_FIELD_ERROR_BYTES / 4);
    for (size_t i = 0; i < 10; i++)
        json_add(&a, &tree, str_sub(text, i, text.n), json_of_bool(true));
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, &a);
    assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), 0);
    assert_int_equal(faults.n, 4);
    api_object_free(o);
    arena_release(&a);
}

static void what_an_object_is_must_be_known(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[]", "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go "
               "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
               "Kind string \"json:\\\"kind,omitempty\\\"\" }"},
        {"{\"apiVersion\":\"v1\"}", "Object 'Kind' is missing"},
        {"{\"kind\":\"Pod\"}", "Object 'apiVersion' is missing"},
        {"{\"kind\":7,\"apiVersion\":\"v1\"}", "Object 'Kind' is missing"},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json tree = parse(&a, cases[i][0]);
        struct api_object *o = NULL;
        struct api_faults faults;
        api_faults_init(&faults, &a);
        assert_int_equal(api_object_decode(&tree, NULL, &o, &faults), -1);
        expect_text(&faults, cases[i][1]);
    }
    struct json bare = parse(&a, "{\"metadata\":{\"name\":\"n\"}}");
    const struct api_decode_opts opts = {.api_version = STR("v1"), .kind = STR("Node")};
    struct api_object *o = NULL;
    assert_int_equal(api_object_decode(&bare, &opts, &o, NULL), 0);
    assert_string_equal(o->kind->plural, "nodes");
    assert_true(str_is(o->names->kind, "Node"));
    api_object_free(o);
    arena_release(&a);
}

static void objects_are_shared_by_reference(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = parse(&a, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":422}");
    struct api_object *o = NULL;
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a); /* the object does not need the tree */
    assert_null(o->meta);
    const struct api_object *shared = api_publish(o);
    assert_ptr_equal(api_object_ref(shared), shared);
    api_object_unref(shared);
    assert_int_equal(((const struct api_status *)shared->body)->code, 422);
    api_object_unref(shared);
    api_object_unref(NULL);
    api_object_free(NULL);
}

static void a_struct_can_be_read_alone(void **state) {
    (void)state;
    struct arena a = {0};
    struct json tree = parse(&a, "{\"key\":\"k\",\"operator\":\"Gt\",\"value\":\"5\"}");
    struct api_toleration t = {0};
    const struct api_type *type = &api_types[API_T_toleration];
    assert_int_equal(api_struct_decode(&a, type, &tree, &t, NULL), 0);
    assert_true(str_is(t.operator, "Gt"));
    struct json back = api_struct_encode(&a, type, &t);
    assert_true(json_equal(&back, &tree));
    struct api_faults faults;
    api_faults_init(&faults, &a);
    tree = parse(&a, "\"x\"");
    assert_int_equal(api_struct_decode(&a, type, &tree, &t, &faults), -1);
    expect_text(&faults, "json: cannot unmarshal string into Go value of type v1.Toleration");
    arena_release(&a);
}

/* Defaults that a gate brings or takes away; the data file has the defaults of the newest version.
 */
static const struct {
    enum feature gate;
    bool on;
    const char *text, *want;
} gated[] = {
    {FEATURE_H2CContainerProbe, true,
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{\"livenessProbe\":{"
     "\"httpGet\":{\"port\":1}},\"lifecycle\":{\"postStart\":{\"httpGet\":{\"port\":2}},"
     "\"preStop\":{\"httpGet\":{\"port\":3}}}}],\"initContainers\":[{\"startupProbe\":{"
     "\"httpGet\":{\"port\":4,\"protocol\":\"H2C\"}}}],\"ephemeralContainers\":[{"
     "\"readinessProbe\":{\"httpGet\":{\"port\":5}}}]}}",
     "\"protocol\":\"HTTP1\"*4"},
    {FEATURE_H2CContainerProbe, false,
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{\"livenessProbe\":{"
     "\"httpGet\":{\"port\":1}}}]}}",
     "\"protocol\":*0"},
    {FEATURE_ImageVolume, false,
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"volumes\":[{\"image\":{"
     "\"reference\":\"a\"}}]}}",
     "\"pullPolicy\":*0"},
    {FEATURE_MaxUnavailableStatefulSet, false,
     "{\"kind\":\"StatefulSet\",\"apiVersion\":\"apps/v1\",\"spec\":{}}", "\"maxUnavailable\":*0"},
};

/* "text*n": is the text in s exactly n times? */
static bool has_times(struct str s, const char *want) {
    struct str text, times;
    str_cut(str_of(want), '*', &text, &times);
    int64_t n = 0, left = 0;
    assert_true(str_to_i64(times, &left));
    for (size_t at; (at = str_find(s, text)) != STR_NONE; n++)
        s = str_sub(s, at + text.n, s.n);
    return n == left;
}

static void gates_decide_some_defaults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof gated / sizeof *gated; i++) {
        struct arena a = {0};
        struct json tree = parse(&a, gated[i].text);
        struct api_object *o = NULL;
        assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
        struct feature_config config;
        feature_config_init(&config, FEATURE_NEWEST);
        feature_set_put(&config.enabled, gated[i].gate, gated[i].on);
        api_object_default(o, &config.enabled);
        struct json back = api_object_encode(o, &a);
        struct str text = data_write(&a, &back);
        if (!has_times(text, gated[i].want))
            fail_msg("want %s in %s", gated[i].want, text.p);
        api_object_free(o);
        arena_release(&a);
    }
}

/* A pod with n containers that are written as {}. */
static int decode_containers(struct arena *a, size_t n, struct api_faults *faults) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":[{}"));
    for (size_t i = 1; i < n; i++)
        buf_add(&text, STR(",{}"));
    buf_add(&text, STR("]}}"));
    buf_add_char(&text, '\0');
    struct json pod = parse(a, text.p);
    struct api_object *o = NULL;
    int rc = api_object_decode(&pod, NULL, &o, faults);
    if (rc == 0)
        api_object_free(o);
    return rc;
}

static void lists_are_bounded(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct api_faults faults;
    size_t most = LIMIT_DECODED_BYTES / sizeof(struct api_container);
    api_faults_init(&faults, &a);
    assert_int_equal(decode_containers(&a, most, &faults), 0);
    assert_int_equal(decode_containers(&a, most + 1, &faults), -1);
    assert_true(str_is(faults.v[0].path, "spec.containers"));
    expect_text(&faults, "Pod in version \"v1\" cannot be handled as a Pod: spec.containers: the "
                         "lists up to here need more than 128 MiB");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read_as_upstream_reads_them),
        cmocka_unit_test(unknown_fields_survive_a_round_trip),
        cmocka_unit_test(kinds_without_a_schema_are_kept_whole),
        cmocka_unit_test(strict_reading_names_every_problem),
        cmocka_unit_test(of_repeated_keys_the_last_wins),
        cmocka_unit_test(faults_are_bounded),
        cmocka_unit_test(texts_of_faults_are_whole),
        cmocka_unit_test(texts_of_faults_are_bounded),
        cmocka_unit_test(what_an_object_is_must_be_known),
        cmocka_unit_test(objects_are_shared_by_reference),
        cmocka_unit_test(a_struct_can_be_read_alone),
        cmocka_unit_test(gates_decide_some_defaults),
        cmocka_unit_test(lists_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
