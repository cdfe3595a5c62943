/* Protobuf: bodies as clients send them, and what is refused. What upstream makes of random ones is
 * in the vectors. */
#include "../data.h"
#include "api/proto.h"
#include "base/limits.h"

/* A pod with a name and an empty container, in its envelope. */
#define NAMES "\x0a\x09\x0a\x02v1\x12\x03Pod"
#define META  "\x0a\x03\x0a\x01p"
#define SPEC                   \
    "\x12\x05\x12\x03\x0a\x01" \
    "c"
#define TAIL     "\x1a\0\x22\0"
#define BODY     "k8s\0" NAMES "\x12\x0c" META SPEC TAIL
#define BYTES(s) ((struct str){(s), sizeof(s) - 1})

static struct str json_of(struct arena *a, struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    struct buf text = BUF_INIT(SIZE_MAX);
    json_write(&text, &tree, NULL);
    struct str s = arena_str(a, buf_view(&text));
    buf_release(&text);
    api_object_free(o);
    return s;
}

static void a_body_becomes_an_object(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = NULL;
    assert_int_equal(api_proto_decode(BYTES(BODY), NULL, &o, NULL), 0);
    assert_true(str_is(o->meta->name, "p") && o->kind && str_is(o->names->kind, "Pod"));
    assert_true(str_is(json_of(&a, o),
                       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"},"
                       "\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{}}]},"
                       "\"status\":{}}"));
}

/* What a body does not say, the caller may: a client may leave the names out. */
static void names_may_come_from_the_caller(void **state) {
    (void)state;
    const struct api_decode_opts opts = {.api_version = STR_INIT("v1"), .kind = STR_INIT("Pod")};
    struct api_object *o = NULL;
    assert_int_equal(api_proto_decode(BYTES("k8s\0\x12\x05" META), NULL, &o, NULL), -1);
    assert_int_equal(api_proto_decode(BYTES("k8s\0\x12\x05" META), &opts, &o, NULL), 0);
    assert_true(str_is(o->meta->name, "p"));
    api_object_free(o);
}

