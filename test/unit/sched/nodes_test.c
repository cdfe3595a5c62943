/* Nodes as columns: slots, resources that pods ask for, labels, images. */
#include "sched/sched_int.h"
#include "world.h"

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
}

static struct api_object *node(unsigned i) {
    return object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u'},'status':"
                          "{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110','a.io/x':'2',"
                          "'b.io/y%u':'3'}}}",
                          i, i);
}

static struct api_object *pod(const char *name, const char *requests) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s',"
                          "'namespace':'d'},'spec':{'containers':[{'name':'c','image':'i',"
                          "'resources':{'requests':{%s}}}]}}",
                          name, requests);
}

/* ---- slots ---- */

static void the_lowest_free_slot_is_taken(void **state) {
    (void)state;
    enum { NODES = 100 };
    static const unsigned gone[] = {70, 3, 41, 99, 0, 42};
    static const uint32_t taken[] = {0, 3, 41, 42, 70, 99, 100};
    struct world w;
    start(&w);
    for (unsigned i = 0; i < NODES; i++)
        world_set(&w, node(i));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        world_delete(&w, node(gone[i]));
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%zu", 1000 + i);
        world_set(&w, node((unsigned)(1000 + i)));
        assert_int_equal(sched__node_find(w.s, str_of(name)), taken[i]);
    }
    sched_free(w.s);
}

/* ---- resources ---- */

static size_t columns(const struct world *w) {
    return w->s->nodes.resource_numbers.live;
}

static void a_resource_has_a_column_while_pods_ask_for_it(void **state) {
    (void)state;
    struct world w;
    start(&w);
    for (unsigned i = 0; i < 10; i++)
        world_set(&w, node(i));
    size_t first = columns(&w);
    assert_int_equal(sched__resource_find(w.s, STR("a.io/x")), SCHED__NONE);
    world_set(&w, pod("p", "'a.io/x':'1','b.io/y3':'1','b.io/none':'1'"));
    assert_int_equal(columns(&w), first + 3);
    const struct sched__resource *v = w.s->nodes.resources.v;
    const struct sched__resource *x = &v[sched__resource_find(w.s, STR("a.io/x"))];
    const struct sched__resource *y = &v[sched__resource_find(w.s, STR("b.io/y3"))];
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(x->alloc[i], 2);
        assert_int_equal(y->alloc[i], i == 3 ? 3 : 0);
    }
    assert_ptr_equal(v[sched__resource_find(w.s, STR("b.io/none"))].alloc, w.s->nodes.zeros);
    world_delete(&w, pod("p", ""));
    assert_int_equal(columns(&w), first);
    sched_free(w.s);
}

/* A number that is used again must show nothing of what it stood for. */
static void columns_come_and_go_without_a_trace(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    start(&w);
    world_set(&w, node(0));
    for (unsigned i = 0; i < 3; i++) {
        world_set(&w, pod("first", "'a.io/x':'2'"));
        assert_true(sched_next(w.s, &r));
        assert_int_equal(r.outcome, SCHED_SCHEDULED);
        world_delete(&w, pod("first", ""));
        world_set(&w, pod("second", "'b.io/y0':'3'"));
        assert_true(sched_next(w.s, &r));
        assert_int_equal(r.outcome, SCHED_SCHEDULED);
        world_set(&w, pod("third", "'b.io/y0':'1'"));
        assert_true(sched_next(w.s, &r));
        assert_true(str_is(r.message, "0/1 nodes are available: 1 Insufficient b.io/y0. "
                                      "preemption: 0/1 nodes are available: 1 No preemption "
                                      "victims found for incoming pod."));
        world_delete(&w, pod("second", ""));
        world_delete(&w, pod("third", ""));
    }
    sched_free(w.s);
}

static void reasons_come_by_name_whatever_was_seen_first(void **state) {
    static const char *const seen[] = {"", "'z.io/z':'1'", "'b.io/b':'1'", "'memory':'1'"};
    static const char *const wanted[] = {
        "Insufficient cpu",    "Insufficient memory", "Insufficient ephemeral-storage",
        "Insufficient a.io/a", "Insufficient b.io/b", "Insufficient z.io/z"};
    (void)state;
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        struct world w;
        struct arena a = {0};
        struct sched_report report;
        start(&w);
        world_set(&w, pod("first", seen[i]));
        world_set(&w, node(0));
        const struct api_object *o = world_publish(
            &w, pod("p", "'z.io/z':'1','ephemeral-storage':'1','b.io/b':'1','a.io/a':'1',"
                         "'memory':'90Gi','cpu':'90'"));
        sched_examine(w.s, o, &a, &report);
        const struct sched_status *status = &report.nodes[0].status;
        assert_int_equal(status->reason_count, 6);
        for (size_t k = 0; k < 6; k++)
            assert_true(str_is(status->reasons[k], wanted[k]));
        api_object_unref(o);
        arena_release(&a);
        sched_free(w.s);
    }
}

/* ---- images ---- */

static void set_images(struct world *w, unsigned i, const char *images) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u'},"
                                "'status':{'images':[%s]}}",
                                i, images));
}

static uint32_t nodes_with(const struct world *w, const char *name) {
    const struct sched__image *image = map_get(&w->s->nodes.images, str_of(name));
    return image ? image->nodes : 0;
}

static void an_image_counts_once_on_a_node(void **state) {
    (void)state;
    struct world w;
    start(&w);
    set_images(&w, 0, "{'names':['a','b','a'],'sizeBytes':1},{'names':['a'],'sizeBytes':2}");
    set_images(&w, 1, "{'names':['a','c'],'sizeBytes':3}");
    assert_int_equal(nodes_with(&w, "a"), 2);
    assert_int_equal(nodes_with(&w, "b"), 1);
    const struct sched__image *a = map_get(&w.s->nodes.images, STR("a"));
    assert_int_equal(a->size, 1);
    assert_true(sched__node_has_image(&w.s->nodes.v[0], a));
    set_images(&w, 0, "{'names':['c'],'sizeBytes':3}");
    assert_false(sched__node_has_image(&w.s->nodes.v[0], a));
    assert_int_equal(nodes_with(&w, "a"), 1);
    assert_int_equal(nodes_with(&w, "b"), 0);
    assert_int_equal(nodes_with(&w, "c"), 2);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_free_slot_is_taken),
        cmocka_unit_test(a_resource_has_a_column_while_pods_ask_for_it),
        cmocka_unit_test(columns_come_and_go_without_a_trace),
        cmocka_unit_test(reasons_come_by_name_whatever_was_seen_first),
        cmocka_unit_test(an_image_counts_once_on_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
