/* Clusters from a text: which objects they come to, which pods workloads add, and the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/object.h"
#include "base/limits.h"
#include "cmd/commands/scene.h"
#include "cmd/report/remarks.h"
#include "world.h"

struct fixture {
    struct world world;
    struct arena arena;
    struct feature_config gates;
    struct sim_cluster cluster;
    struct remarks *remarks;
};

static void set_up_with(struct fixture *f, const char *text, struct controller_made there) {
    struct input_opts opts = {0};
    struct err err = {0};
    *f = (struct fixture){0};
    world_init(&f->world);
    feature_config_init(&f->gates, FEATURE_NEWEST);
    f->world.ctx.in = memfd_create("in", 0);
    assert_int_equal(write(f->world.ctx.in, text, strlen(text)), (ssize_t)strlen(text));
    lseek(f->world.ctx.in, 0, SEEK_SET);
    opt_list_add(&f->arena, &opts.filenames, STR("-"));
    f->remarks = remarks_new(&f->world.ctx, &f->gates);
    sim_cluster_init(&f->cluster, &(struct sim_cluster_opts){.gates = &f->gates.enabled,
                                                             .remark = remarks_add,
                                                             .ctx = f->remarks});
    assert_int_equal(
        scene_read_cluster(&f->world.ctx, &opts, &(struct opt_list){0}, &f->cluster, &err), 0);
    f->cluster.made = there;
    sim_cluster_expand(&f->cluster);
}

static void set_up(struct fixture *f, const char *text) {
    set_up_with(f, text, (struct controller_made){0});
}

static void tear_down(struct fixture *f) {
    sim_cluster_release(&f->cluster);
    remarks_free(f->remarks);
    arena_release(&f->arena);
    close(f->world.ctx.in);
    world_release(&f->world);
}

/* "Kind/name" of each object in order, and what is said about the rest. */
static void check_with(const char *text, struct controller_made there, const char *want,
                       const char *remarks) {
    struct fixture f;
    AUTO(buf_release) struct buf got = BUF_INIT(1 << 20);
    set_up_with(&f, text, there);
    for (size_t i = 0; i < f.cluster.items.n; i++) {
        const struct api_object *o = f.cluster.items.v[i].object;
        if (o)
            buf_addf(&got, "%s/%.*s ", o->kind->kind, STR_ARG(o->meta->name));
    }
    if (!str_is(buf_view(&got), want))
        fail_msg("wanted: %s\ngot:    %.*s", want, STR_ARG(buf_view(&got)));
    remarks_write(f.remarks);
    assert_string_equal(world_taken(&f.world, f.world.err), remarks);
    assert_int_equal(f.cluster.refused, remarks[0] ? 1 : 0);
    tear_down(&f);
}

static void check(const char *text, size_t pods, const char *want, const char *remarks) {
    check_with(text, (struct controller_made){.pods = pods}, want, remarks);
}

#define TEMPLATE                                                        \
    "selector: {matchLabels: {app: x}}, template: {metadata: {labels: " \
    "{app: x}}, spec: {containers: [{name: c, image: i}]}}"

#define REPLICA_SET(name, replicas)                                  \
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: " name \
    "}, spec: {replicas: " replicas ", " TEMPLATE "}}\n---\n"

static void pods_stand_behind_their_workload(void **state) {
    (void)state;
    check(REPLICA_SET("a", "2") "{apiVersion: v1, kind: Node, metadata: {name: one}, status: "
                                "{capacity: {pods: 9}}}\n---\n" REPLICA_SET("b", "1")
                                    REPLICA_SET("c", "0"),
          0, "ReplicaSet/a Pod/a-0 Pod/a-1 Node/one ReplicaSet/b Pod/b-0 ReplicaSet/c ", "");
}

static void names_that_are_taken_are_left_out(void **state) {
    (void)state;
    check(REPLICA_SET("a", "2") "{apiVersion: v1, kind: Pod, metadata: {name: a-1}, spec: "
                                "{containers: [{name: c, image: i}]}}",
          0, "ReplicaSet/a Pod/a-0 Pod/a-2 Pod/a-1 ", "");
}

static void negative_replicas_of_a_stored_set_are_none(void **state) {
    (void)state;
    check("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, namespace: default, uid: u},"
          " spec: {replicas: -3, " TEMPLATE "}}",
          0, "ReplicaSet/a ", "");
}

