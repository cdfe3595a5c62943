/* A scheduler that saw many things is about as small as what is there now. */
#include "sched/sched_int.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/state_int.h"
#include "world.h"

enum { FEW = 3000, MANY = 12000, ALIVE = 20, PEAK = 600 };

/* Each node and each pod has everything that it can have of its own. */
static struct api_object *node(unsigned i) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u','labels':{'kubernetes.io/"
        "hostname':'n%u','l%u':'x','zone':'z%u'}},'spec':{'taints':[{'key':'t%u','effect':"
        "'PreferNoSchedule'}]},'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110',"
        "'e.io/r%u':'1'},'images':[{'names':['i%u'],'sizeBytes':1}]}}",
        i, i, i, i, i, i, i);
}

static struct api_object *pod(unsigned i) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%u','namespace':'d%u','labels':{"
        "'a':'%u'}},'spec':{'tolerations':[{'key':'t%u'}],'nodeSelector':{'l%u':'x'},"
        "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k%u','whenUnsatisfiable':"
        "'ScheduleAnyway','labelSelector':{'matchLabels':{'a':'%u'}}},{'maxSkew':1,'topologyKey':"
        "'zone','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'a':'%u'}}}],"
        "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
        "'topologyKey':'m%u','labelSelector':{'matchLabels':{'b':'%u'}}}]}},'containers':[{"
        "'name':'c','image':'i%u','ports':[{'containerPort':1,'hostPort':%u}],'resources':{"
        "'requests':{'e.io/r%u':'1'}}}]}}",
        i, i, i, i, i, i, i, i, i, i, i, i % 60000 + 1, i);
}

struct sizes {
    size_t atoms, lists, topologies, values, domains, resources, images, classes, podsets,
        partitions, existing_terms, slots;
};

static struct sizes measure(const struct sched *s) {
    struct intern_stats atoms;
    struct match_stats lists;
    struct sizes n = {.topologies = s->nodes.topologies.live,
                      .resources = s->nodes.resources.n,
                      .images = s->nodes.images.live,
                      .classes = s->pod_classes.live,
                      .podsets = s->podsets.live,
                      .partitions = s->partitions.live,
                      .existing_terms = s->existing_terms.live,
                      .slots = s->nodes.n};
    intern_stats(s->atoms, &atoms);
    match_stats(s->match, &lists);
    n.atoms = atoms.atoms;
    n.lists = lists.tolerations + lists.taints;
    size_t at = 0;
    for (const struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));)
        n.values += ((const struct sched__topology *)e->value)->values.n;
    at = 0;
    for (const struct map_entry *e; (e = map_next(&s->partitions, &at));)
        n.domains += ((const struct sched__partition *)e->value)->domain_cap;
    return n;
}

/* Nodes and pods come and go; so many are there at a time. */
static struct sizes pass(struct world *w, unsigned from, unsigned to) {
    struct sched_result r;
    for (unsigned i = from; i < to; i++) {
        world_set(w, node(i));
        world_set(w, pod(i));
        assert_true(sched_next(w->s, &r));
        assert_int_equal(r.outcome, SCHED_SCHEDULED);
        if (i >= ALIVE) {
            world_delete(w, pod(i - ALIVE));
            world_delete(w, node(i - ALIVE));
        }
    }
    return measure(w->s);
}

static void what_came_and_went_leaves_nothing(void **state) {
    (void)state;
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    struct sizes few = pass(&w, 0, FEW), many = pass(&w, FEW, MANY);
    assert_int_equal(many.classes, ALIVE);
    assert_int_equal(many.images, ALIVE);
    assert_in_range(many.podsets, ALIVE, 6 * ALIVE);
    assert_in_range(many.partitions, ALIVE, 6 * ALIVE);
    assert_int_equal(many.existing_terms, few.existing_terms);
    assert_int_equal(many.slots, few.slots);
    assert_int_equal(many.resources, few.resources);
    assert_in_range(many.topologies, 2 * ALIVE, 6 * ALIVE);
    assert_in_range(many.values, ALIVE, 10 * ALIVE);
    assert_in_range(many.domains, 1, 2 * few.domains);
    assert_in_range(many.atoms, ALIVE, 8000);
    assert_in_range(many.lists, ALIVE, 6000);
    sched_free(w.s);
}

