/* Fields behind gates: dropped, or kept because the gate is on or the old object uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/object.h"
#include "feature/feature.h"

#define POD(spec) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{" spec "}}"
#define TERM(keys)                                                                         \
    POD("\"affinity\":{\"podAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution" \
        "\":[{\"weight\":1,\"podAffinityTerm\":{" keys "\"topologyKey\":\"z\"}}]}}")
#define SLICE(device)                                                    \
    "{\"kind\":\"ResourceSlice\",\"apiVersion\":\"resource.k8s.io/v1\"," \
    "\"spec\":{\"devices\":[{" device "}]}}"
#define MOUNT(mount) POD("\"containers\":[{\"volumeMounts\":[{\"name\":\"v\"" mount "}]}]")

/* What becomes of `text` while `gate` is on or off and everything else is on. */
static const struct {
    const char *label;
    enum feature gate;
    bool on;
    const char *text, *old, *want;
} rows[] = {
    {"a pointer", FEATURE_UserNamespacesSupport, false, POD("\"hostUsers\":true"), NULL, POD("")},
    {"the gate is on", FEATURE_UserNamespacesSupport, true, POD("\"hostUsers\":true"), NULL,
     POD("\"hostUsers\":true")},
    {"used already", FEATURE_UserNamespacesSupport, false, POD("\"hostUsers\":true"),
     POD("\"hostUsers\":false"), POD("\"hostUsers\":true")},
    {"an old object without it", FEATURE_UserNamespacesSupport, false, POD("\"hostUsers\":true"),
     POD(""), POD("")},
    {"a list, deep inside", FEATURE_MatchLabelKeysInPodAffinity, false,
     TERM("\"matchLabelKeys\":[\"a\"],"), NULL, TERM("")},
    {"another field of the gate is used", FEATURE_MatchLabelKeysInPodAffinity, false,
     TERM("\"matchLabelKeys\":[\"a\"],"), TERM("\"mismatchLabelKeys\":[\"b\"],"),
     TERM("\"matchLabelKeys\":[\"a\"],")},
    {"an empty list is no use", FEATURE_MatchLabelKeysInPodAffinity, false,
     TERM("\"matchLabelKeys\":[\"a\"],"), TERM("\"mismatchLabelKeys\":[],"), TERM("")},
    {"a text that may be absent", FEATURE_RecursiveReadOnlyMounts, false,
     MOUNT(",\"recursiveReadOnly\":\"Enabled\""), NULL, MOUNT("")},
    {"an empty text is a use", FEATURE_RecursiveReadOnlyMounts, false,
     MOUNT(",\"recursiveReadOnly\":\"Enabled\""), MOUNT(",\"recursiveReadOnly\":\"\""),
     MOUNT(",\"recursiveReadOnly\":\"Enabled\"")},
    {"in an entry of a map", FEATURE_DRAListTypeAttributes, false,
     SLICE("\"attributes\":{\"a\":{\"int\":1,\"ints\":[1]},\"b\":{\"bools\":[true]}}"), NULL,
     SLICE("\"attributes\":{\"a\":{\"int\":1},\"b\":{}}")},
    {"another entry of a map uses it", FEATURE_DRAListTypeAttributes, false,
     SLICE("\"attributes\":{\"a\":{\"ints\":[1]}}"),
     SLICE("\"attributes\":{\"b\":{\"bools\":[true]}}"),
     SLICE("\"attributes\":{\"a\":{\"ints\":[1]}}")},
    {"a map", FEATURE_DRANodeAllocatableResources, false,
     SLICE("\"nodeAllocatableResources\":{\"cpu\":{}}"), NULL, SLICE("")},
    {"a struct", FEATURE_GenericWorkload, false, POD("\"schedulingGroup\":{}"), NULL, POD("")},
};

static struct api_object *decode(struct arena *a, const char *text) {
    struct json tree;
    struct err err;
    assert_int_equal(json_parse(a, str_of(text), NULL, &tree, &err), 0);
    struct api_object *o = NULL;
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

static void fields_are_dropped_by_their_gates(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct feature_set gates = {0};
        for (size_t f = 0; f < FEATURE_COUNT; f++)
            feature_set_put(&gates, (enum feature)f, f != rows[i].gate || rows[i].on);
        struct api_object *o = decode(&a, rows[i].text), *want = decode(&a, rows[i].want);
        struct api_object *old = rows[i].old ? decode(&a, rows[i].old) : NULL;
        api_object_drop_gated(o, old, &gates);
        struct json is = api_object_encode(o, &a), should = api_object_encode(want, &a);
        if (!json_equal(&is, &should))
            fail_msg("%s", rows[i].label);
        api_object_free(o);
        api_object_free(want);
        api_object_free(old);
        arena_release(&a);
    }
}

#define CLAIM(spec, status)                                                                  \
    "{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"spec\":{" spec "}," \
    "\"status\":{" status "}}"
#define SHARED   "\"devices\":[{\"device\":\"d\",\"shareID\":\"s\"}]"
#define DISTINCT "\"devices\":{\"constraints\":[{\"distinctAttribute\":\"a\"}]}"

/* What only the status uses keeps nothing in the spec, and the status keeps all. */
static void the_status_can_be_left_out(void **state) {
    (void)state;
    struct arena a = {0};
    struct feature_set gates = {0};
    struct api_object *o = decode(&a, CLAIM(DISTINCT, SHARED));
    struct api_object *old = decode(&a, CLAIM("", SHARED));
    api_object_drop_gated_but_status(o, old, &gates);
    const struct api_resource_resource_claim *claim = o->body;
    assert_null(claim->spec.devices.constraints.v[0].distinct_attribute.p);
    assert_int_equal(claim->status.devices.v[0].share_id.n, 1);
    api_object_free(o);
    api_object_free(old);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_dropped_by_their_gates),
        cmocka_unit_test(the_status_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
