/* Which pods are deleted first: pairs, each decided by another rule. */
#include "managed.h"
#include "manager/pods_int.h"

#define NOW (INT64_C(1700000000) * CLOCK_SECOND)

/* A pod as it is compared: metadata, spec and status, each as the inside of a map in YAML. The
 * label `related` is the number of related pods. */
struct pod {
    const char *meta, *spec, *status;
};

#define RUNS(ready, since)                                                                        \
    "phase: Running, conditions: [{type: Ready, status: '" ready "', lastTransitionTime: '" since \
    "'}]"
#define OLD   "2023-11-01T00:00:00Z" /* 14 days before */
#define OLDER "2023-10-20T00:00:00Z" /* 25 days: the same power of two */
#define YOUNG "2023-11-14T22:13:00Z" /* 20 s before */

static const struct {
    const char *rule;
    struct pod first, second;
} pairs[] = {
    {"unassigned before assigned",
     {"", "", "phase: Running"},
     {"", "nodeName: n1", "phase: Pending"}},
    {"pending before unknown",
     {"", "nodeName: n1", "phase: Pending"},
     {"", "nodeName: n2", "phase: Unknown"}},
    {"unknown before running",
     {"", "nodeName: n1", "phase: Unknown"},
     {"", "nodeName: n1", "phase: Running"}},
    {"not ready before ready",
     {"", "nodeName: n1", RUNS("False", OLD)},
     {"", "nodeName: n1", RUNS("True", OLD)}},
    {"the cheaper one",
     {"annotations: {controller.kubernetes.io/pod-deletion-cost: '-5'}", "", ""},
     {"labels: {related: '9'}", "", ""}},
    {"a cost that is none is 0",
     {"annotations: {controller.kubernetes.io/pod-deletion-cost: '+5'}, labels: {related: '1'}", "",
      ""},
     {"", "", ""}},
    {"doubled up",
     {"labels: {related: '3'}", "nodeName: n1", ""},
     {"labels: {related: '2'}", "nodeName: n2", ""}},
    {"ready for a shorter time",
     {"uid: b", "", RUNS("True", YOUNG)},
     {"uid: a", "", RUNS("True", OLD)}},
    {"as long on a logarithmic scale: by uid",
     {"uid: a", "", RUNS("True", OLDER)},
     {"uid: b", "", RUNS("True", OLD)}},
    {"more restarts",
     {"", "", "containerStatuses: [{name: c, restartCount: 2}]"},
     {"", "", "containerStatuses: [{name: c, restartCount: 1}]"}},
    {"more restarts of sidecars",
     {"", "initContainers: [{name: s, restartPolicy: Always}]",
      "initContainerStatuses: [{name: s, restartCount: 2}]"},
     {"", "initContainers: [{name: s}]", "initContainerStatuses: [{name: s, restartCount: 3}]"}},
    {"the later one, however far apart they are",
     {"uid: b, creationTimestamp: '9999-01-01T00:00:00Z'", "", ""},
     {"uid: a, creationTimestamp: '1600-01-01T00:00:00Z'", "", ""}},
    {"no creation time first", {"", "", ""}, {"creationTimestamp: '" YOUNG "'", "", ""}},
    {"the younger one",
     {"uid: b, creationTimestamp: '" YOUNG "'", "", ""},
     {"uid: a, creationTimestamp: '" OLD "'", "", ""}},
};

static struct api_object *make(struct world *w, const struct pod *p) {
    struct str text = arena_printf(&w->arena,
                                   "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: {%s}, "
                                   "status: {%s}}",
                                   p->meta, p->spec, p->status);
    return world_object(w, text.p);
}

static struct manager__candidate candidate(const struct api_object *o) {
    const struct label *l = labels_find(&o->meta->labels, STR("related"));
    struct manager__candidate c = {.pod = o};
    if (l)
        str_to_i64(l->value, &c.related);
    return c;
}

static void each_rule_decides(void **state) {
    struct world w;
    (void)state;
    world_start(&w, "");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct api_object *first = make(&w, &pairs[i].first), *second = make(&w, &pairs[i].second);
        struct manager__candidate v[] = {candidate(second), candidate(first)};
        manager__rank_for_deletion(v, 2, NOW, &w.gates.enabled);
        if (v[0].pod != first)
            fail_msg("%s", pairs[i].rule);
        struct manager__candidate other[] = {v[0], v[1]};
        manager__rank_for_deletion(other, 2, NOW, &w.gates.enabled);
        if (other[0].pod != first)
            fail_msg("%s, the other way round", pairs[i].rule);
        api_object_free(first);
        api_object_free(second);
    }
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
