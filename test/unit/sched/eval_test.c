/* What classes remember of nodes: brought up to date, and forgotten when there is too much of it.
 */
#include "base/limits.h"
#include "sched/eval_int.h"
#include "world.h"

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
}

static void set_node(struct world *w, unsigned i, unsigned cpu) {
    world_set(w,
              object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%u'},'status'"
                             ":{'allocatable':{'cpu':'%u','memory':'8Gi','pods':'110'}}}",
                             i, cpu));
}

static const struct api_object *pod(struct world *w, unsigned i) {
    return world_publish(
        w,
        object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%u','namespace':'d',"
                       "'labels':{'n':'%u'}},'spec':{'containers':[{'name':'c','image':'i%u',"
                       "'resources':{'requests':{'cpu':'1'}}}]}}",
                       i, i, i));
}

static struct str best_node(struct world *w, const struct api_object *o, struct arena *a) {
    struct sched_report report;
    sched_examine(w->s, o, a, &report);
    return report.feasible ? report.nodes[report.best].node : STR("none");
}

/* Like pods have one object among them, and their own names in decisions. */
static void of_like_pods_one_object_is_held(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    const struct api_object *pods[3];
    start(&w);
    set_node(&w, 0, 8);
    for (unsigned i = 0; i < 3; i++) {
        const struct api_object *model = pod(&w, 0);
        struct api_object *draft = api_object_copy(model);
        api_own_meta(draft)->name = i == 0 ? STR("a") : i == 1 ? STR("b") : STR("c");
        pods[i] = api_publish(draft);
        api_object_unref(model);
        sched_set(w.s, pods[i]);
    }
    assert_int_equal(api_object_holders(pods[0]), 2);
    assert_int_equal(api_object_holders(pods[1]) + api_object_holders(pods[2]), 2);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(sched_next(w.s, &r));
        assert_true(str_eq(r.pod.name, pods[i]->meta->name) && str_is(r.pod.namespace, "d"));
    }
    sched_delete(w.s, pods[0]); /* the others are still of its class */
    assert_int_equal(api_object_holders(pods[0]), 2);
    sched_delete(w.s, pods[1]);
    sched_delete(w.s, pods[2]);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(api_object_holders(pods[i]), 1);
        api_object_unref(pods[i]);
    }
    sched_free(w.s);
}

static void a_changed_node_is_asked_again(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    for (unsigned i = 0; i < 8; i++)
        set_node(&w, i, i == 3 ? 8 : 4);
    const struct api_object *o = pod(&w, 0);
    struct sched__pod_class *held = sched__pod_class_get(w.s, o); /* keeps what it remembers */
    assert_true(str_is(best_node(&w, o, &a), "n3"));
    set_node(&w, 5, 16);
    assert_true(str_is(best_node(&w, o, &a), "n5"));
    set_node(&w, 5, 0);
    set_node(&w, 3, 1);
    assert_true(str_is(best_node(&w, o, &a), "n0"));
    for (unsigned i = 0; i < 8; i++)
        set_node(&w, i, 0);
    assert_true(str_is(best_node(&w, o, &a), "none"));
    sched__pod_class_unref(w.s, held);
    api_object_unref(o);
    arena_release(&a);
    sched_free(w.s);
}

/* A pod that names two nodes, one of them twice, and one that there is not. */
static const struct api_object *pinned_pod(struct world *w) {
    return world_publish(
        w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'d'},"
                          "'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':"
                          "{'cpu':'2'}}}],'affinity':{'nodeAffinity':{"
                          "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
                          "{'matchFields':[{'key':'metadata.name','operator':'In',"
                          "'values':['n6']}]},"
                          "{'matchFields':[{'key':'metadata.name','operator':'In',"
                          "'values':['n2']}]},"
                          "{'matchFields':[{'key':'metadata.name','operator':'In',"
                          "'values':['n6']}]},"
                          "{'matchFields':[{'key':'metadata.name','operator':'In','values':['m']}]}"
                          "]}}}}}"));
}

