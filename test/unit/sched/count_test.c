/* Sets of pods and tallies that nobody has any more: they are there for the next one who asks, up
 * to date, and go when there are many. */
#include "sched/topology/count_int.h"
#include "world.h"

static const struct str namespace = STR_INIT("d");
static struct str web[] = {STR_INIT("web")};
static struct selector_req web_req = {
    .key = STR_INIT("app"), .op = SELECTOR_IN, .values = web, .value_count = 1};
static const struct selector web_selector = {.reqs = &web_req, .n = 1};

/* Pods with app=web, by node. */
static struct sched__tally *get_tally(struct world *w) {
    struct sched__podterm term = {
        .namespaces = &namespace, .namespace_count = 1, .selector = &web_selector};
    return sched__tally_get(w->s, sched__podset_get(w->s, &term, 1, false),
                            sched__partition_get(w->s, &(struct sched__partition_spec){0}));
}

static struct api_object *pod(const char *app, unsigned i) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%u','namespace':"
                          "'d','labels':{'app':'%s','i':'%u'}},'spec':{'nodeName':'n',"
                          "'containers':[{'name':'c','image':'i'}]}}",
                          app, i, app, i);
}

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}"));
}

static void an_idle_tally_is_there_for_the_next_one(void **state) {
    (void)state;
    struct world w;
    start(&w);
    world_set(&w, pod("web", 0));
    struct sched__tally *t = get_tally(&w);
    assert_int_equal(t->total, 1);
    sched__tally_unref(w.s, t);
    world_set(&w, pod("web", 1));
    world_set(&w, pod("web", 2));
    world_set(&w, pod("other", 0));
    world_delete(&w, pod("web", 0));
    assert_ptr_equal(get_tally(&w), t);
    assert_int_equal(t->refs, 1);
    assert_int_equal(t->total, 2);
    sched__tally_unref(w.s, t);
    sched_free(w.s);
}

/* The set that each pod makes for itself is kept for a while, and no longer. */
static void idle_tallies_go_when_there_are_many(void **state) {
    enum { PODS = 20000, KEPT = 2000 };
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    for (unsigned i = 0; i < PODS; i++) {
        struct sched_report r;
        const struct api_object *o = world_publish(
            &w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                               "'namespace':'d','labels':{'app':'web','i':'%u'}},'spec':{"
                               "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"
                               "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{"
                               "'matchLabels':{'i':'%u'}}}],'containers':[{'name':'c','image':"
                               "'i'}]}}",
                               i, i));
        sched_examine(w.s, o, &a, &r);
        api_object_unref(o);
        arena_reset(&a);
        assert_in_range(w.s->podsets.live, 0, KEPT);
    }
    assert_in_range(w.s->podsets.live, 1, KEPT);
    arena_release(&a);
    sched_free(w.s);
}

/* One that is asked for again and again stays, whatever comes and goes beside it. */
static void what_is_asked_for_stays(void **state) {
    enum { PODS = 5000, ALIVE = 10 };
    (void)state;
    struct world w;
    start(&w);
    struct sched__tally *first = get_tally(&w);
    sched__tally_unref(w.s, first);
    for (unsigned i = 0; i < PODS; i++) {
        world_set(&w, pod("web", i));
        if (i >= ALIVE)
            world_delete(&w, pod("web", i - ALIVE));
        struct sched__tally *t = get_tally(&w);
        assert_ptr_equal(t, first);
        assert_int_equal(t->total, i < ALIVE ? i + 1 : ALIVE);
        sched__tally_unref(w.s, t);
    }
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_tally_is_there_for_the_next_one),
        cmocka_unit_test(idle_tallies_go_when_there_are_many),
        cmocka_unit_test(what_is_asked_for_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