static void no_more_pods_than_the_limit(void **state) {
    (void)state;
    check(REPLICA_SET("a", "2"), LIMIT_EXPANDED_PODS - 2, "ReplicaSet/a Pod/a-0 Pod/a-1 ", "");
    check(REPLICA_SET("a", "3") REPLICA_SET("b", "2"), LIMIT_EXPANDED_PODS - 2,
          "ReplicaSet/a ReplicaSet/b Pod/b-0 Pod/b-1 ",
          "STDIN:1: replicaset.apps/a: not expanded: 3 more pods would be more than 150000 made of "
          "templates\n");
}

static void no_more_daemons_than_the_limit(void **state) {
    (void)state;
    check("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {pods: 9}}}\n---\n"
          "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {capacity: {pods: 9}}}\n---\n"
          "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {" TEMPLATE "}}",
          LIMIT_EXPANDED_PODS - 1, "Node/n1 Node/n2 DaemonSet/d Pod/d-0 ",
          "STDIN:5: daemonset.apps/d: not expanded: 1 more pods would be more than 150000 made of "
          "templates\n");
}

/* Replicas share all but the body of a pod, and count with that. */
static void no_more_bytes_than_the_limit(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    size_t body = sizeof(struct api_pod);
    struct controller_made there = {.bytes = LIMIT_EXPANDED_BYTES - 2 * body};
    check_with(REPLICA_SET("a", "2"), there, "ReplicaSet/a Pod/a-0 Pod/a-1 ", "");
    check_with(REPLICA_SET("a", "3") REPLICA_SET("b", "2"), there,
               "ReplicaSet/a ReplicaSet/b Pod/b-0 Pod/b-1 ",
               arena_printf(&a,
                            "STDIN:1: replicaset.apps/a: not expanded: 3 pods of %zu bytes each "
                            "would take more than the 512 MiB that all pods made of templates may; "
                            "ask for fewer of them, or shorten the template\n",
                            body)
                   .p);
}

#define STATEFUL_SET(replicas)                                                                 \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: " replicas \
    ", serviceName: s, " TEMPLATE ", volumeClaimTemplates: [{metadata: {name:"                 \
    " v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}\n---\n"

#define INDEXED_JOB                                                                     \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {completionMode: "    \
    "Indexed, completions: 2, parallelism: 2, template: {spec: {restartPolicy: Never, " \
    "containers: [{name: c, image: i}]}}}}\n---\n"

#define DAEMON_SET                                                                             \
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {pods: 9}}}\n---\n" \
    "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {capacity: {pods: 9}}}\n---\n" \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {" TEMPLATE "}}\n---\n"

/* Members that are numbered count with their templates and claims, all before the first is made. */
static void members_that_cannot_be_paid_are_not_made(void **state) {
    (void)state;
    static const char *const texts[] = {STATEFUL_SET("2"), INDEXED_JOB, DAEMON_SET};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        set_up_with(&f, texts[i], (struct controller_made){.bytes = LIMIT_EXPANDED_BYTES - 4000});
        assert_int_equal(f.cluster.made.pods, 0);
        assert_int_equal(f.cluster.refused, 1);
        assert_null(sim_cluster_find(&f.cluster, API_T_persistent_volume_claim, STR("default"),
                                     STR("v-s-0")));
        tear_down(&f);
    }
}

#define TERM "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: other}}}"
#define PICKY_DAEMON_SET                                                                       \
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {pods: 9}}}\n---\n" \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {selector: {"           \
    "matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: ["        \
    "{name: c, image: i}], affinity: {podAntiAffinity: {"                                      \
    "requiredDuringSchedulingIgnoredDuringExecution: [" TERM ", " TERM "]}}}}}}\n---\n"

/* The scheduler keeps more of terms about other pods than their text. */
static void terms_are_paid(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t left, pods;
    } table[] = {{DAEMON_SET, 16000, 2}, {PICKY_DAEMON_SET, 16000, 1}, {PICKY_DAEMON_SET, 8000, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct fixture f;
        struct controller_made there = {.bytes = LIMIT_EXPANDED_BYTES - table[i].left};
        set_up_with(&f, table[i].text, there);
        assert_int_equal(f.cluster.made.pods, table[i].pods);
        tear_down(&f);
    }
}