/* What is remembered of a class that had no choice has no scores, until two nodes fit. */
static void nodes_that_a_pod_names_are_asked_alone(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    for (unsigned i = 0; i < 16; i++)
        set_node(&w, i, i == 6 ? 4 : i == 2 ? 1 : 64);
    const struct api_object *o = pinned_pod(&w);
    struct sched__pod_class *held = sched__pod_class_get(w.s, o); /* keeps what it remembers */
    assert_true(str_is(best_node(&w, o, &a), "n6"));
    assert_true(held->eval->feasible == 1 && !held->eval->scored);
    set_node(&w, 6, 1);
    assert_true(str_is(best_node(&w, o, &a), "none"));
    set_node(&w, 2, 16);
    set_node(&w, 6, 4);
    assert_true(str_is(best_node(&w, o, &a), "n2"));
    assert_true(held->eval->feasible == 2 && held->eval->scored);
    set_node(&w, 2, 1);
    assert_true(str_is(best_node(&w, o, &a), "n6"));
    sched__pod_class_unref(w.s, held);
    api_object_unref(o);
    arena_release(&a);
    sched_free(w.s);
}

/* Daemons ask one node each, and there are as many classes of them: one is remembered at a time. */
static void what_few_nodes_say_is_remembered_until_others_are_asked(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    for (unsigned i = 0; i < 16; i++)
        set_node(&w, i, i == 6 ? 4 : 1);
    const struct api_object *pinned = pinned_pod(&w), *other = pod(&w, 0);
    struct sched__pod_class *few = sched__pod_class_get(w.s, pinned);
    struct sched__pod_class *many = sched__pod_class_get(w.s, other);
    assert_true(str_is(best_node(&w, other, &a), "n6"));
    assert_true(str_is(best_node(&w, pinned, &a), "n6"));
    assert_true(few->eval && many->eval);
    assert_true(str_is(best_node(&w, other, &a), "n6"));
    assert_true(!few->eval && many->eval);
    assert_true(str_is(best_node(&w, pinned, &a), "n6"));
    sched__pod_class_unref(w.s, few);
    sched__pod_class_unref(w.s, many);
    api_object_unref(pinned);
    api_object_unref(other);
    arena_release(&a);
    sched_free(w.s);
}

/* Sums of all that a node offers may stay the same while each amount is another one. */
static void any_change_of_allocatable_is_noticed(void **state) {
    static const struct {
        const char *memory[2], *storage[2];
        bool fits; /* after the change */
    } rows[] = {
        {{"16Gi", "4Gi"}, {"18Gi", "26Gi"}, false},
        {{"4Gi", "16Gi"}, {"26Gi", "18Gi"}, true},
        {{"8Gi", "11Gi"}, {"20Gi", "18Gi"}, true},
        {{"11Gi", "8Gi"}, {"18Gi", "20Gi"}, false},
    };
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    const struct api_object *o = world_publish(
        &w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                           "'namespace':'d'},'spec':{'containers':[{'name':'c','image':'i',"
                           "'resources':{'requests':{'memory':'9Gi'}}}]}}"));
    struct sched__pod_class *held = sched__pod_class_get(w.s, o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned k = 0; k < 2; k++) {
            world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
                                         "'status':{'allocatable':{'cpu':'8','memory':'%s',"
                                         "'ephemeral-storage':'%s','pods':'110'}}}",
                                         rows[i].memory[k], rows[i].storage[k]));
            bool fits = k ? rows[i].fits : !rows[i].fits;
            assert_true(str_is(best_node(&w, o, &a), fits ? "n" : "none"));
        }
    sched__pod_class_unref(w.s, held);
    api_object_unref(o);
    arena_release(&a);
    sched_free(w.s);
}

/* Sums of scores have 64 bits, and a weight may be negative. */
static void weights_of_any_size_count(void **state) {
    static const int32_t weights[] = {1000,      22000000,  43000000, INT32_MAX,
                                      -22000000, -43000000, INT32_MIN};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof weights / sizeof *weights; i++) {
        struct world w;
        struct arena a = {0};
        struct sched_config *config = sched_config_default(&a);
        config->profiles[0].weights[SCHED_FIT] = weights[i / 2];
        /* Of many equal nodes one is drawn by another way of summing up. */
        world_start(&w, data_newest_gates(),
                    (struct sched_opts){.config = config, .tie_seed = i % 2});
        set_node(&w, 0, 2);
        set_node(&w, 1, 100);
        set_node(&w, 2, 1);
        const struct api_object *o = pod(&w, 0);
        struct sched__pod_class *held = sched__pod_class_get(w.s, o);
        bool positive = weights[i / 2] > 0;
        assert_true(str_is(best_node(&w, o, &a), positive ? "n1" : "n2"));
        set_node(&w, 2, 0); /* by the tournament of nodes */
        assert_true(str_is(best_node(&w, o, &a), positive ? "n1" : "n0"));
        sched__pod_class_unref(w.s, held);
        api_object_unref(o);
        sched_free(w.s);
        arena_release(&a);
    }
}

