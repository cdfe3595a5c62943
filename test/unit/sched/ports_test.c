/* Host ports by node: which excludes which, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sched/sched_int.h"
#include "world.h"

static void start_world(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
}

/* A pod with one host port, on a node unless that is "". */
static struct api_object *a_pod(const char *name, const char *node, const char *port) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
                          "'d'},'spec':{'nodeName':'%s','containers':[{'name':'c','image':'i',"
                          "'ports':[{'containerPort':1,%s}]}]}}",
                          name, node, port);
}

static void add_node(struct world *w, const char *name) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s'},"
                                "'status':{'allocatable':{'pods':'110'}}}",
                                name));
}

/* Would a pod with this port find it taken on the node? */
static bool is_taken(struct world *w, const char *port, const char *node) {
    const struct api_object *asking = world_publish(w, a_pod("asking", "", port));
    struct sched__pod_class *class = sched__pod_class_get(w->s, asking);
    assert_int_equal(class->port_count, 1);
    bool taken = sched__port_is_taken(w->s, &class->ports[0], sched__node_find(w->s, str_of(node)));
    sched__pod_class_unref(w->s, class);
    api_object_unref(asking);
    return taken;
}

static const struct {
    const char *there, *asked;
    bool taken;
} rows[] = {
    {"'hostPort':80", "'hostPort':80", true},
    {"'hostPort':80", "'hostPort':81", false},
    {"'hostPort':80", "'hostPort':80,'protocol':'TCP'", true},
    {"'hostPort':80", "'hostPort':80,'protocol':'UDP'", false},
    {"'hostPort':80,'protocol':'SCTP'", "'hostPort':80,'protocol':'SCTP'", true},
    {"'hostPort':80", "'hostPort':80,'hostIP':'0.0.0.0'", true},
    {"'hostPort':80", "'hostPort':80,'hostIP':'1.2.3.4'", true},
    {"'hostPort':80,'hostIP':'1.2.3.4'", "'hostPort':80", true},
    {"'hostPort':80,'hostIP':'1.2.3.4'", "'hostPort':80,'hostIP':'1.2.3.4'", true},
    {"'hostPort':80,'hostIP':'1.2.3.4'", "'hostPort':80,'hostIP':'1.2.3.5'", false},
    {"'hostPort':80,'hostIP':'1.2.3.4'", "'hostPort':80,'protocol':'UDP'", false},
    /* Another text is another address, and only 0.0.0.0 stands for all, as upstream has it. */
    {"'hostPort':80,'hostIP':'::'", "'hostPort':80,'hostIP':'::1'", false},
    {"'hostPort':80,'hostIP':'::'", "'hostPort':80", true},
};

static void ports_exclude_each_other(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        start_world(&w);
        add_node(&w, "n1");
        add_node(&w, "n2");
        world_set(&w, a_pod("p", "n1", rows[i].there));
        if (is_taken(&w, rows[i].asked, "n1") != rows[i].taken)
            fail_msg("row %zu: %s and %s", i, rows[i].there, rows[i].asked);
        assert_false(is_taken(&w, rows[i].asked, "n2"));
        sched_free(w.s);
    }
}

static void ports_are_taken_until_their_last_pod_goes(void **state) {
    (void)state;
    static const char any[] = "'hostPort':80", one[] = "'hostPort':80,'hostIP':'1.2.3.4'",
                      other[] = "'hostPort':80,'hostIP':'1.2.3.5'";
    struct world w;
    start_world(&w);
    add_node(&w, "n1");
    world_set(&w, a_pod("p", "n1", one));
    world_set(&w, a_pod("q", "n1", one));
    world_set(&w, a_pod("r", "n1", any));
    assert_true(is_taken(&w, other, "n1"));
    world_delete(&w, a_pod("r", "n1", any));
    assert_false(is_taken(&w, other, "n1"));
    world_delete(&w, a_pod("p", "n1", one));
    assert_true(is_taken(&w, one, "n1"));
    assert_true(is_taken(&w, any, "n1"));
    world_delete(&w, a_pod("q", "n1", one));
    assert_false(is_taken(&w, one, "n1"));
    assert_false(is_taken(&w, any, "n1"));
    assert_int_equal(w.s->nodes.ports.live, 0);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_exclude_each_other),
        cmocka_unit_test(ports_are_taken_until_their_last_pod_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