/* All at one time, and then few: columns, tables and lists are as short as those of few. */
static void a_peak_leaves_nothing(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    const struct sched__nodes *nodes = &w.s->nodes;
    for (unsigned i = 0; i < PEAK; i++) {
        world_set(&w, node(i));
        world_set(&w, pod(i));
        assert_true(sched_next(w.s, &r));
    }
    assert_true(nodes->cap >= PEAK && nodes->resources.n >= PEAK);
    for (unsigned i = ALIVE; i < PEAK; i++) {
        world_delete(&w, pod(i));
        world_delete(&w, node(i));
    }
    struct sizes n = pass(&w, PEAK, PEAK + ALIVE);
    assert_in_range(nodes->cap, ALIVE, 8 * ALIVE);
    assert_in_range(n.slots, ALIVE, 3 * ALIVE);
    assert_in_range(n.resources, ALIVE, 4 * ALIVE);
    assert_in_range(n.values, ALIVE, 10 * ALIVE);
    assert_in_range(n.domains, 1, 10000);
    assert_in_range(w.s->changes.cap, 1, 2048);
    assert_in_range(w.s->pods.slot_count, ALIVE, 8 * ALIVE);
    assert_in_range(w.s->pod_classes.slot_count, ALIVE, 8 * ALIVE);
    assert_in_range(nodes->images.slot_count, ALIVE, 8 * ALIVE);
    assert_in_range(nodes->by_name.slot_count, ALIVE, 8 * ALIVE);
    sched_free(w.s);
}

static struct api_object *claim(unsigned i, const char *version) {
    return object_of_text("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':"
                          "'c%u','namespace':'d','uid':'%u','resourceVersion':'%s'},'spec':{"
                          "'storageClassName':'s','accessModes':['ReadWriteOnce'],'resources':{"
                          "'requests':{'storage':'1Gi'}}}}",
                          i, i, version);
}

static struct api_object *volume(unsigned i, const char *version) {
    return object_of_text("{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v%u',"
                          "'resourceVersion':'%s'},'spec':{'capacity':{'storage':'1Gi'},"
                          "'accessModes':['ReadWriteOnce'],'storageClassName':'s','local':{"
                          "'path':'/d'}},'status':{'phase':'Available'}}",
                          i, version);
}

/* A decision takes a volume, or tells where to make one; either is told of again in the end, or
 * goes. Claims of odd numbers have no volume to take. */
static void what_decisions_took_is_history_in_the_end(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    world_set(&w, node(0));
    world_set(&w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
                                 "'metadata':{'name':'s'},'provisioner':'d.io',"
                                 "'volumeBindingMode':'WaitForFirstConsumer'}"));
    for (unsigned i = 0; i < 100; i++) {
        bool taken = i % 2 == 0;
        world_set(&w, claim(i, "1"));
        if (taken)
            world_set(&w, volume(i, "1"));
        struct api_object *user = object_of_text(
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'d'},'spec':{"
            "'containers':[{'name':'c','image':'i'}],'volumes':[{'name':'v',"
            "'persistentVolumeClaim':{'claimName':'c%u'}}]}}",
            i);
        world_set(&w, api_object_copy(user));
        assert_true(sched_next(w.s, &r));
        assert_int_equal(r.outcome, SCHED_SCHEDULED);
        assert_int_equal(w.s->volumes->taken.live, taken);
        assert_int_equal(w.s->volumes->placed.live, !taken);
        ((struct api_pod *)api_own_body(user))->spec.node_name = STR("n0");
        world_set(&w, api_object_copy(user));
        world_set(&w, claim(i, i % 4 < 2 ? "2" : "1")); /* an echo, or news */
        assert_int_equal(w.s->volumes->placed.live, !taken && i % 4 >= 2);
        world_delete(&w, claim(i, "2"));
        if (taken)
            world_delete(&w, volume(i, "1"));
        world_delete(&w, user);
        assert_int_equal(w.s->volumes->taken.live + w.s->volumes->placed.live, 0);
        assert_int_equal(w.s->volumes->compiled.live, 0);
    }
    assert_false(sched_next(w.s, &r));
    assert_int_equal(w.s->volumes->shelves.groups.live, 0);
    sched_free(w.s);
}

/* A pod whose node is not known keeps a slot for it; nothing of that is left when it goes. */
static void nodes_that_never_came_leave_nothing(void **state) {
    (void)state;
    static const char *const specs[] = {"'nodeName':'x%u'", "'nodeName':''"};
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    for (unsigned i = 0; i < 4 * ALIVE; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, specs[i % 2], i);
        world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                                     "'namespace':'d'},'spec':{%s}}",
                                     spec));
        assert_int_equal(w.s->nodes.by_name.live, i % 2 == 0);
    }
    assert_in_range(w.s->nodes.n, 0, 1);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_and_went_leaves_nothing),
        cmocka_unit_test(a_peak_leaves_nothing),
        cmocka_unit_test(what_decisions_took_is_history_in_the_end),
        cmocka_unit_test(nodes_that_never_came_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
