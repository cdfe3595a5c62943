/* Objects that plug-ins look up: which changes of them make stale what is remembered. */
#include "sched/sched_int.h"
#include "world.h"

#define OWNED(version, kind)                                                                    \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'d','labels':{'a':'1'," \
    "'b':'1'},'ownerReferences':[{'apiVersion':'" version "','kind':'" kind                     \
    "','name':'o','uid':'u','controller':true}]},'spec':{'containers':[{'name':'c','image':"    \
    "'i'}]}}"
#define OWNER(version, kind, spec)                                                           \
    "{'apiVersion':'" version "','kind':'" kind "','metadata':{'name':'o','namespace':'d'}," \
    "'spec':" spec "}"

static void set(struct world *w, const char *text) {
    world_set(w, object_of_text("%s", text));
}

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
    for (unsigned i = 0; i < 2; i++)
        world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u',"
                                    "'labels':{'kubernetes.io/hostname':'n%u',"
                                    "'topology.kubernetes.io/zone':'z%u'}},'status':{"
                                    "'allocatable':{'cpu':'4','memory':'8Gi','pods':'110'}}}",
                                    i, i, i));
    for (unsigned i = 0; i < 2; i++)
        world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'q%u',"
                                    "'namespace':'d','labels':{'%s':'1'}},'spec':{'nodeName':"
                                    "'n%u','containers':[{'name':'c','image':'i'}]}}",
                                    i, i ? "b" : "a", i));
}

/* The node that spreading prefers: the one without a pod that the selector matches. */
static struct str preferred(struct world *w, const struct api_object *pod, struct arena *a) {
    struct sched_report r;
    sched_examine(w->s, pod, a, &r);
    assert_int_equal(r.node_count, 2);
    int64_t x = r.nodes[0].scores[SCHED_SPREAD], y = r.nodes[1].scores[SCHED_SPREAD];
    return x == y ? STR("") : r.nodes[x > y ? 0 : 1].node;
}

static const struct {
    const char *first, *same, *other, *pod;
} rows[] = {
    {"{'apiVersion':'v1','kind':'Service','metadata':{'name':'o','namespace':'d'},'spec':"
     "{'selector':{'a':'1'}}}",
     "{'apiVersion':'v1','kind':'Service','metadata':{'name':'o','namespace':'d'},'spec':"
     "{'selector':{'a':'1'},'type':'NodePort'}}",
     "{'apiVersion':'v1','kind':'Service','metadata':{'name':'o','namespace':'d'},'spec':"
     "{'selector':{'b':'1'}}}",
     OWNED("v1", "Nothing")},
    {OWNER("v1", "ReplicationController", "{'selector':{'a':'1'}}"),
     OWNER("v1", "ReplicationController", "{'selector':{'a':'1'},'replicas':2}"),
     OWNER("v1", "ReplicationController", "{'selector':{'b':'1'}}"),
     OWNED("v1", "ReplicationController")},
    {OWNER("apps/v1", "ReplicaSet", "{'selector':{'matchLabels':{'a':'1'}}}"),
     OWNER("apps/v1", "ReplicaSet", "{'selector':{'matchLabels':{'a':'1'}},'replicas':2}"),
     OWNER("apps/v1", "ReplicaSet", "{'selector':{'matchLabels':{'b':'1'}}}"),
     OWNED("apps/v1", "ReplicaSet")},
    {OWNER("apps/v1", "StatefulSet",
           "{'selector':{'matchExpressions':[{'key':'a','operator':'Exists'}]}}"),
     OWNER("apps/v1", "StatefulSet",
           "{'selector':{'matchExpressions':[{'key':'a','operator':'Exists'}]},'replicas':2}"),
     OWNER("apps/v1", "StatefulSet",
           "{'selector':{'matchExpressions':[{'key':'b','operator':'Exists'}]}}"),
     OWNED("apps/v1", "StatefulSet")},
};

/* Selectors of sets never change; but a set may be deleted and made again before anyone looks. */
static void another_selector_is_noticed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct arena a = {0};
        start(&w);
        const struct api_object *pod = world_publish(&w, object_of_text("%s", rows[i].pod));
        struct sched__pod_class *held = sched__pod_class_get(w.s, pod);
        set(&w, rows[i].first);
        assert_true(str_is(preferred(&w, pod, &a), "n1"));
        uint64_t before = w.s->selectors_generation;
        set(&w, rows[i].same);
        assert_int_equal(w.s->selectors_generation, before);
        assert_true(str_is(preferred(&w, pod, &a), "n1"));
        set(&w, rows[i].other);
        assert_true(str_is(preferred(&w, pod, &a), "n0"));
        sched__pod_class_unref(w.s, held);
        api_object_unref(pod);
        arena_release(&a);
        sched_free(w.s);
    }
}

/* What is remembered of services outlives their objects. */
static void a_service_that_was_replaced_is_still_known(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    set(&w, rows[0].first);
    const struct api_object *pod = world_publish(&w, object_of_text("%s", rows[0].pod));
    assert_true(str_is(preferred(&w, pod, &a), "n1"));
    set(&w, rows[0].same);
    assert_true(str_is(preferred(&w, pod, &a), "n1")); /* of a class that is made anew */
    api_object_unref(pod);
    arena_release(&a);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_selector_is_noticed),
        cmocka_unit_test(a_service_that_was_replaced_is_still_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
