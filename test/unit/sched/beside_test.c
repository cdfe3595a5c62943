/* A pod is tried beside the pods that are nominated to a node: what these ask for counts, as it is
 * now, and for as long as they are nominated and important enough. */
#include "sched/sched_int.h"
#include "world.h"

static void set_nominated(struct world *w, unsigned i, unsigned cpu, int priority) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'m%u',"
                                "'namespace':'d'},'spec':{'priority':%d,'schedulingGates':[{'name':"
                                "'g'}],'containers':[{'name':'c','image':'i','resources':{"
                                "'requests':{'cpu':'%u'}}}]},'status':{'nominatedNodeName':'n'}}",
                                i, priority, cpu));
}

static void delete_nominated(struct world *w, unsigned i) {
    world_delete(w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'m%u',"
                                   "'namespace':'d'},'spec':{'containers':[]}}",
                                   i));
}

/* Does a pod that asks for so much cpu fit? The pod with ports is tried with all others placed,
 * and must be told the same. */
static bool fits(struct world *w, unsigned cpu, int priority, const char *ports) {
    struct arena a = {0};
    struct sched_report report;
    const struct api_object *o = world_publish(
        w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':"
                          "'d'},'spec':{'priority':%d,'containers':[{'name':'c','image':'i',%s"
                          "'resources':{'requests':{'cpu':'%u'}}}]}}",
                          priority, ports, cpu));
    sched_examine(w->s, o, &a, &report);
    bool found = report.feasible;
    api_object_unref(o);
    arena_release(&a);
    return found;
}

/* Twice, for what was said once is remembered. */
static void check(struct world *w, unsigned cpu, int priority, bool wanted) {
    static const char *const ports[] = {"", "'ports':[{'containerPort':80,'hostPort':80}],", ""};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(fits(w, cpu, priority, ports[i]), wanted);
}

static void nominated_pods_leave_what_they_do_not_ask_for(void **state) {
    (void)state;
    struct world w;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
                                 "'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':"
                                 "'3'}}}"));
    check(&w, 8, 0, true);
    set_nominated(&w, 0, 3, 5);
    check(&w, 5, 5, true);
    check(&w, 6, 5, false);
    check(&w, 6, 6, true); /* more important */
    set_nominated(&w, 1, 2, 9);
    check(&w, 3, 5, true);
    check(&w, 4, 5, false);
    check(&w, 6, 6, true);
    check(&w, 7, 6, false);
    set_nominated(&w, 0, 1, 5); /* asks for less */
    check(&w, 5, 5, true);
    set_nominated(&w, 0, 4, 1); /* is less important */
    check(&w, 6, 5, true);
    check(&w, 7, 5, false);
    set_nominated(&w, 2, 1, 9); /* and with it there are too many pods */
    check(&w, 1, 0, false);
    delete_nominated(&w, 1);
    check(&w, 3, 0, true);
    delete_nominated(&w, 2);
    delete_nominated(&w, 0);
    check(&w, 8, 0, true);
    sched_free(w.s);
}

/* A pod that is being deleted is passed over, and leaves the queue with its nomination; when it is
 * another scheduler's then, it is nominated to nothing. */
static void nominations_end_outside_of_the_queue(void **state) {
    (void)state;
    struct world w;
    struct sched_result result;
    world_start(&w, data_newest_gates(), (struct sched_opts){0});
    world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
                                 "'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':"
                                 "'3'}}}"));
    world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'m',"
                                 "'namespace':'d','deletionTimestamp':'2026-01-01T00:00:00Z'},"
                                 "'spec':{'containers':[]},'status':{'nominatedNodeName':'n'}}"));
    assert_true(sched_next(w.s, &result));
    check(&w, 8, 0, true);
    world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'m',"
                                 "'namespace':'d'},'spec':{'schedulerName':'other','containers':[{"
                                 "'name':'c','image':'i','resources':{'requests':{'cpu':'4'}}}]},"
                                 "'status':{'nominatedNodeName':'n'}}"));
    check(&w, 8, 0, true);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nominated_pods_leave_what_they_do_not_ask_for),
        cmocka_unit_test(nominations_end_outside_of_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
