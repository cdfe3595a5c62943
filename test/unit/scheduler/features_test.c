/* Tolerations and label keys that upstream does not have yet, on their whole way: gates of the
 * scheduler and of the server are apart. */
#include "scene.h"

#define ALL_GATES                                                                     \
    "TaintTolerationComparisonOperators=true,TolerationAffinitySemverOperators=true," \
    "TaintTolerationCEL=true"

/* Tolerations of the taint `key: value` on two nodes, of which they match the second one only. */
static const struct row {
    const char *refused, *tolerated; /* values */
    const char *toleration;
} rows[] = {
    {"940", "960", "{key: k, operator: Gt, value: '950', effect: NoSchedule}"},
    {"960", "940", "{key: k, operator: Lt, value: '950', effect: NoSchedule}"},
    {"535.104.5", "550.54.14", "{key: k, operator: SemverGt, value: 550.0.0, effect: NoSchedule}"},
    {"spot", "gpu-a100", "{expression: \"taint.key == 'k' && taint.value.startsWith('gpu-')\"}"},
};

static void place(const struct row *row, const char *gates, const char *expected) {
    static struct scene x;
    struct arena a = {0};
    scene_start(&x, ALL_GATES, gates);
    const char *taint = "[{\"key\":\"k\",\"value\":\"%s\",\"effect\":\"NoSchedule\"}]";
    scene_node(&x, "one", 4, arena_printf(&a, taint, row->refused).p);
    scene_node(&x, "two", 4, arena_printf(&a, taint, row->tolerated).p);
    scene_pod(&x, "p", arena_printf(&a, ", tolerations: [%s]", row->toleration).p);
    world_run(&x.w, 5);
    scene_expect_node(&x, "p", expected);
    scene_stop(&x);
    arena_release(&a);
}

static void tolerations_decide(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place(&rows[i], ALL_GATES, "two");
        place(&rows[i], "", "");
    }
}

/* A change of the taint's value is seen. */
static void a_value_may_change(void **state) {
    static struct scene x;
    (void)state;
    scene_start(&x, ALL_GATES, ALL_GATES);
    scene_node(&x, "n", 4, "[{\"key\":\"k\",\"value\":\"940\",\"effect\":\"NoSchedule\"}]");
    scene_pod(&x, "p", ", tolerations: [{key: k, operator: Gt, value: '950'}]");
    world_run(&x.w, 5);
    scene_expect_node(&x, "p", "");
    world_patch(&x.w, API_T_node, "n", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"960\",\"effect\":"
                "\"NoSchedule\"}]}}");
    world_run(&x.w, 5);
    scene_expect_node(&x, "p", "n");
    scene_stop(&x);
}

static void labelled_pod(struct scene *x, const char *name, const char *revision,
                         const char *spec) {
    scene_create(x,
                 "{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {app: web, rev: %s}}, "
                 "spec: {containers: [{name: c, image: i}]%s}}",
                 name, revision, spec);
}

#define APART(keys)                                                                   \
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}" keys "}]}}"

/* Pods of one revision keep apart from each other, and not from those of the one before. */
static void label_keys_tell_revisions_apart(void **state) {
    static struct scene x;
    (void)state;
    scene_start(&x, "", "");
    scene_node(&x, "n", 4, "[]");
    labelled_pod(&x, "old", "first", APART(", matchLabelKeys: [rev]"));
    world_run(&x.w, 1);
    labelled_pod(&x, "all", "second", APART(""));
    labelled_pod(&x, "new", "second", APART(", matchLabelKeys: [rev]"));
    world_run(&x.w, 5);
    scene_expect_node(&x, "old", "n");
    scene_expect_node(&x, "all", "");
    scene_expect_node(&x, "new", "n");
    labelled_pod(&x, "next", "second", APART(", matchLabelKeys: [rev]"));
    world_run(&x.w, 5);
    scene_expect_node(&x, "next", "");
    scene_stop(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerations_decide),
        cmocka_unit_test(a_value_may_change),
        cmocka_unit_test(label_keys_tell_revisions_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