/* The best of any number of nodes is found again after each change, and the first of equals. */
static void the_tournament_has_any_number_of_players(void **state) {
    enum { MOST = 35 };
    (void)state;
    for (unsigned n = 1; n <= MOST; n++) {
        struct world w;
        struct arena a = {0};
        start(&w);
        for (unsigned i = 0; i < n; i++)
            set_node(&w, i, 4);
        const struct api_object *o = pod(&w, 0);
        struct sched__pod_class *held = sched__pod_class_get(w.s, o);
        for (unsigned i = 0; i < n; i++) {
            char name[8];
            set_node(&w, i, 8);
            snprintf(name, sizeof name, "n%u", i);
            assert_true(str_is(best_node(&w, o, &a), name));
            set_node(&w, i, i % 2 ? 0 : 4);
            assert_true(str_is(best_node(&w, o, &a), "n0"));
        }
        sched__pod_class_unref(w.s, held);
        api_object_unref(o);
        arena_release(&a);
        sched_free(w.s);
    }
}

/* Upstream's sums of requests leave 64 bits and come back as small or negative amounts. */
static void sums_of_amounts_wrap_as_in_Go(void **state) {
    static const struct {
        unsigned pods;
        const char *memory; /* of the node */
        bool fits;
    } rows[] = {
        {1, "8Gi", false}, {2, "8Gi", false}, {3, "8Gi", true}, {5, "8Gi", false}, {3, "-1", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct arena a = {0};
        start(&w);
        world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},"
                                     "'status':{'allocatable':{'cpu':'-1','memory':'%s',"
                                     "'pods':'110'}}}",
                                     rows[i].memory));
        set_node(&w, 1, 0);
        for (unsigned k = 0; k < rows[i].pods; k++)
            world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':"
                                         "'p%u','namespace':'d'},'spec':{'nodeName':'n',"
                                         "'containers':[{'name':'c','image':'i','resources':"
                                         "{'requests':{'memory':'4000000000000000000'}}}]}}",
                                         k));
        const struct api_object *o = world_publish(
            &w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                               "'namespace':'d'},'spec':{'containers':[{'name':'c','image':'i',"
                               "'resources':{'requests':{'memory':'7Gi'}}}]}}"));
        struct sched_report report;
        sched_examine(w.s, o, &a, &report);
        assert_int_equal(report.feasible, rows[i].fits ? 2 : 1);
        api_object_unref(o);
        arena_release(&a);
        sched_free(w.s);
    }
}

/* An engine that counts how often it is asked. */
static void *compile_any(void *ctx, struct str expression, size_t *spent, struct err *err) {
    (void)expression;
    (void)spent;
    (void)err;
    return ctx;
}

static int count_eval(void *ctx, void *program, const struct match_taint *taint,
                      uint64_t evaluations, struct err *err) {
    (void)program;
    (void)taint;
    (void)evaluations;
    (void)err;
    ++*(unsigned *)ctx;
    return 0;
}

static void free_none(void *ctx, void *program) {
    (void)ctx;
    (void)program;
}

/* Pods that differ in labels alone ask nodes the same: who comes next takes over what is known,
 * even if the one before is gone, and finds it up to date. */
