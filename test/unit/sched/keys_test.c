/* Keys of what pods share: texts that nobody judged must not make different things one. */
#include "sched/topology/count_int.h"
#include "world.h"

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
}

static void namespaces_are_told_apart(void **state) {
    static const struct str one[] = {STR_INIT("x/y")}, two[] = {STR_INIT("x"), STR_INIT("y")};
    (void)state;
    struct world w;
    start(&w);
    struct sched__podterm a = {.namespaces = one, .namespace_count = 1};
    struct sched__podterm b = {.namespaces = two, .namespace_count = 2};
    struct sched__podset *x = sched__podset_get(w.s, &a, 1, false);
    struct sched__podset *y = sched__podset_get(w.s, &b, 1, false);
    struct sched__podset *again = sched__podset_get(w.s, &a, 1, false);
    assert_ptr_not_equal(x, y);
    assert_ptr_equal(x, again);
    sched__podset_unref(w.s, x);
    sched__podset_unref(w.s, y);
    sched__podset_unref(w.s, again);
    sched_free(w.s);
}

static void labels_are_told_apart(void **state) {
    (void)state;
    struct world w;
    start(&w);
    struct label one[] = {{STR_INIT("a"), STR_INIT("b,c=d")}};
    struct label two[] = {{STR_INIT("a"), STR_INIT("b")}, {STR_INIT("c"), STR_INIT("d")}};
    struct api_pod_spec a = {.node_selector = {one, 1}}, b = {.node_selector = {two, 2}};
    struct sched__eligible *x =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.affinity = &a});
    struct sched__eligible *y =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.affinity = &b});
    assert_ptr_not_equal(x, y);
    sched__eligible_unref(w.s, x);
    sched__eligible_unref(w.s, y);
    sched_free(w.s);
}

static void required_labels_are_told_apart(void **state) {
    static const struct str one[] = {STR_INIT("a\nb")}, two[] = {STR_INIT("a"), STR_INIT("b")};
    (void)state;
    struct world w;
    start(&w);
    struct sched__eligible *x =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.must = one, .must_count = 1});
    struct sched__eligible *y =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.must = two, .must_count = 2});
    assert_ptr_not_equal(x, y);
    sched__eligible_unref(w.s, x);
    sched__eligible_unref(w.s, y);
    sched_free(w.s);
}

/* ---- pods that share their spec ---- */

static const char base_pod[] =
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'x',"
    "'labels':{'l':'m'}},'spec':{'containers':[{'name':'c','image':'i'}]}}";

static const char ephemeral_pod[] =
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'x'},"
    "'spec':{'containers':[{'name':'c','image':'i'}],'volumes':[{'name':'v',"
    "'ephemeral':{}}]}}";

static void other_name(struct api_pod *pod) {
    pod->metadata.name = STR("b");
    pod->spec.hostname = STR("b");
}

static void other_namespace(struct api_pod *pod) {
    pod->metadata.namespace = STR("y");
}

static void other_labels(struct api_pod *pod) {
    static struct label own[] = {{STR_INIT("l"), STR_INIT("other")}};
    pod->metadata.labels = (struct labels){own, 1};
}

static void other_owner(struct api_pod *pod) {
    static struct api_owner_reference own = {.name = STR_INIT("r"), .controller = {true, true}};
    pod->metadata.owner_references = (struct api_owner_reference_list){&own, 1};
}

static void other_scheduler(struct api_pod *pod) {
    pod->spec.scheduler_name = STR("other");
}

static void other_tolerations(struct api_pod *pod) {
    static struct api_toleration own = {.key = STR_INIT("k"), .operator= STR_INIT("Exists")};
    pod->spec.tolerations = (struct api_toleration_list){&own, 1};
}

static void other_amounts(struct api_pod *pod) {
    static struct api_pod_condition own = {.type = STR_INIT("PodResizePending"),
                                           .reason = STR_INIT("Infeasible")};
    pod->status.conditions = (struct api_pod_condition_list){&own, 1};
}

/* A pod that shares what it does not say otherwise is of the class that one which shares nothing
 * would be of. */
static void a_shared_spec_leads_to_the_same_class(void **state) {
    static const struct {
        const char *base;
        void (*change)(struct api_pod *pod);
        bool is_same;
    } rows[] = {
        {base_pod, other_name, true},       {base_pod, other_namespace, false},
        {base_pod, other_labels, false},    {base_pod, other_owner, false},
        {base_pod, other_scheduler, false}, {base_pod, other_tolerations, false},
        {base_pod, other_amounts, false},   {ephemeral_pod, other_name, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        start(&w);
        const struct api_object *base = world_publish(&w, object_of_text("%s", rows[i].base));
        struct api_object *derived = api_object_derive(base);
        rows[i].change(api_own_body(derived));
        const struct api_object *shared = api_publish(derived);
        const struct api_object *alone = api_publish(api_object_copy(shared));
        struct sched__pod_class *a = sched__pod_class_get(w.s, base),
                                *b = sched__pod_class_get(w.s, shared);
        struct sched__pod_class *c = sched__pod_class_get(w.s, alone);
        assert_int_equal(a == b, rows[i].is_same);
        assert_ptr_equal(b, c);
        sched__pod_class_unref(w.s, a);
        sched__pod_class_unref(w.s, b);
        sched__pod_class_unref(w.s, c);
        api_object_unref(alone);
        api_object_unref(shared);
        api_object_unref(base);
        sched_free(w.s);
    }
}

static const struct api_object *on_node(const struct api_object *pod, struct str node) {
    struct api_object *o = api_object_derive(pod);
    ((struct api_pod *)api_own_body(o))->spec.node_name = node;
    return api_publish(o);
}

/* Of a pod that was bound the object is kept that it was made of, wherever it is. */
static void a_bound_copy_is_not_kept(void **state) {
    (void)state;
    struct world w;
    start(&w);
    const struct api_object *base = world_publish(&w, object_of_text("%s", base_pod));
    const struct api_object *bound = on_node(base, STR("n1")), *again = on_node(base, STR("n2"));
    struct sched__pod_class *a = sched__pod_class_get(w.s, bound),
                            *b = sched__pod_class_get(w.s, again);
    assert_ptr_equal(a, b);
    assert_ptr_equal(a->sample, base);
    assert_int_equal(api_object_holders(bound), 1);
    sched__pod_class_unref(w.s, a);
    sched__pod_class_unref(w.s, b);
    api_object_unref(again);
    api_object_unref(bound);
    api_object_unref(base);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces_are_told_apart),
        cmocka_unit_test(labels_are_told_apart),
        cmocka_unit_test(required_labels_are_told_apart),
        cmocka_unit_test(a_shared_spec_leads_to_the_same_class),
        cmocka_unit_test(a_bound_copy_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
