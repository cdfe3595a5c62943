/*
 * Rules about lengths that are too long to write down as data, on both sides of their limits, and
 * objects with so many parts that a rule which compares each with each would be felt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"
#include "valid/valid.h"

/* Validates `before` + n times `part` + `behind` and returns the errors; each # in part counts. */
static struct valid_errs judge(struct arena *a, const char *before, const char *part, size_t n,
                               const char *behind) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, str_of(before));
    for (size_t i = 0; i < n; i++) {
        struct str rest = str_of(part), head;
        for (bool counts = true; counts;) {
            counts = str_cut(rest, '#', &head, &rest);
            buf_add(&text, head);
            if (counts)
                buf_add_u64(&text, i);
        }
    }
    buf_add(&text, str_of(behind));
    assert_false(text.full);
    struct json tree;
    struct api_object *o = NULL;
    assert_int_equal(json_parse(a, buf_view(&text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    feature_set_put(&config.enabled, FEATURE_PodCertificateRequest, true);
    struct valid_opts opts = {.gates = &config.enabled};
    struct valid_errs errs = VALID_ERRS_INIT(a);
    api_object_default(o, opts.gates);
    valid_prepare_create(o, &opts);
    valid_create(o, &opts, &errs);
    api_object_free(o);
    buf_release(&text);
    return errs;
}

#define POD       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
#define CONTAINER "\"containers\":[{\"name\":\"a\",\"image\":\"x\","
#define JOB                                                                                  \
    "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\"},\"spec\":{" \
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"a\","   \
    "\"image\":\"x\"}]}},"

static const struct {
    const char *before, *behind;
    size_t most;
    const char *text; /* of the one error for one character more */
} lengths[] = {
    {POD CONTAINER "\"securityContext\":{\"windowsOptions\":{\"gmsaCredentialSpec\":\"", "\"}}}]}}",
     65536, "gmsaCredentialSpec size must be under 64 KiB"},
    {POD CONTAINER "\"securityContext\":{\"appArmorProfile\":{\"type\":\"Localhost\","
                   "\"localhostProfile\":\"",
     "\"}}}]}}", 4095, "may not be more than 4095 bytes"},
    {POD CONTAINER
     "\"tty\":false}],\"volumes\":[{\"name\":\"v\",\"projected\":{\"sources\":[{"
     "\"podCertificate\":{\"signerName\":\"a.b/c\",\"keyType\":\"ED25519\",\"keyPath\":\"k\","
     "\"userAnnotations\":{\"a.b/c\":\"",
     "\"}}}]}}]}}", 262139, "may not be more than 262144 bytes"},
    {JOB "\"managedBy\":\"a.io/", "\"}}", 58, "may not be more than 63 bytes"},
};

static void lengths_are_limited(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct arena a = {0};
        struct valid_errs errs =
            judge(&a, lengths[i].before, "x", lengths[i].most, lengths[i].behind);
        assert_int_equal(errs.n, 0);
        errs = judge(&a, lengths[i].before, "x", lengths[i].most + 1, lengths[i].behind);
        assert_int_equal(errs.n, 1);
        if (!str_is(errs.v[0].detail, lengths[i].text))
            fail_msg("%.*s", STR_ARG(errs.v[0].detail));
        arena_release(&a);
    }
}

static void indexes_may_be_long(void **state) {
    (void)state;
    struct arena a = {0};
    static const char before[] = JOB "\"completionMode\":\"Indexed\",\"completions\":1,"
                                     "\"successPolicy\":{\"rules\":[{\"succeededIndexes\":\"";
    assert_int_equal(judge(&a, before, "0", 65536, "\"}]}}}").n, 0);
    struct valid_errs errs = judge(&a, before, "0", 65537, "\"}]}}}");
    assert_int_equal(errs.n, 1);
    assert_true(str_is(errs.v[0].detail, "may not be more than 65536 bytes"));
    arena_release(&a);
}

static const struct {
    const char *before, *part, *behind;
    size_t count;
} crowds[] = {
    {POD "\"containers\":[", "{\"name\":\"c#\",\"image\":\"x\"},",
     "{\"name\":\"z\",\"image\":\"x\"}]}}", 60000},
    {POD CONTAINER "\"ports\":[", "{\"containerPort\":1,\"hostPort\":1,\"hostIP\":\"#\"},",
     "{\"containerPort\":1}]}]}}", 50000},
    {POD CONTAINER "\"tty\":false}],\"volumes\":[", "{\"name\":\"v#\",\"emptyDir\":{}},",
     "{\"name\":\"z\",\"emptyDir\":{}}]}}", 60000},
    {POD CONTAINER "\"resources\":{\"limits\":{", "\"a.io/r#\":\"1\",", "\"cpu\":\"1\"}}}]}}",
     60000},
    {POD "\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"containers\":[",
     "{\"name\":\"c#\",\"image\":\"x\",\"resources\":{\"limits\":{\"a.io/r#\":\"1\"}}},",
     "{\"name\":\"z\",\"image\":\"x\"}]}}", 30000},
    {POD "\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"initContainers\":[",
     "{\"name\":\"c#\",\"image\":\"x\",\"restartPolicy\":\"Always\",\"resources\":{\"limits\":{"
     "\"a.io/r#\":\"1\"}}},",
     "{\"name\":\"z\",\"image\":\"x\"}]," CONTAINER "\"tty\":false}]}}", 20000},
};

static void crowds_are_fine(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        struct arena a = {0};
        struct valid_errs errs =
            judge(&a, crowds[i].before, crowds[i].part, crowds[i].count, crowds[i].behind);
        if (errs.n)
            fail_msg("%.*s: %.*s", STR_ARG(errs.v[0].field), STR_ARG(errs.v[0].body));
        arena_release(&a);
    }
}

/* Each of these has an error that quotes a whole list. */
static void crowds_of_errors_come_to_an_end(void **state) {
    (void)state;
    static const struct {
        const char *before, *part, *behind;
    } rows[] = {
        {"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\","
         "\"ownerReferences\":[",
         "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"a#\",\"uid\":\"u\",\"controller\":"
         "true},",
         "{}]}}"},
        {POD "\"resourceClaims\":[{\"name\":\"z\",\"resourceClaimName\":\"z\"}]," CONTAINER
             "\"resources\":{\"claims\":[",
         "{\"name\":\"c#\"},", "{\"name\":\"z\"}]}}]}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct valid_errs errs = judge(&a, rows[i].before, rows[i].part, 30000, rows[i].behind);
        assert_true(errs.left_out > 0);
        assert_true(errs.n <= LIMIT_FIELD_ERRORS + 1);
        assert_true(a.bytes < 256 << 20);
        arena_release(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(indexes_may_be_long),
        cmocka_unit_test(crowds_are_fine),
        cmocka_unit_test(crowds_of_errors_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
