/* Managed fields: names of managers, lists that are no good, long ones, and that nothing is changed
 * that was lent. What becomes of writes is in test/vectors/sample/apply.jsonl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/managed/managed_int.h"

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

/* The fields {"f:data":{"f:kI":{}}} for every i from `from` to `to`, as a set. */
static const struct api__path_set *keys(struct arena *a, uint32_t from, uint32_t to) {
    struct json data = {.kind = JSON_OBJECT}, fields = {.kind = JSON_OBJECT};
    const struct api__path_set *out;
    for (uint32_t i = from; i < to; i++)
        json_add(a, &data, arena_printf(a, "f:k%07u", i), (struct json){.kind = JSON_OBJECT});
    json_add(a, &fields, STR("f:data"), data);
    assert_true(api__set_read(a, &fields, &out));
    return out;
}

/* How many bytes it takes to make one updater of n, with a key each. */
static size_t cost_of_cap(uint32_t n) {
    struct arena a = {0};
    struct api__managers m = api__managers_init(&a);
    for (uint32_t i = 0; i < n; i++) {
        struct api__manager made =
            api__manager_make(&a, arena_printf(&a, "m%07u", i), false, STR("v1"), (struct str){0});
        api__managers_put(&m, &made)->fields = keys(&a, i, i + 1);
    }
    size_t before = arena_used(&a);
    api__managers_cap(&m);
    size_t cost = arena_used(&a) - before, left = 0;
    for (size_t i = 0; i < m.list.n; i++)
        left += m.list.v[i]->fields != NULL;
    assert_int_equal(left, 10);
    struct api__manager *last = m.list.v[m.list.n - 1];
    assert_true(str_is(last->name, "ancient-changes"));
    assert_int_equal(last->fields->v[0].children->n, n - 9);
    api__managers_release(&m);
    arena_release(&a);
    return cost;
}

static size_t cost_of_repeats(uint32_t n) {
    static const struct json nothing = {.kind = JSON_OBJECT};
    struct arena a = {0};
    struct json fields = {.kind = JSON_OBJECT};
    const struct api__path_set *out;
    for (uint32_t i = 0; i < n; i++) {
        struct json children = {.kind = JSON_OBJECT};
        json_add(&a, &children, arena_printf(&a, "f:k%07u", i), nothing);
        json_add(&a, &fields, STR("f:data"), children);
    }
    size_t before = arena_used(&a);
    assert_true(api__set_read(&a, &fields, &out));
    assert_int_equal(out->n, 1);
    assert_int_equal(out->v[0].children->n, n);
    size_t cost = arena_used(&a) - before;
    arena_release(&a);
    return cost;
}

/* How many bytes it takes to apply something else to an object with n managers, by one of them. */
static size_t cost_of_apply(uint32_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 26);
    struct arena a = {0};
    buf_add(&text, STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{"
                       "\"managedFields\":["));
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&text,
                 "%s{\"manager\":\"m%07u\",\"operation\":\"Apply\",\"apiVersion\":\"v1\","
                 "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:k%07u\":{}}}}",
                 i ? "," : "", i, i);
    buf_add(&text, STR("]},\"data\":{"));
    for (uint32_t i = 0; i < n; i++)
        buf_addf(&text, "%s\"k%07u\":\"v\"", i ? "," : "", i);
    buf_add(&text, STR("}}"));
    buf_add_char(&text, '\0');
    struct api_object *old = decode(&a, text.p);
    struct api_managed_write w = by("m0000000");
    struct api_managed_applied out;
    struct json applied;
    struct str what = STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"x\":\"y\"}}");
    assert_int_equal(json_parse(&a, what, NULL, &applied, NULL), 0);
    size_t before = arena_used(&a);
    assert_int_equal(api_managed_apply(&a, &w, old, &applied, false, &out).code, 0);
    assert_int_equal(json_get(&out.tree, STR("data"))->n, n); /* one came, and one went */
    size_t cost = arena_used(&a) - before;
    api_object_free(old);
    arena_release(&a);
    return cost;
}

/* Twice as many sets take a little more than twice the memory. */
static void test_unions_of_many(void **state) {
    (void)state;
    static const struct {
        const char *what;
        size_t (*cost)(uint32_t n);
    } rows[] = {
        {"updaters", cost_of_cap}, {"repeated fields", cost_of_repeats}, {"apply", cost_of_apply}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t few = rows[i].cost(1000), many = rows[i].cost(2000);
        if (many > few * 5 / 2)
            fail_msg("%s: %zu bytes, %zu for twice as many", rows[i].what, few, many);
    }
}