static void what_a_class_remembers_is_taken_over(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    struct sched__pod_class *held[2];
    const struct api_object *pods[2];
    start(&w);
    for (unsigned i = 0; i < 8; i++)
        set_node(&w, i, i == 3 ? 8 : 4);
    for (unsigned i = 0; i < 2; i++) {
        pods[i] = world_publish(
            &w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%u',"
                               "'namespace':'d','labels':{'n':'%u'}},'spec':{'containers':[{"
                               "'name':'c','image':'i','resources':{'requests':{'cpu':'1'}}}]}}",
                               i, i));
        held[i] = sched__pod_class_get(w.s, pods[i]);
    }
    assert_true(str_is(best_node(&w, pods[0], &a), "n3"));
    const struct sched__eval *ev = held[0]->eval;
    set_node(&w, 5, 16);
    assert_true(str_is(best_node(&w, pods[1], &a), "n5"));
    assert_true(held[1]->eval == ev && !held[0]->eval);
    sched__pod_class_unref(w.s, held[1]);
    set_node(&w, 5, 1);
    assert_true(str_is(best_node(&w, pods[0], &a), "n3"));
    assert_ptr_equal(held[0]->eval, ev);
    sched__pod_class_unref(w.s, held[0]);
    for (unsigned i = 0; i < 2; i++)
        api_object_unref(pods[i]);
    arena_release(&a);
    sched_free(w.s);
}

static void set_tainted_node(struct world *w, unsigned sla) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'spec':"
                                "{'taints':[{'key':'sla','value':'%u','effect':'NoSchedule'}]},"
                                "'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110'}}}",
                                sla));
}

/* T15: news of nodes are not held against tolerations; that is for the pod's turn. */
static void events_of_nodes_evaluate_no_expression(void **state) {
    (void)state;
    unsigned asked = 0;
    struct match_engine engine = {
        .ctx = &asked, .compile = compile_any, .eval = count_eval, .free = free_none};
    struct world w;
    struct sched_result result;
    struct feature_set gates = data_newest_gates();
    feature_set_put(&gates, FEATURE_TaintTolerationCEL, true);
    world_start(&w, gates, (struct sched_opts){.engine = &engine});
    world_set(&w, object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                                 "'namespace':'d'},'spec':{'tolerations':[{'expression':'x'}],"
                                 "'containers':[{'name':'c','image':'i'}]}}"));
    asked = 0;
    set_tainted_node(&w, 940);
    set_tainted_node(&w, 960);
    assert_int_equal(asked, 0);
    assert_true(sched_next(w.s, &result));
    assert_int_equal(result.outcome, SCHED_UNSCHEDULABLE);
    assert_true(asked > 0);
    sched_free(w.s);
}

static void no_more_is_remembered_than_LIMIT_SCHED_EVAL_BYTES(void **state) {
    (void)state;
    enum { NODES = 20000, CLASSES = 220 };
    struct world w;
    struct arena a = {0};
    struct sched__pod_class *held[CLASSES];
    start(&w);
    for (unsigned i = 0; i < NODES; i++)
        set_node(&w, i, 4 + i % 3);
    size_t one = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct api_object *o = pod(&w, i);
        held[i] = sched__pod_class_get(w.s, o);
        assert_true(str_is(best_node(&w, o, &a), "n2"));
        one = i ? one : w.s->eval_bytes;
        assert_non_null(held[i]->eval);
        assert_true(w.s->eval_bytes <= LIMIT_SCHED_EVAL_BYTES);
        api_object_unref(o);
        arena_reset(&a);
    }
    assert_true(w.s->eval_bytes + one > LIMIT_SCHED_EVAL_BYTES);
    assert_null(held[0]->eval);
    for (unsigned i = 0; i < CLASSES; i++)
        sched__pod_class_unref(w.s, held[i]);
    assert_true(w.s->eval_bytes <= one); /* one is left for who comes next */
    arena_release(&a);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_like_pods_one_object_is_held),
        cmocka_unit_test(a_changed_node_is_asked_again),
        cmocka_unit_test(nodes_that_a_pod_names_are_asked_alone),
        cmocka_unit_test(what_few_nodes_say_is_remembered_until_others_are_asked),
        cmocka_unit_test(what_a_class_remembers_is_taken_over),
        cmocka_unit_test(any_change_of_allocatable_is_noticed),
        cmocka_unit_test(weights_of_any_size_count),
        cmocka_unit_test(the_tournament_has_any_number_of_players),
        cmocka_unit_test(sums_of_amounts_wrap_as_in_Go),
        cmocka_unit_test(events_of_nodes_evaluate_no_expression),
        cmocka_unit_test(no_more_is_remembered_than_LIMIT_SCHED_EVAL_BYTES),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
