/* Managed fields: names of managers, lists that are no good, long ones, and that nothing is changed
 * that was lent. What becomes of writes is in test/vectors/sample/apply.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/managed.h"

static struct api_object *decode(struct arena *a, const char *text) {
    struct json tree;
    struct api_object *o;
    struct err err;
    if (json_parse(a, str_of(text), NULL, &tree, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

static struct api_managed_write by(const char *manager) {
    return (struct api_managed_write){.kind = api_kind_find(STR("v1"), STR("ConfigMap")),
                                      .manager = str_of(manager),
                                      .now = {.sec = 1767225600, .set = true}};
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *manager, *agent, *want;
    } rows[] = {
        {"given", "kubectl/v1.37.1 (linux/amd64)", "given"},
        {"", "kubectl/v1.37.1 (linux/amd64) kubernetes/1", "kubectl"},
        {"", "curl", "curl"},
        {"", "a\tb\x01\xc2\xadz/1", "abz"},
        {"", "a\xff/", "a\xef\xbf\xbd"},
        {"", "", ""},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str got = api_manager_name(&a, str_of(rows[i].manager), str_of(rows[i].agent));
        if (!str_is(got, rows[i].want))
            fail_msg("%s: %.*s", rows[i].want, STR_ARG(got));
    }
    char agent[200];
    memset(agent, 'x', sizeof agent);
    memcpy(agent + 126, "\xc3\xa9\xc3\xa9", 4);
    struct str got = api_manager_name(&a, STR(""), (struct str){agent, sizeof agent});
    assert_int_equal(got.n, 128);
    arena_release(&a);
}

#define ENTRY(members)                                            \
    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":" \
    "{\"managedFields\":[{" members "}]}}"

static void test_bad_lists(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {ENTRY(""), "operation must be `Apply` or `Update`"},
        {ENTRY("\"operation\":\"Patch\""), "operation must be `Apply` or `Update`"},
        {ENTRY("\"operation\":\"Apply\""), "apiVersion must not be empty"},
        {ENTRY("\"operation\":\"Apply\",\"apiVersion\":\"v1\""),
         "missing fieldsType in managed fields entry 0"},
        {ENTRY("\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"V2\""),
         "invalid fieldsType \"V2\" in managed fields entry 0"},
        {ENTRY("\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
               "\"fieldsV1\":{\"x\":{}}"),
         "error decoding set of managed fields entry 0"},
        {ENTRY("\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
               "\"fieldsV1\":{\"f:a\":{\"k:[]\":{}}}"),
         "error decoding set of managed fields entry 0"},
        {ENTRY("\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\","
               "\"fieldsV1\":{\"f:a\":{\".\":{},\"z:later\":{},\"i:0\":{}}}"),
         ""},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct api_object *o = decode(&a, rows[i].text);
        struct str got = api_managed_check(&a, &o->meta->managed_fields);
        if (!str_is(got, rows[i].want))
            fail_msg("%s: %.*s", rows[i].text, STR_ARG(got));
        api_object_free(o);
    }
    arena_release(&a);
}

/* A ConfigMap with n keys, the values of which are this long. */
static struct api_object *new_map(uint32_t n, const char *value) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 26);
    struct arena a = {0};
    buf_add(&text, STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"uid\":\"u\"},"
                       "\"data\":{"));
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&text, "%s\"k%u\":\"%s\"", i ? "," : "", i * 7919 % n, value);
    buf_add(&text, STR("}}\0"));
    buf_add_char(&text, '\0');
    struct api_object *o = decode(&a, text.p);
    arena_release(&a);
    return o;
}

/* Quadratic work would take minutes. */
static void test_many_fields(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct arena a = {0};
    struct api_managed_write w = by("a");
    struct api_object *old = new_map(MANY, "x"), *draft = new_map(MANY, "y");
    api_managed_update(&w, NULL, old);
    w = by("b");
    api_managed_update(&w, old, draft);
    assert_int_equal(draft->meta->managed_fields.n, 2);
    assert_true(str_is(draft->meta->managed_fields.v[0].manager, "a"));
    struct json tree = api_object_encode(old, &a);
    struct api_managed_applied out;
    w = by("c");
    const struct json *meta = json_get(&tree, STR("metadata"));
    assert_non_null(meta);
    api_managed_apply(&a, &w, draft, &tree, true, &out);
    api_object_free(old);
    api_object_free(draft);
    arena_release(&a);
}

static void test_what_is_lent_stays(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_managed_write w = by("a");
    struct api_object *first = new_map(3, "x");
    api_managed_update(&w, NULL, first);
    const struct api_object *old = api_publish(first);
    struct str before = arena_str(&a, api_object_json(old));
    struct api_object *draft = new_map(4, "y");
    api_managed_update(&w, old, draft);
    struct json tree = api_object_encode(draft, &a), clone;
    struct api_managed_applied out;
    clone = json_clone(&a, &tree);
    api_managed_apply(&a, &w, old, &tree, false, &out);
    assert_true(json_equal(&tree, &clone));
    struct json again = api_object_encode(old, &a);
    struct buf text = BUF_INIT(1 << 20);
    json_write(&text, &again, NULL);
    assert_true(str_eq(before, buf_view(&text)));
    assert_true(api_object_is_intact(old));
    buf_release(&text);
    api_object_free(draft);
    api_object_unref(old);
    arena_release(&a);
}

/* Objects without metadata have no managers. */
static void test_without_metadata(void **state) {
    (void)state;
    struct arena a = {0};
    struct api_object *o = decode(&a, "{\"kind\":\"Status\",\"apiVersion\":\"v1\"}");
    struct api_managed_write w = by("a");
    api_managed_update(&w, NULL, o);
    assert_null(o->meta);
    api_object_free(o);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_many_fields),
        cmocka_unit_test(test_what_is_lent_stays),
        cmocka_unit_test(test_without_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