static const struct api_pod *find_pod(const struct fixture *f, const char *name) {
    const struct api_object *o =
        sim_cluster_find(&f->cluster, API_T_pod, STR("default"), str_of(name));
    assert_non_null(o);
    return o->body;
}

/* What the template says is there once; a number of more digits is judged again. */
static void members_share_the_spec_of_their_template(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"a-0", "a-1"}, {"s-0", "s-9"}, {"s-10", "s-11"}, {"j-0", "j-1"}, {"d-0", "d-1"}};
    struct fixture f;
    set_up(&f, REPLICA_SET("a", "2") STATEFUL_SET("12") INDEXED_JOB DAEMON_SET);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct api_pod *one = find_pod(&f, pairs[i][0]), *other = find_pod(&f, pairs[i][1]);
        assert_ptr_equal(one->spec.containers.v, other->spec.containers.v);
        assert_ptr_equal(one->spec.tolerations.v, other->spec.tolerations.v);
        assert_false(str_eq(one->metadata.uid, other->metadata.uid));
    }
    assert_ptr_not_equal(find_pod(&f, "s-9")->spec.containers.v,
                         find_pod(&f, "s-10")->spec.containers.v);
    tear_down(&f);
}

static void what_is_a_members_own(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f, STATEFUL_SET("2") INDEXED_JOB DAEMON_SET);
    const struct api_pod *member = find_pod(&f, "s-1"), *daemon = find_pod(&f, "d-1");
    const struct label *name =
        labels_find(&member->metadata.labels, STR("statefulset.kubernetes.io/pod-name"));
    const struct label *index = labels_find(&find_pod(&f, "j-1")->metadata.annotations,
                                            STR("batch.kubernetes.io/job-completion-index"));
    assert_true(str_is(name->value, "s-1"));
    assert_true(str_is(index->value, "1"));
    assert_true(str_is(member->spec.hostname, "s-1"));
    assert_true(str_is(member->spec.volumes.v[0].volume_source.persistent_volume_claim->claim_name,
                       "v-s-1"));
    assert_true(str_is(daemon->spec.affinity->node_affinity->required->node_selector_terms.v[0]
                           .match_fields.v[0]
                           .values.v[0],
                       "n2"));
    tear_down(&f);
}

#define STORED_POD(resource, amount)                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, "          \
    "spec: {containers: [{name: c, image: i, resources: {requests: {" resource ": \"" amount \
    "\"}}}]}}"

#define OWN " (its own limit, not the API server's)\n"

static void no_larger_amounts_than_the_limit(void **state) {
    (void)state;
    assert_int_equal(LIMIT_RESOURCE_AMOUNT, 100000000000000000);
    check(STORED_POD("memory", "100000000000000000"), 0, "Pod/p ", "");
    check(STORED_POD("memory", "100000000000000001"), 0, "",
          "STDIN:1: The Pod \"p\" is left out: it has \"100000000000000001\" in "
          "spec.containers[0].resources.requests[memory], and Berth takes at most 100P" OWN);
    check(STORED_POD("cpu", "100T"), 0, "Pod/p ", "");
    check(STORED_POD("cpu", "100000000000000001m"), 0, "",
          "STDIN:1: The Pod \"p\" is left out: it has \"100000000000000001m\" in "
          "spec.containers[0].resources.requests[cpu], and Berth takes at most 100T" OWN);
}

/* A list of n items in an object of one line; the object's # is the list. */
struct long_list {
    const char *object, *item; /* its place stands for # */
    const char *what;
    const char *kept; /* what is there if the list may be so long */
    size_t most;
};

static void check_list(const struct long_list *l, size_t n, const char *expected,
                       const char *remark) {
    AUTO(buf_release) struct buf list = BUF_INIT(4 << 20);
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < n; i++) {
        struct str before, after, item = str_of(l->item);
        while (str_cut(item, '#', &before, &after)) {
            buf_addf(&list, "%.*s%zu", STR_ARG(before), i);
            item = after;
        }
        buf_add(&list, item);
        buf_add(&list, i + 1 < n ? STR(", ") : STR(""));
    }
    struct str head, tail;
    str_cut(str_of(l->object), '#', &head, &tail);
    check(
        arena_printf(&a, "%.*s%.*s%.*s", STR_ARG(head), STR_ARG(buf_view(&list)), STR_ARG(tail)).p,
        0, expected, remark);
}

