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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_dropped_by_their_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