static void bodies_are_refused(void **state) {
    (void)state;
    static const struct {
        struct str body;
        const char *why;
    } cases[] = {
        {STR_INIT(""), "empty data"},
        {STR_INIT("{}"), "provided data does not appear to be a protobuf message"},
        {{"k8s", 4}, "empty body"},
        {STR_INIT("k8s\0\x12\x05" META), "Object 'Kind' is missing"},
        {STR_INIT("k8s\0\x0a\x05\x12\x03Pod"), "Object 'apiVersion' is missing"},
        {STR_INIT("k8s\0\x0a\x07\x0a\x02v1\x12\x01X"), "no kind \"X\" is registered"},
        {STR_INIT("k8s\0" NAMES "\x12\x02\x0a\x05"), "unexpected EOF"},
        {STR_INIT("k8s\0" NAMES "\x12\x02\x08\x05"), "wrong wireType = 0 for field metadata"},
        {STR_INIT("k8s\0" NAMES "\x12\x01\x0c"), "wiretype end group for non-group"},
        {STR_INIT("k8s\0" NAMES "\x12\x02\x02\x00"), "illegal tag 0"},
        {STR_INIT("k8s\0" NAMES "\x12\x0b\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
         "integer overflow"},
        {STR_INIT("k8s\0" NAMES "\x12\x0b\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
         "negative length"},
        {STR_INIT("k8s\0" NAMES "\x12\x02\xa3\x06"), "unexpected EOF"},
        /* deletionTimestamp in the year 10000 */
        {STR_INIT("k8s\0" NAMES "\x12\x0b\x0a\x09\x4a\x07\x08\x80\xc4\xbf\x86\xb0\x07"),
         "years 1 and 9999"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(arena_release) struct arena a = {0};
        AUTO(buf_release) struct buf text = BUF_INIT(4096);
        struct api_object *o = NULL;
        struct api_faults faults;
        api_faults_init(&faults, &a);
        assert_int_equal(api_proto_decode(cases[i].body, NULL, &o, &faults), -1);
        api_faults_write(&text, &faults);
        if (str_find(buf_view(&text), str_of(cases[i].why)) == STR_NONE)
            fail_msg("case %zu: %.*s", i, STR_ARG(buf_view(&text)));
    }
}

/* Numbers that nobody knows are gone over, groups as a whole. */
static void unknown_fields_are_dropped(void **state) {
    (void)state;
    struct api_object *o = NULL;
    assert_int_equal(api_proto_decode(BYTES("k8s\0" NAMES "\x12\x10" META
                                            "\xa3\x06\x08\x01\xa3\x06\xa4\x06\xa4\x06"
                                            "\x20"),
                                      NULL, &o, NULL),
                     -1);
    assert_int_equal(api_proto_decode(BYTES("k8s\0" NAMES "\x12\x0f" META
                                            "\xa3\x06\x08\x01\xa3\x06\xa4\x06\xa4\x06"),
                                      NULL, &o, NULL),
                     0);
    assert_true(str_is(o->meta->name, "p"));
    api_object_free(o);
}

/* Keys come in any order, and may come again: the last one counts. */
static void maps_are_sorted(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct api_object_meta meta = {0};
    assert_int_equal(api_proto_struct_decode(&a, &api_types[API_T_object_meta],
                                             BYTES("\x5a\x06\x0a\x01"
                                                   "b"
                                                   "\x12\x01"
                                                   "1"
                                                   "\x5a\x06\x0a\x01"
                                                   "a"
                                                   "\x12\x01"
                                                   "2"
                                                   "\x5a\x06\x0a\x01"
                                                   "b"
                                                   "\x12\x01"
                                                   "3"),
                                             &meta, NULL),
                     0);
    assert_int_equal(meta.labels.n, 2);
    assert_true(str_is(meta.labels.v[0].key, "a") && str_is(meta.labels.v[1].value, "3"));
}

/* Lists of numbers may be packed; a field that comes again is merged. */
static void lists_grow(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct api_pod_spec spec = {0};
    assert_int_equal(
        api_proto_struct_decode(&a, &api_types[API_T_pod_spec],
                                BYTES("\x72\x07\x20\x01\x22\x03\x02\x81\x01\x72\x02\x20\x05"),
                                &spec, NULL),
        0);
    const struct api_i64s *groups = &spec.security_context->supplemental_groups;
    assert_int_equal(groups->n, 4);
    assert_true(groups->v[0] == 1 && groups->v[1] == 2 && groups->v[2] == 129 && groups->v[3] == 5);
}

static void a_published_object_has_its_bytes(void **state) {
    (void)state;
    struct api_object *draft = NULL;
    assert_int_equal(api_proto_decode(BYTES(BODY), NULL, &draft, NULL), 0);
    const struct api_object *o = api_publish(draft);
    struct str body = api_object_proto(o), message = api_object_message(o);
    assert_ptr_equal(body.p, api_object_proto(o).p);
    assert_true(message.p > body.p && message.p + message.n + 4 == body.p + body.n);
    struct api_object *again = NULL;
    assert_int_equal(api_proto_decode(body, NULL, &again, NULL), 0);
    const struct api_object *second = api_publish(again);
    assert_true(str_eq(api_object_proto(second), body));
    assert_true(str_eq(api_object_json(second), api_object_json(o)));
    api_object_unref(second);
    api_object_unref(o);
}

/* Upstream has no message for objects of a kind without a schema. */
static void a_kind_without_schema_has_no_bytes(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(
        json_parse(&a, STR("{\"kind\":\"X\",\"apiVersion\":\"y/v1\"}"), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    const struct api_object *published = api_publish(o);
    assert_int_equal(api_object_proto(published).n, 0);
    assert_int_equal(api_object_message(published).n, 0);
    api_object_unref(published);
}

/* A proposal's field shows only where it is used. */
static void an_empty_expression_is_not_written(void **state) {
    (void)state;
    AUTO(buf_release) struct buf b = BUF_INIT(100);
    const struct api_type *type = &api_types[API_T_toleration];
    struct api_toleration t = {.key = STR("k")};
    api_proto_struct_write(&b, type, &t);
    assert_true(str_eq(buf_view(&b), BYTES("\x0a\x01k\x12\0\x1a\0\x22\0")));
    t.expression = STR("x");
    buf_clear(&b);
    api_proto_struct_write(&b, type, &t);
    assert_true(str_eq(buf_view(&b), BYTES("\x0a\x01k\x12\0\x1a\0\x22\0\x32\x01x")));
}

/* ---- limits ---- */

static int decode_meta(struct arena *a, struct str message) {
    struct api_pod_spec *spec = arena_new(a, struct api_pod_spec);
    return api_proto_struct_decode(a, &api_types[API_T_pod_spec], message, spec, NULL);
}

/* LIMIT_OBJECT_BYTES: a message may be as long, and no longer. */
static void a_message_has_a_length(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf b = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    while (b.n < LIMIT_OBJECT_BYTES)
        buf_add(&b, BYTES("\x28\x01\x28\x01")); /* activeDeadlineSeconds, over and over */
    assert_int_equal(decode_meta(&a, (struct str){b.p, LIMIT_OBJECT_BYTES}), 0);
    buf_add(&b, BYTES("\x28\x01"));
    assert_int_equal(decode_meta(&a, buf_view(&b)), -1);
}

/* LIMIT_DECODED_BYTES: an empty container takes two bytes here and some hundred there. */
static void lists_have_a_size(void **state) {
    (void)state;
    AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
    size_t most = LIMIT_DECODED_BYTES / sizeof(struct api_container);
    for (size_t i = 0; i < most; i++)
        buf_add(&b, BYTES("\x12\0"));
    for (int more = 0; more < 2; more++) {
        AUTO(arena_release) struct arena a = {0};
        assert_int_equal(decode_meta(&a, buf_view(&b)), -more);
        buf_add(&b, BYTES("\x12\0"));
    }
}

/* A list that is made longer by one again and again costs what it costs each time. */
static void merged_lists_have_a_cost(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < LIMIT_OBJECT_BYTES / 4; i++)
        buf_add(&b, BYTES("\x72\x02\x20\x01"));
    assert_int_equal(decode_meta(&a, buf_view(&b)), -1);
}

/* LIMIT_JSON_DEPTH: schemas in schemas, each of which is two levels of JSON. */
static struct str nested(struct arena *a, unsigned levels) {
    struct str message = STR("");
    for (unsigned i = 0; i < levels; i++) {
        AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
        buf_add(&b, BYTES("\xca\x01")); /* allOf */
        if (message.n >= 0x80)
            buf_add_char(&b, (char)(message.n | 0x80));
        buf_add_char(&b, (char)(message.n >= 0x80 ? message.n >> 7 : message.n));
        buf_add(&b, message);
        message = arena_str(a, buf_view(&b));
    }
    return message;
}

static void messages_have_a_depth(void **state) {
    (void)state;
    enum { MOST = LIMIT_JSON_DEPTH / 2 - 1 };
    const struct api_type *type = &api_types[API_T_json_schema_props];
    for (unsigned more = 0; more < 2; more++) {
        AUTO(arena_release) struct arena a = {0};
        struct api_json_schema_props *props = arena_new(&a, struct api_json_schema_props);
        struct str message = nested(&a, MOST - 1 + more);
        assert_int_equal(api_proto_struct_decode(&a, type, message, props, NULL), more ? -1 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_becomes_an_object),
        cmocka_unit_test(names_may_come_from_the_caller),
        cmocka_unit_test(bodies_are_refused),
        cmocka_unit_test(unknown_fields_are_dropped),
        cmocka_unit_test(maps_are_sorted),
        cmocka_unit_test(lists_grow),
        cmocka_unit_test(a_published_object_has_its_bytes),
        cmocka_unit_test(a_kind_without_schema_has_no_bytes),
        cmocka_unit_test(an_empty_expression_is_not_written),
        cmocka_unit_test(a_message_has_a_length),
        cmocka_unit_test(lists_have_a_size),
        cmocka_unit_test(merged_lists_have_a_cost),
        cmocka_unit_test(messages_have_a_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