#define POD_WITH(spec)                                                              \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, " \
    "spec: {containers: [{name: c, image: i}], " spec "}}"

static void no_longer_lists_than_the_limits(void **state) {
    (void)state;
    static const struct long_list lists[] = {
        {POD_WITH("tolerations: [#]"), "{key: k#, operator: Exists}", "tolerations", "Pod/p ",
         LIMIT_POD_TOLERATIONS},
        {POD_WITH("volumes: [#]"), "{name: v#, emptyDir: {}}", "volumes", "Pod/p ",
         LIMIT_POD_VOLUMES},
        {POD_WITH("topologySpreadConstraints: [#]"), "{topologyKey: k#, maxSkew: 1}",
         "topology spread constraints", "Pod/p ", LIMIT_POD_SPREAD_CONSTRAINTS},
        {POD_WITH("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                  "[#]}}"),
         "{topologyKey: k#}", "terms of pod affinity and anti-affinity", "Pod/p ",
         LIMIT_POD_AFFINITY_TERMS},
        {POD_WITH("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                  "[#]}}"),
         "{weight: 1, preference: {matchExpressions: [{key: k#, operator: Exists}]}}",
         "requirements on nodes", "Pod/p ", LIMIT_POD_NODE_REQUIREMENTS},
        {POD_WITH("nodeSelector: {#}"), "k#: v", "requirements on nodes", "Pod/p ",
         LIMIT_POD_NODE_REQUIREMENTS},
        {POD_WITH("overhead: {cpu: 1, #}"), "example.com/r#: 1", "extended resources in its spec",
         "Pod/p ", LIMIT_POD_RESOURCES},
        {"{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u}, spec: {taints: [#]}, status: "
         "{capacity: {pods: 9}}}",
         "{key: k#, effect: NoSchedule}", "taints", "Node/n1 ", LIMIT_NODE_TAINTS},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        AUTO(arena_release) struct arena a = {0};
        const struct long_list *l = &lists[i];
        check_list(l, l->most, l->kept, "");
        const char *object = l->kept[0] == 'N' ? "Node \"n1\"" : "Pod \"p\"";
        check_list(l, l->most + 1, "",
                   arena_printf(&a,
                                "STDIN:1: The %s is left out: it has %zu %s, and Berth takes at "
                                "most %zu" OWN,
                                object, l->most + 1, l->what, l->most)
                       .p);
    }
}

/* Uids depend on nothing but kind, namespace and name. */
static void uids_are_the_same_in_every_run(void **state) {
    (void)state;
    char first[64] = "";
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        set_up(&f, REPLICA_SET("a", "2"));
        const struct api_object *a0 =
            sim_cluster_find(&f.cluster, API_T_pod, STR("default"), STR("a-0"));
        const struct api_object *a1 =
            sim_cluster_find(&f.cluster, API_T_pod, STR("default"), STR("a-1"));
        assert_non_null(a0);
        assert_non_null(a1);
        assert_false(str_eq(a0->meta->uid, a1->meta->uid));
        assert_int_equal(a0->meta->uid.n, 36);
        if (i == 0)
            memcpy(first, a0->meta->uid.p, 36);
        assert_memory_equal(first, a0->meta->uid.p, 36);
        assert_null(sim_cluster_find(&f.cluster, API_T_pod, STR("other"), STR("a-0")));
        tear_down(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_stand_behind_their_workload),
        cmocka_unit_test(names_that_are_taken_are_left_out),
        cmocka_unit_test(negative_replicas_of_a_stored_set_are_none),
        cmocka_unit_test(no_more_pods_than_the_limit),
        cmocka_unit_test(no_more_daemons_than_the_limit),
        cmocka_unit_test(no_more_bytes_than_the_limit),
        cmocka_unit_test(members_that_cannot_be_paid_are_not_made),
        cmocka_unit_test(terms_are_paid),
        cmocka_unit_test(members_share_the_spec_of_their_template),
        cmocka_unit_test(what_is_a_members_own),
        cmocka_unit_test(no_larger_amounts_than_the_limit),
        cmocka_unit_test(no_longer_lists_than_the_limits),
        cmocka_unit_test(uids_are_the_same_in_every_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