static bool same_sets(struct arena *a, const struct api__path_set *x,
                      const struct api__path_set *y) {
    struct json l = api__set_write(a, x), r = api__set_write(a, y);
    return json_equal(&l, &r);
}

/* The bucket of an earlier write is one of those that go into it. */
static void test_bucket_is_there(void **state) {
    (void)state;
    struct arena a = {0};
    struct api__managers m = api__managers_init(&a);
    for (uint32_t i = 0; i < 15; i++) {
        struct str name = i ? arena_printf(&a, "m%u", i) : STR("ancient-changes");
        struct api__manager made = api__manager_make(&a, name, false, STR("v1"), (struct str){0});
        struct api__manager *put = api__managers_put(&m, &made);
        put->fields = keys(&a, i, i + 1);
        put->time = (struct api_time){.sec = i, .set = true};
    }
    api__managers_cap(&m);
    assert_true(same_sets(&a, m.list.v[0]->fields, keys(&a, 0, 6)));
    assert_int_equal(m.list.v[0]->time.sec, 5);
    assert_null(m.list.v[5]->fields);
    assert_non_null(m.list.v[6]->fields);
    api__managers_release(&m);
    arena_release(&a);
}

/* A small set and a large one: nothing of the large one is copied that need not be. */
static void test_small_with_large(void **state) {
    (void)state;
    enum { MANY = 50000 };
    struct arena a = {0};
    const struct api__path_set *large = keys(&a, 0, MANY), *small = keys(&a, 70, 72),
                               *other = keys(&a, MANY, MANY + 3), *got;
    size_t before = arena_used(&a);
    got = api__set_combine(&a, API__INTERSECTION, large, small);
    assert_true(got->v[0].children->n == 2);
    got = api__set_combine(&a, API__INTERSECTION, small, large);
    assert_true(got->v[0].children->n == 2);
    assert_null(api__set_combine(&a, API__DIFFERENCE, small, large));
    assert_null(api__set_combine(&a, API__INTERSECTION, other, large));
    assert_ptr_equal(api__set_combine(&a, API__DIFFERENCE, other, large), other);
    assert_ptr_equal(api__set_combine(&a, API__DIFFERENCE, large, other), large);
    assert_true(arena_used(&a) - before < 2000);
    got = api__set_combine(&a, API__DIFFERENCE, large, small);
    assert_int_equal(got->v[0].children->n, MANY - 2);
    got = api__set_combine(&a, API__DIFFERENCE, got, keys(&a, 0, MANY - 1));
    assert_true(same_sets(&a, got, keys(&a, MANY - 1, MANY)));
    arena_release(&a);
}

/* The set of the bits of a number. */
static const struct api__path_set *bits(struct arena *a, uint32_t number) {
    const struct api__path_set *out = NULL;
    for (uint32_t i = 0; i < 32; i++)
        if (number >> i & 1)
            out = api__set_combine(a, API__UNION, out, keys(a, i, i + 1));
    return out;
}

/* The operations on sets are those on numbers. */
static void test_operations(void **state) {
    (void)state;
    uint32_t x = 1, y = 0xffff;
    for (int round = 0; round < 300; round++) {
        struct arena a = {0};
        x = x * 1664525 + 1013904223;
        y = (y ^ x >> 7) * 22695477 + 1;
        uint32_t l = round % 3 ? x : x & x >> 5 & x << 9, r = round % 2 ? y : y & y >> 3 & y << 7;
        const struct api__path_set *s = bits(&a, l), *t = bits(&a, r);
        const struct api__path_set *all = api__set_combine(&a, API__UNION, s, t),
                                   *both = api__set_combine(&a, API__INTERSECTION, s, t),
                                   *left = api__set_combine(&a, API__DIFFERENCE, s, t);
        assert_true(same_sets(&a, all, bits(&a, l | r)));
        assert_true(same_sets(&a, both, bits(&a, l & r)));
        assert_true(same_sets(&a, left, bits(&a, l & ~r)));
        arena_release(&a);
    }
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
        cmocka_unit_test(test_unions_of_many),
        cmocka_unit_test(test_bucket_is_there),
        cmocka_unit_test(test_small_with_large),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_what_is_lent_stays),
        cmocka_unit_test(test_without_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
