/* Patches of a pod's status: what changes it, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "scheduler/scheduler_int.h"

#define NOW      (INT64_C(1700000000) * CLOCK_SECOND)
#define NOW_TEXT "2023-11-14T22:13:20Z"

#define POD(status)                                                                             \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"d\"," \
    "\"uid\":\"u\",\"generation\":3},\"status\":{" status "}}"
#define OLD(status, reason)                                                                 \
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":\"PodScheduled\"," \
    "\"status\":\"" status "\",\"reason\":\"" reason                                        \
    "\",\"message\":\"m\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]"
#define NEW(when)                                                                 \
    "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":" \
    "\"Unschedulable\","                                                          \
    "\"message\":\"m\",\"observedGeneration\":3,\"lastProbeTime\":null,"          \
    "\"lastTransitionTime\":\"" when "\"}]"
#define PATCH(status) "{\"metadata\":{\"uid\":\"u\"},\"status\":{" status "}}"

static const struct api_object *object_of(const char *text) {
    struct arena a = {0};
    struct json tree;
    struct api_object *o;
    assert_int_equal(json_parse(&a, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    arena_release(&a);
    return api_publish(o);
}

static const struct {
    const char *pod;
    const char *nominated; /* NULL: it stays */
    const char *patch;     /* NULL: none */
} rows[] = {
    {POD(""), NULL, PATCH(NEW(NOW_TEXT))},
    {POD(OLD("True", "Unschedulable")), NULL, PATCH(NEW(NOW_TEXT))},
    {POD(OLD("False", "Unschedulable")), NULL, NULL},
    {POD(OLD("False", "SchedulerError")), NULL, PATCH(NEW("2020-01-01T00:00:00Z"))},
    {POD(OLD("False", "Unschedulable")), "", NULL},
    {POD(OLD("False", "Unschedulable")), "n", PATCH("\"nominatedNodeName\":\"n\"")},
    {POD(OLD("False", "Unschedulable") ",\"nominatedNodeName\":\"n\""), "n", NULL},
    {POD(OLD("False", "Unschedulable") ",\"nominatedNodeName\":\"n\""), "",
     PATCH("\"nominatedNodeName\":null")},
    {POD(OLD("False", "Unschedulable") ",\"nominatedNodeName\":\"n\""), NULL, NULL},
    {POD(""), "n", PATCH(NEW(NOW_TEXT) ",\"nominatedNodeName\":\"n\"")},
};

static void a_patch_has_what_changes(void **state) {
    struct scheduler__condition c = {"PodScheduled", "False", "Unschedulable", STR("m")};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        const struct api_object *pod = object_of(rows[i].pod);
        struct str nominated = str_of(rows[i].nominated);
        struct str patch =
            scheduler__status_patch(&a, pod, &c, rows[i].nominated ? &nominated : NULL, NOW);
        if (!patch.p != !rows[i].patch || (patch.p && !str_is(patch, rows[i].patch)))
            fail_msg("%zu: %.*s", i, STR_ARG(patch));
        api_object_unref(pod);
        arena_release(&a);
    }
}

static void a_doomed_pod_is_being_deleted(void **state) {
    struct scheduler__condition c = {"DisruptionTarget", "True", "PreemptionByScheduler", STR("m")};
    const struct api_object *pod = object_of(POD(OLD("True", "")));
    const struct api_object *doomed = scheduler__status_doomed(pod, &c, NOW);
    const struct api_pod_condition_list *list =
        &((const struct api_pod *)doomed->body)->status.conditions;
    (void)state;
    assert_false(pod->meta->deletion_timestamp.set);
    assert_int_equal(doomed->meta->deletion_timestamp.sec, NOW / CLOCK_SECOND);
    assert_int_equal(list->n, 3);
    assert_true(str_is(list->v[0].type, "DisruptionTarget"));
    assert_true(str_is(list->v[2].type, "PodScheduled"));
    api_object_unref(pod);
    api_object_unref(doomed);
}

static void long_notes_are_cut(void **state) {
    struct arena a = {0};
    char text[1025];
    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(scheduler__note(&a, (struct str){text, 1024}).n, 1024);
    struct str cut = scheduler__note(&a, (struct str){text, 1025});
    assert_int_equal(cut.n, 1024);
    assert_true(str_ends(cut, STR("x ...")));
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_has_what_changes),
        cmocka_unit_test(a_doomed_pod_is_being_deleted),
        cmocka_unit_test(long_notes_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
